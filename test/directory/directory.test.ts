import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { open } from 'lmdb';
import { pack } from 'msgpackr';
import { activeKeysMax, keysMadePerDayMax } from '../../src/contract/limits.ts';
import { modes } from '../../src/contract/vocabulary.ts';
import { digestOf, keyStatus } from '../../src/directory/api-key.ts';
import { logoOf } from '../../src/directory/branding.ts';
import { changeRowOf, changesAfter } from '../../src/directory/change-log.ts';
import { type Directory, type DirectoryChange, isForeignRow } from '../../src/directory/directory.ts';
import { createDirectory } from '../../src/directory/directory-store.ts';
import {
  activate,
  close,
  suspend,
  withBranding,
  withLimit,
  withMethods,
} from '../../src/directory/organization.ts';
import { DirectoryRefusal } from '../../src/directory/refusal.ts';
import { withChecksum } from '../../src/disk/checksum.ts';
import { RowStore } from '../../src/disk/row-store.ts';
import { atWriteError } from '../../src/disk/storage-errors.ts';
import { createManualClock } from '../manual-clock.ts';
import { directoryIn, folderOfDirectory, part } from './directories.ts';

const startMs = 1_793_491_200_000;

/** Has the next write of LMDB's meta page fail: its own descriptor for that becomes one that takes nothing. */
function breakMetaPage(folder: string): void {
  const file = join(folder, 'data.mdb');
  const isOpen = (fd: string) => existsSync(`/proc/self/fdinfo/${fd}`);
  const isFile = (fd: string) => readlinkSync(`/proc/self/fd/${fd}`) === realpathSync(file);
  // It is the one that is for writing only.
  const isForWriting = (fd: string) =>
    /flags:\s*\d*1$/m.test(readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8'));
  const meta = readdirSync('/proc/self/fd').find((fd) => isOpen(fd) && isFile(fd) && isForWriting(fd));
  closeSync(Number(meta));
  const others: number[] = [];
  for (let fd = -1; fd !== Number(meta); others.push(fd)) fd = openSync('/dev/null', 'r');
  for (const fd of others.slice(0, -1)) closeSync(fd);
}

describe('Directory', () => {
  const clock = createManualClock(startMs);
  let folder: string;
  let directory: Directory;

  beforeEach(async () => {
    clock.set(startMs);
    folder = await folderOfDirectory();
    directory = directoryIn(folder, clock.now);
  });
  afterEach(() => directory.closeStore());

  async function reopen(): Promise<void> {
    await directory.closeStore();
    directory = directoryIn(folder, clock.now);
  }

  test('an organization starts with four keys, found by text and by id', async () => {
    const { organization, keys } = await directory.createOrganization('Souk', modes);
    assert.match(organization.id, /^org_[0-9A-Za-z]{24}$/);
    const found = directory.key(keys.live.publishable);
    assert.equal(found.digest, digestOf(keys.live.publishable));
    assert.deepEqual([found.org, found.mode, found.kind], [organization.id, 'live', 'publishable']);
    assert.equal(directory.key(found.id), found);
    assert.equal(directory.keysOf(organization.id).length, 4);
  });

  test('everything is there after it was opened again', async () => {
    const { organization: first } = await directory.createOrganization('First', modes);
    clock.advance(1000);
    const { organization: second, keys } = await directory.createOrganization('Second', modes);
    await directory.changeOrganization(first.id, (each, nowMs) =>
      withLimit(each, 'test', 'search', { perMinute: 6, source: 'custom', untilMs: null }, nowMs),
    );
    await directory.rollKey(keys.test.secret, 60, 'operator');
    const before = directory.snapshot();
    await reopen();
    assert.deepEqual(directory.snapshot(), before);
    assert.deepEqual(
      directory.organizations().map((organization) => organization.id),
      [first.id, second.id],
    );
    assert.equal(directory.keysOf(second.id).length, 5);
    assert.equal(directory.key(keys.test.secret).rolledTo !== null, true);
  });

  test('the text of a key is not on disk', async () => {
    const { keys } = await directory.createOrganization('Souk', modes);
    const data = readFileSync(join(folder, 'data.mdb')).toString('latin1');
    assert.ok(data.includes('Souk'));
    assert.ok(!data.includes(keys.test.secret.slice(12)));
  });

  test('a rolled key works until its overlap ends, its successor at once', async () => {
    const { keys } = await directory.createOrganization('Souk', modes);
    const { key, text, old } = await directory.rollKey(keys.test.secret, 60, 'operator');
    assert.equal(directory.key(text), key);
    assert.deepEqual([key.mode, key.kind, key.org], ['test', 'secret', old.org]);
    assert.equal(old.rolledTo, key.id);
    assert.equal(keyStatus(directory.key(keys.test.secret), startMs + 59_999), 'active');
    assert.equal(keyStatus(directory.key(keys.test.secret), startMs + 60_000), 'expired');
    await assert.rejects(directory.rollKey(keys.test.secret, 60, 'operator'), DirectoryRefusal);
  });

  test('the last use of a key is kept, and an older one that is heard of later does not replace it', async () => {
    const { keys } = await directory.createOrganization('Souk', modes);
    const { id: key } = directory.key(keys.test.secret);
    const { revision } = directory;
    assert.equal(directory.keyUses.lastMs(key), null);
    directory.keyUses.note([{ key, atMs: startMs + 5 }]);
    directory.keyUses.note([{ key, atMs: startMs }]);
    assert.equal(directory.keyUses.lastMs(key), startMs + 5);
    await reopen();
    assert.equal(directory.keyUses.lastMs(key), startMs + 5);
    assert.equal(directory.revision, revision);
  });

  test('a key has a name until it is taken away, unless its organization is closed', async () => {
    const { organization, keys } = await directory.createOrganization('Souk', modes);
    const { id } = directory.key(keys.test.secret);
    assert.equal((await directory.nameKey(id, ' Till 3 ')).name, 'Till 3');
    await reopen();
    assert.equal(directory.key(id).name, 'Till 3');
    assert.equal((await directory.nameKey(keys.test.secret, '')).name, null);
    await directory.changeOrganization(organization.id, close);
    await assert.rejects(directory.nameKey(id, 'Till 4'), DirectoryRefusal);
  });

  test('organizations that the shards alone know are entered as suspended, without a key', async () => {
    await directory.restoreOrganizations(['org_b', 'org_a']);
    assert.equal(directory.revision, 2, 'both are durable');
    clock.advance(-60_000);
    await directory.restoreOrganizations(['org_c']);
    await reopen();
    assert.deepEqual(
      directory.organizations().map(({ id, name, status }) => [id, name, status]),
      ['org_c', 'org_a', 'org_b'].map((id) => [id, id, 'suspended']),
      'the oldest comes first, and of two of one second that with the lower id',
    );
    assert.deepEqual(directory.keysOf('org_a'), []);
  });

  test('an organization is put with its keys as another directory had them', async () => {
    const { organization, keys } = await directory.createOrganization('Souk', modes);
    const entry = {
      organization: { ...organization, id: 'org_other', name: 'Other' },
      keys: directory.keysOf(organization.id),
    };
    const moved = entry.keys.map((key) => ({
      ...key,
      id: `${key.id}x`,
      org: 'org_other',
      digest: `${key.digest}x`,
    }));
    await directory.restore({ ...entry, keys: moved });
    await reopen();
    assert.deepEqual(directory.organization('org_other'), entry.organization);
    assert.deepEqual(directory.keysOf('org_other'), moved);
    assert.equal(directory.key(keys.test.secret).org, organization.id);
  });

  test('what recognizes the secrets key, and what secrets of listen are derived from, is kept', async () => {
    assert.equal(directory.keyCheckValue, null);
    await directory.putKeyCheckValue('sealed');
    const listen = await directory.listenKey();
    assert.ok(listen.length >= 32);
    assert.deepEqual(await directory.listenKey(), listen);
    const { revision } = directory;
    await reopen();
    assert.deepEqual([directory.keyCheckValue, await directory.listenKey()], ['sealed', listen]);
    assert.equal(directory.revision, revision, 'neither is a change of organizations');
  });

  test('each change is told with its number, and the count goes on behind what the shards have seen', async () => {
    const told: number[] = [];
    directory.store.onChange((revision) => told.push(revision));
    await directory.createOrganization('First', []);
    await directory.store.skipTo(40);
    assert.equal(directory.revision, 40);
    await directory.createOrganization('Second', []);
    assert.deepEqual(told, [1, 41]);
    await directory.closeStore();
    const store = new RowStore(folder, part);
    const logged = [...changesAfter(store, 0)];
    await store.close();
    directory = directoryIn(folder, clock.now);
    assert.equal(directory.revision, 41);
    assert.deepEqual(
      logged.map(({ after, revision }) => [after, revision]),
      [
        [0, 1],
        [1, 40],
        [40, 41],
      ],
    );
  });

  test('a revoked key stays known as revoked', async () => {
    const { keys } = await directory.createOrganization('Souk', modes);
    const { id } = directory.key(keys.test.secret);
    assert.equal(await directory.revokeKey(id), directory.key(id));
    await reopen();
    assert.equal(keyStatus(directory.key(keys.test.secret), startMs), 'revoked');
  });

  test('what does not exist is refused without repeating it', async () => {
    await assert.rejects(directory.revokeKey('svc_sk_test_x'), (error) => {
      return error instanceof DirectoryRefusal && !error.message.includes('svc_');
    });
    await assert.rejects(directory.changeOrganization('org_x', suspend), DirectoryRefusal);
    await assert.rejects(directory.createKey('org_x', 'test', 'secret', 'operator'), DirectoryRefusal);
  });

  test('an organization has at most a hundred keys that work in a mode', async () => {
    const { organization, keys } = await directory.createOrganization('Souk', modes);
    const create = (mode: 'test' | 'live') =>
      directory.createKey(organization.id, mode, 'secret', 'operator');
    const full = { name: 'DirectoryRefusal', code: 'too_many_keys' };
    for (let count = 2; count < activeKeysMax; count++) await create('test');
    await assert.rejects(create('test'), full);
    await create('live');
    await assert.rejects(directory.rollKey(keys.test.secret, 60, 'operator'), full, 'both would work');
    const { key } = await directory.rollKey(keys.test.secret, 0, 'operator');
    await assert.rejects(create('test'), full);
    await directory.revokeKey(key.id);
    await create('test');
  });

  test('members of an organization make at most two hundred keys in a day, also those that take the place of others', async () => {
    const { organization, keys } = await directory.createOrganization('Souk', modes);
    const roles = { [organization.id]: 'developer' } as const;
    const { id: member } = await directory.members.create('dev@souk.ma', 'Ali', null, roles);
    let last = keys.test.secret;
    const roll = async (madeBy = member) => {
      last = (await directory.rollKey(last, 0, madeBy)).text;
    };
    const create = (madeBy = member) => directory.createKey(organization.id, 'live', 'secret', madeBy);
    for (let count = directory.keysOf(organization.id).length; count < keysMadePerDayMax; count++)
      await roll();
    const full = { name: 'DirectoryRefusal', code: 'too_many_new_keys' };
    await assert.rejects(roll(), full);
    await assert.rejects(create(), full);
    await roll('operator');
    await create('operator');
    const { organization: other } = await directory.createOrganization('Medina', modes);
    await directory.createKey(other.id, 'test', 'secret', 'operator');
    await directory.revokeKey(last);
    clock.advance(86_399_999);
    await assert.rejects(create(), full);
    clock.advance(1);
    await create();
  });

  test('what is as it was is not written again: no change, and not the organization with each of its keys', async () => {
    const { organization, keys } = await directory.createOrganization('Souk', modes);
    const logo = Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), Buffer.alloc(60_000)]);
    const upload = () =>
      directory.changeOrganization(organization.id, (each) => withBranding(each, { logo: logoOf(logo) }));
    await upload();
    const { revision } = directory;
    await upload();
    assert.equal(directory.revision, revision);
    await directory.nameKey(keys.test.secret, 'Till');
    assert.equal(directory.revision, revision + 1);
    const change = directory.store.get(changeRowOf(revision + 1));
    assert.ok(change !== undefined && change.length < 2_000, `${change?.length} bytes for a key`);
  });

  test('a listener hears of the keys that have changed, not of all', async () => {
    const { organization } = await directory.createOrganization('Souk', modes);
    const heard: DirectoryChange[] = [];
    directory.onChange((change) => void heard.push(change));
    const { key } = await directory.createKey(organization.id, 'test', 'secret', 'operator');
    await directory.changeOrganization(organization.id, suspend);
    assert.deepEqual(
      heard.map(({ keys }) => keys.map(({ id }) => id)),
      [[key.id], []],
    );
  });

  test('a closed organization gets no key; its keys can be revoked', async () => {
    const { organization, keys } = await directory.createOrganization('Souk', modes);
    await directory.changeOrganization(organization.id, close);
    await assert.rejects(
      directory.createKey(organization.id, 'test', 'secret', 'operator'),
      DirectoryRefusal,
    );
    await assert.rejects(directory.rollKey(keys.test.secret, 0, 'operator'), DirectoryRefusal);
    await directory.revokeKey(keys.test.secret);
  });

  test('a listener gets the organization with the key that is new, and is waited for', async () => {
    const { organization } = await directory.createOrganization('Souk', modes);
    const heard: DirectoryChange[] = [];
    const gate = Promise.withResolvers<void>();
    const stop = directory.onChange(async (change) => {
      heard.push(structuredClone(change));
      await gate.promise;
    });
    let settled = false;
    const creation = directory.createKey(organization.id, 'live', 'secret', 'operator').then((made) => {
      settled = true;
      return made;
    });
    await new Promise(setImmediate);
    assert.equal(settled, false, 'a listener has not settled');
    gate.resolve();
    const { key } = await creation;
    assert.deepEqual(heard[0]?.organization, organization);
    assert.equal(heard[0]?.keys.length, 1);
    assert.ok(heard[0]?.keys.some(({ id }) => id === key.id));
    stop();
    await directory.changeOrganization(organization.id, suspend);
    assert.equal(heard.length, 1);
  });

  test('changes that are under way at once do not undo each other', async () => {
    const { organization } = await directory.createOrganization('Souk', modes);
    directory.onChange(() => new Promise(setImmediate));
    await Promise.all([
      directory.changeOrganization(organization.id, (each) => withMethods(each, 'test', { cash: false })),
      directory.changeOrganization(organization.id, (each) => withMethods(each, 'test', { card: false })),
      directory.changeOrganization(organization.id, activate),
    ]);
    const changed = directory.organization(organization.id);
    assert.deepEqual(changed.methods.test, { card: false, cash: false });
    assert.equal(changed.liveActivated, true);
  });

  test('a folder of another format, or of none, is refused', async () => {
    const other = join(folder, 'other');
    await createDirectory(other, part);
    for (const format of [99, null]) {
      const store = open<Buffer, string>({ path: join(other, 'data.mdb'), encoding: 'binary' });
      await (format === null ? store.remove('format') : store.put('format', withChecksum(pack(format))));
      await store.close();
      assert.throws(() => directoryIn(other, clock.now), /was written by another version/);
    }
  });

  test('a disk that refuses the meta page tells so before anybody else hears of the change', async (context) => {
    if (process.platform !== 'linux') return context.skip('breaks a descriptor by way of /proc');
    const heard: string[] = [];
    await directory.closeStore();
    const onFailure = (error: unknown, fatal: boolean) => heard.push(`${(error as Error).name} ${fatal}`);
    directory = directoryIn(folder, clock.now, { onFailure });
    const { keys } = await directory.createOrganization('Souk', modes);
    directory.onChange(() => void heard.push('changed'));
    const { run } = atWriteError;
    atWriteError.run = ({ message }) => void heard.push(message);
    context.after(() => {
      atWriteError.run = run;
    });
    breakMetaPage(folder);
    await assert.rejects(directory.revokeKey(keys.test.secret), { name: 'JournalFailure' });
    const [first, ...rest] = heard;
    assert.match(first!, /^Could not write to .*directory: /);
    assert.deepEqual(rest, ['JournalFailure true']);
  });

  test('a full disk costs the changes that come meanwhile, and nothing else', async () => {
    let isFull = true;
    const failures: string[] = [];
    await directory.closeStore();
    const onFailure = (error: unknown, fatal: boolean) => failures.push(`${(error as Error).name} ${fatal}`);
    directory = directoryIn(folder, clock.now, { onFailure, isDiskFull: () => isFull });
    const refused = { name: 'JournalFailure', message: /^The disk is full/, diskFull: true };
    await assert.rejects(directory.createOrganization('Souk', modes), refused);
    assert.deepEqual(failures, ['JournalFailure false']);
    assert.deepEqual([directory.organizations(), directory.revision], [[], 0]);
    isFull = false;
    await directory.createOrganization('Souk', modes);
    await reopen();
    assert.equal(directory.organizations().length, 1);
  });

  test('changes at the same time each see what the one before has left', async () => {
    const { organization } = await directory.createOrganization('Souk', modes);
    await Promise.all([
      directory.changeOrganization(organization.id, activate),
      directory.changeOrganization(organization.id, (each) => withMethods(each, 'live', { card: true })),
      directory.changeOrganization(organization.id, suspend),
    ]);
    await reopen();
    const { liveActivated, methods, status } = directory.organization(organization.id);
    assert.deepEqual([liveActivated, methods.live.card, status], [true, true, 'suspended']);
    assert.equal(directory.revision, 4);
  });

  test('a row that does not match its checksum is refused, and named', async () => {
    const other = join(folder, 'damaged');
    await createDirectory(other, part);
    const made = directoryIn(other, clock.now);
    const { organization } = await made.createOrganization('Souk', modes);
    await made.closeStore();
    const store = open<Buffer, string>({ path: join(other, 'data.mdb'), encoding: 'binary' });
    const row = Buffer.from(store.get(organization.id)!);
    row[row.indexOf('Souk')]! ^= 1;
    await store.put(organization.id, row);
    await store.close();
    const expected = new RegExp(
      `data\\.mdb is damaged: the row ${organization.id} does not match its checksum\\. Restore`,
    );
    assert.throws(() => directoryIn(other, clock.now), expected);
  });
});

test('mails that wait, what was mailed, sessions and links mean nothing in another folder', () => {
  for (const [row, expected] of [
    ['mail/1', true],
    ['notice/mem_1', true],
    ['receipts/org_1', true],
    ['noted/0', true],
    ['session/ab', true],
    ['link/ab', true],
    ['org_1', false],
    ['key_mail/', false],
    ['mem_1', false],
    ['change/0', false],
  ] as const)
    assert.equal(isForeignRow(row), expected, row);
});

test('a change survives a process that is killed right after it', async () => {
  const folder = await folderOfDirectory();
  const module = new URL('../../src/directory/directory.ts', import.meta.url).href;
  const program = `import { Directory } from ${JSON.stringify(module)};
    const directory = new Directory({ folder: process.argv[1], part: ${JSON.stringify(part)}, now: Date.now });
    await directory.createOrganization('Souk', ['test']);
    process.kill(process.pid, 'SIGKILL');`;
  const child = spawnSync(process.execPath, ['--input-type=module', '-e', program, folder]);
  assert.equal(child.signal, 'SIGKILL', String(child.stderr));
  const directory = directoryIn(folder, Date.now);
  assert.deepEqual(
    directory.organizations().map((organization) => organization.name),
    ['Souk'],
  );
});
