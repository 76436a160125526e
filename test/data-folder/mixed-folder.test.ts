// A data folder whose parts do not belong together: they were swapped, or are from an older backup, another generation or
// another installation. A start names the part and says what to do in one line, and changes nothing.

import assert from 'node:assert/strict';
import { cpSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { lookAtDataFolder, withDirectory } from '../../src/data-folder/data-folder.ts';
import { checkFolder } from '../../src/data-folder/folder-check.ts';
import { whileStopped } from '../../src/data-folder/folder-command.ts';
import { readEnds } from '../../src/data-folder/sequence-notes.ts';
import { revisionOf } from '../../src/directory/directory-store.ts';
import { RowStore } from '../../src/disk/row-store.ts';
import { password, Visitor } from '../dashboard/fixture.ts';
import { payments, paymentsWith } from '../main/payments-command.ts';
import { type Shop, shopOnEachShard } from '../main/shops.ts';
import { copyOfDataFolder, newKey, newOrganization, type Service, startService } from '../service.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const env = { PAYMENTS_SHARDS: '2', PAYMENTS_BASE_URL: 'https://pay.example' };

async function reshard(dataDir: string, shards: string): Promise<void> {
  const { code, error } = await payments('--data-dir', dataDir, 'reshard', '--shards', shards);
  assert.deepEqual([code, error], [0, '']);
}

/** A start as a process of its own, which is refused with one line. */
async function assertStartRefused(dataDir: string, expected: RegExp): Promise<void> {
  const { code, error } = await payments('--data-dir', dataDir, 'serve');
  assert.match(error, /^payments: [^\n]+\n$/, 'one line');
  assert.match(error, expected);
  assert.equal(code, 1);
}

/** The look at the folder that a start takes, in this process. */
function assertRefused(dataDir: string, expected: RegExp): Promise<void> {
  const look = whileStopped(dataDir, (folder) =>
    withDirectory(folder, (directory) =>
      checkFolder({ folder, directory, acceptLoss: false, warn: () => {} }),
    ),
  );
  return assert.rejects(look, expected);
}

function create(service: Service, { key }: Shop, idempotencyKey: string) {
  const body = { amount: 12_000, currency: 'mad' };
  return service.call('/v1/payment_intents', { key, body, idempotencyKey });
}

function swap(one: string, other: string): void {
  renameSync(one, `${one}.moved`);
  renameSync(other, one);
  renameSync(`${one}.moved`, other);
}

/** Puts a part of one folder in the place of that part, or of another one, of another folder. */
function replace(from: string, to: string): void {
  rmSync(to, { recursive: true });
  cpSync(from, to, { recursive: true });
}

/** How many changes the directory of a data folder has seen. */
function changesOf(dataDir: string): number {
  const { directory, directoryPart } = lookAtDataFolder(dataDir);
  const store = new RowStore(directory, directoryPart, true);
  const changes = revisionOf(store);
  void store.close();
  return changes;
}

/** A folder that was used and left in order: two shards, a payment in each. Tests copy it. */
let older: string;
let shops: readonly Shop[];

before(async () => {
  older = temporaryFolder();
  const service = await startService({ dataDir: older, env });
  shops = await shopOnEachShard(service, 2);
  for (const shop of shops) assert.equal((await create(service, shop, 'first')).status, 200);
  assert.equal(await service.stop(), 0);
});

test('a shard that has lost the newest segment of its log stays down until the loss is accepted', async () => {
  const dataDir = temporaryFolder();
  const noCheckpoint = { ...env, PAYMENTS_JOURNAL_CHECKPOINT_INTERVAL_MS: '3600000' };
  let service = await startService({ dataDir, env: noCheckpoint });
  const shops = await shopOnEachShard(service, 2);
  for (const shop of shops) assert.equal((await create(service, shop, 'before')).status, 200);
  await service.kill();
  const log = join(dataDir, 'shard-1', 'log');
  const newest = readdirSync(log).sort().at(-1)!;
  renameSync(join(log, newest), join(dataDir, 'shard-1', 'away'));
  service = await startService({ dataDir, env });
  assert.equal((await create(service, shops[1]!, 'before')).status, 503, 'no second object is made');
  assert.equal((await create(service, shops[0]!, 'before')).headers.get('idempotent-replayed'), 'true');
  assert.match(service.output(), /newest segment of the log is missing.*--accept-loss/);
  assert.equal(await service.stop(), 0);
  // Nothing makes a folder out of what is left that would not show it.
  const to = join(temporaryFolder(), 'backup');
  for (const command of [
    ['backup', '--to', to],
    ['reshard', '--shards', '1'],
    ['wal', 'verify'],
  ]) {
    const { code, out, error } = await paymentsWith({ PAYMENTS_DATA_DIR: dataDir }, ...command);
    assert.match(out + error, /newest segment.* is missing/, command.join(' '));
    assert.equal(code, 1);
  }
  service = await startService({ dataDir, env, args: ['--accept-loss'] });
  assert.match(service.output(), /newest segment of the log: this was accepted/);
  assert.equal((await create(service, shops[1]!, 'after')).status, 200);
  assert.equal(await service.stop(), 0);
  service = await startService({ dataDir, env });
  assert.equal((await create(service, shops[1]!, 'after')).headers.get('idempotent-replayed'), 'true');
  assert.equal(await service.stop(), 0);
});

describe('a shard that is put back after a kill', () => {
  /** Waits until it is noted how far the shards have come, and kills the service. */
  async function killNoted(service: Service): Promise<void> {
    const folder = lookAtDataFolder(service.dataDir);
    const ends = async () => {
      const { shards } = (await service.operate('status', {})) as {
        shards: readonly { log_sequence: number }[];
      };
      return shards.map(({ log_sequence }) => log_sequence);
    };
    const expected = await ends();
    await service.until(
      () => readEnds(folder)!.every((end, n) => end?.sequence === expected[n]) || undefined,
    );
    await service.kill();
  }
  const noCheckpoint = { ...env, PAYMENTS_JOURNAL_CHECKPOINT_INTERVAL_MS: '3600000' };
  let newer: string;

  before(async () => {
    newer = copyOfDataFolder(older);
    const service = await startService({ dataDir: newer, env: noCheckpoint });
    for (const shop of shops) assert.equal((await create(service, shop, 'second')).status, 200);
    await killNoted(service);
  });

  test('is told when it is older than the seconds before, until that is accepted', async () => {
    const folder = copyOfDataFolder(newer);
    replace(join(older, 'shard-1'), join(folder, 'shard-1'));
    await assertStartRefused(
      folder,
      /shard-1 is older than the rest of .*: it ends at \d+ and \d+ was noted: .*--accept-loss/,
    );
    let service = await startService({ dataDir: folder, env, args: ['--accept-loss'] });
    assert.match(service.output(), /shard-1 is older .*: this was accepted/);
    await service.kill();
    service = await startService({ dataDir: folder, env });
    assert.equal((await create(service, shops[1]!, 'first')).headers.get('idempotent-replayed'), 'true');
    assert.equal(await service.stop(), 0);
  });

  test('is told when it has gone another way, however far it came', async () => {
    const folder = copyOfDataFolder(newer);
    const other = copyOfDataFolder(older);
    let service = await startService({ dataDir: other, env });
    for (let n = 0; n < 5; n++) assert.equal((await create(service, shops[1]!, `other${n}`)).status, 200);
    assert.equal(await service.stop(), 0);
    replace(join(other, 'shard-1'), join(folder, 'shard-1'));
    await assertRefused(
      folder,
      /shard-1 is not the one that was last used in .*: its entry \d+ .*--accept-loss/,
    );
    service = await startService({ dataDir: folder, env, args: ['--accept-loss'] });
    assert.equal(await service.stop(), 0);
    service = await startService({ dataDir: folder, env });
    assert.equal((await create(service, shops[1]!, 'other4')).headers.get('idempotent-replayed'), 'true');
    assert.equal(await service.stop(), 0);
  });

  test('is not looked for where the notes are gone or damaged, and the log says that they are damaged', async () => {
    for (const spoil of [() => null, () => 'damaged']) {
      const folder = copyOfDataFolder(newer);
      const notes = join(folder, 'sequences');
      const text = spoil();
      if (text === null) rmSync(notes);
      else writeFileSync(notes, text);
      const service = await startService({ dataDir: folder, env });
      assert.equal(service.output().includes("of its shards can't be read"), text !== null);
      assert.equal((await create(service, shops[1]!, 'second')).headers.get('idempotent-replayed'), 'true');
      assert.equal(await service.stop(), 0);
      assert.notEqual(readEnds(lookAtDataFolder(folder))?.[1], null);
    }
  });

  test('but not when nothing was put back, and not after a reshard', async () => {
    const folder = copyOfDataFolder(newer);
    await reshard(folder, '3');
    assert.deepEqual(readEnds(lookAtDataFolder(folder)), [null, null, null]);
    const service = await startService({ dataDir: folder, env: { ...env, PAYMENTS_SHARDS: '3' } });
    assert.equal((await create(service, shops[1]!, 'second')).headers.get('idempotent-replayed'), 'true');
    assert.equal(await service.stop(), 0);
  });
});

describe('a start on parts that do not belong together is refused', () => {
  /** The same folder as the older one, later: more payments in each shard, and an organization more. */
  let newer: string;
  let late: Shop;

  before(async () => {
    newer = copyOfDataFolder(older);
    const service = await startService({ dataDir: newer, env });
    for (const shop of shops) {
      const again = await create(service, shop, 'first');
      assert.equal(again.headers.get('idempotent-replayed'), 'true', 'a copy of the whole folder serves');
      assert.equal((await create(service, shop, 'second')).status, 200);
    }
    [, late] = (await shopOnEachShard(service, 2)) as [Shop, Shop];
    assert.equal((await create(service, late, 'first')).status, 200);
    assert.equal(await service.stop(), 0);
  });

  test('but not on a copy of the whole folder, older, as above, or newer', async () => {
    const service = await startService({ dataDir: copyOfDataFolder(newer), env });
    const again = await create(service, shops[1]!, 'first');
    assert.equal(again.headers.get('idempotent-replayed'), 'true');
    assert.equal(await service.stop(), 0);
  });

  for (const part of ['', 'log', 'state']) {
    test(`when ${part === '' ? "two shards' folders" : `the ${part} folders of two shards`} are swapped`, async () => {
      const folder = copyOfDataFolder(newer);
      swap(join(folder, 'shard-0', part), join(folder, 'shard-1', part));
      await assertRefused(
        folder,
        /shard-0\/(log|state)\S* is shard-1\/\w+ of this data folder: put each part back .*backup/,
      );
    });
  }

  test('when one shard is from an older backup', async () => {
    const folder = copyOfDataFolder(newer);
    replace(join(older, 'shard-1'), join(folder, 'shard-1'));
    await assertRefused(
      folder,
      /shard-1 is older than the rest of .*: it ends at \d+ and \d+ was noted: .*backup/,
    );
  });

  test("when a shard's log is from an older backup", async () => {
    const folder = copyOfDataFolder(newer);
    replace(join(older, 'shard-1', 'log'), join(folder, 'shard-1', 'log'));
    await assertRefused(folder, /shard-1\/log is older than .*shard-1\/state: it ends at \d+ .*backup/);
    for (const args of [['--accept-loss'], []]) {
      const service = await startService({ dataDir: folder, env, args });
      assert.equal(await service.stop(), 0, 'what was accepted once is not asked again');
    }
  });

  test('when the directory is from an older backup', async () => {
    const folder = copyOfDataFolder(newer);
    replace(join(older, 'directory'), join(folder, 'directory'));
    await assertStartRefused(folder, /directory is older than the rest of .*backup/);
  });

  test('when the directory is from before a member was removed, and nothing else was changed', async () => {
    const folder = copyOfDataFolder(older);
    let service = await startService({ dataDir: folder, env });
    const org = shops[0]!.id;
    const email = 'leaving@souk.ma';
    const { link } = await service.operate<{ link: string }>('member.invite', { org, email, role: 'viewer' });
    const visitor = new Visitor(service.url);
    const joined = await visitor.submit(new URL(link).pathname, { name: 'Hind', password });
    assert.equal(joined.status, 303, joined.body);
    assert.equal(await service.stop(), 0);
    const before = copyOfDataFolder(folder);
    service = await startService({ dataDir: folder, env });
    await service.operate('member.remove', { org, member: email });
    assert.equal(await service.stop(), 0);
    replace(join(before, 'directory'), join(folder, 'directory'));
    await assertRefused(folder, /directory is older than the rest of .*backup/);
  });

  test('when the directory lacks an organization that the shards have', async () => {
    // As old as the other one, and then used as much on its own.
    const other = copyOfDataFolder(older);
    const service = await startService({ dataDir: other, env });
    while (changesOf(other) <= changesOf(newer)) await newOrganization(service);
    assert.equal(await service.stop(), 0);
    const folder = copyOfDataFolder(newer);
    replace(join(other, 'directory'), join(folder, 'directory'));
    await assertRefused(folder, new RegExp(`directory does not know ${late.id}, of whom there are payments`));
  });

  test('unless the loss is accepted: what is there serves, and the next start is as any other', async () => {
    const folder = copyOfDataFolder(newer);
    replace(join(older, 'directory'), join(folder, 'directory'));
    replace(join(older, 'shard-0'), join(folder, 'shard-0'));
    replace(join(older, 'shard-1', 'log'), join(folder, 'shard-1', 'log'));
    await assertRefused(folder, /shard-0 is older than .*--accept-loss/);
    let service = await startService({ dataDir: folder, env, args: ['--accept-loss'] });
    const accepted = /: this was accepted/g;
    assert.equal(service.output().match(accepted)?.length, 4);
    assert.equal((await create(service, shops[0]!, 'second')).headers.get('idempotent-replayed'), null);
    const lost = await create(service, shops[1]!, 'second');
    assert.deepEqual([lost.status, lost.json.error?.code], [500, 'api_error'], 'it does not run again');
    assert.equal((await create(service, shops[1]!, 'third')).status, 200);
    // The organization that the directory had lost waits for its operator.
    assert.equal((await service.call('/v1/account', { key: late.key })).json.error?.code, 'api_key_invalid');
    await service.operate('org.reinstate', { org: late.id });
    const key = await newKey(service, late.id, 'test');
    assert.equal((await service.call('/v1/payment_intents', { key })).json.data.length, 1);
    assert.equal(await service.stop(), 0);
    service = await startService({ dataDir: folder, env });
    assert.equal((await create(service, shops[0]!, 'second')).headers.get('idempotent-replayed'), 'true');
    assert.equal(await service.stop(), 0);
  });

  test('when a part is from another installation', async () => {
    const other = temporaryFolder();
    const service = await startService({ dataDir: other, env });
    for (const shop of await shopOnEachShard(service, 2)) await create(service, shop, 'first');
    assert.equal(await service.stop(), 0);
    for (const part of ['shard-0', 'shard-1/log', 'shard-0/state', 'directory']) {
      const folder = copyOfDataFolder(newer);
      replace(join(other, part), join(folder, part));
      await assertRefused(folder, new RegExp(`${part}\\S* belongs to another data folder: .*backup`));
    }
    // A single segment among those of the shard.
    const folder = copyOfDataFolder(newer);
    const log = join(folder, 'shard-0', 'log');
    const [segment] = readdirSync(log);
    replace(join(other, 'shard-0', 'log', segment!), join(log, segment!));
    await assertRefused(folder, /shard-0\/log\/\d+ belongs to another data folder/);
  });

  test('when a log is from before a reshard', async () => {
    const folder = copyOfDataFolder(newer);
    for (const shards of ['1', '2']) {
      await reshard(folder, shards);
    }
    const service = await startService({ dataDir: folder, env });
    const again = await create(service, shops[1]!, 'second');
    assert.equal(again.headers.get('idempotent-replayed'), 'true');
    assert.equal(await service.stop(), 0);
    const [generation] = readdirSync(folder).filter((name) => name.startsWith('generation-'));
    replace(join(newer, 'shard-1', 'log'), join(folder, generation!, 'shard-1', 'log'));
    await assertRefused(folder, /shard-1\/log\S* is from before a reshard \(generation 0, .* 2\).*backup/);
  });
});
