// `payments verify`: a folder with something of every kind in it is sound, as it was killed and after a restart; whatever
// is broken in it is found, with its object and what can be done.

import assert from 'node:assert/strict';
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { timeOfId } from '../../src/core/ids.ts';
import { emptyDirectory, existingDataFolder, shardDirsOf } from '../../src/data-folder/data-folder.ts';
import { type IndexedRecord, indexRowsOf, kindIndex, scopeOf } from '../../src/domain/indexes.ts';
import type { Change, RecordKind, RecordOf } from '../../src/domain/record.ts';
import type { IndexRow } from '../../src/domain/view.ts';
import { markMirror, openJournal } from '../../src/journal/open-journal.ts';
import { encodeRecord } from '../../src/journal/records/record-bytes.ts';
import type { Finding, Verification } from '../../src/operator/results/folder-results.ts';
import { retentionKey, writeRetention } from '../../src/shard/metadata.ts';
import { shardOfOrganization } from '../../src/shard/shard-map.ts';
import { busyEnv, busyFolder, restart, shards } from '../main/busy-folder.ts';
import { payments } from '../main/payments-command.ts';
import type { Shop } from '../main/shops.ts';
import { verifyCommand } from '../operator/cli/command-line.ts';
import { startService } from '../service.ts';
import { temporaryFolder } from '../temporary-folder.ts';

/** Killed: much lies in the log. */
const killed = temporaryFolder();
/** Stopped: everything lies in the checkpoints. */
const stopped = join(temporaryFolder(), 'data');
let shops: readonly Shop[];

before(async () => {
  ({ shops } = await busyFolder(killed));
  copy(killed, stopped);
  await restart(stopped);
});

function copy(from: string, to: string): void {
  cpSync(from, to, { recursive: true });
  cpSync(`${from}.secrets-key`, `${to}.secrets-key`);
}

function copyOf(folder: string): string {
  const to = join(temporaryFolder(), 'data');
  copy(folder, to);
  return to;
}

async function verify(folder: string): Promise<Verification & { code: number | null }> {
  const { code, out, error } = await verifyCommand(folder);
  assert.match(out, /^\{.*\}\n$/, error);
  return { ...JSON.parse(out), code };
}

/** Writes records into the checkpoint of the first shop's shard, with their index rows as `rowsOf` has them. */
async function spoil(
  folder: string,
  change: (records: readonly Change[]) => readonly Change[],
  rowsOf: (record: IndexedRecord) => readonly IndexRow[] = indexRowsOf,
): Promise<void> {
  const [{ id: org }] = shops as [Shop];
  const { shardDir, shardIdentity } = await existingDataFolder(folder);
  const number = shardOfOrganization(org, shards);
  const journal = await openJournal({
    dir: shardDir(number),
    identity: shardIdentity(number),
    indexRowsOf: rowsOf,
  });
  const { checkpoint } = journal;
  const records = change([...checkpoint.records()]).map(encodeRecord);
  assert.ok(records.length > 0);
  await checkpoint.write({ records, sequence: checkpoint.sequence, idempotencyRecords: [] });
  await journal.close();
}

function oneOf<K extends RecordKind>(
  records: readonly Change[],
  kind: K,
  matches: (record: RecordOf<K>) => boolean = () => true,
): RecordOf<K> {
  const found = records.find((record) => record.kind === kind && matches(record as RecordOf<K>));
  assert.ok(found, kind);
  return found as RecordOf<K>;
}

/** The finding of a check, which must be among those of the folder. */
async function finding(folder: string, check: string): Promise<Finding> {
  const { code, findings } = await verify(folder);
  assert.equal(code, 1);
  const found = findings.find((each) => each.check === check);
  assert.ok(found, JSON.stringify(findings));
  assert.ok(found.what.length > 0 && found.advice.length > 0);
  return found;
}

test('a folder whose service was killed is sound, and so is one whose service was stopped', async () => {
  for (const folder of [killed, stopped]) {
    const { code, findings, records, events, responses } = await verify(folder);
    assert.deepEqual(findings, []);
    assert.equal(code, 0);
    assert.ok(records > 100 && events > 50, `${records} records, ${events} events`);
    if (folder === stopped) assert.ok(responses > 10, `${responses} responses`);
  }
  const { out } = await payments('verify', '--data-dir', killed);
  assert.match(out, /^Everything fits together: \d+ records/);
});

