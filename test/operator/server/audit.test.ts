// The audit record on a real disk: it has every acknowledged row, a row that a crash cut off does no harm, and no row has a
// secret.

import assert from 'node:assert/strict';
import {
  appendFileSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeEach, test } from 'node:test';
import { scrub } from '../../../src/core/secret-text.ts';
import { DirectoryRefusal } from '../../../src/directory/refusal.ts';
import { Audit, readAudit } from '../../../src/operator/audit/audit.ts';
import { auditFiles, lastRows, readText } from '../../../src/operator/audit/audit-files.ts';
import { AuditLog } from '../../../src/operator/audit/audit-log.ts';
import { AuditTrail } from '../../../src/operator/audit/audit-trail.ts';
import { OperatorFailure } from '../../../src/operator/use-cases/failures.ts';
import { temporaryFolder } from '../../temporary-folder.ts';

let folder: string;
beforeEach(() => {
  folder = temporaryFolder();
});

const by = { user: 'amina', uid: 1000, sudo_user: null };

async function openAudit(failures: unknown[] = []): Promise<Audit> {
  return Audit.open({
    dataDir: folder,
    now: () => Date.UTC(2026, 10, 1),
    keptMs: Number.POSITIVE_INFINITY,
    scrub,
    onRow: () => {},
    onFailure: (error) => failures.push(error),
  });
}

const outcomes = () => readAudit(folder, 100).operators.map(({ outcome }) => outcome);

test('an action has a row before it is carried out and one of what came of it', async () => {
  const audit = await openAudit();
  const result = await audit.record(by, 'org.create', { name: 'Souk' }, async () => {
    assert.deepEqual(outcomes(), ['asked'], 'on disk before anything is done');
    return { id: 'org_1' };
  });
  assert.deepEqual(result, { id: 'org_1' });
  const [asked, done] = readAudit(folder, 100).operators;
  assert.deepEqual(done, { ...asked, outcome: 'done', object: 'org_1' });
  assert.deepEqual([asked!.at, asked!.by, asked!.params], ['2026-11-01T00:00:00.000Z', by, { name: 'Souk' }]);
  await audit.close();
});

const failures: readonly (readonly [what: string, error: Error, outcome: string, message: string | null])[] =
  [
    ['refused', new DirectoryRefusal('there is no such key'), 'refused', 'there is no such key'],
    ['wrong', new OperatorFailure('usage', 'org is missing'), 'usage', 'org is missing'],
    ['broken', new Error('with a svc_sk_test_secret'), 'failed', null],
    ['left by its client', Object.assign(new Error(), { name: 'AbortError' }), 'done', null],
  ];
for (const [what, error, outcome, message] of failures) {
  test(`an action that is ${what} says so`, async () => {
    const audit = await openAudit();
    await assert.rejects(
      audit.record(null, 'x', {}, () => Promise.reject(error)),
      error,
    );
    const row = readAudit(folder, 1).operators[0]!;
    assert.deepEqual([row.outcome, row.message, row.by], [outcome, message, null]);
    await audit.close();
  });
}

test('nothing is done when its row cannot be written', async (context) => {
  if (process.platform !== 'linux') return context.skip('needs /dev/full');
  mkdirSync(join(folder, 'audit'));
  symlinkSync('/dev/full', join(folder, 'audit', 'operators.ndjson'));
  const told: unknown[] = [];
  const audit = await openAudit(told);
  await assert.rejects(
    audit.record(by, 'org.close', {}, async () => assert.fail('it was done')),
    { name: 'OperatorFailure', kind: 'failed', message: /^nothing was done: .*ENOSPC/ },
  );
  assert.equal(told.length, 1);
  await audit.close();
});

test('rows hold no key and no card number, and are of bounded size', async () => {
  const audit = await openAudit();
  const card = '4242424242424242';
  const params = { key: 'svc_sk_live_0123456789', name: `card ${card}`, long: 'x'.repeat(10_000) };
  await audit.record(by, 'key.revoke', params, async () => null);
  const huge = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`name${i}`, 'x'.repeat(100)]));
  await audit.record(by, 'key.revoke', huge, async () => null);
  const text = readFileSync(join(folder, 'audit', 'operators.ndjson'), 'utf8');
  for (const secret of ['0123456789', card]) assert.ok(!text.includes(secret));
  const rows = readAudit(folder, 100).operators;
  assert.deepEqual((rows[0]!.params as typeof params).long.length, 200);
  assert.deepEqual(rows[2]!.params, null);
  await audit.close();
});

test('the files belong to their owner alone', async () => {
  const umask = process.umask(0);
  const audit = await openAudit();
  process.umask(umask);
  const mode = (name: string) => statSync(join(folder, name)).mode & 0o777;
  assert.equal(mode('audit'), 0o700);
  assert.equal(mode('audit/operators.ndjson'), 0o600);
  assert.equal(mode('audit/keys.ndjson'), 0o600);
  await audit.close();
});

