// What is left of a customer who was deleted: nothing in the records at once, nothing in the log when its retention is over,
// and nothing in any file once the checkpoint was compacted. What the accounts need stays, without the person.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { indexRowsOf } from '../../src/domain/indexes.ts';
import { openJournal } from '../../src/journal/open-journal.ts';
import { compactCheckpoint } from '../../src/journal/stopped-journal.ts';
import { identity } from '../journal/journal-fixtures.ts';
import { Actor, settled } from '../shard/actor.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const hourMs = 3_600_000;
const person = {
  email: 'aicha.benali@mail.example',
  name: 'Aicha Benali',
  phone: '+212 600 123456',
  description: 'lives behind the lighthouse',
  metadata: { national_id: 'BK-445566' },
};
const texts = [person.email, person.name, person.phone, person.description, person.metadata.national_id];

/** The texts of a person that lie in any file of a folder. */
function leftIn(dir: string): string[] {
  const files = readdirSync(dir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const all = Buffer.concat(files.map((file) => readFileSync(join(file.parentPath, file.name))));
  return texts.filter((text) => all.includes(text));
}

test('a customer who was deleted is in no file after the retention of the log and a compaction', async () => {
  const dir = temporaryFolder();
  // So small that each turn has a segment of its own.
  const onDisk = await openJournal({ dir, identity, indexRowsOf, segmentBytesMax: 1 });
  const actor = new Actor({ onDisk });
  const { json: customer } = await actor.send('POST /v1/customers', { body: person, key: 'customer' });
  await actor.send(`POST /v1/customers/${customer.id}`, { body: { name: `${person.name} El Fassi` } });
  const payment = { amount: 20_000, currency: 'mad', customer: customer.id };
  const { json: intent } = await actor.send('POST /v1/payment_intents', { body: payment, key: 'intent' });
  await actor.shard.checkpoint();
  assert.deepEqual(leftIn(dir), texts);

  const { json: deleted } = await actor.send(`DELETE /v1/customers/${customer.id}`);
  assert.deepEqual(deleted, { id: customer.id, object: 'customer', deleted: true });
  const { json: found } = await actor.send(`GET /v1/customers?email=${encodeURIComponent(person.email)}`);
  assert.deepEqual(found.data, []);
  for (const path of [`/v1/customers/${customer.id}`, '/v1/customers', '/v1/events', '/v1/payment_intents']) {
    const { text } = await actor.send(`GET ${path}`);
    assert.deepEqual(
      texts.filter((each) => text.includes(each)),
      [],
      path,
    );
  }

  actor.clock.advance(26 * hourMs);
  await actor.send('POST /v1/payment_intents', { body: { amount: 20_000, currency: 'mad' }, key: 'later' });
  await actor.shard.checkpoint();
  assert.deepEqual(leftIn(join(dir, 'log')), [], 'the log has forgotten');
  const { json: kept } = await actor.send(`GET /v1/payment_intents/${intent.id}`);
  assert.deepEqual([kept.amount, kept.customer], [20_000, customer.id]);
  await settled();
  await actor.shard.stop();
  await compactCheckpoint(dir, identity, indexRowsOf, () => {});
  assert.deepEqual(leftIn(dir), []);
});
