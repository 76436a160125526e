// The binary frames between edges and shards: what is read equals what was written, whatever the
// texts, the sizes and the number of frames.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  type AnswerFrame,
  AnswerWriter,
  type RequestFrame,
  RequestWriter,
  readAnswers,
  requestFlags,
  SpareBuffers,
} from '../../src/shard/frames.ts';
import { readRequests } from './read-requests.ts';

const request: RequestFrame = {
  correlation: 1,
  route: 3,
  flags: 2,
  language: 1,
  version: 255,
  org: 'org_1',
  requestId: 'req_1',
  id: 'pi_1',
  query: 'limit=3&created[gte]=5',
  idempotencyKey: 'key',
  member: '',
  body: Buffer.from('{"amount":1000}'),
};
const answer: Omit<AnswerFrame, 'body'> = {
  correlation: 1,
  status: 200,
  flags: 3,
  errorNumber: 0,
  limit: 600,
  remaining: 699,
  resetSeconds: 1,
  retryAfterSeconds: 0,
  originalRequest: 'req_1',
};

function passRequests(frames: readonly RequestFrame[], writer = new RequestWriter()): RequestFrame[] {
  for (const { correlation, ...frame } of frames) writer.put(correlation, frame);
  const read: RequestFrame[] = [];
  readRequests(writer.take(), (frame) => read.push(frame));
  return read;
}

function passedOn(frames: readonly RequestFrame[]): ArrayBuffer {
  const writer = new RequestWriter();
  for (const { correlation, ...frame } of frames) writer.put(correlation, frame);
  return writer.take();
}

function passAnswers(frames: readonly AnswerFrame[], asText: boolean): AnswerFrame[] {
  const writer = new AnswerWriter();
  for (const frame of frames)
    writer.put(frame.correlation, frame, frame, asText ? frame.body.toString('utf8') : frame.body);
  const read: AnswerFrame[] = [];
  readAnswers(writer.take(), (frame) => read.push(frame));
  return read;
}

const u32Max = 2 ** 32 - 1;
const requests: readonly (readonly [what: string, changes: Partial<RequestFrame>])[] = [
  ['an ordinary one', {}],
  [
    'nothing but a route',
    { org: '', requestId: '', id: '', query: '', idempotencyKey: '', body: Buffer.alloc(0) },
  ],
  ['the largest numbers', { correlation: u32Max, route: 255, flags: 255, language: 255, version: 255 }],
  [
    'Arabic, French and emoji',
    { id: 'مرحبا', query: 'é=ü', idempotencyKey: '🦁🦁', body: Buffer.from('"العربية"') },
  ],
  ['the longest key that can be sent', { idempotencyKey: 'k'.repeat(16 * 1024) }],
  ['a query of three-byte characters', { query: '€'.repeat(16 * 1024) }],
  ['a body as large as allowed', { body: Buffer.alloc(256 * 1024, 'x') }],
  ['a body that is no text', { body: Buffer.from([0, 255, 254, 0, 13, 10]) }],
];
for (const [what, changes] of requests) {
  test(`a request comes out as it was put in: ${what}`, () => {
    const frame = { ...request, ...changes };
    assert.deepEqual(passRequests([frame]), [frame]);
  });
}

const answers: readonly (readonly [what: string, changes: Partial<AnswerFrame>])[] = [
  ['an ordinary one', { body: Buffer.from('{"object":"account"}') }],
  ['an empty body', { body: Buffer.alloc(0), originalRequest: '' }],
  [
    'the largest numbers',
    { correlation: u32Max, status: 65_535, flags: 255, errorNumber: 255, limit: u32Max, remaining: u32Max },
  ],
  ['the longest waits', { resetSeconds: u32Max, retryAfterSeconds: u32Max }],
  ['Arabic, French and emoji', { body: Buffer.from('"العربية é 🦁"') }],
  ['a megabyte of three-byte characters', { body: Buffer.from('€'.repeat(350_000)) }],
];
for (const [what, changes] of answers) {
  for (const asText of [true, false]) {
    test(`an answer's ${asText ? 'text' : 'bytes'} come out as put in: ${what}`, () => {
      const frame: AnswerFrame = { ...answer, body: Buffer.alloc(0), ...changes };
      assert.deepEqual(passAnswers([frame], asText), [frame]);
    });
  }
}

test('frames of all sizes in one batch come out in order', () => {
  const texts = ['', 'é', 'x'.repeat(100), '€'.repeat(40_000), 'y'];
  const frames = Array.from({ length: 1_000 }, (_, i) => ({
    ...request,
    correlation: i,
    query: texts[i % 4]!.slice(0, 10_000),
    body: Buffer.from(texts[(i * 7) % 5]!),
  }));
  assert.deepEqual(passRequests(frames), frames);
});

