// Bits that are not as they were written when they are read: in the files of a stopped service, beneath the storage library's map
// while the service runs, and in what the system returns to whoever reads a file. What needs them is refused, all else goes on,
// and the log, the scrubber, `payments verify` and backups say where they are.

import assert from 'node:assert/strict';
import { closeSync, openSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import '../on-disk.ts';
import { FileDamage } from '../../src/disk/lmdb-pages.ts';
import { CheckpointReader } from '../../src/journal/checkpoint/checkpoint-reader.ts';
import { recordTableOf } from '../../src/journal/checkpoint/record-table.ts';
import { keyOfId } from '../../src/journal/records/record-bytes.ts';
import { payments, paymentsWith } from '../main/payments-command.ts';
import { type Shop, shopOnEachShard } from '../main/shops.ts';
import type { Service } from '../service.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { FaultyMachine } from './faulty-machine.ts';

const env = { PAYMENTS_SHARDS: '2', PAYMENTS_BASE_URL: 'https://pay.example' };

function flip(file: string, byte: number): void {
  const descriptor = openSync(file, 'r+');
  const bytes = Buffer.alloc(1);
  readSync(descriptor, bytes, 0, 1, byte);
  bytes[0]! ^= 1;
  writeSync(descriptor, bytes, 0, 1, byte);
  closeSync(descriptor);
}

/** Finds a row in the checkpoint of shard 1, and flips a bit of its key or of its value. */
function rot(dataDir: string, table: string, isIt: (key: Buffer) => boolean, part: 'key' | 'value'): void {
  const reader = new CheckpointReader(join(dataDir, 'shard-1/state'));
  for (const row of reader.file.rows(table)) {
    if (row instanceof FileDamage || !isIt(row.key)) continue;
    flip(reader.file.path, part === 'value' ? row.at + row.length - 1 : row.at - 8);
    reader.close();
    return;
  }
  assert.fail(`no such row in ${table}`);
}

function rotRecord(dataDir: string, id: string, part: 'key' | 'value'): void {
  const key = keyOfId(id)!;
  rot(dataDir, recordTableOf(id), (each) => each.equals(key), part);
}

/** Flips a bit of the row of an object in a list. */
function rotIndexRow(dataDir: string, list: string, id: string): void {
  const reader = new CheckpointReader(join(dataDir, 'shard-1/state'));
  const isIt = (key: Buffer) => {
    const row = reader.rowAt(key);
    return row?.list === list && row.sortKey.endsWith(id);
  };
  rot(dataDir, 'index', isIt, 'key');
  reader.close();
}

interface Begun {
  readonly id: string;
  readonly charge: string;
}

/** A payment whose card page is open for half an hour. */
async function begin(service: Service, { key }: Shop, name: string): Promise<Begun> {
  const body = { amount: 12_000, currency: 'mad', description: name };
  const made = await service.call('/v1/payment_intents', { key, body, idempotencyKey: name });
  const confirm = { body: { return_url: 'https://shop.example' }, idempotencyKey: `${name}-confirm` };
  const { json } = await service.call(`/v1/payment_intents/${made.json.id}/confirm`, { key, ...confirm });
  assert.equal(json.status, 'requires_action');
  return { id: json.id, charge: json.latest_charge };
}

/** The bit in the middle of what is read: in a row of a page, a batch of the log, or a block of a file. */
const middle = 3_000 * 8;

/** A backup of a sound folder with bits that flip on reads: it is refused until they don't, and so is its verification. */
async function backUpOnFaultyReads(machine: FaultyMachine): Promise<void> {
  const { dataDir, environment } = machine;
  const to = join(temporaryFolder(), 'backup');
  const run = (faultyFolder: string, ...args: string[]) =>
    paymentsWith({ ...environment, FAULTS_FOLDER: faultyFolder, PAYMENTS_LOG_LEVEL: 'silent' }, ...args);
  const backUp = () => run(dataDir, 'backup', '--to', to, '--data-dir', dataDir);
  const verify = () => run(to, 'verify', '--from', to);
  const flipOn = (place: string) => machine.faults({ on: 'read', place, action: 'flip', argument: middle });
  const state = join(dataDir, 'shard-1/state/data.mdb');
  const log = join(to, 'shard-0/log/');
  flipOn(state);
  const misread = await backUp();
  assert.equal(misread.code, 1);
  assert.match(misread.error, new RegExp(`${state} is damaged: the record \\w+ is not as it was written`));
  machine.heal();
  const made = await backUp();
  assert.equal(made.code, 0, made.error);
  flipOn(log);
  assert.match((await verify()).error, new RegExp(`${log}\\S+ is damaged at byte \\d+: `));
  machine.heal();
  const sound = await verify();
  assert.equal(sound.code, 0, sound.error + sound.out);
}

test('bits that flip in what is read refuse what needs them, and nothing else, and are told', async (context) => {
  const machine = FaultyMachine.make();
  if (machine === null) return context.skip('needs Linux and a C compiler (cc)');
  const { dataDir } = machine;
  const first = await machine.start(env);
  const [near, far] = (await shopOnEachShard(first, 2)) as [Shop, Shop];
  const names = ['sound', 'intent', 'charge', 'intent key', 'charge key', 'due'] as const;
  const made = new Map<string, Begun>();
  for (const name of names) made.set(name, await begin(first, far, name));
  const of = (name: (typeof names)[number]) => made.get(name)!;
  const beside = await begin(first, near, 'beside');
  const customer = await first.call('/v1/customers', { key: far.key, body: { name: 'Rachid' } });
  assert.equal(await first.stop(), 0);
  await backUpOnFaultyReads(machine);

  rotRecord(dataDir, of('intent').id, 'value');
  rotRecord(dataDir, of('charge').charge, 'value');
  rotRecord(dataDir, of('intent key').id, 'key');
  rotRecord(dataDir, of('charge key').charge, 'key');
  rotIndexRow(dataDir, 'due', of('due').charge);

  const service = await machine.start({ ...env, PAYMENTS_JOURNAL_SCRUB_SECONDS: '1' });
  const read = async ({ key }: Shop, path: string) => {
    const { status, json } = await service.call(path, { key });
    return status === 200 ? json.status : `${status} ${json.error.code}`;
  };
  const statusOf = (name: (typeof names)[number]) => read(far, `/v1/payment_intents/${of(name).id}`);
  const chargeOf = (name: (typeof names)[number]) => read(far, `/v1/charges/${of(name).charge}`);
  rotRecord(dataDir, customer.json.id, 'value');
  assert.equal(await read(far, `/v1/customers/${customer.json.id}`), '500 api_error');
  // The time of all charges is over: those that can expire do, beside those that can't.
  machine.setClocks({ realMs: 3_600_000, monotonicMs: 3_600_000 });
  await service.until(async () => (await statusOf('sound')) === 'requires_payment_method' || undefined);
  assert.equal(await read(near, `/v1/payment_intents/${beside.id}`), 'requires_payment_method');
  assert.deepEqual(
    { intent: await statusOf('intent'), key: await statusOf('intent key'), due: await statusOf('due') },
    { intent: '500 api_error', key: '500 api_error', due: 'requires_action' },
  );
  assert.deepEqual(
    [await chargeOf('charge'), await chargeOf('charge key')],
    ['500 api_error', '500 api_error'],
  );
  assert.equal(await read(far, '/v1/payment_intents'), '500 api_error');
  assert.equal((await begin(service, far, 'later')).charge.startsWith('ch_'), true);
  const toldOf = (text: string) => service.until(() => service.output().includes(text) || undefined);
  for (const id of [of('intent').id, of('charge').charge, customer.json.id])
    await toldOf(`shard-1/state/data.mdb is damaged: the record ${id} is not as it was written`);
  await toldOf('the index due has the row ');
  await toldOf(`the scrubber has found damage: the record ${customer.json.id} is not as it was written`);
  assert.equal(await service.stop(), 0);
  assert.doesNotMatch(service.output(), /stays down|started again/);
  const verified = await payments('verify', '--data-dir', dataDir, '--json');
  assert.equal(verified.code, 1);
  for (const id of [of('intent').id, of('charge').charge, customer.json.id])
    assert.match(verified.out, new RegExp(id));
});
