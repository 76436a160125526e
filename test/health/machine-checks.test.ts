// The findings of `payments doctor` on a machine, fact by fact, on the machine of the tests, and on a data folder without a
// running service.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { diagnoseMachine, examineMachine, type MachineFacts } from '../../src/health/machine-checks.ts';
import { startService } from '../service.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const root = join(import.meta.dirname, '..', '..');

interface Check {
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string;
}

const inWords = (checks: readonly Check[]): Readonly<Record<string, string>> =>
  Object.fromEntries(checks.map(({ name, ok, detail }) => [name, `${ok ? 'ok' : 'WRONG'} ${detail}`]));

const good: MachineFacts = {
  fileSystem: 0xef53,
  syncs: [0.5, 0.25, 9],
  limits: { open_files: 65_536 },
  connectionsMax: 10_000,
  clockSynchronized: true,
  node: '22.23.2',
  nodePinned: '22.23.2',
  binaryFault: null,
};

const well = {
  'file system': 'ok ext4',
  sync: 'ok 0.50 ms in the median, 9.00 ms at most',
  limits: 'ok 65536 open files, 10000 connections',
  time: 'ok the clock is synchronized',
  node: 'ok 22.23.2',
  binary: 'ok the HTTP server is the one that this project was built with',
};

const rows: readonly [string, Partial<MachineFacts>, Partial<typeof well>][] = [
  ['nothing is wrong', {}, {}],
  [
    'a file system in memory',
    { fileSystem: 0x01021994 },
    {
      'file system':
        'WRONG tmpfs, which lies in memory and is lost with the machine: put the data folder on a local disk, with ext4 or xfs',
    },
  ],
  [
    'a network file system',
    { fileSystem: 0x6969 },
    {
      'file system':
        'WRONG NFS, whose locks and maps LMDB can not rely on: put the data folder on a local disk, with ext4 or xfs',
    },
  ],
  [
    'an unknown file system',
    { fileSystem: 0x1234 },
    { 'file system': 'ok type 0x1234, which is not known to be unfit' },
  ],
  [
    'a system that is not Linux',
    { fileSystem: null },
    { 'file system': 'ok not known: this system does not tell its type' },
  ],
  [
    'a slow disk',
    { syncs: [25, 30, 20.5] },
    {
      sync: 'WRONG 25.00 ms in the median, 30.00 ms at most: every write waits for two syncs, so use a faster disk',
    },
  ],
  [
    'a folder that takes no file',
    { syncs: 'EACCES' },
    {
      sync: "WRONG a file can't be written and synced (EACCES): check the owner and the permissions of the folder",
    },
  ],
  [
    'a folder on a full disk',
    { syncs: 'ENOSPC' },
    { sync: "WRONG a file can't be written and synced (ENOSPC): make room" },
  ],
  [
    'few open files',
    { limits: { open_files: 1_024 }, connectionsMax: 600 },
    {
      limits: 'WRONG 1024 open files leave 600 connections: raise it with "ulimit -n 65536" or LimitNOFILE',
    },
  ],
  [
    'limits of memory and of files',
    { limits: { open_files: 65_536, virtual_memory_bytes: 4096, file_size_blocks: 8 } },
    {
      limits:
        'WRONG virtual memory is limited to 4096 bytes and LMDB maps more: raise it with "ulimit -v unlimited"; ' +
        'the size of files is limited to 8 blocks: raise it with "ulimit -f unlimited"',
    },
  ],
  [
    'the clock is not synchronized',
    { clockSynchronized: false },
    { time: 'WRONG the clock is not synchronized: run chrony or systemd-timesyncd' },
  ],
  [
    'nothing tells of the clock',
    { clockSynchronized: null },
    {
      time: 'ok the system does not tell whether its clock is synchronized: make sure that chrony or systemd-timesyncd runs',
    },
  ],
  [
    'an older Node',
    { node: '22.9.10' },
    { node: 'WRONG 22.9.10 is older than 22.23.2, which comes with the project: run "npm ci"' },
  ],
  ['a newer Node', { node: '22.24.0' }, { node: 'ok 22.24.0' }],
  ['another binary', { binaryFault: 'it is another one' }, { binary: 'WRONG it is another one' }],
];

