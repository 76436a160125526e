// A shard with a small heap and more data than fits into it: it goes on, every refused request succeeds later, and everything
// that was acknowledged can be read.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { newOrganization, startService, withRequestLogs } from '../service.ts';

const env = { ...withRequestLogs, PAYMENTS_SHARDS: '1', PAYMENTS_MEMORY_SHARD_MIB: '64' };
const customers = 3_000;
const connections = 16;

/** All that a customer may have: 50 keys of 40 characters with 500 characters each. */
function metadataOf(number: number): Record<string, string> {
  const name = (i: number) => `${number}-${i}-`.padEnd(40, 'k');
  return Object.fromEntries(Array.from({ length: 50 }, (_, i) => [name(i), `${number}`.padEnd(500, 'x')]));
}

test('several thousand of the largest customers: a small heap holds, and all of them can be read', async (t) => {
  const service = await startService({ env });
  const { key } = await newOrganization(service);
  const ids = new Map<number, string>();
  let refused = 0;
  let next = 0;
  async function create(): Promise<void> {
    for (let number = next++; number < customers; number = next++) {
      const body = { metadata: metadataOf(number) };
      const send = () => service.call('/v1/customers', { key, body, idempotencyKey: `customer ${number}` });
      let answer = await send();
      for (; answer.status === 503; answer = await send()) {
        refused++;
        assert.equal(answer.headers.get('retry-after'), '1');
        assert.doesNotMatch(service.output(), /started again/, 'the shard is there all the time');
        await wait(50);
      }
      assert.equal(answer.status, 200, answer.text);
      ids.set(number, answer.json.id);
    }
  }
  await Promise.all(Array.from({ length: connections }, create));
  t.diagnostic(`${refused} requests were refused for a moment`);
  const seen = new Set<string>();
  for (let after = ''; ; ) {
    const page = await service.call(`/v1/customers?limit=100${after}`, { key });
    assert.equal(page.status, 200, page.text);
    for (const { id } of page.json.data) seen.add(id);
    if (!page.json.has_more) break;
    after = `&starting_after=${page.json.data.at(-1).id}`;
  }
  assert.deepEqual(seen, new Set(ids.values()));
  for (let number = 0; number < customers; number += 97) {
    const answer = await service.call(`/v1/customers/${ids.get(number)}`, { key });
    assert.deepEqual(answer.json.metadata, metadataOf(number));
  }
  assert.doesNotMatch(service.output(), /started again/);
  assert.equal(await service.stop(), 0);
});
