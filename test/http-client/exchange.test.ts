// Given what a receiver does on a connection, then this is the outcome, and the connection is kept or closed. The socket is one
// that goes nowhere; test/webhooks/attempt*.test.ts has real ones.

import assert from 'node:assert/strict';
import { Socket } from 'node:net';
import { test } from 'node:test';
import { Connection } from '../../src/http-client/connections.ts';
import { Exchange, type Exchanged } from '../../src/http-client/exchange.ts';

interface Given {
  readonly isUp?: boolean;
  readonly mayConnect?: boolean;
  readonly mayWrite?: boolean;
  /** Bytes of the request that are still to be sent. */
  readonly unsentBytes?: number;
}

function begin({ isUp = true, mayConnect = true, mayWrite = true, unsentBytes = 0 }: Given = {}) {
  const written: string[] = [];
  const exchanged: Exchanged[] = [];
  const socket = Object.assign(new Socket(), {
    write: (bytes: Buffer) => written.push(String(bytes)) > 0,
  });
  Object.defineProperty(socket, 'writableLength', { value: unsentBytes });
  const monotonic = () => 0;
  const connection = new Connection({
    socket,
    origin: 'http://shop.example',
    monotonic,
    idleMsMax: 5_000,
    nextTurn: () => 1,
    onClosed() {},
  });
  const exchange = new Exchange({
    connection,
    isUp,
    host: 'shop.example',
    mayConnectTo: () => mayConnect,
    mayWrite: () => mayWrite,
    request: Buffer.from('POST'),
    timeoutMs: 10_000,
    answerBytesMax: 10,
    done: (each) => exchanged.push(each),
    broken: (error) => assert.fail(String(error)),
  });
  exchange.start(10_000);
  return { exchange, connection, socket, written, exchanged };
}

type Begun = ReturnType<typeof begin>;
const says = (text: string) => (begun: Begun) => begun.connection.received(Buffer.from(text, 'latin1'));
const closes = ({ socket }: Begun) => void socket.destroy();
const ends = ({ socket }: Begun) => void socket.emit('end');
const fails = (code: string) => (begun: Begun) => {
  begun.socket.destroy(Object.assign(new Error('the system says so'), { code }));
};

const ok = 'HTTP/1.1 200 OK\r\n';
const whole = `${ok}Content-Length: 2\r\n\r\nok`;
const head = `${ok}Content-Length: 1000000\r\n\r\n`;
const readBytesMax = 256 * 1024;

