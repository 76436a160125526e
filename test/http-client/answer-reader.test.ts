// Given the bytes of an answer, however they are cut, when they are read, then this is the answer, or why it is none.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AnswerFault, AnswerReader } from '../../src/http-client/answer-reader.ts';

interface Read {
  readonly status: number | null;
  readonly body: string;
  readonly isWhole: boolean;
  readonly isLast: boolean;
  readonly isSpoiled: boolean;
  readonly keepAlive: string;
}

/** Reads pieces, and the end of the connection if it `ends`. */
function read(pieces: readonly Buffer[], ends: boolean, keptBytesMax = 1024): Read | string {
  const reader = new AnswerReader(keptBytesMax);
  try {
    for (const piece of pieces) reader.take(piece);
  } catch (error) {
    if (error instanceof AnswerFault) return error.message;
    throw error;
  }
  if (ends) reader.end();
  const { status, body, isWhole, isLast, isSpoiled, keepAlive } = reader;
  return { status, body, isWhole, isLast, isSpoiled, keepAlive };
}

/** All at once, byte by byte, and in two at every place. */
function waysToCut(bytes: Buffer): Buffer[][] {
  const inTwo = Array.from({ length: bytes.length }, (_, at) => [bytes.subarray(0, at), bytes.subarray(at)]);
  return [[bytes], Array.from(bytes, (byte) => Buffer.of(byte)), ...inTwo];
}

const kept = { status: 200, isWhole: true, isLast: false, isSpoiled: false, keepAlive: '' };
const untilClose = { ...kept, isLast: true };
const chunked = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';

