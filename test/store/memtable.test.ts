// The memtable: its estimate of its size beside what the heap and the buffers really take, and what it has of a record.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { objectBytes } from '../../src/core/heap-bytes.ts';
import { tagBytes } from '../../src/disk/identity.ts';
import type { Change } from '../../src/domain/record.ts';
import { encodeBatch } from '../../src/journal/log/codec.ts';
import { Memtable } from '../../src/store/memtable.ts';
import { createIntent } from '../domain/scenes.ts';
import { Stage } from '../domain/stage.ts';

setFlagsFromString('--expose-gc');
const gc = runInNewContext('gc') as () => void;

const stage = new Stage();
createIntent(stage);
const [intent, event] = stage.world.log[0] as [Change, Change];
const customers = 50;

/** The records that one creation writes. They share no texts, as in the service. */
function created(n: number, customer: string | null): Change[] {
  const number = String(n).padStart(20, '0');
  const changes = [
    { ...intent, id: `pi_${number}`, customer },
    { ...event, id: `evt_${number}` },
  ];
  return JSON.parse(JSON.stringify(changes)) as Change[];
}

function taken(): number {
  // The second collection frees the memory outside of the heap that the first found unused.
  gc();
  gc();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

for (const [name, perTurn, customerOf] of [
  ['turns of many', 32, () => null],
  ['turns of one', 1, () => null],
  ['a customer each', 32, (n: number) => `cus_${String(n).padStart(20, '0')}`],
  ['some customers', 32, (n: number) => `cus_${String(n % customers).padStart(20, '0')}`],
] as const) {
  test(`${name}: the estimate is near what is taken, and little of it is objects`, () => {
    const count = 8_000;
    const table = new Memtable();
    const before = taken();
    const heapBefore = process.memoryUsage().heapUsed;
    let objects = 0;
    for (let n = 0; n < count; n += perTurn) {
      const entries = Array.from({ length: perTurn }, (_, i) => ({
        changes: created(n + i, customerOf(n + i)),
        idempotency: null,
        cause: null,
      }));
      for (const change of entries.flatMap(({ changes }) => changes)) {
        table.put(change);
        objects += objectBytes(change);
      }
      const turn = { firstSequence: n + 1, timeMs: 0, wallMs: 0, entries };
      table.pack(entries, encodeBatch(turn, Buffer.alloc(tagBytes), 1).changes);
    }
    const bytes = taken() - before;
    assert.ok(table.bytes > bytes * 0.8, `${table.bytes} estimated, ${bytes} taken`);
    assert.ok(table.bytes < bytes * 2, `${table.bytes} estimated, ${bytes} taken`);
    const heapBytes = process.memoryUsage().heapUsed - heapBefore;
    if (customerOf(0) === null)
      assert.ok(heapBytes < objects / 3, `${heapBytes} in the heap for objects of ${objects}`);
    assert.equal(table.size, 2 * count);
  });
}

test('the estimate is what it was when a record is listed as it was', () => {
  const table = new Memtable();
  const [first, second, alone] = [
    created(1, 'cus_1')[0]!,
    created(2, 'cus_1')[0]!,
    created(3, 'cus_2')[0]!,
  ] as [Change, Change, Change];
  for (const record of [first, second, alone]) table.put(record);
  const { bytes } = table;
  for (const record of [first, alone])
    for (const customer of ['cus_3', 'cus_1', null]) {
      table.put({ ...record, customer } as Change);
      table.put(record);
      assert.equal(table.bytes, bytes, `after ${customer}`);
    }
});

test('a record counts once, and with each list that it is in', () => {
  const bytesOf = (...records: Change[]) => {
    const table = new Memtable();
    for (const record of records) table.put(record);
    return table.bytes;
  };
  const [none, one, other] = [null, 'cus_1', 'cus_2'].map((customer) => created(1, customer)[0]!) as [
    Change,
    Change,
    Change,
  ];
  assert.equal(bytesOf(none, none), bytesOf(none));
  assert.ok(bytesOf(one) > bytesOf(none) + 'cus_1'.length);
  for (const second of [one, other])
    assert.ok(bytesOf(one, { ...second, id: 'pi_00000000000000000002' }) > bytesOf(one) + 200);
});

test('a text counts once in each place where the table keeps it', () => {
  const { id, org, livemode, created: at } = intent;
  const common = { org, livemode, created: at };
  const due = { kind: 'delivery', id, ...common, event: 'evt_1', endpoint: 'we_1', due_at_ms: 5 };
  const delivery = { ...due, status: 'pending', ended_at_ms: null } as unknown as Change;
  const rows: [record: Change, field: string, places: number, what: string][] = [
    [intent, 'customer', 2, 'its own index, and the one by customer and status'],
    [intent, 'org', 2, 'a list as a whole, and the one that has its values'],
    [intent, 'id', 0, 'a sort key that is the id'],
    [delivery, 'id', 1, 'a sort key with a time'],
  ];
  for (const [record, field, places, what] of rows) {
    const [shorter, longer] = [100, 300].map((length) => {
      const table = new Memtable();
      table.put({ ...record, [field]: 'x'.repeat(length) } as Change);
      return table.bytes;
    });
    assert.equal(longer! - shorter!, 200 * places, what);
  }
});

test('a record is an object until its batch is packed, and is read as it was then', () => {
  const table = new Memtable();
  const changes = [...created(1, null), ...created(2, 'cus_1')];
  for (const change of changes) table.put(change);
  assert.equal(table.get(changes[0]!.id), changes[0]);
  assert.equal(table.get('pi_unknown'), undefined);
  const entries = [{ changes, idempotency: null, cause: null }];
  const turn = { firstSequence: 1, timeMs: 0, wallMs: 0, entries };
  table.pack(entries, encodeBatch(turn, Buffer.alloc(tagBytes), 1).changes);
  for (const change of changes) {
    assert.equal(table.get(change.id), 'packed');
    assert.deepEqual(table.read(change.id), change);
  }
  const changed = { ...changes[0]!, created: 5 } as Change;
  table.put(changed);
  assert.equal(table.get(changed.id), changed);
  assert.equal(table.read('pi_unknown'), undefined);
});

test('bytes of another record are not taken for those of the one that is asked for', () => {
  const table = new Memtable();
  const changes = created(1, null);
  for (const change of changes) table.put(change);
  table.pack([{ changes }], { bytes: 0, read: () => changes[1]! });
  assert.throws(() => table.read(changes[0]!.id), /a packed change is that of its record/);
  assert.equal(table.read(changes[1]!.id), changes[1]);
});
