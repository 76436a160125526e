// Compares the memtable's estimate of its size with what the heap and the buffers really take.

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
