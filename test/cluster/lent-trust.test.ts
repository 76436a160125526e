import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TrustBorrower, TrustLender } from '../../src/cluster/lent-trust.ts';
import { OwnershipBoard } from '../../src/journal/ownership.ts';

const trustMs = 2_000;

/** A node's board, with clocks that run only when somebody says so. */
function machine(monotonicMs: number, wallMs = 1_000_000) {
  const clock = { monotonicMs, wallMs };
  const clocks = { monotonic: () => clock.monotonicMs, wall: () => clock.wallMs };
  const board = new OwnershipBoard(OwnershipBoard.untrusted(2), clocks);
  const pass = (ms: number) => {
    clock.monotonicMs += ms;
    clock.wallMs += ms;
  };
  return { board, clock, pass };
}

test('a lender grants what it has left itself, and nothing once it may not believe itself', () => {
  const { board, pass } = machine(500);
  const lender = new TrustLender(board, trustMs);
  assert.equal(lender.grant(), 0);
  board.trust(board.now(), 1_500);
  assert.equal(lender.grant(), 1_500);
  pass(400);
  assert.equal(lender.grant(), 1_100);
  board.trust(board.now(), 60_000);
  assert.equal(lender.grant(), trustMs, 'never more than is lent at once');
  pass(60_000);
  assert.equal(lender.grant(), 0);
});

test('what was lent is over a twentieth later than the last that was granted', () => {
  const { board, pass } = machine(500);
  const lender = new TrustLender(board, trustMs);
  assert.equal(lender.overInMs, 100, 'nothing was granted');
  board.trust(board.now(), 1_500);
  lender.grant();
  assert.equal(lender.overInMs, 1_600);
  pass(600);
  assert.equal(lender.overInMs, 1_000);
  // What is granted later and is less takes nothing back.
  board.trust(board.now(), 300);
  lender.grant();
  assert.equal(lender.overInMs, 1_000);
  pass(5_000);
  assert.equal(lender.overInMs, 100);
});

test('a borrower believes itself from when it sent the beat', () => {
  const { board, pass } = machine(77);
  const borrower = new TrustBorrower(board, trustMs);
  borrower.begin(3);
  const sent = borrower.beat();
  pass(300);
  assert.equal(board.isTrusted(), false, 'nothing was granted yet');
  borrower.granted(sent, 1_000);
  pass(699);
  assert.equal(board.isTrusted(), true);
  pass(1);
  assert.equal(board.isTrusted(), false);
});

test('a borrower believes no grant for longer than it is set to', () => {
  const { board, pass } = machine(77);
  const borrower = new TrustBorrower(board, trustMs);
  borrower.begin(3);
  borrower.granted(borrower.beat(), 60_000);
  pass(trustMs - 1);
  assert.equal(board.isTrusted(), true);
  pass(1);
  assert.equal(board.isTrusted(), false);
});

test('an earlier holder of the lease takes no borrower from a later one, until the link is lost', () => {
  const { board } = machine(0);
  const borrower = new TrustBorrower(board, trustMs);
  assert.equal(borrower.accepts(1), true);
  borrower.begin(5);
  assert.deepEqual(
    [4, 5, 6].map((epoch) => borrower.accepts(epoch)),
    [false, true, true],
  );
  borrower.lost();
  assert.equal(borrower.accepts(4), true);
});

test('trust that is lent over the next link is not for what the lost one had lent', () => {
  const { board } = machine(0);
  const borrower = new TrustBorrower(board, trustMs);
  borrower.begin(5);
  borrower.granted(borrower.beat(), trustMs);
  board.setHeld(0, true);
  const { term } = borrower;
  assert.deepEqual([board.isHeld(0), board.isTrustedIn(term)], [true, true]);
  borrower.lost();
  assert.equal(board.isHeld(0), false);
  borrower.begin(6);
  borrower.granted(borrower.beat(), trustMs);
  assert.deepEqual([board.isHeld(0), board.isTrustedIn(term)], [false, false]);
  assert.equal(borrower.term, term + 1);
});