const answers: [string, string, Partial<Read>][] = [
  ['a length', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello', { ...kept, body: 'hello' }],
  ['no reason, and headers in other cases', 'HTTP/1.1 200\r\ncontent-LENGTH:2 \t\r\n\r\nok', { body: 'ok' }],
  [
    'a length of nothing',
    'HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n',
    { ...kept, status: 500, body: '' },
  ],
  ['a status without a body', 'HTTP/1.1 204 No Content\r\n\r\n', { ...kept, status: 204, body: '' }],
  [
    'no body although it has a length',
    'HTTP/1.1 304 X\r\nContent-Length: 9\r\n\r\n',
    { status: 304, isWhole: true },
  ],
  ['a body up to the end', 'HTTP/1.1 200 OK\r\n\r\nall of it', { ...untilClose, body: 'all of it' }],
  [
    'a body that is cut',
    'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf',
    { body: 'half', isWhole: false },
  ],
  ['a head that is cut', 'HTTP/1.1 200 OK\r\nContent-Le', { status: null, isWhole: false }],
  ['chunks', `${chunked}5\r\nhello\r\n6;name="x"\r\n world\r\n0\r\n\r\n`, { ...kept, body: 'hello world' }],
  [
    'chunks and trailers',
    `${chunked}A\r\n0123456789\r\n0\r\nX-Sum: 1\r\nY: 2\r\n\r\n`,
    { ...kept, body: '0123456789' },
  ],
  ['chunks that are cut', `${chunked}5\r\nhel`, { body: 'hel', isWhole: false }],
  [
    'chunks of another coding',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nz\r\n0\r\n\r\n',
    { ...kept, body: 'z' },
  ],
  [
    'a coding without chunks',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nz',
    { ...untilClose, body: 'z' },
  ],
  [
    'interim answers before it',
    `${'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'.repeat(3)}HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Made\r\nContent-Length: 1\r\n\r\n1`,
    { ...kept, status: 201, body: '1' },
  ],
  ['an interim answer alone', 'HTTP/1.1 100 Continue\r\n\r\n', { status: null, isWhole: false }],
  ['an older protocol', 'HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\n1', { ...untilClose, body: '1' }],
  [
    'a connection that closes',
    'HTTP/1.1 200 OK\r\nConnection: x, Close\r\nContent-Length: 1\r\n\r\n1',
    { ...untilClose, body: '1' },
  ],
  [
    'Keep-Alive twice',
    'HTTP/1.1 200 OK\r\nKeep-Alive: max=1\r\nKeep-Alive: timeout=5\r\nContent-Length: 0\r\n\r\n',
    { ...kept, body: '', keepAlive: 'max=1, timeout=5' },
  ],
  [
    'bytes behind it',
    'HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n1more',
    { ...kept, body: '1', isSpoiled: true },
  ],
  ['bytes behind chunks', `${chunked}0\r\n\r\nH`, { ...kept, body: '', isSpoiled: true }],
];
for (const [name, text, expected] of answers) {
  test(`${name}: it is read, however it is cut`, () => {
    for (const pieces of waysToCut(Buffer.from(text, 'latin1'))) {
      const found = read(pieces, true);
      assert.ok(typeof found !== 'string', `refused: ${found}`);
      assert.partialDeepStrictEqual(found, expected);
    }
  });
}

const ok = 'HTTP/1.1 200 OK\r\n';
const refused: [string, string, string][] = [
  ['another protocol', 'SSH-2.0', 'another protocol'],
  ['a newer protocol', 'HTTP/2.0 200 OK\r\n\r\n', 'another protocol'],
  ['a line before the head', `\r\n${ok}\r\n`, 'another protocol'],
  ['another protocol by agreement', 'HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n', 'another protocol'],
  ['a status of four digits', 'HTTP/1.1 2000 OK\r\n\r\n', 'status line'],
  ['a status of none', 'HTTP/1.1 OK\r\n\r\n', 'status line'],
  ['a control character in the reason', 'HTTP/1.1 200 O\x00K\r\n\r\n', 'status line'],
  ['a header without a colon', `${ok}Content-Length\r\n\r\n`, 'header'],
  ['a space before the colon', `${ok}Content-Length : 1\r\n\r\n`, 'header'],
  ['a folded header', `${ok}X: 1\r\n 2\r\n\r\n`, 'header'],
  ['a line feed alone', `${ok}X: 1\nY: 2\r\n\r\n`, 'header'],
  ['two lengths', `${ok}Content-Length: 1\r\nContent-Length: 1\r\n\r\n1`, 'two lengths'],
  ['a length and chunks', `${ok}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n1`, 'two lengths'],
  ['a length below zero', `${ok}Content-Length: -1\r\n\r\n`, 'length'],
  ['a length that is no number', `${ok}Content-Length: 0x1\r\n\r\n`, 'length'],
  ['a length without end', `${ok}Content-Length: ${'9'.repeat(16)}\r\n\r\n`, 'length'],
  ['a chunk without a size', `${chunked};\r\n`, 'chunk'],
  ['a size below zero', `${chunked}-1\r\n`, 'chunk'],
  ['a size without end', `${chunked}${'f'.repeat(13)}\r\n`, 'chunk'],
  ['a chunk that is longer than it says', `${chunked}1\r\n12\r\n`, 'chunk'],
  ['a chunk line with a line feed alone', `${chunked}1\n1\r\n`, 'line'],
  ['a chunk line without end', `${chunked}1;${'x'.repeat(2_000)}`, 'line'],
  ['a trailer without a colon', `${chunked}0\r\nx\r\n\r\n`, 'header'],
];
for (const [name, text, why] of refused) {
  test(`${name}: it is refused, however it is cut`, () => {
    for (const pieces of waysToCut(Buffer.from(text, 'latin1')))
      assert.equal(read(pieces, false), `answer is not HTTP (${why})`);
  });
}

test('a head and trailers have an end', () => {
  const large = 'answer headers too large';
  assert.equal(read([Buffer.from(`${ok}X: ${'x'.repeat(17_000)}`)], false), large);
  const drips = Array.from({ length: 40 }, () => Buffer.from(`X: ${'x'.repeat(500)}\r\n`));
  assert.equal(read([Buffer.from(ok), ...drips], false), large);
  assert.equal(read([Buffer.from(`${chunked}0\r\n`), ...drips], false), large);
});

test('a head is as long as it may be, however it is cut', () => {
  const [begin, end] = ['HTTP/1.1 204 No Content\r\nX: ', '\r\n\r\n'];
  const text = begin + 'x'.repeat(16 * 1024 + 1 - begin.length - end.length) + end;
  const bytes = Buffer.from(text);
  const cut = [bytes.subarray(0, -1), bytes.subarray(-1)];
  for (const pieces of [[bytes], cut])
    assert.deepEqual(read(pieces, false), { ...kept, status: 204, body: '' });
  const longer = Buffer.from(text.replace(begin, `${begin}x`));
  assert.equal(read([longer], false), 'answer headers too large');
});

test('a chunk line and trailers are as long as they may be, and no longer', () => {
  const after = (line: string, ...trailers: string[]) =>
    read([Buffer.from(`${chunked}${line}\r\n1\r\n0\r\n${trailers.join('\r\n')}\r\n\r\n`)], false);
  const longest = `1;${'x'.repeat(1_024 - '1;\r'.length)}`;
  const trailers = [...Array.from({ length: 16 }, () => `X:${'x'.repeat(1_000)}`), `X:${'x'.repeat(350)}`];
  assert.equal(trailers.join('').length, 16 * 1_024);
  const whole = after('1', 'X:x');
  assert.equal(typeof whole, 'object');
  assert.deepEqual(after(longest, 'X:x'), whole);
  assert.equal(after(`${longest}x`, 'X:x'), 'answer is not HTTP (line)');
  assert.deepEqual(after('1', ...trailers), whole);
  assert.equal(after('1', ...trailers, 'X:'), 'answer headers too large');
});

test('a line that is no header is known as such in one pass, however many spaces it has', () => {
  const before = process.cpuUsage();
  for (let i = 0; i < 20; i++)
    assert.equal(
      read([Buffer.from(`${ok}X:${' '.repeat(16_000)}\u0001\r\n\r\n`)], false),
      'answer is not HTTP (header)',
    );
  assert.ok(process.cpuUsage(before).user < 2_000_000);
});

test('the beginning of a body is kept, without half a character', () => {
  const bytes = Buffer.from(`${ok}Content-Length: 2001\r\n\r\n.${'é'.repeat(1_000)}`);
  for (const pieces of waysToCut(bytes)) {
    for (const [keptBytesMax, body] of [
      [10, '.éééé'],
      [11, '.ééééé'],
    ] as const) {
      const found = read(pieces, false, keptBytesMax);
      assert.ok(typeof found !== 'string');
      assert.deepEqual([found.body, found.isWhole], [body, true]);
    }
  }
});

test('of a body that came whole nothing is left out, also where it is no text', () => {
  const bodyOf = (length: number) => {
    const found = read([Buffer.from(`${ok}Content-Length: ${length}\r\n\r\né`), Buffer.of(0xc3)], false, 10);
    assert.ok(typeof found !== 'string');
    return found.body;
  };
  assert.equal(bodyOf(3), 'é\ufffd');
  assert.equal(bodyOf(4), 'é', 'the rest of the character is on its way');
});
