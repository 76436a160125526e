// The scrubber of a running service: what is damaged on the disk is told before anybody asks for it, and stays told.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { FileDamage } from '../../src/disk/lmdb-pages.ts';
import { CheckpointReader } from '../../src/journal/checkpoint/checkpoint-reader.ts';
import type { Check, Status } from '../../src/operator/use-cases/services.ts';
import { newOrganization, type Service, sampleIn, startService } from '../service.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const env = { PAYMENTS_SHARDS: '1', PAYMENTS_JOURNAL_SCRUB_SECONDS: '1' };

async function metric(service: Service, name: string): Promise<number> {
  return sampleIn(await service.metrics(), `${name}{shard="0"}`);
}

/** Flips a byte of a record in the checkpoint; returns its id. */
function damageRecord(dataDir: string): string {
  const reader = new CheckpointReader(join(dataDir, 'shard-0/state'));
  const [row] = reader.file.rows('records');
  assert(row !== undefined && !(row instanceof FileDamage));
  const { file } = reader;
  reader.close();
  const bytes = readFileSync(file.path);
  bytes[row.at + row.length - 1]! ^= 0xff;
  writeFileSync(file.path, bytes);
  return file.path;
}

test('damage is told in the log, the metrics, the status and by the doctor, also after a restart', async () => {
  const dataDir = temporaryFolder();
  const first = await startService({ dataDir, env });
  const { key } = await newOrganization(first);
  for (let i = 0; i < 20; i++)
    await first.call('/v1/payment_intents', {
      key,
      body: { amount: 500, currency: 'mad' },
      idempotencyKey: `k-${i}`,
    });
  // All is sound: a pass ends, and says so.
  await first.until(
    async () => (await metric(first, 'payments_scrub_last_completed_timestamp_seconds')) > 0 || undefined,
  );
  assert.equal(await metric(first, 'payments_scrub_damaged'), 0);
  const [sound] = (await first.operate<Status>('status', {})).shards;
  assert.match(sound!.scrub_completed!, /^\d{4}-/);
  assert.equal(sound!.damaged, 0);
  await first.stop();
  assert.doesNotMatch(first.output(), /the scrubber has found damage/);

  const file = damageRecord(dataDir);
  const second = await startService({ dataDir, env });
  await second.until(async () => (await metric(second, 'payments_scrub_damaged')) > 0 || undefined);
  const line = await second.until(() => /^.*the scrubber has found damage.*$/m.exec(second.output())?.[0]);
  const { level, file: told, byte, msg } = JSON.parse(line);
  assert.equal(level, 'error');
  assert.equal(told, file);
  assert(Number.isInteger(byte));
  assert.match(
    msg,
    /the record \w+ is not as it was written. What to do: restore the data folder from a backup/,
  );
  const [damaged] = (await second.operate<Status>('status', {})).shards;
  assert.equal(damaged!.damaged, 1);
  const check = (await second.operate<Check[]>('doctor', {})).find(({ name }) => name === 'stored data');
  assert.equal(check!.ok, false);
  assert.match(check!.detail, /shard 0 in 1 place/);
  await second.stop();

  // This one has read nothing yet, and knows.
  const third = await startService({ dataDir, env: { ...env, PAYMENTS_JOURNAL_SCRUB_SECONDS: '604800' } });
  await third.until(async () => (await metric(third, 'payments_scrub_damaged')) > 0 || undefined);
  await third.stop();
  assert.doesNotMatch(third.output(), /the scrubber has found damage/);
});

test('a scrubber that is switched off reads nothing', async () => {
  const service = await startService({ env: { ...env, PAYMENTS_JOURNAL_SCRUB_SECONDS: '0' } });
  assert.equal(await metric(service, 'payments_scrub_progress'), 0);
  await service.stop();
});
