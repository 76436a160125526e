// A person settles a call of which its network can't tell: when the runner allows it, and that each call has one effect however
// its own steps, two persons and a failing disk meet.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NetworkCall } from '../../src/domain/network-call.ts';
import type { NetworkOutcome } from '../../src/domain/network-outcomes.ts';
import { heldByLock } from '../../src/journal/ownership.ts';
import type { CardNetwork, LookedUp, Networks } from '../../src/networks/network.ts';
import { type NotSettled, Runner } from '../../src/networks/runner.ts';
import { call, startMs } from './calls.ts';
import { createManualTimers } from './manual-timers.ts';

const done: NetworkOutcome = { result: 'done' };
const failed: NetworkOutcome = { result: 'failed', reason: 'settled_by_operator' };
const doubtMs = 300_000;
const never = new Promise<never>(() => {});
const cannotTell = () => Promise.reject(new Error('nobody can tell'));

interface Script {
  readonly action?: NetworkCall['action'];
  readonly begins?: 'run' | 'recover';
  readonly send?: () => Promise<NetworkOutcome>;
  readonly lookup?: () => Promise<LookedUp>;
  readonly apply?: () => Promise<void>;
  readonly isOpen?: () => boolean;
}

/** A runner with one call, made by a network that does what the script says. */
function setUp({ action = 'refund_charge', begins = 'run', send, lookup, apply, isOpen }: Script) {
  const timers = createManualTimers(startMs);
  const applied: NetworkOutcome[] = [];
  const counts = { sends: 0, lookups: 0 };
  const sends = async () => {
    counts.sends++;
    return (send ?? cannotTell)();
  };
  const card: CardNetwork = {
    doubtMs,
    openPage: sends,
    refund: sends,
    release: sends,
    lookup: async () => {
      counts.lookups++;
      return (lookup ?? cannotTell)();
    },
  };
  const networks: Networks = {
    of: () => ({ card, cash: null }),
    posting: () => ({ card: null, cash: null }),
    callbackPath: () => '',
    available: () => ({ card: true, cash: false, cardPage: 'hosted', agents: null }),
    onOutcome() {},
  };
  const take = async (_: string, outcome: NetworkOutcome) => {
    await apply?.();
    applied.push(outcome);
  };
  const runner = new Runner({
    ownership: heldByLock(1),
    networks,
    isOpen: isOpen ?? (() => applied.every(({ result }) => result === 'accepted')),
    apply: take,
    timers,
    scheduler: { elapsedMs: timers.clock.now },
    timeoutMs: 10_000,
    randomBelow: () => 1_000,
    onTrouble() {},
  });
  const only = call({ action });
  if (begins === 'run') runner.run(only);
  else runner.recover([only]);
  return { timers, applied, counts, settle: (outcome = failed) => runner.settle(only.id, outcome, take) };
}

interface Row extends Script {
  readonly what: string;
  readonly afterMs: number;
  /** Null: it is settled. */
  readonly refused: NotSettled | null;
}

const accepts =
  (refusal?: string): Row['send'] =>
  async () => ({ result: 'accepted', ...(refusal !== undefined && { refusal }) });

const rows: readonly Row[] = [
  { what: 'is being sent', send: () => never, afterMs: 9_999, refused: { because: 'busy' } },
  { what: 'is being asked about', lookup: () => never, afterMs: 600, refused: { because: 'busy' } },
  {
    what: 'was sent a second ago, and was not answered',
    afterMs: 1_000,
    refused: { because: 'under_way', ms: doubtMs - 1_000 },
  },
  {
    what: 'was given up a second ago, when it had no answer',
    send: () => never,
    afterMs: 11_000,
    refused: { because: 'under_way', ms: doubtMs - 1_000 },
  },
  {
    what: 'may have been sent before a restart',
    begins: 'recover',
    afterMs: 1_000,
    refused: { because: 'under_way', ms: doubtMs - 1_000 },
  },
  { what: 'was sent long ago, and of which nobody can tell', afterMs: doubtMs, refused: null },
  { what: 'was found so by a restart long ago', begins: 'recover', afterMs: doubtMs, refused: null },
  { what: 'the network has taken', send: accepts(), afterMs: 10, refused: { because: 'goes_on' } },
  { what: 'the network refuses for now', send: accepts('CORE-2508'), afterMs: 10, refused: null },
  {
    what: 'begins with a question that is due',
    action: 'release_charge',
    afterMs: 29_000,
    refused: { because: 'goes_on' },
  },
  { what: 'can never be asked about', action: 'release_charge', afterMs: 31_000, refused: null },
  { what: 'has its outcome', send: async () => done, afterMs: 10, refused: { because: 'not_open' } },
  {
    what: 'has its outcome, which the disk does not take',
    send: async () => done,
    apply: () => Promise.reject(new Error('the disk is full')),
    afterMs: doubtMs,
    refused: { because: 'busy' },
  },
];

for (const { what, afterMs, refused, ...script } of rows) {
  test(`a call that ${what} is ${refused === null ? 'settled' : `not settled: ${refused.because}`}`, async () => {
    const { timers, applied, counts, settle } = setUp(script);
    await timers.advance(afterMs);
    const before = applied.length;
    assert.deepEqual(await settle(), refused);
    assert.deepEqual(applied.slice(before), refused === null ? [failed] : []);
    if (refused !== null) return;
    const { sends, lookups } = counts;
    await timers.advance(86_400_000);
    assert.deepEqual([counts, timers.waiting()], [{ sends, lookups }, 0], 'it is not touched any more');
    assert.deepEqual(await settle(), { because: 'not_open' });
  });
}

test('a call of which the network has reported meanwhile is not settled', async () => {
  let isOpen = true;
  const { timers, applied, settle } = setUp({ isOpen: () => isOpen });
  await timers.advance(doubtMs);
  isOpen = false;
  assert.deepEqual([await settle(), applied], [{ because: 'not_open' }, []]);
});

test('while what a person found out is being stored, the call is neither sent nor asked about, nor settled again', async () => {
  const storing = Promise.withResolvers<void>();
  const { timers, applied, counts, settle } = setUp({ apply: () => storing.promise });
  await timers.advance(doubtMs);
  const first = settle(done);
  const { sends, lookups } = counts;
  assert.deepEqual(await settle(failed), { because: 'busy' });
  await timers.advance(3_600_000);
  assert.deepEqual(counts, { sends, lookups });
  storing.resolve();
  assert.equal(await first, null);
  await timers.advance(3_600_000);
  assert.deepEqual([applied, counts, timers.waiting()], [[done], { sends, lookups }, 0]);
});

test('when what a person found out could not be stored, the call goes on and can be settled again', async () => {
  let isFull = true;
  const apply = async () => {
    if (isFull) throw new Error('the disk is full');
  };
  const { timers, applied, counts, settle } = setUp({ apply });
  await timers.advance(doubtMs);
  await assert.rejects(settle(done), /the disk is full/);
  const { lookups } = counts;
  await timers.advance(120_000);
  assert.ok(counts.lookups > lookups, 'it is asked about again');
  isFull = false;
  assert.equal(await settle(done), null);
  assert.deepEqual(applied, [done]);
});
