import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NetworkCall } from '../../src/domain/network-call.ts';
import type { NetworkOutcome } from '../../src/domain/network-outcomes.ts';
import { heldByLock, type Ownership } from '../../src/journal/ownership.ts';
import { askedAtOnceMax } from '../../src/networks/call-turns.ts';
import type { CardNetwork, LookedUp, Networks, OutcomeListener } from '../../src/networks/network.ts';
import { Runner } from '../../src/networks/runner.ts';
import { call, startMs } from './calls.ts';
import { createManualTimers } from './manual-timers.ts';

const done: NetworkOutcome = { result: 'done' };
const accepted: NetworkOutcome = { result: 'accepted' };
const never = new Promise<never>(() => {});

type Script<T> = (() => Promise<T> | T)[];

/** A card network that counts what is sent and answers from a script; past its end, `done`. */
function fakeNetwork(script: { sends?: Script<NetworkOutcome>; lookups?: Script<LookedUp> } = {}) {
  const sends = [...(script.sends ?? [])];
  const lookups = [...(script.lookups ?? [])];
  const counts = { sends: 0, lookups: 0 };
  const listeners: OutcomeListener[] = [];
  const send = async () => {
    counts.sends++;
    return (sends.shift() ?? (() => done))();
  };
  const card: CardNetwork = {
    tokenize: () => never,
    openPage: send,
    authorize: send,
    refund: send,
    lookup: async () => {
      counts.lookups++;
      return (lookups.shift() ?? (() => done))();
    },
  };
  const networks: { -readonly [name in keyof Networks]: Networks[name] } = {
    of: (_, mode) => ({ card: mode === 'test' ? card : null, cash: null }),
    posting: () => ({ card: null, cash: null }),
    callbackPath: () => '',
    available: () => ({ card: true, cash: false, cardPage: 'own', agents: null }),
    onOutcome: (listener) => void listeners.push(listener),
  };
  return {
    networks,
    card,
    counts,
    notify: (id: string, outcome: NetworkOutcome) => listeners[0]!(id, outcome),
  };
}

function setUp(
  network: ReturnType<typeof fakeNetwork>,
  applies: Script<void> = [],
  ownership: Ownership = heldByLock(1),
) {
  const timers = createManualTimers(startMs);
  const applied: [string, NetworkOutcome][] = [];
  const troubles: string[] = [];
  /** What chance draws; without jitter once there is nothing left. */
  const draws: number[] = [];
  const runner = new Runner({
    ownership,
    networks: network.networks,
    isOpen: (id) => !applied.some(([appliedId, { result }]) => appliedId === id && result !== 'accepted'),
    apply: async (id, outcome) => {
      await applies.shift()?.();
      applied.push([id, outcome]);
    },
    timers,
    scheduler: { elapsedMs: timers.clock.now },
    timeoutMs: 10_000,
    randomBelow: () => draws.shift() ?? 1_000,
    onTrouble: ({ error }) => troubles.push((error as Error).message),
  });
  return { runner, timers, applied, troubles, draws, counts: network.counts };
}

const fails = (message: string) => () => Promise.reject(new Error(message));

test('an owner that has lost the partition calls and asks no network', async () => {
  let isHeld = false;
  const { runner, timers, applied, counts } = setUp(fakeNetwork(), [], { epoch: 1, isHeld: () => isHeld });
  runner.run(call({ action: 'refund_charge' }));
  runner.recover([call({ id: 'op_2', action: 'capture_charge' })]);
  await timers.advance(10_000);
  assert.deepEqual(counts, { sends: 0, lookups: 0 });
  assert.deepEqual(applied, []);
  isHeld = true;
  await timers.advance(60_000);
  assert.equal(applied.length, 2);
});

test('a new call is sent once, without asking first, and its outcome applied', async () => {
  for (const action of ['open_card_page', 'authorize_card', 'refund_charge'] as const) {
    const { runner, timers, applied, counts } = setUp(fakeNetwork());
    runner.run(call({ action }));
    await timers.advance(0);
    assert.deepEqual(applied, [['op_1', done]]);
    assert.deepEqual(counts, { sends: 1, lookups: 0 });
    assert.equal(timers.waiting(), 0);
  }
});

test('calls run side by side: one that hangs holds nobody up', async () => {
  const { runner, timers, applied } = setUp(fakeNetwork({ sends: [() => never] }));
  runner.run(call());
  runner.run(call({ id: 'op_2' }));
  await timers.advance(0);
  assert.deepEqual(applied, [['op_2', done]]);
});

