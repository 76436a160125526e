// The encoding of commit batches and records: what is decoded equals what was encoded, and damage is noticed.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { slotCount } from '../../src/core/slot.ts';
import { tagOf } from '../../src/disk/identity.ts';
import { causeKinds, causes } from '../../src/domain/cause.ts';
import type { Change } from '../../src/domain/record.ts';
import {
  checkedHeader,
  decodeBatch,
  encodeBatch,
  readBatchHeader,
  readResponse,
} from '../../src/journal/log/codec.ts';
import { encodeRecord, readRecord } from '../../src/journal/records/record-bytes.ts';
import {
  createEntry,
  customer,
  digest,
  identity,
  paymentIntent,
  paymentIntentCreated,
  startMs,
  tag,
  turnAt,
} from './journal-fixtures.ts';

const nullable = <T>(values: fc.Arbitrary<T>) => fc.option(values, { nil: null });
const text = fc.string({ unit: 'grapheme', maxLength: 40 });
const names = fc.oneof(text, fc.constantFrom('__proto__', 'constructor', 'toString', 'kind', 'metadata', ''));
const metadata = fc
  .array(fc.tuple(names, text), { maxLength: 8 })
  .map((pairs) => Object.fromEntries(pairs) as Record<string, string>);
const integer = fc.maxSafeInteger().map((value) => (value === 0 ? 0 : value));

const changes: fc.Arbitrary<Change> = fc.oneof(
  fc
    .record({
      amount: integer,
      created: integer,
      description: nullable(text),
      metadata,
      removed: fc.boolean(),
    })
    .map(({ removed, ...fields }) => paymentIntent(1, removed ? { ...fields, removed: true } : fields)),
  fc.record({ email: text, metadata }).map(({ email, metadata }) => ({ ...customer(2, email), metadata })),
);

const entries = fc.record({
  changes: fc.array(changes, { maxLength: 4 }),
  idempotency: nullable(
    fc.record({
      keyDigest: fc.uint8Array({ minLength: 16, maxLength: 16 }),
      fingerprint: fc.uint8Array({ minLength: 16, maxLength: 16 }),
      slot: fc.integer({ min: 0, max: slotCount - 1 }),
      status: fc.integer({ min: 200, max: 599 }),
      requestId: text,
      body: fc.uint8Array({ maxLength: 300 }),
      defaults: fc.oneof(fc.constant(''), text),
    }),
  ),
  cause: nullable(
    fc
      .record({ by: fc.constantFrom(...causeKinds), name: nullable(fc.string({ maxLength: 60 })) })
      .map(({ by, name }) => ({ by, name })),
  ),
});

test('a turn comes back as it was', () => {
  const sequences = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER - 1_000 });
  fc.assert(
    fc.property(fc.array(entries, { minLength: 1, maxLength: 100 }), sequences, (list, firstSequence) => {
      const { bytes, locations } = encodeBatch(
        { firstSequence, timeMs: startMs, wallMs: startMs + 5, entries: list },
        tag,
        7,
      );
      assert.deepEqual(checkedHeader(bytes, firstSequence, tag), readBatchHeader(bytes));
      const lastSequence = firstSequence + list.length - 1;
      assert.deepEqual(readBatchHeader(bytes), {
        firstSequence,
        lastSequence,
        timeMs: startMs,
        wallMs: startMs + 5,
        epoch: 7,
      });
      const decoded = decodeBatch(bytes);
      assert.equal(decoded.length, list.length);
      for (const [index, { changes, idempotency, cause }] of list.entries()) {
        const entry = decoded[index]!;
        const location = locations[index]!;
        assert.deepEqual([entry.sequence, entry.timeMs], [firstSequence + index, startMs]);
        assert.deepEqual(entry.changes, changes);
        assert.deepEqual(entry.cause, cause);
        if (idempotency === null) {
          assert.deepEqual([entry.idempotency, location], [null, null]);
          continue;
        }
        const { keyDigest, fingerprint, slot, ...answer } = idempotency;
        assert.deepEqual(entry.idempotency, { keyDigest, fingerprint, slot, usedAtMs: startMs, location });
        assert.deepEqual(readResponse(bytes, location.offset, keyDigest), answer);
      }
    }),
    { numRuns: 150, seed: 1 },
  );
});

test('a record of the checkpoint comes back as it was', () => {
  fc.assert(
    fc.property(changes, (record) => assert.deepEqual(readRecord(encodeRecord(record)), record)),
    { numRuns: 300, seed: 1 },
  );
});

test('a record of the checkpoint of which any bit has flipped is none, nor is anything else', () => {
  const encoded = encodeRecord(paymentIntent(1));
  for (const part of ['key', 'value'] as const) {
    for (let position = 0; position < encoded[part].length; position++) {
      const damaged = Buffer.from(encoded[part]);
      damaged[position]! ^= 0x10;
      assert.equal(readRecord({ ...encoded, [part]: damaged }), null, `byte ${position} of the ${part}`);
    }
  }
  for (const value of [Buffer.alloc(0), Buffer.alloc(4), Buffer.alloc(500), Buffer.from('{"kind":1}')])
    assert.equal(readRecord({ ...encoded, value }), null);
});