for (const [where, fileBytesMax] of [
  ['', 1_000_000],
  [', also where that begins another file', 20],
] as const)
  test(`a line that a crash cut off is passed over, and the next row begins on its own${where}`, async () => {
    const path = join(folder, 'rows.ndjson');
    const bounds = { fileBytesMax, kept: { filesMax: 5 } };
    const first = await AuditLog.open(path, bounds);
    await first.append(() => ({ row: 1 }));
    await first.close();
    appendFileSync(path, '{"row":2,"cu');
    const second = await AuditLog.open(path, bounds);
    await Promise.all([second.append(() => ({ row: 3 })), second.append(() => ({ row: 4 }))]);
    await second.close();
    assert.deepEqual(lastRows(path, 10), [{ row: 1 }, { row: 3 }, { row: 4 }]);
    assert.deepEqual(lastRows(path, 2), [{ row: 3 }, { row: 4 }]);
  });

test('a bounded file keeps the newest rows, whatever is appended', async () => {
  const path = join(folder, 'rows.ndjson');
  const bounds = { fileBytesMax: 7_000, kept: { filesMax: 2 } };
  let log = await AuditLog.open(path, bounds);
  const places: number[] = [];
  for (let row = 0; row < 1_000; row++) {
    await log.append((place) => {
      places.push(place);
      return { row };
    });
    if (row % 100 !== 0) continue;
    await log.close();
    log = await AuditLog.open(path, bounds);
  }
  await log.close();
  const files = auditFiles(path);
  assert.equal(files.length, 2);
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  assert.ok(bytes <= 14_200, `${bytes} bytes`);
  // A place names its row for good, in whichever file that lies now.
  for (let row = 930; row < 1_000; row++) {
    const begin = `{"row":${row},`;
    assert.equal(readText(files, places[row]!, begin.length).toString(), begin);
  }
  assert.deepEqual(
    lastRows(path, 70),
    Array.from({ length: 70 }, (_, i) => ({ row: 930 + i })),
  );
});

test('the older file of version 0.1.0 is still read, and goes like any other', async () => {
  const path = join(folder, 'rows.ndjson');
  writeFileSync(`${path}.1`, '{"row":1}\n');
  writeFileSync(path, '{"row":2}\n');
  const log = await AuditLog.open(path, { fileBytesMax: 1_000, kept: { filesMax: 2 } });
  await log.append(() => ({ row: 3 }));
  await log.close();
  assert.deepEqual(lastRows(path, 10), [{ row: 1 }, { row: 2 }, { row: 3 }]);
});

test('the chain of an organization leads through all files, and ends with the oldest one that is kept', async () => {
  const path = join(folder, 'rows.ndjson');
  const log = await AuditLog.open(path, { fileBytesMax: 2_000, kept: { filesMax: 3 } });
  const trail = new AuditTrail(path);
  for (let number = 0; number < 200; number++) {
    const organization = number % 5 === 0 ? ours : theirs;
    const row = { at: '', id: `aud_${number}`, by: null, action: `a ${number}`, params: {}, outcome: 'done' };
    await trail.newest(organization);
    await log.append((place) => ({ ...row, organization, previous: trail.put(organization, place) }));
  }
  await log.close();
  for (const reader of [trail, new AuditTrail(path)]) {
    const actions: string[] = [];
    for await (const { row } of reader.actions(ours, null)) actions.push(row.action);
    assert.deepEqual(
      actions,
      Array.from(actions, (_, i) => `a ${195 - 5 * i}`),
    );
    assert.ok(actions.length > 5 && actions.length < 30, `${actions.length} are kept`);
  }
});

const [ours, theirs] = ['org_ours00000000000000000000', 'org_theirs000000000000000000'];
const memberOf = (organization: string) => ({ member: 'mem_1', organization });

/** The actions about our organization as pages of `limit` tell them, with their outcomes. */
async function told(audit: Audit, limit: number): Promise<string[]> {
  const actions: string[] = [];
  for (let before: number | null = null, more = true; more; ) {
    more = false;
    let left = limit;
    for await (const { place, row } of audit.actionsOf(ours, before)) {
      if (left-- === 0) {
        more = true;
        break;
      }
      actions.push(`${row.action} ${row.outcome}`);
      before = place;
    }
  }
  return actions;
}