test('a call that fails is asked about, not sent again', async () => {
  const network = fakeNetwork({ sends: [fails('reset')], lookups: [() => done] });
  const { runner, timers, applied, troubles, counts } = setUp(network);
  runner.run(call());
  await timers.advance(60_000);
  assert.deepEqual(applied, [['op_1', done]]);
  assert.deepEqual(troubles, ['reset']);
  assert.deepEqual(counts, { sends: 1, lookups: 1 });
});

test('a call that throws before it returns a promise is asked about', async () => {
  const network = fakeNetwork();
  network.card.authorize = () => {
    throw new Error('no socket');
  };
  const { runner, timers, applied } = setUp(network);
  runner.run(call());
  await timers.advance(60_000);
  assert.deepEqual(applied, [['op_1', done]]);
});

test('a call without an answer is asked about after the time-out, and sent again only if it was never seen', async () => {
  const network = fakeNetwork({ sends: [() => never], lookups: [() => 'unknown'] });
  const { runner, timers, applied, counts } = setUp(network);
  runner.run(call());
  await timers.advance(9_999);
  assert.equal(counts.lookups, 0);
  await timers.advance(501);
  assert.deepEqual(counts, { sends: 2, lookups: 1 });
  assert.deepEqual(applied, [['op_1', done]]);
});

test('the question and what is sent after it have their time each', async () => {
  const network = fakeNetwork();
  const { runner, timers, applied, counts } = setUp(network);
  const after = <T>(ms: number, value: T) =>
    new Promise<T>((resolve) => timers.after(ms, () => resolve(value)));
  network.card.lookup = () => after(8_000, 'unknown' as const);
  network.card.refund = () => {
    counts.sends++;
    return after(9_000, done);
  };
  runner.recover([call({ action: 'refund_charge' })]);
  await timers.advance(60_000);
  assert.deepEqual(applied, [['op_1', done]]);
  assert.equal(counts.sends, 1);
});

const refundCall = call({ action: 'refund_charge' });

test('where a call may have two effects, "unknown" is believed a while after a call without an answer or a restart', async () => {
  for (const begin of ['run', 'recover'] as const) {
    const lookups: Script<LookedUp> = Array(40).fill(() => 'unknown');
    const network = fakeNetwork({ sends: begin === 'run' ? [fails('timed out')] : [], lookups });
    Object.assign(network.card, { doubtMs: 300_000 });
    const { runner, timers, applied, troubles, counts } = setUp(network);
    if (begin === 'run') runner.run(refundCall);
    else runner.recover([refundCall]);
    await timers.advance(300_000);
    assert.equal(counts.sends, begin === 'run' ? 1 : 0);
    assert.match(troubles.at(-1)!, /may still be under way/);
    await timers.advance(60_000);
    assert.equal(counts.sends, begin === 'run' ? 2 : 1);
    assert.deepEqual(applied, [['op_1', done]]);
  }
});

test('a call in doubt is asked about meanwhile, and one that was answered is not in doubt', async () => {
  const slow = fakeNetwork({
    sends: [fails('timed out')],
    lookups: [() => 'unknown', () => 'unknown', () => done],
  });
  const refused = fakeNetwork({ sends: [() => accepted, () => done], lookups: [() => 'unknown'] });
  for (const [network, sends] of [
    [slow, 1],
    [refused, 2],
  ] as const) {
    Object.assign(network.card, { doubtMs: 300_000 });
    const { runner, timers, applied, counts } = setUp(network);
    runner.run(refundCall);
    await timers.advance(40_000);
    assert.deepEqual(applied.at(-1), ['op_1', done]);
    assert.equal(counts.sends, sends);
  }
});

test('a call in doubt that goes on failing is sent again less and less often, but at least each hour', async () => {
  const network = fakeNetwork({
    sends: Array(500).fill(fails('error 99')),
    lookups: Array(5_000).fill(() => 'unknown'),
  });
  Object.assign(network.card, { doubtMs: 300_000 });
  const { runner, timers, counts } = setUp(network);
  runner.run(refundCall);
  const hour = 3_600_000;
  await timers.advance(hour);
  assert.equal(counts.sends, 4);
  await timers.advance(23 * hour);
  assert.ok(counts.sends >= 26 && counts.sends <= 28, `it was sent ${counts.sends} times in a day`);
});

