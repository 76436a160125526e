import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TokenizedCard } from '../../src/domain/charges.ts';
import type { NetworkOutcome } from '../../src/domain/network-outcomes.ts';
import type { TypedCard } from '../../src/networks/network.ts';
import { createSimulator } from '../../src/networks/simulator.ts';
import { type TestCard, testCards } from '../../src/networks/test-cards.ts';
import { call, startMs } from './calls.ts';
import { createManualTimers, settled } from './manual-timers.ts';

function setUp({ latencyMs = 0, timers = createManualTimers(startMs) } = {}) {
  const simulator = createSimulator('test', {
    latencyMs,
    refundSettleMs: 60_000,
    processingSettleMs: 30_000,
    now: timers.clock.now,
    timers,
  });
  const heard: [string, NetworkOutcome][] = [];
  simulator.onOutcome((id, outcome) => heard.push([id, outcome]));
  return { ...simulator, timers, heard };
}

function typed(card: Pick<TestCard, 'number' | 'brand'>, changes: Partial<TypedCard> = {}): TypedCard {
  const cvc = card.brand === 'amex' ? '1234' : '123';
  return { number: card.number, expMonth: 12, expYear: 2030, cvc, ...changes };
}

const visa = testCards[0]!;
const done: NetworkOutcome = { result: 'done' };
const endOf = ({ decline }: TestCard): NetworkOutcome =>
  decline === null ? done : { result: 'declined', decline_code: decline };

test('refuses to be built for live mode, and to take a live call', async () => {
  const timers = createManualTimers(startMs);
  const options = { latencyMs: 0, refundSettleMs: 0, processingSettleMs: 0, now: timers.clock.now, timers };
  assert.throws(() => createSimulator('live', options), /test mode only/);
  await assert.rejects(
    setUp().card.openPage(call({ action: 'open_card_page', livemode: true })),
    /live call/,
  );
});

for (const card of testCards) {
  test(`${card.number}: ${card.text.en}`, async () => {
    const { card: network, timers, heard } = setUp();
    const tokenized = (await network.tokenize(typed(card))) as TokenizedCard;
    const last4 = card.number.slice(-4);
    assert.deepEqual(tokenized.card, { brand: card.brand, last4, exp_month: 12, exp_year: 2030 });
    assert.equal(tokenized.challenge, card.challenge);
    assert.doesNotMatch(tokenized.token, /\d{4}/);

    const answer = await network.authorize(call(), tokenized.token);
    assert.deepEqual(answer, card.lingers ? { result: 'accepted' } : endOf(card));
    await timers.advance(30_000);
    assert.deepEqual(heard, card.lingers ? [['op_1', endOf(card)]] : []);
    assert.deepEqual(await network.lookup(call()), endOf(card));

    const refund = call({ id: 'op_2', action: 'refund_charge', token: null, card: tokenized.card });
    assert.deepEqual(await network.refund(refund), { result: 'accepted' });
    heard.length = 0;
    await timers.advance(60_000);
    const refunded = card.refundFails ? { result: 'failed', reason: 'declined' } : done;
    assert.deepEqual(heard, [['op_2', refunded]]);
  });
}

const problems: readonly [string, Partial<TypedCard>, string][] = [
  ['a number that is no test card', { number: '4111111111111111' }, 'number'],
  ['no number', { number: '' }, 'number'],
  ['the month before this one', { expMonth: 10, expYear: 2026 }, 'expiry'],
  ['month 0', { expMonth: 0 }, 'expiry'],
  ['month 13', { expMonth: 13 }, 'expiry'],
  ['no date', { expMonth: Number.NaN, expYear: Number.NaN }, 'expiry'],
  ['a short security code', { cvc: '12' }, 'cvc'],
  ['a long security code', { cvc: '1234' }, 'cvc'],
  ['a security code with letters', { cvc: '12a' }, 'cvc'],
];
for (const [name, changes, problem] of problems) {
  test(`tokenize: ${name} is a problem with ${problem}`, async () => {
    assert.deepEqual(await setUp().card.tokenize(typed(visa, changes)), { problem });
  });
}

test('tokenize: a card is good in its last month', async () => {
  const tokenized = await setUp().card.tokenize(typed(visa, { expMonth: 11, expYear: 2026 }));
  assert.ok('token' in tokenized);
});

test('a call that is sent twice has one effect and one answer', async () => {
  const { card, timers, heard } = setUp();
  assert.deepEqual(await card.authorize(call(), 'sim_later_lost_card'), { result: 'accepted' });
  assert.deepEqual(await card.authorize(call(), 'sim_later_lost_card'), { result: 'accepted' });
  await timers.advance(120_000);
  assert.equal(heard.length, 1);
  const declined = { result: 'declined', decline_code: 'lost_card' };
  assert.deepEqual(await card.authorize(call(), 'sim_later_lost_card'), declined);
  await timers.advance(120_000);
  assert.equal(heard.length, 1);
});

test('after a restart the simulator knows nothing, and answers what is sent again as before', async () => {
  const before = setUp();
  await before.card.authorize(call(), 'sim_later_succeeds');
  await before.timers.advance(20_000);

  const after = setUp({ timers: createManualTimers(startMs + 20_000) });
  assert.equal(await after.card.lookup(call()), 'unknown');
  assert.deepEqual(await after.card.authorize(call(), 'sim_later_succeeds'), { result: 'accepted' });
  await after.timers.advance(9_999);
  assert.deepEqual(after.heard, []);
  await after.timers.advance(1);
  assert.deepEqual(after.heard, [['op_1', done]]);
});

test('what should have ended while nobody ran ends at once', async () => {
  const { card, timers, heard } = setUp({ timers: createManualTimers(startMs + 86_400_000) });
  await card.refund(call({ action: 'refund_charge', token: null }));
  await timers.advance(0);
  assert.deepEqual(heard, [['op_1', done]]);
});

test('answers take the configured latency, and a call is known from the moment it was sent', async () => {
  const { cash, timers } = setUp({ latencyMs: 200 });
  const issue = call({
    action: 'issue_cash_code',
    cash: { number: '000000000000', expiresAtMs: startMs + 1 },
  });
  let issued: NetworkOutcome | null = null;
  void cash.issue(issue, issue.cash!).then((outcome) => {
    issued = outcome;
  });
  assert.deepEqual(await cash.lookup(call()), done);
  await timers.advance(199);
  assert.equal(issued, null);
  await timers.advance(1);
  await settled();
  assert.deepEqual(issued, done);
});

test('a token that no card has fails instead of paying', async () => {
  for (const token of ['', 'sim_now_', 'sim_now_paid', 'tok_1']) {
    const { card } = setUp();
    assert.deepEqual(await card.authorize(call(), token), { result: 'failed', reason: 'unknown_token' });
  }
});

test('the newest ten thousand calls are remembered, however often one is told', async () => {
  const { cash } = setUp();
  const code = { number: '0', expiresAtMs: 0 };
  const issue = (number: number) => cash.issue(call({ id: `op_${number}`, action: 'issue_cash_code' }), code);
  const known = async (number: number) => (await cash.lookup(call({ id: `op_${number}` }))) !== 'unknown';
  for (let number = 0; number < 10_000; number++) await issue(number);
  await issue(0);
  assert.deepEqual([await known(0), await known(1)], [true, true]);
  for (const number of [10_000, 10_001]) await issue(number);
  assert.deepEqual([await known(0), await known(1), await known(2)], [false, false, true]);
});
