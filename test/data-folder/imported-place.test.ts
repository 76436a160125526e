// Where `payments import` puts a folder: into its place, with what belongs to the folder, and over nothing that lies there.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import {
  lookAtDataFolder,
  openDataFolder,
  type Paused,
  setPause,
} from '../../src/data-folder/data-folder.ts';
import { exportDataFolder } from '../../src/data-folder/export-folder.ts';
import { lockDataFolder } from '../../src/data-folder/folder-lock.ts';
import { importDataFolder } from '../../src/data-folder/import-folder.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const silent = () => {};
const skip = process.getuid?.() !== 0 && 'only root can mount a disk';

/** The export of a folder in which nothing is, and a place for another folder. */
async function exported(context: TestContext, paused: Paused | null = null) {
  const folder = temporaryFolder(context);
  const [source, from] = [join(folder, 'source'), join(folder, 'all.ndjson')];
  mkdirSync(source);
  setPause(await openDataFolder(source, 1, 1), paused);
  await exportDataFolder(source, from, silent);
  return { from, dataDir: join(folder, 'imported') };
}

test('an import takes the place of an empty folder', async (context) => {
  const { from, dataDir } = await exported(context);
  mkdirSync(dataDir);
  await importDataFolder({ from, dataDir, shards: 2, onProgress: silent });
  assert.equal(lookAtDataFolder(dataDir).shards, 2);
  assert(!existsSync(`${dataDir}.unfinished`));
  assert(!readdirSync(dataDir).includes('import.unfinished'));
});

test('an import takes the place of a disk of its own', { skip }, async (context) => {
  const { from, dataDir } = await exported(context);
  mkdirSync(dataDir);
  const module = JSON.stringify(new URL('../../src/data-folder/import-folder.ts', import.meta.url).href);
  const options = JSON.stringify({ from, dataDir, shards: 2 });
  const program = `const { importDataFolder } = await import(${module});
    const { mkdirSync, readdirSync } = await import('node:fs');
    mkdirSync(${JSON.stringify(dataDir)} + '/lost+found');
    const run = importDataFolder({ ...${options}, onProgress() {} });
    await run.then(({ folder }) => console.log(...readdirSync(folder).sort()), ({ message }) => console.log(message));`;
  const mounted = 'mount -t tmpfs tmpfs "$0" && exec "$@"';
  const node = [process.execPath, '--input-type=module', '--eval', program];
  const ran = spawnSync('unshare', ['-m', 'sh', '-c', mounted, dataDir, ...node], { encoding: 'utf8' });
  if (ran.error !== undefined || /^(unshare|mount): /.test(ran.stderr))
    return context.skip('nothing can be mounted here');
  assert.equal(ran.stdout, 'audit directory format.json lock lost+found shard-0 shard-1\n');
});

test('an import removes nothing that came to its place meanwhile, and keeps its folder', async (context) => {
  const { from, dataDir } = await exported(context);
  mkdirSync(dataDir);
  const onProgress = () => writeFileSync(join(dataDir, 'payments'), 'of somebody');
  await assert.rejects(importDataFolder({ from, dataDir, shards: 2, onProgress }), {
    name: 'CommandFailure',
    message:
      `the imported folder is whole, and could not be moved to ${dataDir} (ENOTEMPTY): see what lies there, ` +
      `and move ${dataDir}/import.unfinished to where it shall be`,
  });
  assert.deepEqual(readdirSync(dataDir).sort(), ['import.unfinished', 'payments']);
  assert.equal(lookAtDataFolder(join(dataDir, 'import.unfinished')).shards, 2);
});

test('an import replaces a folder that was not finished, unless somebody uses it', async (context) => {
  const { from, dataDir } = await exported(context);
  const unfinished = `${dataDir}.unfinished`;
  mkdirSync(unfinished);
  await openDataFolder(unfinished, 3, 3);
  const run = () => importDataFolder({ from, dataDir, shards: 2, onProgress: silent });
  const release = await lockDataFolder(unfinished);
  await assert.rejects(run(), {
    name: 'CommandFailure',
    message: /\.unfinished is in use by another process/,
  });
  assert.equal(lookAtDataFolder(unfinished).shards, 3);
  await release();
  await run();
  assert.equal(lookAtDataFolder(dataDir).shards, 2);
});

test('a folder that is paused is so after an export and an import, and no other one is', async (context) => {
  for (const paused of [{ since: '2026-11-01T00:00:00.000Z', reason: 'restored from monday' }, null]) {
    const { from, dataDir } = await exported(context, paused);
    await importDataFolder({ from, dataDir, shards: 2, onProgress: silent });
    assert.deepEqual(lookAtDataFolder(dataDir).paused, paused);
    const [head] = readFileSync(from, 'utf8').split('\n', 1);
    assert.equal('paused' in JSON.parse(head ?? ''), paused !== null);
  }
});
