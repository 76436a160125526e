import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ClusteredMap } from '../../src/core/clustered-map.ts';
import { createIdFactory, momentOfId } from '../../src/core/ids.ts';

test('ids of all times, kinds and forms are found, counted once, and can be given another value', () => {
  const ids = createIdFactory((length) => 'x'.repeat(length));
  const map = new ClusteredMap<number>(momentOfId);
  const expected = new Map<string, number>();
  const put = (id: string, value: number) => {
    map.set(id, value);
    expected.set(id, value);
  };
  const start = Date.UTC(2026, 0, 1);
  for (let ms = 0; ms < 500; ms += 7)
    for (const prefix of ['pi', 'evt']) put(ids.next(prefix, ms % 3, start + ms), ms);
  for (const id of ['', '_', 'pi', 'pi_', 'pi_0', 'no prefix at all']) put(id, -1);
  for (const id of [...expected.keys()].filter((_, i) => i % 2 === 0)) put(id, -2);

  assert.equal(map.size, expected.size);
  for (const [id, value] of expected) {
    assert.equal(map.get(id), value);
    assert.ok(map.has(id));
  }
  assert.ok(!map.has(ids.next('pi', 0, start)));
  assert.equal(map.get('pi_00000000'), undefined);
  assert.ok(map.clusterCount < expected.size / 3, 'ids of the same milliseconds share a map');
});