for (const [name, facts, wrong] of rows) {
  test(name, () => assert.deepEqual(inWords(diagnoseMachine({ ...good, ...facts })), { ...well, ...wrong }));
}

test('this machine can be looked at, and nothing of it stays in the folder', async () => {
  const folder = temporaryFolder();
  const found = inWords(await examineMachine(folder, 10_000));
  assert.deepEqual(Object.keys(found), Object.keys(well));
  assert.match(found.sync!, /^(ok|WRONG) \d+\.\d\d ms in the median, \d+\.\d\d ms at most/);
  assert.match(found.node!, /^ok 22\./);
  assert.equal(found.binary, well.binary);
  assert.deepEqual(readdirSync(folder), []);
});

test('doctor on a stopped service: the folder is opened as by a start, and what a start would refuse is said', async () => {
  const service = await startService();
  const { dataDir } = service;
  const key = `${dataDir}.secrets-key`;
  const doctor = (env: Readonly<Record<string, string>> = {}, ...args: string[]) => {
    const entry = join(root, 'src', 'main', 'payments.ts');
    const { stdout, stderr, status } = spawnSync(process.execPath, [entry, 'doctor', '--json', ...args], {
      cwd: root,
      env: { ...process.env, NODE_ENV: 'test', PAYMENTS_DATA_DIR: dataDir, ...env },
      encoding: 'utf8',
    });
    assert.notEqual(stdout, '', stderr);
    return { found: inWords(JSON.parse(stdout)), status };
  };
  try {
    const running = doctor();
    assert.deepEqual(Object.keys(running.found), [
      ...['shards', 'disk', 'clock', 'stored data', 'folder', 'pause'],
      ...Object.keys(well),
    ]);
    assert.match(running.found.folder!, /^ok [0-9a-f]{32}, generation 0, \d+ shards?$/);
    const taken = doctor({}, '--stopped');
    assert.match(taken.found.folder!, /^WRONG .*stop it first/);
    await service.stop();
    const stopped = doctor();
    assert.equal(stopped.status, 1);
    assert.match(stopped.found.service!, /^WRONG no server runs on /);
    assert.equal(stopped.found.folder, running.found.folder);
    assert.equal(stopped.found.settings, 'ok a start can use them');
    assert.equal(doctor({}, '--stopped').found.service, undefined);
    const wrong = doctor({ PAYMENTS_SHARDS: '1', PAYMENTS_CONNECTIONS_MAX: '1000000' }, '--stopped');
    assert.match(wrong.found.settings!, /^WRONG PAYMENTS_CONNECTIONS_MAX is 1000000, and the limit/);
    writeFileSync(`${key}.other`, `${Buffer.alloc(32, 7).toString('base64')}\n`);
    const foreign = doctor({ PAYMENTS_SECRETS_KEY_FILE: `${key}.other` }, '--stopped');
    assert.match(foreign.found.folder!, /^WRONG .* does not have the key that seals the signing secrets/);
    rmSync(`${key}.other`);
    rmSync(join(dataDir, 'shard-0', 'state'), { recursive: true });
    assert.match(doctor({}, '--stopped').found.folder!, /^WRONG .*state is missing: restore all of /);
    const none = join(temporaryFolder(), 'new');
    assert.match(doctor({ PAYMENTS_DATA_DIR: none }, '--stopped').found.folder!, /^ok there is none at /);
  } finally {
    await service.stop();
  }
});

test('a folder that is put in the place of the one that the service runs on is told', async () => {
  const service = await startService();
  const other = await startService();
  try {
    await other.stop();
    cpSync(join(other.dataDir, 'format.json'), join(service.dataDir, 'format.json'));
    const checks = await service.operate<Check[]>('doctor', {});
    assert.match(
      inWords(checks).folder!,
      /^WRONG .* is another one now \([0-9a-f]{32}\); the service runs on /,
    );
  } finally {
    await service.stop();
  }
});