test('a folder that is in use, or none, is refused', async () => {
  const service = await startService({ dataDir: copyOf(stopped), env: busyEnv });
  const running = await payments('verify', '--data-dir', service.dataDir);
  assert.match(running.error, /^payments: the service runs on [^\n]+: stop it first\n$/);
  assert.equal(running.code, 1);
  await service.stop();
  const none = await payments('verify', '--data-dir', join(temporaryFolder(), 'none'));
  assert.match(none.error, /^payments: there is no data folder [^\n]+: name it with --data-dir\n$/);
  const backup = temporaryFolder();
  writeFileSync(join(backup, 'manifest.json'), '{}');
  const { error } = await payments('verify', '--data-dir', backup);
  assert.match(error, /has manifest\.json .*: name that with --data-dir, and a backup with --from\n$/);
});

test('the folder of a node that never had the lease is sound, and can not be exported', async () => {
  const folder = copyOf(stopped);
  const opened = await existingDataFolder(folder);
  await emptyDirectory(opened);
  assert.match((await finding(folder, 'folder.parts')).what, /directory is older .*--accept-loss/);
  for (const dir of shardDirsOf(opened)) markMirror(dir);
  assert.deepEqual((await verify(folder)).findings, []);
  const exported = await payments('export', '--data-dir', folder, '--to', join(temporaryFolder(), 'all'));
  assert.match(exported.error, /directory is older .*: PostgreSQL has it, .* that had the lease/);
});

test('money that does not add up is found with its payment', async () => {
  const folder = copyOf(stopped);
  let id = '';
  await spoil(folder, (records) => {
    const intent = oneOf(records, 'payment_intent', ({ status }) => status === 'succeeded');
    id = intent.id;
    return [{ ...intent, amount_received: intent.amount + 1 }];
  });
  assert.equal((await finding(folder, 'payment_intent.amount_received')).object, id);
  const { code, out, error } = await payments('verify', '--data-dir', folder);
  assert.match(out, new RegExp(`^shard \\d, payment_intent\\.amount_received: ${id} is succeeded`));
  assert.match(error, /^payments: 1 thing is wrong\n$/);
  assert.equal(code, 1);
});

test('a payment link whose session is missing, or whose end is told twice, is found', async () => {
  const folder = copyOf(stopped);
  let id = '';
  await spoil(folder, (records) => {
    const link = oneOf(records, 'payment_link');
    id = link.id;
    return [{ ...link, session: `${link.session!.slice(0, -4)}zzzz`, deadline_ms: null }];
  });
  for (const check of ['payment_link.session', 'payment_link.end'])
    assert.equal((await finding(folder, check)).object, id);
});

test('a day’s total that is not the sum of its charges and refunds is found', async () => {
  const folder = copyOf(stopped);
  let id = '';
  await spoil(folder, (records) => {
    const total = oneOf(records, 'day_total', (each) => each.card_received > 0 && each.refunds > 0);
    id = total.id;
    return [{ ...total, card_received: total.card_received - 1, refunded: 0, refunds: 0 }];
  });
  const { findings } = await verify(folder);
  assert.equal(findings.length, 3, 'one for each number, those that are zero now, too');
  for (const { check, object } of findings) assert.deepEqual([check, object], ['day_total.sums', id]);
  assert.match(
    findings[0]!.what,
    /come to \d+ more than the day's total says: org_\w+\/[tl] \d{4}-\d\d-\d\d \w+$/,
  );
});

test('a record that is gone is found by those that name it, an event by its object', async () => {
  const folder = copyOf(stopped);
  await spoil(folder, (records) => {
    const lost = [
      oneOf(records, 'charge', ({ status }) => status === 'succeeded'),
      oneOf(records, 'event', ({ type }) => type === 'review.opened'),
    ];
    return lost.map((record) => ({ ...record, removed: true }));
  });
  await finding(folder, 'payment_intent.latest_charge');
  assert.match((await finding(folder, 'event_missing')).object ?? '', /^(prv|ch)_/);
});

