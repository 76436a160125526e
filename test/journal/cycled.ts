// Entries that go round 2,000 payment intents, so that a checkpoint's file is written all over: each gives one of them the amount
// of its sequence, and by turns one status and the other.

import assert from 'node:assert/strict';
import { fieldIndex, scopeOf } from '../../src/domain/indexes.ts';
import type { PaymentIntentRecord } from '../../src/domain/record.ts';
import type { Journal } from '../../src/journal/journal.ts';
import { cycledChange, paymentIntent, startMs, upTo } from './journal-fixtures.ts';

/** Appends entries that change one of 2,000 payment intents each; the amount is the sequence. */
export async function appendCycled({ log }: Journal, entries: number): Promise<number> {
  const last = log.nextSequence + entries - 1;
  let durable = Promise.resolve();
  while (log.nextSequence <= last) {
    const firstSequence = log.nextSequence;
    const sequences = upTo(Math.min(last, firstSequence + 39), firstSequence);
    const changed = sequences.map((sequence) => ({
      changes: [cycledChange(sequence)],
      idempotency: null,
      cause: null,
    }));
    durable = log.append({ firstSequence, timeMs: startMs, wallMs: startMs, entries: changed }).durable;
  }
  await durable;
  return last;
}

/** The newest sequence up to `sequence` that changed the payment intent. */
export function newestOf(number: number, sequence: number): number {
  const cycles = Math.floor((sequence - number) / 2_000);
  return number + cycles * 2_000;
}

export function storedAmount({ checkpoint }: Journal, number: number): number | undefined {
  return (checkpoint.get(paymentIntent(number).id) as PaymentIntentRecord | undefined)?.amount;
}

/** The checkpoint is what it was written to be: every record, and the index beside it. */
export function assertReflects(journal: Journal, sequence: number): void {
  assert.equal(journal.checkpoint.sequence, sequence);
  const expected = { succeeded: [] as string[], requires_payment_method: [] as string[] };
  for (const number of upTo(1_999, 0)) {
    const newest = newestOf(number, sequence);
    if (newest < 1) continue;
    assert.equal(storedAmount(journal, number), newest);
    const { id, status } = cycledChange(newest);
    expected[status as keyof typeof expected].push(id);
  }
  const scope = scopeOf(paymentIntent(1).org, false);
  for (const [status, ids] of Object.entries(expected)) {
    const index = fieldIndex('payment_intent', scope, 'status', status);
    assert.deepEqual([...journal.checkpoint.scan(index, { descending: false })], ids);
    assert.deepEqual([...journal.checkpoint.scan(index, { descending: true })], ids.toReversed());
  }
}
