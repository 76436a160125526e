// The pool for work that blocks: it reads the audit record as the thread itself would, and goes on after a failure.

import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { AuditLog } from '../../src/operator/audit/audit-log.ts';
import { type AuditReader, AuditTrail, readerInThisThread } from '../../src/operator/audit/audit-trail.ts';
import { BlockingPool } from '../../src/threads/blocking-pool.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const [ours, theirs] = ['org_ours00000000000000000000', 'org_theirs000000000000000000'];

test('the audit record reads the same in the pool, however many ask at once, and after a failure', async () => {
  const path = join(temporaryFolder(), 'rows.ndjson');
  const log = await AuditLog.open(path, { fileBytesMax: 100_000, kept: { filesMax: 100 } });
  const writer = new AuditTrail(path);
  for (let number = 0; number < 1_000; number++) {
    const organization = number % 2 === 0 ? ours : theirs;
    const row = { at: '', id: `aud_${number}`, by: null, action: `a ${number}`, params: {}, outcome: 'done' };
    await writer.newest(organization);
    await log.append((place) => ({ ...row, organization, previous: writer.put(organization, place) }));
  }
  await log.close();
  const actionsBy = async (reader: AuditReader, org: string) => {
    const actions: string[] = [];
    for await (const { row } of new AuditTrail(path, reader).actions(org, null)) actions.push(row.action);
    return actions;
  };
  const expected = await actionsBy(readerInThisThread, ours);
  assert.equal(expected.length, 500);
  const pool = new BlockingPool(assert.ifError);
  const { auditReader } = pool;
  try {
    const all = await Promise.all(Array.from({ length: 8 }, () => actionsBy(auditReader, ours)));
    for (const actions of all) assert.deepEqual(actions, expected);
    const folder = join(temporaryFolder(), 'rows.ndjson');
    mkdirSync(folder);
    await assert.rejects(auditReader.newestRow({ path: folder, org: ours }), /EISDIR/);
    assert.equal((await actionsBy(auditReader, theirs)).length, 500);
  } finally {
    await pool.close();
  }
});
