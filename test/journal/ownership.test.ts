// Until when a process may believe that it owns its partitions, by clocks that a test sets.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { JournalFailure } from '../../src/disk/storage-errors.ts';
import { heldByLock, OwnershipBoard, requireHeld } from '../../src/journal/ownership.ts';

/** A board of two partitions, and one of the same memory as another thread has it. */
function boards(memory = OwnershipBoard.untrusted(2)) {
  const clock = { monotonicMs: 500, wallMs: 1_800_000_000_000 };
  const clocks = { monotonic: () => clock.monotonicMs, wall: () => clock.wallMs };
  const board = new OwnershipBoard(memory, clocks);
  const pass = (monotonicMs: number, wallMs = monotonicMs) => {
    clock.monotonicMs += monotonicMs;
    clock.wallMs += wallMs;
  };
  return { board, other: new OwnershipBoard(memory, clocks), pass };
}

test('nobody believes itself before it is told to, and then every thread for as long as was said', () => {
  const { board, other, pass } = boards();
  assert.deepEqual([other.isTrusted(), other.isHeld(0), other.trustLeftMs(1_000)], [false, false, 0]);
  board.trust(board.now(), 2_000);
  assert.deepEqual([other.isTrusted(), other.isHeld(0), other.isHeld(1)], [true, true, true]);
  assert.deepEqual([other.trustLeftMs(5_000), other.trustLeftMs(300)], [2_000, 300]);
  pass(1_999);
  assert.deepEqual([other.isTrusted(), other.trustLeftMs(5_000)], [true, 1]);
  pass(1);
  assert.deepEqual([other.isTrusted(), other.isHeld(0), other.trustLeftMs(5_000)], [false, false, 0]);
});

for (const [what, monotonicMs, wallMs] of [
  ['was suspended, which its wall clock counts', 0, 1_500],
  ['had its wall clock put back', 1_500, -3_600_000],
] as const)
  test(`a machine that ${what} believes itself for no longer`, () => {
    const { board, pass } = boards();
    board.trust(board.now(), 2_000);
    pass(monotonicMs, wallMs);
    assert.deepEqual([board.isTrusted(), board.trustLeftMs(5_000)], [true, 500]);
    pass(500);
    assert.equal(board.isTrusted(), false);
  });

test('where nobody else can own anything, trust has no end', () => {
  const { board, pass } = boards(OwnershipBoard.memory(2));
  pass(10 * 365 * 86_400_000);
  assert.deepEqual([board.isTrusted(), board.isHeld(1), board.trustLeftMs(5_000)], [true, true, 5_000]);
});

test('a partition that is lost is lost alone, until it is held again; all are lost for good', () => {
  const { board, other } = boards();
  board.trust(board.now(), 2_000);
  board.setHeld(1, false);
  assert.deepEqual([other.isHeld(0), other.isHeld(1)], [true, false]);
  board.setHeld(1, true);
  assert.equal(other.isHeld(1), true);
  board.loseAll();
  board.trust(board.now(), 2_000);
  assert.deepEqual([other.isTrusted(), other.isHeld(0), other.isHeld(1)], [true, false, false]);
});

test('what was told in an earlier term is old, also when the new one is trusted', () => {
  const { board, other, pass } = boards();
  assert.equal(other.isTrustedIn(0), false);
  board.trust(board.now(), 2_000);
  assert.equal(other.isTrustedIn(0), true);
  board.beginTerm(3);
  assert.deepEqual([other.isTrustedIn(0), other.isTrustedIn(3)], [false, true]);
  pass(2_000);
  assert.equal(other.isTrustedIn(3), false);
});

test('who owns a partition no longer is refused, with what it was lost by where that is known', () => {
  requireHeld(heldByLock(4));
  const lost = { epoch: 4, isHeld: () => false };
  const unknown = (error: unknown) => error instanceof JournalFailure && error.outcome === 'unknown';
  assert.throws(() => requireHeld(lost), /^JournalFailure: The owner of epoch 4 has lost the partition/);
  assert.throws(() => requireHeld(lost), unknown);
  assert.throws(() => requireHeld({ ...lost, lostBy: () => null }), unknown);
  const reason = new JournalFailure('epoch 5 has it', { diskFull: false, outcome: 'fenced' });
  assert.throws(
    () => requireHeld({ ...lost, lostBy: () => reason }),
    (error) => error === reason,
  );
});