test('where a call may have two effects, the log confirms the owner right before each sending', async () => {
  for (const [doubtMs, says] of [
    [300_000, 'lost'],
    [300_000, 'late'],
    [undefined, 'lost'],
  ] as const) {
    const asked = Promise.withResolvers<void>();
    let confirmations = 0;
    const confirm = () => {
      confirmations++;
      return says === 'lost' ? Promise.reject(new Error('there is a newer owner')) : asked.promise;
    };
    const network = fakeNetwork({ lookups: Array(3).fill(() => 'unknown') });
    Object.assign(network.card, { doubtMs });
    const { runner, timers, counts, troubles } = setUp(network, [], {
      epoch: 1,
      isHeld: () => true,
      confirm,
    });
    runner.run(refundCall);
    await timers.advance(1_600);
    if (doubtMs === undefined) assert.deepEqual([counts.sends, confirmations], [1, 0]);
    else if (says === 'lost') {
      assert.deepEqual([counts.sends, counts.lookups, confirmations], [0, 2, 3]);
      assert.match(troubles[0]!, /there is a newer owner/);
    } else {
      // It is sent once, however late the answer comes.
      await timers.advance(60_000);
      assert.deepEqual([counts.sends, confirmations], [0, 1]);
      asked.resolve();
      await timers.advance(0);
      assert.deepEqual([counts.sends, confirmations], [1, 1]);
    }
  }
});

test('while the network can not be asked, nothing is sent, and the waits grow up to a minute', async () => {
  const network = fakeNetwork({ sends: [fails('reset')], lookups: Array(20).fill(fails('down')) });
  const { runner, timers, counts } = setUp(network);
  runner.run(call());
  const seen: number[] = [];
  for (const ms of [500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]) {
    await timers.advance(ms - 1);
    seen.push(counts.lookups);
    await timers.advance(1);
  }
  assert.deepEqual(seen, [0, 1, 2, 3, 4, 5, 6, 7, 8]);
  assert.equal(counts.sends, 1);
});

test('recovery asks about every open call and sends only the ones that were never seen', async () => {
  const lookups: Script<LookedUp> = [() => done, () => 'unknown', () => accepted];
  const { runner, timers, applied, counts } = setUp(fakeNetwork({ lookups }));
  runner.recover([call(), call({ id: 'op_2' }), call({ id: 'op_3' })]);
  await timers.advance(0);
  assert.deepEqual(Object.fromEntries(applied), { op_1: done, op_2: done, op_3: accepted });
  assert.deepEqual(counts, { sends: 1, lookups: 3 });
});

test('a call that is in hand is not taken a second time', async () => {
  const { runner, timers, counts } = setUp(fakeNetwork({ sends: [() => never] }));
  runner.run(call());
  runner.run(call());
  runner.recover([call()]);
  await timers.advance(0);
  assert.deepEqual(counts, { sends: 1, lookups: 0 });
});

test('an outcome that could not be applied is applied later', async () => {
  const { runner, timers, applied, counts } = setUp(fakeNetwork(), [fails('shard recovers'), fails('still')]);
  runner.run(call());
  await timers.advance(499);
  assert.deepEqual(applied, []);
  await timers.advance(1_001);
  assert.deepEqual(applied, [['op_1', done]]);
  assert.equal(counts.sends, 1);
});

test('a late outcome is passed on, also one for a call that this runner never made', async () => {
  const network = fakeNetwork({ sends: [() => accepted] });
  const { runner, timers, applied } = setUp(network);
  runner.run(call());
  await timers.advance(0);
  network.notify('op_1', done);
  network.notify('op_9', done);
  await timers.advance(0);
  assert.deepEqual(applied, [
    ['op_1', accepted],
    ['op_1', done],
    ['op_9', done],
  ]);
});

test('without a network a new call fails, and a recovered one stays open', async () => {
  const { runner, timers, applied, troubles } = setUp(fakeNetwork());
  runner.run(call({ livemode: true }));
  runner.run(call({ id: 'op_2', action: 'issue_cash_code', cash: { number: '0', expiresAtMs: 0 } }));
  runner.recover([call({ id: 'op_3', livemode: true })]);
  await timers.advance(0);
  const failed = { result: 'failed', reason: 'no_network' };
  assert.deepEqual(applied, [
    ['op_1', failed],
    ['op_2', failed],
  ]);
  assert.match(troubles[0]!, /no network/);
});

