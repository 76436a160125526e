// An exchange in front of a connection that takes as much as the test says: what is held for it, since when it is stuck, and who
// is told of a failure.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { Exchange } from '../../src/edge/http/exchange.ts';
import { HeldBytes } from '../../src/edge/http/held-bytes.ts';
import { partBytes, WholeWriter } from '../../src/edge/http/write-answer.ts';

function opened(bytesMax = 1 << 30) {
  const held = new HeldBytes(bytesMax);
  const connection = { taken: 0, takesParts: 0, isClosed: false, onWritable: () => true };
  const response = {
    onAborted() {},
    cork: (write: () => void) => write(),
    writeStatus(): object {
      return this;
    },
    write: () => connection.takesParts-- > 0,
    getWriteOffset: () => connection.taken,
    tryEnd: () => [false, false],
    onWritable(listener: () => boolean) {
      connection.onWritable = listener;
    },
    close() {
      connection.isClosed = true;
    },
  };
  const exchange = new Exchange(
    response as never,
    {
      open: new Set(),
      commonHeaders: '',
      lastAnswers: false,
      closing: false,
      held,
      bodies: new HeldBytes(1 << 30),
      whole: new WholeWriter(),
      parsing: false,
      onFailed() {},
    },
    'req_1',
  );
  return { exchange, held, connection };
}

test('an answer of one part always has room, a larger one only while there is some', () => {
  const { exchange, held } = opened(100);
  held.set({ holder: 'org_other' }, 100);
  assert.equal(exchange.hasRoomFor(partBytes), true);
  assert.equal(exchange.hasRoomFor(partBytes + 1), false);
});

test('of a piece only what the connection has not taken is held', async () => {
  const { exchange, held, connection } = opened();
  exchange.begin(200, '');
  connection.takesParts = 1;
  const written = exchange.write('x'.repeat(2.5 * partBytes));
  assert.equal(held.bytes, 1.5 * partBytes);
  connection.takesParts = 2;
  connection.onWritable();
  await written;
  assert.equal(held.bytes, 0);
});

test('a client is stuck that has not taken 256 KiB since, however often it takes a little', () => {
  const { exchange, connection } = opened();
  exchange.answer(200, '', Buffer.alloc(1024 * 1024));
  /** A moment after what was before. */
  const later = () => {
    const before = performance.now();
    while (performance.now() <= before);
    return performance.now();
  };
  const take = (bytes: number) => {
    connection.taken += bytes;
    connection.onWritable();
  };
  let mark = later();
  take(256 * 1024 - 1);
  assert.equal(exchange.isStuckSince(mark), true);
  take(1);
  assert.equal(exchange.isStuckSince(mark), false);
  mark = later();
  take(256 * 1024 - 1);
  assert.equal(exchange.isStuckSince(mark), true);
});

test('a failure is told in an answer that has not begun; the connection of one that has is cut', async () => {
  for (const hasBegun of [false, true]) {
    const { exchange, connection } = opened();
    let told = 0;
    exchange.trouble = { onTrouble: () => told++ };
    if (hasBegun) exchange.begin(200, '');
    exchange.failed(new Error('a bug'));
    await turn();
    assert.deepEqual([told, connection.isClosed], [hasBegun ? 0 : 1, true]);
  }
});
