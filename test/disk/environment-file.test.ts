// An environment that another process may be writing, read from its file: what the library would say, and nothing of it is opened.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createEnvironment, dataFile, openEnvironment } from '../../src/disk/environment.ts';
import { EnvironmentFile, numberKeys } from '../../src/disk/environment-file.ts';
import { ForeignPart } from '../../src/disk/identity.ts';
import { createRowStore, RowStore } from '../../src/disk/row-store.ts';
import { JournalDamaged } from '../../src/disk/storage-errors.ts';
import { openFilesIn } from '../open-files.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const part = { folder: '0'.repeat(32), generation: 0, part: 'directory' };

async function written(context: TestContext, numbers: readonly number[]) {
  const folder = join(temporaryFolder(context), 'environment');
  await createEnvironment(folder, 1 << 26, part);
  const environment = openEnvironment({ folder, part, mapSize: 1 << 26, check: 'none' });
  const put = (some: readonly number[]) =>
    environment.transactionSync(() => {
      for (const number of some)
        environment.putSync(number, Buffer.alloc(number % 3 === 0 ? 5_000 : 40, number));
    });
  put(numbers);
  const file = new EnvironmentFile(folder, part, numberKeys);
  context.after(() => Promise.all([file.close(), environment.close()]));
  return { folder, environment, file, put };
}

const numbers = [1, 2, 7, 255, 256, 4_096, 65_537, 16_777_216, 2 ** 40 + 1, Number.MAX_SAFE_INTEGER];

test('keys and rows are those that the library finds, in both orders and from anywhere on', async (context) => {
  const { environment, file } = await written(context, numbers);
  const places = [undefined, 0, 1, 3, 7, 256, 300, 2 ** 40, Number.MAX_SAFE_INTEGER];
  for (const start of places)
    for (const end of places)
      for (const reverse of [false, true])
        for (const limit of [undefined, 1, 3]) {
          const given = { start, end, reverse, limit };
          const range = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
          assert.deepEqual([...file.getKeys(range)], [...environment.getKeys(range)], JSON.stringify(range));
        }
  const rows = (some: Iterable<{ key: number; value: Buffer }>) =>
    [...some].map(({ key, value }) => [key, Buffer.from(value)]);
  assert.deepEqual(rows(file.getRange({ start: 1 })), rows(environment.getRange({ start: 1 })));
  for (const number of [...numbers, 3]) assert.deepEqual(file.get(number), environment.get(number));
});

test('each call sees the newest commit', async (context) => {
  const { file, put } = await written(context, [1]);
  for (let number = 2; number < 40; number++) {
    put([number]);
    assert.deepEqual([...file.getKeys({ end: 0, reverse: true, limit: 1 })], [number]);
    assert.equal(file.getBinaryFast(number)?.[0], number);
  }
});

test('names lie as the library writes them', async (context) => {
  const folder = join(temporaryFolder(context), 'store');
  await createRowStore(folder, part);
  const store = new RowStore(folder, part);
  const names = [
    'a',
    'change/0000000000000001',
    'change/0000000000000002',
    'member/é@example.ma',
    'x'.repeat(200),
  ];
  await store.write(new Map(names.map((name) => [name, Buffer.from(name)])));
  const foreign = new RowStore(folder, part, true);
  context.after(() => Promise.all([foreign.close(), store.close()]));
  for (const [prefix, start] of [
    ['', ''],
    ['change/', 'change/'],
    ['change/', 'change/0000000000000002'],
    ['m', 'm'],
  ] as const)
    assert.deepEqual([...foreign.rowsFrom(prefix, start)], [...store.rowsFrom(prefix, start)], start);
  for (const name of [...names, 'b']) assert.deepEqual(foreign.get(name), store.get(name));
});

test('what is missing, overwritten or foreign is told', async (context) => {
  const { folder } = await written(context, [1]);
  const other = { ...part, part: 'shard-0/log' };
  assert.throws(() => new EnvironmentFile(folder, other, numberKeys), ForeignPart);
  rmSync(dataFile(folder));
  const damaged = { constructor: JournalDamaged, message: `${dataFile(folder)} is damaged: it is missing` };
  assert.throws(() => new EnvironmentFile(folder, part, numberKeys), damaged);
});

test('no process but the writer opens the file in which the library keeps its lock', async (context) => {
  const { folder } = await written(context, [1]);
  const script = `
    const { EnvironmentFile, numberKeys } = await import(${JSON.stringify(new URL('../../src/disk/environment-file.ts', import.meta.url))});
    const { openFilesIn } = await import(${JSON.stringify(new URL('../open-files.ts', import.meta.url))});
    const file = new EnvironmentFile(${JSON.stringify(folder)}, ${JSON.stringify(part)}, numberKeys);
    console.log(JSON.stringify([file.get(1).length, openFilesIn(${JSON.stringify(folder)}).filter((path) => path.endsWith('-lock'))]));`;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    encoding: 'utf8',
  });
  assert.equal(stdout.trim(), '[40,[]]', stderr);
  assert(openFilesIn(folder).some((path) => path.endsWith('-lock')));
});