test('a call whose networks can not be had is tried again: first it is asked about, and it is sent once', async () => {
  const network = fakeNetwork({ lookups: [() => 'unknown'] });
  const { of } = network.networks;
  let throws = true;
  network.networks.of = (org, mode) => {
    if (throws) throw new Error('a secret can not be opened');
    return of(org, mode);
  };
  const { runner, timers, applied, troubles, counts } = setUp(network);
  runner.run(call());
  await timers.advance(500);
  throws = false;
  await timers.advance(60_000);
  assert.deepEqual(applied, [['op_1', done]]);
  assert.deepEqual(troubles, ['a secret can not be opened', 'a secret can not be opened']);
  assert.deepEqual(counts, { sends: 1, lookups: 1 });
});

test('a stopped runner starts and applies nothing', async () => {
  const { runner, timers, applied, counts } = setUp(fakeNetwork({ sends: [fails('reset')] }));
  runner.run(call());
  await timers.advance(0);
  runner.stop();
  runner.run(call({ id: 'op_2' }));
  await timers.advance(120_000);
  assert.deepEqual(counts, { sends: 1, lookups: 0 });
  assert.deepEqual(applied, []);
});

test('a call that fails because the runner is stopped is no trouble: it is found again after the start', async () => {
  let stop = () => {};
  const closed = () => {
    stop();
    throw new Error('the connection was closed');
  };
  const { runner, timers, troubles, counts } = setUp(fakeNetwork({ sends: [closed] }));
  stop = () => runner.stop();
  runner.run(call());
  await timers.advance(120_000);
  assert.deepEqual(counts, { sends: 1, lookups: 0 });
  assert.deepEqual(troubles, []);
});

test('a call about a page of the network is asked about with growing waits until it ends, and never sent', async () => {
  const refused: NetworkOutcome = { result: 'declined', decline_code: 'do_not_honor' };
  const network = fakeNetwork({ lookups: [() => accepted, fails('down'), () => accepted, () => refused] });
  const { runner, timers, applied, counts } = setUp(network);
  const page = call({ action: 'await_card_payment' });
  runner.run(page);
  const seen: [lookups: number, isOwed: boolean][] = [];
  for (const ms of [29_999, 1, 60_000, 500, 120_000]) {
    await timers.advance(ms);
    seen.push([counts.lookups, runner.isOwed(page)]);
  }
  // It is the customer who is waited for, unless the network can't be asked.
  assert.deepEqual(seen, [
    [0, false],
    [1, false],
    [2, true],
    [3, false],
    [4, false],
  ]);
  assert.deepEqual(applied, [['op_1', refused]]);
  assert.equal(counts.sends, 0);
  assert.equal(timers.waiting(), 0);
});

test('a call that the network has accepted is asked about at least every quarter of an hour', async () => {
  const network = fakeNetwork({ lookups: Array.from({ length: 8 }, () => () => accepted) });
  const { runner, timers, counts } = setUp(network);
  runner.run(call({ action: 'await_card_payment' }));
  const seconds = [30, 60, 120, 240, 480, 900, 900, 900];
  for (const [place, waits] of seconds.entries()) {
    await timers.advance(waits * 1000 - 1);
    assert.equal(counts.lookups, place, `${waits} s`);
    await timers.advance(1);
    assert.equal(counts.lookups, place + 1, `${waits} s`);
  }
  runner.stop();
});

test('money that is held is asked about after a while, and taken only when it is still held', async () => {
  for (const [known, captures] of [
    ['unknown', 1],
    [done, 0],
  ] as const) {
    const network = fakeNetwork({ lookups: [() => known] });
    let captured = 0;
    network.card.capture = async () => {
      captured++;
      return done;
    };
    const { runner, timers, applied, counts } = setUp(network);
    runner.run(call({ action: 'capture_charge' }));
    await timers.advance(29_999);
    assert.equal(counts.lookups, 0);
    await timers.advance(1);
    assert.deepEqual([counts.lookups, captured], [1, captures]);
    assert.deepEqual(applied, [['op_1', done]]);
  }
});