test('events that retention has removed are not missed, and a part of a younger payment’s events is', async () => {
  const folder = copyOf(stopped);
  let horizonMs = 0;
  await spoil(folder, (records) => {
    const intents = records.filter(({ kind }) => kind === 'payment_intent').map(({ id }) => timeOfId(id));
    horizonMs = intents.sort((a, b) => a - b)[Math.floor(intents.length / 2)]!;
    const old = records.filter((record) => record.kind === 'event' && timeOfId(record.id) <= horizonMs);
    assert.ok(old.length > 10);
    return old.map((record) => ({ ...record, removed: true }));
  });
  await finding(folder, 'event_missing');
  const { shardDir, shardIdentity } = await existingDataFolder(folder);
  const number = shardOfOrganization(shops[0]!.id, shards);
  const [dir, identity] = [shardDir(number), shardIdentity(number)];
  const journal = await openJournal({ dir, identity, indexRowsOf });
  const marks = writeRetention({ horizonMs, marks: [] });
  await journal.checkpointer.putMetadata(new Map([[retentionKey, marks]]));
  await journal.close();
  const { findings } = await verify(folder);
  // Deliveries that still wait with an event that is gone are found all the same.
  assert.deepEqual(
    findings.filter(({ check }) => check !== 'delivery.event'),
    [],
  );
});

test('index rows that are missing, and those that no record asks for, are found', async () => {
  const folder = copyOf(stopped);
  const asked = new Set<string>();
  let bare = '';
  let strayIn = '';
  await spoil(
    folder,
    (records) => {
      const intents = records.filter(({ kind }) => kind === 'payment_intent').slice(0, 2);
      bare = intents[0]!.id;
      strayIn = kindIndex('refund', scopeOf(intents[1]!.org, intents[1]!.livemode));
      return intents;
    },
    (record) => {
      const rows = indexRowsOf(record);
      // It is asked about each record as it was, and then as it is to be.
      const isBefore = !asked.has(record.id);
      asked.add(record.id);
      if (isBefore) return rows;
      return record.id === bare ? [] : [...rows, { list: strayIn, value: null, sortKey: record.id }];
    },
  );
  assert.match((await finding(folder, 'row_missing')).object ?? '', /^pi_/);
  assert.match(
    (await finding(folder, 'row_stray')).what,
    new RegExp(`the index ${strayIn} has the row pi_\\w+, which the record pi_\\w+ does not ask for`),
  );
});

test('a stored response that is damaged is found', async () => {
  const folder = copyOf(stopped);
  // Every place at which this shop's answers lie in the log.
  const place = shardOfOrganization(shops[0]!.id, shards);
  const log = join(folder, `shard-${place}`, 'log');
  for (const segment of readdirSync(log)) {
    const file = join(log, segment, 'data.mdb');
    const bytes = readFileSync(file);
    for (let at = bytes.indexOf('Triggered'); at >= 0; at = bytes.indexOf('Triggered', at + 1))
      bytes[at] = 0x74;
    writeFileSync(file, bytes);
  }
  assert.match((await finding(folder, 'stored_response')).object ?? '', /^[0-9a-f]{32}$/);
});

test('a newest segment that was emptied is found, and does not end the command', async () => {
  const folder = copyOf(stopped);
  const log = join(folder, `shard-${shardOfOrganization(shops[0]!.id, shards)}`, 'log');
  const segment = readdirSync(log).sort().at(-1)!;
  writeFileSync(join(log, segment, 'data.mdb'), '');
  const { what } = await finding(folder, 'readable');
  assert.match(
    what,
    new RegExp(
      `${segment}/data.mdb is damaged: its header page 0 lies outside of the file, which has 0 bytes`,
    ),
  );
});

test('a damaged record, and a part that is older than the rest, are found', async () => {
  const damaged = copyOf(stopped);
  const place = shardOfOrganization(shops[0]!.id, shards);
  const file = join(damaged, `shard-${place}`, 'state', 'data.mdb');
  const bytes = readFileSync(file);
  for (let at = bytes.indexOf('Aïcha'); at >= 0; at = bytes.indexOf('Aïcha', at + 1)) bytes[at] = 0x61;
  writeFileSync(file, bytes);
  assert.match((await finding(damaged, 'readable')).object ?? '', /^cus_/);
  const mixed = copyOf(stopped);
  const service = await startService({ dataDir: mixed, env: busyEnv });
  const { key } = shops[0]!;
  assert.equal((await service.call('/v1/customers', { key, body: { name: 'Later' } })).status, 200);
  await service.stop();
  rmSync(join(mixed, `shard-${place}`), { recursive: true });
  cpSync(join(killed, `shard-${place}`), join(mixed, `shard-${place}`), { recursive: true });
  const older = await finding(mixed, 'folder.parts');
  assert.match(older.what, /is older than the rest/);
  assert.match(older.advice, /restore the data folder from a backup/);
});