test('any frames at all come out as they were put in', () => {
  const text = fc.string({ unit: 'grapheme', maxLength: 300 });
  const byte = fc.nat(255);
  const parts = {
    correlation: fc.nat(u32Max),
    route: byte,
    flags: byte,
    language: byte,
    version: byte,
    org: text,
    requestId: text,
    id: text,
    query: text,
    idempotencyKey: text,
    member: text,
    body: fc.uint8Array({ maxLength: 5_000 }).map((bytes) => Buffer.from(bytes)),
  };
  const frame = fc.record(parts, { noNullPrototype: true }).map((each) => ({
    ...each,
    member: (each.flags & requestFlags.byMember) === 0 ? '' : each.member,
  }));
  fc.assert(
    fc.property(fc.array(frame, { minLength: 1, maxLength: 20 }), (frames) => {
      assert.deepEqual(passRequests(frames), frames);
    }),
    { numRuns: 100 },
  );
});

test('a writer starts afresh after each batch, also after one that had to grow', () => {
  const writer = new RequestWriter();
  assert.equal(writer.empty, true);
  const large = { ...request, body: Buffer.alloc(3_000_000, 'x') };
  assert.deepEqual(passRequests([request, large, request], writer), [request, large, request]);
  assert.equal(writer.empty, true);
  assert.deepEqual(passRequests([request], writer), [request]);
});

test('a batch is written into the buffer of one that was read', () => {
  const spare = new SpareBuffers();
  const writer = new AnswerWriter(spare);
  const asked = passedOn([request]);
  spare.give(asked);
  writer.put(answer.correlation, answer, answer, 'a body');
  const batch = writer.take();
  assert.equal(batch, asked);
  const read: AnswerFrame[] = [];
  readAnswers(batch, (frame) => read.push(frame));
  assert.deepEqual(read, [{ ...answer, body: Buffer.from('a body') }]);
  writer.put(answer.correlation, answer, answer, 'another');
  assert.notEqual(writer.take(), asked, 'it was handed out');
});

test('a spare buffer that is too small makes room for larger ones', () => {
  const spare = new SpareBuffers();
  const writer = new RequestWriter(spare);
  const large = { ...request, body: Buffer.alloc(50_000, 'x') };
  const [small, wide] = [passedOn([request]), passedOn([large])];
  spare.give(wide);
  spare.give(small);
  writer.put(1, large);
  assert.equal(writer.take(), wide);
  writer.put(1, request);
  assert.notEqual(writer.take(), small);
});

test('a few spare buffers are kept, those given last go first, and none is large', () => {
  const mib = 1024 * 1024;
  const given = Array.from({ length: 9 }, () => new ArrayBuffer(mib));
  const spare = new SpareBuffers();
  for (const buffer of given) spare.give(buffer);
  spare.give(new ArrayBuffer(mib + 1));
  const taken = Array.from({ length: 8 }, () => spare.take(mib).buffer);
  assert.deepEqual(
    taken.map((buffer) => given.indexOf(buffer)),
    [7, 6, 5, 4, 3, 2, 1, 0],
  );
  assert.equal(given.includes(spare.take(1).buffer), false, 'there are no more');
});

test('frames lie in a buffer as the head of the source says', () => {
  const ofRequest = new RequestWriter();
  ofRequest.put(0x01020304, { ...request, org: 'o', requestId: 'r', id: '', query: 'é', idempotencyKey: '' });
  const ofAnswer = new AnswerWriter();
  const fields = { ...answer, limit: 600, remaining: 0x0a0b, resetSeconds: 5, retryAfterSeconds: 6 };
  ofAnswer.put(2, fields, { ...fields, originalRequest: 'x' }, 'b');
  const hexOf = (writer: RequestWriter | AnswerWriter) => {
    const used = writer.bytes;
    return Buffer.from(writer.take()).toString('hex', 0, used);
  };
  const body = request.body.toString('hex');
  const texts = '01006f' + '010072' + '0000' + '0200c3a9' + '0000';
  assert.equal(hexOf(ofRequest), `${'31000000' + '01000000'}2900000004030201030201ff${texts}${body}`);
  const numbers = '58020000' + '0b0a0000' + '05000000' + '06000000';
  assert.equal(hexOf(ofAnswer), `${'28000000' + '01000000'}2000000002000000c8000300${numbers}01007862`);
});

test('one huge batch does not make all later ones huge', () => {
  const spare = new SpareBuffers();
  const writer = new RequestWriter(spare);
  writer.put(1, { ...request, body: Buffer.alloc(30_000_000) });
  spare.give(writer.take());
  writer.put(1, request);
  assert.ok(writer.take().byteLength <= 16 * 1024);
});

test('a batch can be handed over: it owns all of its memory', () => {
  const writer = new RequestWriter();
  writer.put(1, request);
  const batch = writer.take();
  const moved = structuredClone(batch, { transfer: [batch] });
  assert.equal(batch.byteLength, 0);
  const read: RequestFrame[] = [];
  readRequests(moved, (frame) => read.push(frame));
  assert.deepEqual(read, [request]);
});