test('what a network can not do fails, and so does asking about a page that another network has opened', async () => {
  for (const [action, reason] of [
    ['capture_charge', 'unsupported'],
    ['release_charge', 'unsupported'],
    ['await_card_payment', 'no_page'],
  ] as const) {
    const { runner, timers, applied } = setUp(fakeNetwork({ lookups: [() => 'unknown'] }));
    runner.recover([call({ action })]);
    await timers.advance(0);
    assert.deepEqual(applied, [['op_1', { result: 'failed', reason }]]);
  }
});

test('a cash code is issued and taken back by the network for cash, with the code as it is', async () => {
  const network = fakeNetwork();
  const heard: unknown[] = [];
  const hears = (what: string) => async (made: NetworkCall, code: unknown) => {
    heard.push([what, made.id, code]);
    return done;
  };
  const cash = { issue: hears('issue'), cancel: hears('cancel'), lookup: async () => 'unknown' as const };
  const { of } = network.networks;
  network.networks.of = (org, mode) => ({ ...of(org, mode), cash });
  const { runner, timers, applied, troubles, counts } = setUp(network);
  const code = { number: '1234', expiresAtMs: startMs };
  runner.run(call({ action: 'issue_cash_code', cash: code }));
  runner.run(call({ id: 'op_2', action: 'cancel_cash_code', cash: code }));
  // No network hears of a call that makes no sense.
  runner.run(call({ id: 'op_3', action: 'refund_charge', cash: code }));
  runner.run(call({ id: 'op_4', action: 'cancel_cash_code' }));
  await timers.advance(0);
  assert.deepEqual(heard, [
    ['issue', 'op_1', code],
    ['cancel', 'op_2', code],
  ]);
  assert.deepEqual(applied, [
    ['op_1', done],
    ['op_2', done],
  ]);
  assert.deepEqual(troubles, [
    'op_3 is about no cash code, and has one',
    'op_4 is about a cash code, and has none',
  ]);
  assert.deepEqual(counts, { sends: 0, lookups: 0 });
});

test('the last error of a call is told until it is answered', async () => {
  const network = fakeNetwork({ sends: [fails('reset')], lookups: [fails('down'), () => accepted] });
  const { runner, timers } = setUp(network);
  runner.run(call());
  const told: unknown[] = [];
  for (const ms of [0, 500, 1_000]) {
    told.push(runner.lastError('op_1'));
    await timers.advance(ms);
    told.push(runner.lastError('op_1'));
  }
  assert.deepEqual(told, [null, 'reset', 'reset', 'down', 'down', null]);
  assert.equal(runner.lastError('op_9'), null);
});

test('nothing is asked about a call that has ended meanwhile, and it is taken again when it is given again', async () => {
  const network = fakeNetwork({ sends: [() => accepted] });
  const { runner, timers, applied, counts } = setUp(network);
  runner.run(call());
  await timers.advance(0);
  // What was applied was not reported by this runner.
  applied.push(['op_1', done]);
  await timers.advance(30_000);
  assert.deepEqual(counts, { sends: 1, lookups: 0 });
  applied.length = 0;
  runner.run(call());
  await timers.advance(0);
  assert.equal(counts.sends, 2);
});

/** Card networks at hosts: `asked` and `sent` have the calls that wait for an answer, each with what gives it. */
function hostedNetworks(hostOf: (org: string) => string) {
  const asked: [id: string, answer: (outcome: NetworkOutcome) => void][] = [];
  const sent: typeof asked = [];
  const send: CardNetwork['refund'] = ({ id }) => new Promise((answer) => sent.push([id, answer]));
  const cardOf = (host: string): CardNetwork => ({
    host,
    openPage: send,
    refund: send,
    lookup: ({ id }) => new Promise((answer) => asked.push([id, answer])),
  });
  const network = fakeNetwork();
  network.networks.of = (org) => ({ card: cardOf(hostOf(org)), cash: null });
  return { network, asked, sent };
}

const callsOf = (org: string, count: number) =>
  Array.from({ length: count }, (_, i) => call({ id: `op_${org}_${i}`, org, action: 'refund_charge' }));
const idsOf = (calls: readonly (readonly [id: string, ...unknown[]])[]) => calls.map(([id]) => id);

/** A host that is alone is asked about so many calls at once, half of all. */
const ofOneHost = askedAtOnceMax / 2;

