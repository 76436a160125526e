// A data folder is that of one user. Another one, above all root, makes nothing in it, because its service could not open that;
// and who may not look into it is told so, and nothing else.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { loadConfig } from '../../src/config/config.ts';
import { compactDataFolder } from '../../src/data-folder/compact-folder.ts';
import { lookAtDataFolder, openDataFolder } from '../../src/data-folder/data-folder.ts';
import { lockDataFolder } from '../../src/data-folder/folder-lock.ts';
import { verifyDataFolder } from '../../src/data-folder/verify-folder.ts';
import { examineStopped } from '../../src/health/examine-stopped.ts';
import { runCommandLine } from '../operator/cli/command-line.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const nobody = 65_534;
const skip = process.getuid?.() !== 0 && 'only root can be another user';
const silent = () => {};

/** The folder itself, and everything in it. */
function pathsIn(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return [folder, ...entries.map(({ parentPath, name }) => join(parentPath, name))];
}

/** A data folder with a shard, in which everything is of a user. */
async function folderOf(context: TestContext, uid: number): Promise<string> {
  const parent = temporaryFolder(context);
  chmodSync(parent, 0o755);
  const dataDir = join(parent, 'data');
  mkdirSync(dataDir, { mode: 0o700 });
  await openDataFolder(dataDir, 1, 1);
  for (const path of pathsIn(dataDir)) chownSync(path, uid, uid);
  return dataDir;
}

/** Has `run` done as a user without rights. */
async function asNobody<T>(run: () => Promise<T>): Promise<T> {
  process.seteuid?.(nobody);
  try {
    return await run();
  } finally {
    process.seteuid?.(0);
  }
}

test('root makes nothing in the folder of another user', { skip }, async (context) => {
  const dataDir = await folderOf(context, nobody);
  const refused = {
    message: `${dataDir} belongs to the user ${nobody}, who could not open what root makes in it: run the command as that user, with "sudo -u"`,
  };
  await assert.rejects(lockDataFolder(dataDir), { name: 'DataFolderError', ...refused });
  await assert.rejects(compactDataFolder(dataDir, silent), { name: 'CommandFailure', ...refused });
  for (const path of pathsIn(dataDir)) assert.equal(statSync(path).uid, nobody, path);
  await (await asNobody(() => lockDataFolder(dataDir)))();
});

test('a start names what another user has made in the folder', { skip }, async (context) => {
  const dataDir = await folderOf(context, nobody);
  const refusal = (path: string) => ({
    name: 'DataFolderError',
    message: `${path} belongs to the user 0, and this is the user ${nobody}: give this user all of ${dataDir}, with "chown -R"`,
  });
  const state = join(dataDir, 'shard-0', 'state');
  for (const path of [join(state, 'data.mdb'), state]) {
    chownSync(path, 0, 0);
    await assert.rejects(
      asNobody(() => lockDataFolder(dataDir)),
      refusal(path),
    );
  }
});

test('a start takes a folder that is a disk of its own', { skip }, async (context) => {
  const dataDir = await folderOf(context, nobody);
  mkdirSync(join(dataDir, 'lost+found'), { mode: 0o700 });
  await (await asNobody(() => lockDataFolder(dataDir)))();
});

test('what the owner may not read or write in the folder, as in a copy, is given back to them', {
  skip,
}, async (context) => {
  const dataDir = await folderOf(context, nobody);
  const paths = pathsIn(dataDir).slice(1).reverse();
  const modes = () => paths.map((path) => statSync(path).mode & 0o777);
  const before = modes();
  for (const taken of [0o444, 0]) {
    // The folder cannot be told from another one without its format.
    for (const path of paths) if (!path.endsWith('format.json')) chmodSync(path, statSync(path).mode & taken);
    await (await asNobody(() => lockDataFolder(dataDir)))();
    assert.deepEqual(modes(), before);
  }
});

test('who may not look into the folder is told whose it is', { skip }, async (context) => {
  const dataDir = await folderOf(context, 0);
  const message = `${dataDir} can't be opened by this user (EACCES): run the command as the user to whom it belongs`;
  await asNobody(async () => {
    assert.throws(() => lookAtDataFolder(dataDir), { name: 'DataFolderError', message });
    await assert.rejects(verifyDataFolder(dataDir, silent), { name: 'CommandFailure', message });
    const config = { ...loadConfig({}, join(import.meta.dirname, '..', '..', 'config')), dataDir };
    const checks = await examineStopped(config, 'test');
    assert.equal(checks.find(({ name }) => name === 'folder')?.detail, message);
    await assert.rejects(lockDataFolder(dataDir), { name: 'DataFolderError', message });
  });
});

test('an owner who may not look into the folder is told which permission is missing', {
  skip,
}, async (context) => {
  const dataDir = await folderOf(context, nobody);
  for (const path of [join(dataDir, 'format.json'), dataDir]) {
    const { mode } = statSync(path);
    chmodSync(path, 0);
    const message = `${path} can't be opened by this user (EACCES): give its owner the permission again, with "chmod u+rwX ${path}"`;
    const start = () => asNobody(() => lockDataFolder(dataDir));
    await assert.rejects(start, { name: 'DataFolderError', message });
    chmodSync(path, (mode & 0o077) | 0o700);
    await (await start())();
  }
});

test('commands that read its files say so, too, and find nothing else', { skip }, async (context) => {
  const dataDir = await folderOf(context, 0);
  const error = `payments: ${dataDir} belongs to another user: run the command as that user\n`;
  for (const args of [['audit'], ['logs', '--org', 'org_0VTK3JqA1f0c6uXo9dWb2kQp1'], ['logs', 'req_1']]) {
    const found = await asNobody(() => runCommandLine(args, { dataDir: () => dataDir }));
    assert.deepEqual([found.code, found.out, found.error], [1, '', error], args.join(' '));
  }
});

test('on a disk that was mounted anew for reading, nobody is led to another folder', {
  skip,
}, async (context) => {
  const dataDir = await folderOf(context, 0);
  const module = JSON.stringify(new URL('../../src/data-folder/folder-lock.ts', import.meta.url).href);
  const program = `const { lockDataFolder } = await import(${module});
    await lockDataFolder(${JSON.stringify(dataDir)}).catch(({ message }) => console.log(message));`;
  const mounted = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"';
  const node = [process.execPath, '--input-type=module', '--eval', program];
  const { stdout, status } = spawnSync('unshare', ['-m', 'sh', '-c', mounted, dataDir, ...node]);
  if (status !== 0) return context.skip('nothing can be mounted here');
  assert.equal(
    stdout.toString(),
    `the data folder ${dataDir} can't be written (EROFS): see what its disk and its permissions say (dmesg, mount), ` +
      'and start on it again: it has all that was acknowledged\n',
  );
});

test('doctor says what lies in the place of a data folder', async (context) => {
  const folder = temporaryFolder(context);
  const config = loadConfig({}, join(import.meta.dirname, '..', '..', 'config'));
  const found = async (dataDir: string) => {
    const checks = await examineStopped({ ...config, dataDir }, 'test');
    return checks.find(({ name }) => name === 'folder')?.detail;
  };
  const file = join(folder, 'a-file');
  writeFileSync(file, '');
  assert.match((await found(folder)) ?? '', /has a-file and no format\.json: it is not a data folder/);
  assert.match((await found(file)) ?? '', /^ENOTDIR: not a directory/);
});
