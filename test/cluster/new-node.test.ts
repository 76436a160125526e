// A node that joins when PostgreSQL no longer has the beginning of the log: it needs a data folder to begin with.

import assert from 'node:assert/strict';
import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { newSecretsKey } from '../../src/crypto/secret-box.ts';
import { paymentsWith } from '../main/payments-command.ts';
import { leftOut, startServers } from '../postgresql/servers.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { startNode } from './nodes.ts';

const create = (key: string, idempotencyKey: string) => ({
  key,
  idempotencyKey,
  body: { amount: 5_000, currency: 'mad' },
});

test('a node with another secrets key is refused, and a backup becomes the folder of another node', {
  skip: leftOut,
}, async (context) => {
  const servers = await startServers(context, 1);
  const a = startNode(context, { url: servers.url, name: 'a' });
  const first = await a.serving;
  const { secret } = first.keys!;

  const foreign = temporaryFolder();
  writeFileSync(`${foreign}.secrets-key`, newSecretsKey());
  const other = startNode(context, { url: servers.url, name: 'other', dataDir: foreign });
  await other.says(/does not have the key that seals the signing secrets of this service/);
  await assert.rejects(other.serving, /ended with code 1/);

  const before = await first.call('/v1/payment_intents', create(secret, 'before'));
  const backup = join(temporaryFolder(), 'backup');
  const operate = (...words: string[]) => paymentsWith({ PAYMENTS_JOURNAL_URL: servers.url }, ...words);
  const backedUp = await operate('backup', '--to', backup, '--data-dir', a.dataDir);
  assert.equal(backedUp.code, 0, backedUp.error);
  // As if days had passed.
  await servers.all[0]!.query('delete from payments.log', 'payments');
  const after = await first.call('/v1/payment_intents', create(secret, 'after'));
  assert.equal(after.status, 200);

  const empty = startNode(context, { url: servers.url, name: 'empty', secretsKeyOf: a.dataDir });
  await empty.says(/make the folder from a backup.*restore --as-node/);

  const dataDir = join(temporaryFolder(), 'data');
  const restored = await operate('restore', '--as-node', '--from', backup, '--data-dir', dataDir);
  assert.equal(restored.code, 0, restored.error);
  assert.match(restored.out, /PAYMENTS_CLUSTER_NODE: it gets the rest from PostgreSQL/);
  copyFileSync(`${a.dataDir}.secrets-key`, `${dataDir}.secrets-key`);
  const alone = await paymentsWith({ PAYMENTS_DATA_DIR: dataDir }, 'serve');
  assert.equal(alone.code, 1);
  assert.match(alone.error, /is the mirror of a log in PostgreSQL: set PAYMENTS_JOURNAL_URL/);

  const b = startNode(context, { url: servers.url, name: 'b', dataDir });
  await b.says(/node b stands by"/);
  assert.equal(await first.stop(), 0);
  const second = await b.serving;
  for (const [name, answer] of [
    ['before', before],
    ['after', after],
  ] as const) {
    const again = await second.call('/v1/payment_intents', create(secret, name));
    assert.deepEqual(again.json, answer.json, name);
    const read = await second.call(`/v1/payment_intents/${answer.json.id}`, { key: secret });
    assert.deepEqual(read.json, answer.json, name);
  }
  assert.equal(await second.stop(), 0);
});
