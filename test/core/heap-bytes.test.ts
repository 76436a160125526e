// Compares the estimates of memory with the real heap: they are never much less than what V8 takes,
// nor many times as much.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { objectBytes, textBytes } from '../../src/core/heap-bytes.ts';

setFlagsFromString('--expose-gc');
const gc = runInNewContext('gc') as () => void;

function metadata(count: number, keyLength: number, text: string): Record<string, string> {
  const names = Array.from({ length: count }, (_, i) => String(i).padStart(keyLength, '-'));
  return Object.fromEntries(names.map((name) => [name, text]));
}

const base = (i: number) => ({
  id: `cus_${String(i).padStart(25, '0')}`,
  org: 'org_000000000000000000000001',
  livemode: false,
  created: 1_790_000_000 + i,
  email: null,
});

const shapes: readonly (readonly [name: string, (i: number) => object])[] = [
  ['an ordinary record', (i) => ({ ...base(i), description: `Order ${i}`, metadata: { order: `o-${i}` } })],
  [
    'a record of numbers',
    (i) => ({ ...base(i), ...Object.fromEntries([...'abcdefgh'].map((f) => [f, 1.5e12 + i])) }),
  ],
  ['maximal metadata', (i) => ({ ...base(i), metadata: metadata(50, 40, 'x'.repeat(490) + i) })],
  ['maximal metadata in Arabic', (i) => ({ ...base(i), metadata: metadata(50, 40, 'ش'.repeat(490) + i) })],
  ['short Arabic metadata', (i) => ({ ...base(i), metadata: metadata(50, 5, `شكرا${i}`) })],
  ['a long text', (i) => ({ ...base(i), object_json: JSON.stringify({ text: 'x'.repeat(30_000), i }) })],
  [
    'a long text with one wide character',
    (i) => ({ ...base(i), object_json: JSON.stringify(`${'x'.repeat(30_000)}–${i}`) }),
  ],
];

for (const [name, make] of shapes) {
  test(`${name}: the estimate is near what the heap takes`, () => {
    const count = objectBytes(make(1)) > 10_000 ? 400 : 4_000;
    // The records are parsed, so that records share no texts.
    const texts = Array.from({ length: count }, (_, i) => JSON.stringify(make(i)));
    const held = new Map<string, object>();
    gc();
    const before = process.memoryUsage().heapUsed;
    for (const text of texts) {
      const record = JSON.parse(text);
      held.set(record.id, record);
    }
    gc();
    const taken = (process.memoryUsage().heapUsed - before) / count;
    const estimate = objectBytes(held.values().next().value!);
    assert.ok(estimate > taken * 0.8, `${estimate} estimated, ${taken} taken`);
    assert.ok(estimate < taken * 4, `${estimate} estimated, ${taken} taken`);
    assert.equal(held.size, count);
  });
}

test('a text takes one byte a unit, or two when one of its units needs them', () => {
  const length = 1000;
  const latin = textBytes('é'.repeat(length));
  assert.ok(latin >= length && latin < 1.1 * length);
  const wide = textBytes(`${'x'.repeat(length - 1)}ش`);
  assert.ok(wide >= 2 * length && wide < 2.1 * length);
});