type Row = readonly [name: string, given: Given, does: readonly ((begun: Begun) => void)[], then: string];
const rows: readonly Row[] = [
  ['answers', {}, [says(whole)], 'kept, 200 "ok"'],
  ['answers in pieces', {}, [...whole].map(says), 'kept, 200 "ok"'],
  ['answers before it has the request', { unsentBytes: 1 }, [says(whole)], 'closed, 200 "ok"'],
  ['answers more', {}, [says(`${whole}!`)], 'closed, 200 "ok"'],
  ['closes after the answer', {}, [says(`HTTP/1.0${whole.slice(8)}`)], 'closed, 200 "ok"'],
  [
    'keeps it for a second',
    {},
    [says(whole.replace('\r\n', '\r\nKeep-Alive: timeout=1\r\n'))],
    'closed, 200 "ok"',
  ],
  [
    'keeps it for longer',
    {},
    [says(whole.replace('\r\n', '\r\nKeep-Alive: timeout=2\r\n'))],
    'kept, 200 "ok"',
  ],
  ['has made something', {}, [says(whole.replace('200', '299'))], 'kept, 299 "ok"'],
  ['redirects', {}, [says(whole.replace('200', '300'))], 'kept, 300 "ok" redirect refused (300)'],
  ['redirects, too', {}, [says(whole.replace('200', '399'))], 'kept, 399 "ok" redirect refused (399)'],
  ['refuses', {}, [says(whole.replace('200', '400'))], 'kept, 400 "ok" answered 400'],
  ['ends the answer by the connection', {}, [says(`${ok}\r\nall`), ends], 'closed, 200 "all"'],
  [
    'ends the connection before that',
    {},
    [says(head), ends, closes],
    'closed, 200 "" connection closed within the answer',
  ],
  ['answers in another protocol', {}, [says('SSH')], 'closed, null "" answer is not HTTP (another protocol)'],
  [
    'goes on, once that is known',
    {},
    [says('SSH'), says(whole)],
    'closed, null "" answer is not HTTP (another protocol)',
  ],
  ['closes', {}, [closes], 'closed, null "" connection closed without an answer, unanswered'],
  ['resets', {}, [fails('ECONNRESET')], 'closed, null "" connection closed without an answer, unanswered'],
  ['does not read', {}, [fails('EPIPE')], 'closed, null "" connection closed without an answer, unanswered'],
  [
    'closes within the head',
    {},
    [says('HTTP'), closes],
    'closed, null "" connection closed without an answer',
  ],
  [
    'closes within the body',
    {},
    [says(`${head}ab`), closes],
    'closed, 200 "ab" connection closed within the answer',
  ],
  ['is not there', {}, [fails('ECONNREFUSED')], 'closed, null "" connection refused'],
  ['is too slow', {}, [({ exchange }) => exchange.late()], 'closed, null "" timed out after 10000 ms'],
  [
    'answers too late',
    {},
    [({ exchange }) => exchange.late(), says(whole)],
    'closed, null "" timed out after 10000 ms',
  ],
  ['answers too much', {}, [says(head + 'x'.repeat(readBytesMax - head.length))], 'closed, 200 "xxxxxxxxxx"'],
  ['answers nearly too much', {}, [says(head + 'x'.repeat(readBytesMax - head.length - 1))], 'open'],
  [
    'has nothing but interim answers',
    {},
    [says('HTTP/1.1 100 Continue\r\n\r\n'.repeat(250))],
    'closed, null "" too many interim answers',
  ],
  [
    'has many interim answers',
    {},
    [says(`${'HTTP/1.1 100 Continue\r\n\r\n'.repeat(249)}${whole}`)],
    'kept, 200 "ok"',
  ],
  [
    'answers in thousands of chunks',
    {},
    [says(`${ok}Transfer-Encoding: chunked\r\n\r\n${'1\r\nx\r\n'.repeat(3_745)}`)],
    'closed, 200 "xxxxxxxxxx"',
  ],
  [
    'answers in nearly as many',
    {},
    [says(`${ok}Transfer-Encoding: chunked\r\n\r\n${'1\r\nx\r\n'.repeat(3_744)}`)],
    'open',
  ],
  [
    'is somewhere else',
    { isUp: false, mayConnect: false },
    [({ exchange }) => exchange.connected()],
    'closed, null "" address not public: shop.example, nothing written',
  ],
  [
    'is not to have it any more',
    { mayWrite: false },
    [],
    'closed, null "" not sent: the right to send it was lost, nothing written',
  ],
];

for (const [name, given, does, then] of rows)
  test(`a receiver that ${name}`, async () => {
    const begun = begin(given);
    for (const act of does) act(begun);
    await new Promise((resolve) => setImmediate(resolve));
    const { connection, socket, written, exchanged } = begun;
    const [first, ...others] = exchanged;
    assert.deepEqual(others, [], 'it is told once');
    if (first === undefined) assert.equal(then, 'open');
    else {
      const { outcome, unanswered } = first;
      const { status, answer, failure } = outcome;
      const kept = connection.idleTurn === null ? 'closed' : 'kept';
      assert.equal(socket.destroyed, kept === 'closed');
      const told = [
        `${kept}, ${status} "${answer}"${failure === null ? '' : ` ${failure}`}`,
        ...(unanswered ? ['unanswered'] : []),
        ...(written.length === 0 ? ['nothing written'] : []),
      ].join(', ');
      assert.equal(told, then);
    }
    socket.destroy();
  });

test('a connection that is not up yet is written to when it is', () => {
  const { exchange, socket, written } = begin({ isUp: false });
  assert.deepEqual(written, []);
  exchange.connected();
  assert.deepEqual(written, ['POST']);
  socket.destroy();
});
