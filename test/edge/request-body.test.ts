// The pieces of a body: which bodies are put together, and which are not read to their end.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { bodyPieceBytesMin, bodyPiecesFree } from '../../src/contract/limits.ts';
import type { Exchange } from '../../src/edge/http/exchange.ts';
import { RequestBody, readBody, takeBody } from '../../src/edge/http/request-body.ts';

const bytesMax = 20_000;

/** The result of the pieces: the body as text, the reason why it is refused, or null when more must come. */
function read(pieces: readonly string[], options: { isChunked?: boolean; isWhole?: boolean } = {}) {
  const { isChunked = false, isWhole = true } = options;
  const body = new RequestBody(bytesMax, isChunked);
  for (const [i, piece] of pieces.entries()) {
    const bytes = Uint8Array.from(Buffer.from(piece, 'latin1'));
    const result = body.add(bytes.buffer, isWhole && i === pieces.length - 1);
    // uWebSockets.js takes the piece back.
    bytes.fill(0);
    if (result !== null) return 'code' in result ? result.message : result.toString('latin1');
  }
  return null;
}

test('pieces of any size make the body', () => {
  const pieces = fc.array(fc.string({ unit: 'binary-ascii', maxLength: 100 }), {
    minLength: 1,
    maxLength: 200,
  });
  fc.assert(
    fc.property(pieces, (texts) => {
      assert.equal(read(texts), texts.join(''));
    }),
  );
});

const tooLarge = 'invalid_request.body_too_large';
const tooSmall = 'invalid_request.pieces_too_small';
const extension = 'invalid_request.chunk_extension';
const more = bodyPiecesFree + 1;
const half = 'x'.repeat(bytesMax / 2);

const cases: readonly (readonly [
  what: string,
  pieces: readonly string[],
  result: string | null | undefined,
])[] = [
  ['as much as there may be', [half, half], half + half],
  ['a byte more, as one', [`${half}${half}x`], tooLarge],
  ['a byte more, in the end', [half, half, 'x'], tooLarge],
  ['small pieces, as many as are free', Array(bodyPiecesFree).fill('x'), 'x'.repeat(bodyPiecesFree)],
  ['a small piece more', Array(more).fill('x'), tooSmall],
  ['empty pieces', Array(more).fill(''), tooSmall],
  [
    'small pieces behind a large one',
    ['x'.repeat(more * bodyPieceBytesMin), ...Array(bodyPiecesFree).fill('')],
    'x'.repeat(more * bodyPieceBytesMin),
  ],
  [
    'pieces that are just large enough',
    Array(more).fill('x'.repeat(bodyPieceBytesMin)),
    'x'.repeat(more * bodyPieceBytesMin),
  ],
  ['pieces that are just too small', Array(more).fill('x'.repeat(bodyPieceBytesMin - 1)), tooSmall],
];
for (const [what, pieces, result] of cases) {
  test(`${what}: ${result?.slice(0, 40)}`, () => assert.equal(read(pieces), result));
}

const longExtension = `\r\n0;${'a'.repeat(200)}\r\n\r\n`;
for (const end of ['\r\n0\r\n\r\n', '\r\n0;a=b\r\n\r\n', longExtension, '\r\n000\r\n\r\n']) {
  test(`the end of the chunks within a chunk (${JSON.stringify(end)}) shows that an extension was misread`, () => {
    const pieces = ['{"name":', `"x"}${end}`];
    assert.equal(read(pieces, { isChunked: true, isWhole: false }), extension);
    assert.equal(read([...pieces[0]!, ...pieces[1]!], { isChunked: true, isWhole: false }), extension);
    assert.equal(read(pieces, { isWhole: false }), null);
    assert.equal(read(pieces, { isChunked: true }), pieces.join(''));
  });
}

test('text with line breaks is no end of chunks', () => {
  for (const text of ['{\r\n\r\n', '{\r\n"a":0\r\n\r\n', '{\r\n0\r\n', '0\r\n\r\n', '\r\n0,\r\n\r\n']) {
    assert.equal(read([text], { isChunked: true, isWhole: false }), null);
  }
});

test('a buffer that became too small is wiped', (context) => {
  const { mock } = context.mock.method(Buffer, 'allocUnsafe');
  const body = new RequestBody(bytesMax, false);
  for (let i = 0; i < 3; i++) body.add(new Uint8Array(1_000).fill(7).buffer, i === 2);
  const buffers = mock.calls.map(({ result }) => result!);
  assert.ok(buffers.length > 1);
  for (const [i, buffer] of buffers.entries())
    assert.equal(buffer.includes(7), i === buffers.length - 1, `buffer ${i}`);
});

/** An exchange whose body comes when the test says so. */
function exchanged(isChunked: boolean) {
  const exchange = {
    isOpen: true,
    isChunked,
    handler: null,
    piece: null as ((piece: ArrayBuffer, isLast: boolean) => void) | null,
    onPiece(take: (piece: ArrayBuffer, isLast: boolean) => void) {
      exchange.piece = take;
    },
    holdBody: () => true,
    guard: (step: () => void) => step(),
  };
  return { exchange, asExchange: exchange as unknown as Exchange };
}
const bytesOf = (text: string) => Uint8Array.from(Buffer.from(text)).buffer;

test('a body in chunks is taken when the parser has found no fault behind it, any other one at once', async () => {
  for (const [isChunked, isAborted] of [
    [false, false],
    [true, false],
    [true, true],
  ] as const) {
    const { exchange, asExchange } = exchanged(isChunked);
    const bodies: string[] = [];
    readBody(asExchange, bytesMax, (body) => bodies.push(String(body)));
    exchange.piece!(bytesOf('{}'), true);
    assert.deepEqual(bodies, isChunked ? [] : ['{}']);
    exchange.isOpen = !isAborted;
    await turn();
    assert.deepEqual(bodies, isAborted ? [] : ['{}']);
  }
});

test('the body of a GET is not waited for', () => {
  const { exchange, asExchange } = exchanged(false);
  const bodies: string[] = [];
  const take = (body: Buffer) => bodies.push(String(body));
  const taker = { bytesMax, take, refuse: () => assert.fail() };
  takeBody(asExchange, { method: 'GET', hasBody: true, bodyBytes: 2 }, taker);
  assert.deepEqual([bodies, exchange.piece], [[''], null]);
  takeBody(asExchange, { method: 'POST', hasBody: true, bodyBytes: 2 }, taker);
  exchange.piece!(bytesOf('{}'), true);
  assert.deepEqual(bodies, ['', '{}']);
});
