// Going to a newer version and back: a folder names the layouts of its records, and a service that does not know one of them
// refuses the folder at the start.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { loadConfig } from '../../src/config/config.ts';
import { examineStopped } from '../../src/health/examine-stopped.ts';
import { layoutVersions } from '../../src/journal/records/record-layout.ts';
import { startService } from '../service.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const configDir = join(import.meta.dirname, '..', '..', 'config');

test('a folder that a newer version wrote is refused, and one of an older version is noted as written by this one', async () => {
  const dataDir = temporaryFolder();
  const first = await startService({ dataDir });
  await first.stop();
  const file = join(dataDir, 'format.json');
  const format = () => JSON.parse(readFileSync(file, 'utf8'));
  const put = (layouts: object | undefined) => writeFileSync(file, JSON.stringify({ ...format(), layouts }));
  assert.deepEqual(format().layouts, layoutVersions);

  const newer = { ...layoutVersions, payment_intent: layoutVersions.payment_intent! + 1, dispute: 1 };
  put(newer);
  await assert.rejects(
    startService({ dataDir }),
    /payments: .* was written by a newer version of the service, which has another layout of payment_intent, dispute: start that version, or restore the backup from before the upgrade\n/,
  );
  assert.deepEqual(format().layouts, newer, 'a refused start changes nothing');

  // As a version wrote it that noted no layouts yet, or had fewer kinds of records.
  for (const older of [undefined, { payment_intent: 1 }]) {
    put(older);
    const config = loadConfig({ NODE_ENV: 'test', PAYMENTS_DATA_DIR: dataDir }, configDir);
    const checks = await examineStopped(config, 'test');
    assert.ok(checks.find(({ name }) => name === 'folder')!.ok);
    assert.deepEqual(format().layouts, older, 'who only looks leaves the way back open');
    const service = await startService({ dataDir });
    assert.deepEqual(format().layouts, layoutVersions);
    await service.stop();
  }
});
