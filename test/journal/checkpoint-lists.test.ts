// The lists of a checkpoint: the newest keys of an index stay in memory, and are right whoever reads and writes meanwhile.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Table } from '../../src/disk/environment.ts';
import { IndexTable } from '../../src/journal/checkpoint/index-table.ts';
import { openJournal } from '../../src/journal/open-journal.ts';
import { inspectJournal } from '../../src/journal/stopped-journal.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import {
  appendTurns,
  customer,
  identity,
  indexRowsOf,
  paymentIntent,
  startMs,
  upTo,
} from './journal-fixtures.ts';

const index = 'payment_intent';
const idOf = (number: number) => paymentIntent(number).id;

const optionsOf = (dir: string) => ({
  dir,
  identity,
  indexRowsOf,
  mapSizes: { log: 1 << 24, state: 1 << 24 },
});

async function written(context: TestContext, entries: number) {
  const journal = await openJournal(optionsOf(temporaryFolder(context)));
  context.after(() => journal.close());
  const write = async (count: number) => {
    for (let left = count; left > 0; left -= 200) await appendTurns(journal, [Math.min(left, 200)]);
    await journal.checkpointer.write(journal.log.nextSequence - 1);
  };
  await write(entries);
  return { checkpoint: journal.checkpoint, write, log: journal.log, checkpointer: journal.checkpointer };
}

/** The numbers of the payment intents in an order. */
const numbers = (keys: Iterable<string>) => Array.from(keys, (key) => Number(key.slice('pi_'.length)));
const newestFirst = (last: number, first = 1) => upTo(last, first).reverse();

for (const entries of [0, 1, 5, 300])
  test(`the newest of ${entries} keys come first, also when they are read again, and between bounds`, async (context) => {
    const { checkpoint } = await written(context, entries);
    for (let round = 0; round < 3; round++)
      assert.deepEqual(numbers(checkpoint.scan(index, { descending: true })), newestFirst(entries));
    assert.deepEqual(numbers(checkpoint.scan(index, { descending: false })), upTo(entries));
    assert.deepEqual(
      numbers(checkpoint.scan(index, { descending: true, before: idOf(4) })),
      newestFirst(Math.min(3, entries)),
    );
    assert.deepEqual(
      numbers(checkpoint.scan(index, { descending: true, after: idOf(2) })),
      newestFirst(entries, 3).filter((n) => n > 2),
    );
    assert.deepEqual([...checkpoint.scan('no/such/list', { descending: true })], []);
  });

test('scans that go on by turns see every key once, and so does the next one', async (context) => {
  const { checkpoint } = await written(context, 300);
  for (const [first, second] of [
    [5, 90],
    [90, 5],
    [1, 1],
    [299, 120],
  ] as const) {
    const scans = [first, second].map(() => checkpoint.scan(index, { descending: true })[Symbol.iterator]());
    const seen: number[][] = [[], []];
    while (seen.some(({ length }) => length < 300))
      for (const [at, each] of [first, second].entries())
        for (let count = 0; count < each; count++) {
          const { done, value } = scans[at]!.next();
          if (done !== true) seen[at]!.push(...numbers([value]));
        }
    assert.deepEqual(seen, [newestFirst(300), newestFirst(300)]);
    assert.deepEqual(numbers(checkpoint.scan(index, { descending: true })), newestFirst(300));
  }
});

test('a scan that was not read to its end leaves what it has read, and no more', async (context) => {
  const { checkpoint } = await written(context, 20);
  for (const count of [1, 3, 2, 20, 7]) {
    const found: string[] = [];
    for (const key of checkpoint.scan(index, { descending: true })) {
      found.push(key);
      if (found.length === count) break;
    }
    assert.deepEqual(numbers(found), newestFirst(20).slice(0, count));
  }
});

test('what is written is found by the next scan', async (context) => {
  const { checkpoint, write, log, checkpointer } = await written(context, 3);
  assert.deepEqual(numbers(checkpoint.scan(index, { descending: true })), newestFirst(3));
  await write(2);
  assert.deepEqual(numbers(checkpoint.scan(index, { descending: true })), newestFirst(5));
  const removed = { ...paymentIntent(5), removed: true } as const;
  const entry = {
    changes: [removed, paymentIntent(4, { status: 'canceled' })],
    idempotency: null,
    cause: null,
  };
  await log.append({ firstSequence: 6, timeMs: startMs, wallMs: startMs, entries: [entry] }).durable;
  await checkpointer.write(6);
  assert.deepEqual(numbers(checkpoint.scan(index, { descending: true })), newestFirst(4));
  const byStatus = (status: string) =>
    numbers(checkpoint.scan(`${index}/status/${status}`, { descending: true }));
  assert.deepEqual([byStatus('canceled'), byStatus('requires_payment_method')], [[4], [3, 2, 1]]);
  assert.equal(checkpoint.get(idOf(5)), undefined);
  assert.deepEqual(checkpoint.get(idOf(4)), paymentIntent(4, { status: 'canceled' }));
});

test('what was read of a list stays at hand while others are read, of so many lists', () => {
  let reads = 0;
  const empty = { get: () => undefined } as unknown as Table;
  const table = new IndexTable(empty, empty, (read) => {
    reads++;
    return read();
  });
  const readsOf = (list: number) => {
    const before = reads;
    assert.deepEqual([...table.scan(`list-${list}`, { descending: true })], []);
    return reads - before;
  };
  const lists = Array.from({ length: 500 }, (_, list) => list);
  assert.deepEqual(new Set(lists.map(readsOf)), new Set([1]));
  assert.deepEqual(new Set(lists.map(readsOf)), new Set([0]));
  readsOf(500);
  assert.equal(readsOf(0), 1, 'it made room');
});

test('the names of lists are found in their order, from a text on', async (context) => {
  const options = optionsOf(temporaryFolder(context));
  const journal = await openJournal(options);
  await appendTurns(journal, [2]);
  const entry = { changes: [customer(9, 'a@shop.test')], idempotency: null, cause: null };
  await journal.log.append({ firstSequence: 3, timeMs: startMs, wallMs: startMs, entries: [entry] }).durable;
  await journal.checkpointer.write(3);
  const keysOf = (index: string) => [...journal.checkpoint.scan(index, { descending: false })];
  assert.deepEqual(keysOf('customer/email=a@shop.test'), [customer(9, '').id]);
  assert.deepEqual(keysOf('customer/email=b@shop.test'), []);
  await journal.close();
  await inspectJournal(options, ({ checkpoint }) => {
    const names: string[] = [];
    for (let name = checkpoint.listAfter(''); name !== undefined; name = checkpoint.listAfter(name))
      names.push(name);
    assert.deepEqual(names, [
      'customer/email=',
      'event',
      'payment_intent',
      'payment_intent/status/requires_payment_method',
    ]);
    assert.equal(checkpoint.listAfter('event'), 'payment_intent');
    assert.equal(checkpoint.listAfter('eventful'), 'payment_intent');
    assert.equal(checkpoint.listAfter('payment_intent/t'), undefined);
  });
});