test('an event about the object that was answered does not hold it a second time, and comes back whole', () => {
  const intent = paymentIntent(1, { description: 'شكرا' });
  const event = paymentIntentCreated(intent);
  const { idempotency } = createEntry(1, true);
  const entry = (body: string) => ({
    changes: [intent, event],
    idempotency: { ...idempotency!, body },
    cause: causes.request,
  });
  const encoded = (body: string) =>
    encodeBatch({ firstSequence: 1, timeMs: startMs, wallMs: startMs, entries: [entry(body)] }, tag, 1).bytes;
  const [shared, apart] = [encoded(event.object_json), encoded(event.object_json.replace('1', '2'))];
  assert.ok(apart.length - shared.length > Buffer.byteLength(event.object_json) - 8);
  for (const bytes of [shared, apart]) assert.deepEqual(decodeBatch(bytes)[0]!.changes, [intent, event]);
});

test('any bit that flips is noticed', () => {
  const { bytes } = encodeBatch(turnAt(7, 3), tag, 1);
  for (let position = 0; position < bytes.length; position += position < 70 ? 1 : 37) {
    // A change of the three unused bytes of the header is not noticed.
    if (position >= 1 && position < 4) continue;
    const damaged = Buffer.from(bytes);
    damaged[position] = damaged[position]! ^ 0x10;
    assert.equal(typeof checkedHeader(damaged, 7, tag), 'string', `byte ${position}`);
  }
  for (const length of [0, 7, 61, 62, bytes.length - 1])
    assert.equal(typeof checkedHeader(bytes.subarray(0, length), 7, tag), 'string', `length ${length}`);
  assert.match(String(checkedHeader(bytes, 8, tag)), /first sequence is 7/);
  for (const other of [{ shard: 0 }, { generation: 1 }, { folder: 'f'.repeat(32) }])
    assert.match(String(checkedHeader(bytes, 7, tagOf({ ...identity, ...other }))), /of another shard/);
});

test('an answer is never read from outside the answers', () => {
  const turn = { firstSequence: 1, timeMs: startMs, wallMs: startMs, entries: [createEntry(1, true)] };
  const { bytes, locations } = encodeBatch(turn, tag, 1);
  assert.equal(readResponse(bytes, locations[0]!.offset, digest(1))?.status, 200);
  for (const offset of [1, bytes.length, 2 ** 40]) assert.equal(readResponse(bytes, offset, digest(1)), null);
});

test('an answer is read only if it is as it was written, and for its own key', () => {
  const { bytes, locations } = encodeBatch(turnAt(7, 3), tag, 1);
  const { offset } = locations[2]!;
  assert.equal(readResponse(bytes, offset, digest(9))?.status, 200);
  assert.equal(readResponse(bytes, offset, digest(7)), null);
  for (let position = 78 + bytes.readUInt32LE(40) + offset; position < bytes.length; position++) {
    const damaged = Buffer.from(bytes);
    damaged[position] = damaged[position]! ^ 0x10;
    assert.equal(readResponse(damaged, offset, digest(9)), null, `byte ${position}`);
  }
});

test('what was read does not hold on to the commit batch', () => {
  const { bytes } = encodeBatch(turnAt(1, 1), tag, 1);
  const [entry] = decodeBatch(bytes);
  const answer = readResponse(bytes, entry!.idempotency!.location.offset, digest(1))!;
  const body = Buffer.from(answer.body);
  bytes.fill(0);
  assert.deepEqual(entry!.idempotency!.keyDigest, digest(1));
  assert.deepEqual(Buffer.from(answer.body), body);
});

test('the digests in a network call outlive the bytes that they were read from', () => {
  const { org, livemode, created } = paymentIntent(1);
  const call: Change = {
    kind: 'network_call',
    id: 'op_1',
    org,
    livemode,
    created,
    action: 'open_card_page',
    payment_intent: 'pi_1',
    charge: null,
    refund: null,
    card_token: null,
    cash_number: null,
    return_url: null,
    accepted: false,
    request: {
      request_id: 'req_1',
      idempotency_key: 'key',
      key_digest: digest(1),
      fingerprint: digest(2),
      resolved_defaults: { payment_method_type: 'card' },
      language: 'en',
      api_version: '2026-11-01',
      member: null,
    },
  };
  const entries = [{ changes: [call], idempotency: null, cause: null }];
  const { bytes } = encodeBatch({ firstSequence: 1, timeMs: startMs, wallMs: startMs, entries }, tag, 1);
  const encoded = encodeRecord(call);
  const decoded = [decodeBatch(bytes)[0]!.changes[0], readRecord(encoded)];
  bytes.fill(0);
  encoded.value.fill(0);
  for (const change of decoded) {
    assert(change?.kind === 'network_call');
    const { key_digest, fingerprint } = change.request!;
    assert.deepEqual([...key_digest!, ...fingerprint!], [...digest(1), ...digest(2)]);
  }
});