test('the actions about an organization are found by pages, however much others do, and after a start', async () => {
  // Rows of version 0.1.0, of which those of others take more than is read at once.
  const old = (organization: string, id: number) =>
    ['asked', 'done'].map((outcome) =>
      JSON.stringify({
        at: '',
        id: `aud_${id}`,
        by: memberOf(organization),
        action: `old ${id}`,
        outcome,
        params: 'x'.repeat(1_000),
      }),
    );
  const rows = [old(ours, 1), ...Array.from({ length: 1_200 }, (_, i) => old(theirs, i + 10)), old(ours, 2)];
  mkdirSync(join(folder, 'audit'));
  writeFileSync(join(folder, 'audit', 'operators.ndjson'), `${rows.flat().join('\n')}\n`);
  const first = await openAudit();
  const act = (audit: Audit, org: string, action: string) =>
    audit.record(memberOf(org), action, {}, async () => null);
  await Promise.all([act(first, ours, 'a'), act(first, theirs, 'b'), act(first, ours, 'a')]);
  await first.record(
    null,
    'c',
    { org: ours },
    async () => null,
    async (named) => named[0] ?? null,
  );
  await first.close();
  appendFileSync(join(folder, 'audit', 'operators.ndjson'), `{"id":"aud_x","organization":"${ours}","cut`);
  const second = await openAudit();
  await act(second, theirs, 'd');
  const hanging = Promise.withResolvers<null>();
  const hangs = second.record(memberOf(ours), 'e', {}, () => hanging.promise);
  await act(second, ours, 'f');
  const expected = ['f done', 'e asked', 'c done', 'a done', 'a done', 'old 2 done', 'old 1 done'];
  for (const limit of [1, 2, 3, 50]) assert.deepEqual(await told(second, limit), expected, `${limit} a page`);
  hanging.resolve(null);
  await hangs;
  for (const limit of [1, 50])
    assert.deepEqual(await told(second, limit), ['e done', 'f done', ...expected.slice(2)]);
  // No row of the organization begins there.
  for await (const { row } of second.actionsOf(ours, 7)) {
    assert.equal(row.action, 'e');
    break;
  }
  await second.close();
});

/** Appends rows of an organization as the record does. */
async function write(log: AuditLog, trail: AuditTrail, organization: string, actions: readonly string[]) {
  for (const action of actions) {
    const row = { at: '', id: `aud_${action}`, by: null, action, params: {}, outcome: 'done' };
    await trail.newest(organization);
    await log.append((place) => ({ ...row, organization, previous: trail.put(organization, place) }));
  }
}

async function actionsIn(trail: AuditTrail, organization: string): Promise<string[]> {
  const actions: string[] = [];
  for await (const { row } of trail.actions(organization, null)) actions.push(row.action);
  return actions;
}

test('a record whose older files somebody took away is still read to its end', {
  timeout: 20_000,
}, async () => {
  const path = join(folder, 'rows.ndjson');
  const log = await AuditLog.open(path, { fileBytesMax: 500, kept: { filesMax: 100 } });
  const names = Array.from({ length: 20 }, (_, i) => `a${i}`);
  await write(log, new AuditTrail(path), ours, names);
  await log.close();
  const files = auditFiles(path);
  assert.ok(files.length > 3);
  for (const file of files.slice(0, -1)) rmSync(file.path);
  const left = await actionsIn(new AuditTrail(path), ours);
  assert.ok(left.length > 0 && left.length < 20, `${left.length}`);
  assert.deepEqual(left, names.toReversed().slice(0, left.length));
});

test('a full file that can’t be put away costs what was being written, and nothing that follows', async () => {
  const path = join(folder, 'rows.ndjson');
  const log = await AuditLog.open(path, { fileBytesMax: 200, kept: { filesMax: 100 } });
  const trail = new AuditTrail(path);
  await write(log, trail, ours, ['a', 'b']);
  rmSync(path);
  await assert.rejects(
    log.append(() => ({ row: 'refused' })),
    { code: 'ENOENT' },
  );
  await log.append(() => ({ row: 'goes on' }));
  await log.close();
  assert.deepEqual(lastRows(path, 1), [{ row: 'goes on' }]);
});

test('files of actions go with their age, however much others do', async () => {
  const path = join(folder, 'rows.ndjson');
  const dayMs = 86_400_000;
  let nowMs = Date.UTC(2026, 0, 1);
  const open = () => AuditLog.open(path, { fileBytesMax: 500, kept: { ms: 30 * dayMs, now: () => nowMs } });
  const days = () => lastRows<{ day: number }>(path, 100_000).map(({ day }) => day);
  const log = await open();
  const append = (day: number) => {
    nowMs = Date.UTC(2026, 0, 1) + day * dayMs;
    return log.append(() => ({ at: new Date(nowMs).toISOString(), day, text: 'x'.repeat(300) }));
  };
  await append(0);
  for (let i = 0; i < 100; i++) await append(1);
  assert.equal(days()[0], 0, 'a flood pushes nothing out');
  for (const day of [20, 31, 40, 62]) await append(day);
  // A file has two rows, and goes when the younger one is too old: 31 lies beside 40.
  assert.deepEqual(days(), [31, 40, 62]);
  await log.close();
  nowMs += 365 * dayMs;
  await (await open()).close();
  assert.ok(days().length > 0, 'the last file that was put away tells where the newest begins');
});
