// Messages of the outbox as bytes: what arrives equals what was sent, whatever the texts, and what was sent before.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  type PackedOutbox,
  receivedByShard,
  receivedFromShard,
  sendFromShard,
  sendToShard,
} from '../../src/shard/packed-outbox.ts';
import type { OutboxBatch, OutboxMessage } from '../../src/shard/protocol.ts';

/** Hands a message over as a port does: the sender has its bytes no more. */
function port() {
  const arrived: PackedOutbox[] = [];
  return {
    arrived,
    postMessage: (message: PackedOutbox, transfer: ArrayBuffer[]) =>
      void arrived.push(structuredClone(message, { transfer })),
  };
}

const text = fc.string({ unit: 'grapheme', maxLength: 300 });
const orNull = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary);
/** Objects as the code makes them. */
const record = <T extends object>(fields: { [K in keyof T]: fc.Arbitrary<T[K]> }) =>
  fc.record(fields, { noNullPrototype: true }) as fc.Arbitrary<T>;
const count = fc.nat();
const times = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER });
const result = record({
  at_ms: times,
  duration_ms: count,
  status: orNull(fc.integer({ min: 100, max: 599 })),
  failure: orNull(text),
  answer: orNull(text),
});
const recorded = { endpoint: text, delivery: text, number: count };
const message = record({
  thread: count,
  open: fc.boolean(),
  reports: fc.array(record({ ...recorded, first: fc.boolean(), result })),
});
const secret = record({ sealed: text, expires_at_ms: orNull(times) });
const state = record({ org: text, url: text, secrets: fc.array(secret), enabled: fc.boolean() });
const batch = record({
  endpoints: fc.array(record({ id: text, state: orNull(state) })),
  complete: fc.boolean(),
  deliveries: fc.array(record({ id: text, endpoint: text, number: count, first: fc.boolean(), body: text })),
  recorded: fc.array(record(recorded)),
});

test('attempts arrive at the shard as they were reported', () => {
  fc.assert(
    fc.property(fc.array(message, { minLength: 1, maxLength: 3 }), (sent: OutboxMessage[]) => {
      const { arrived, ...to } = port();
      for (const each of sent) sendToShard(to, each);
      assert.deepEqual(arrived.map(receivedByShard), sent);
    }),
    { numRuns: 100 },
  );
});

test('leases and acknowledgements arrive at the webhook thread as they were given', () => {
  fc.assert(
    fc.property(fc.array(batch, { minLength: 1, maxLength: 3 }), (sent: OutboxBatch[]) => {
      const { arrived, ...to } = port();
      for (const each of sent) sendFromShard(to, each);
      assert.deepEqual(arrived.map(receivedFromShard), sent);
    }),
    { numRuns: 100 },
  );
});