test('few of thousands of open calls are asked about at once, and all in the end', async () => {
  const { network, asked } = hostedNetworks(() => 'bank.test');
  const { runner, timers, applied } = setUp(network);
  runner.recover(callsOf('org_1', 3_000));
  let most = 0;
  for (await timers.advance(0); asked.length > 0; await timers.advance(0)) {
    most = Math.max(most, asked.length);
    for (const [, answer] of asked.splice(0)) answer(done);
  }
  assert.equal(applied.length, 3_000);
  assert.equal(most, ofOneHost);
});

test('a host that never answers leaves places to the others, for questions and for new calls', async () => {
  for (const how of ['asked', 'sent'] as const) {
    const { network, ...seen } = hostedNetworks((org) => `${org}.test`);
    const { runner, timers, applied } = setUp(network);
    const begin = (org: string) => {
      if (how === 'asked') runner.recover(callsOf(org, 100));
      else for (const each of callsOf(org, 100)) runner.run(each);
    };
    begin('dead');
    begin('sound');
    await timers.advance(0);
    for (;;) {
      const answered = seen[how].filter(([id]) => id.includes('sound'));
      if (answered.length === 0) break;
      for (const each of answered) {
        seen[how].splice(seen[how].indexOf(each), 1);
        each[1](done);
      }
      await timers.advance(0);
    }
    assert.equal(applied.length, 100);
    begin('other');
    await timers.advance(0);
    assert.ok(idsOf(seen[how]).some((id) => id.includes('other')));
  }
});

test('a card page is opened at once, however many calls wait for its host', async () => {
  const { network, sent } = hostedNetworks(() => 'bank.test');
  const { runner, timers } = setUp(network);
  for (const each of callsOf('org_1', 100)) runner.run(each);
  runner.run(call({ id: 'op_page', org: 'org_1', action: 'open_card_page' }));
  await timers.advance(0);
  assert.equal(idsOf(sent).at(-1), 'op_page');
});

test('organizations behind one host take turns, and a new call does not wait for questions', async () => {
  const { network, asked, sent } = hostedNetworks(() => 'bank.test');
  const { runner, timers } = setUp(network);
  runner.recover(callsOf('large', 100));
  runner.recover(callsOf('small', 2));
  const [fresh] = callsOf('fresh', 1);
  runner.run(fresh!);
  await timers.advance(0);
  assert.deepEqual(idsOf(sent), ['op_fresh_0']);
  for (let i = 0; i < 4; i++) asked.shift()![1](done);
  await timers.advance(0);
  const ids = idsOf(asked).slice(-4);
  assert.deepEqual(ids, [`op_large_${ofOneHost}`, 'op_small_0', `op_large_${ofOneHost + 1}`, 'op_small_1']);
});

test('the time of a call does not run while it waits for its turn', async () => {
  const { network, asked } = hostedNetworks(() => 'bank.test');
  const { runner, timers, troubles } = setUp(network);
  runner.recover(callsOf('org_1', ofOneHost + 2));
  await timers.advance(10_000);
  assert.equal(troubles.length, ofOneHost, 'those that were asked about had no answer in time');
  const late = idsOf(asked.slice(ofOneHost));
  assert.deepEqual(late, [`op_org_1_${ofOneHost}`, `op_org_1_${ofOneHost + 1}`]);
});

test('a call that is decided while it waits for its turn is not asked about, nor is any after a stop', async () => {
  const { network, asked } = hostedNetworks(() => 'bank.test');
  const { runner, timers } = setUp(network);
  runner.recover(callsOf('org_1', ofOneHost + 3));
  network.notify(`op_org_1_${ofOneHost}`, done);
  await timers.advance(0);
  asked[0]![1](done);
  await timers.advance(0);
  assert.deepEqual(idsOf(asked.slice(ofOneHost)), [`op_org_1_${ofOneHost + 1}`]);
  runner.stop();
  asked[1]![1](done);
  await timers.advance(60_000);
  assert.equal(asked.length, ofOneHost + 1);
});

test('calls that began together are asked about again up to a tenth sooner or later', async () => {
  for (const [draw, ms] of [
    [0, 27_000],
    [1_000, 30_000],
    [2_000, 33_000],
  ] as const) {
    const { runner, timers, draws, counts } = setUp(fakeNetwork({ sends: [() => accepted] }));
    draws.push(draw);
    runner.run(call());
    await timers.advance(ms - 1);
    assert.equal(counts.lookups, 0);
    await timers.advance(1);
    assert.equal(counts.lookups, 1);
  }
});
