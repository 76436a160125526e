// The lock on a data folder: one process has it, nobody but the folder's owner can take it, and it ends with its process.

import assert from 'node:assert/strict';
import fs, { cpSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { createServer } from 'node:net';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { lockDataFolder, tryLock } from '../../src/data-folder/folder-lock.ts';
import { startService } from '../service.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { paymentsWith } from './payments-command.ts';

function inUseBy(pid: number): RegExp {
  return new RegExp(`is in use by another process \\(${pid} on ${hostname()}\\): stop that one first`);
}

test('a lock whose file its holder removes just then is taken on a new one', (context) => {
  const file = join(temporaryFolder(), 'backup.lock');
  const openSync = context.mock.method(fs, 'openSync');
  openSync.mock.mockImplementationOnce((...args: Parameters<typeof fs.openSync>) => {
    const descriptor = fs.openSync(...args);
    rmSync(file);
    return descriptor;
  });
  syncBuiltinESMExports();
  context.after(syncBuiltinESMExports);
  const release = tryLock(file);
  assert.ok(release);
  assert.equal(tryLock(file), null);
  release();
  tryLock(file)?.();
  assert.ok(!fs.existsSync(file));
});

describe('the lock on a data folder', () => {
  test('is kept by the one process that has it, which is named to others', async () => {
    const first = await startService();
    const { code, error } = await paymentsWith({ PAYMENTS_DATA_DIR: first.dataDir }, 'serve');
    assert.match(error, inUseBy(first.process.pid!));
    assert.equal(code, 1);
    assert.equal((await first.call('/v1/account')).status, 200, 'the first one notices nothing');
    assert.equal(await first.stop(), 0);
  });

  test('keeps off every command that works on the folder of a stopped service', async () => {
    const service = await startService();
    const { dataDir } = service;
    assert.equal(await service.stop(), 0);
    const release = await lockDataFolder(dataDir);
    const commands = [
      ['reshard', '--shards', '2'],
      ['verify', '--data-dir', dataDir],
      ['wal', 'truncate', '0:1', '--data-dir', dataDir],
      ['secrets', 'roll-key'],
      ['export', '--to', join(temporaryFolder(), 'export')],
      ['backup', '--to', join(temporaryFolder(), 'backup')],
      ['compact'],
      ['doctor', '--stopped'],
    ];
    for (const command of commands) {
      const { code, out, error } = await paymentsWith({ PAYMENTS_DATA_DIR: dataDir }, ...command);
      assert.match(out + error, inUseBy(process.pid), command.join(' '));
      assert.equal(code, 1);
    }
    await release();
    assert.equal(
      (await paymentsWith({ PAYMENTS_DATA_DIR: dataDir }, 'verify', '--data-dir', dataDir)).code,
      0,
    );
  });

  test('is free at once when its process is killed', async () => {
    const first = await startService();
    await first.kill();
    const second = await startService({ dataDir: first.dataDir });
    assert.equal(await second.stop(), 0);
  });

  test('can be taken by nobody who cannot open the folder: no name outside of it has a part', async (context) => {
    if (process.platform !== 'linux') return context.skip('only Linux has names in an abstract namespace');
    const dataDir = temporaryFolder();
    const { dev, ino } = statSync(dataDir);
    // Any local user can bind this name, and connect to whoever has bound it.
    const stranger = createServer();
    context.after(() => stranger.close());
    await new Promise<void>((resolve) => stranger.listen(`\0payments-service-${dev}-${ino}`, resolve));
    const service = await startService({ dataDir });
    for (const path of [dataDir, join(dataDir, 'lock')]) assert.equal(statSync(path).mode & 0o077, 0, path);
    assert.equal(await service.stop(), 0);
  });

  test('does not go with a copy of the folder', async () => {
    const original = await startService();
    const copy = join(temporaryFolder(), 'copy');
    mkdirSync(copy);
    cpSync(join(original.dataDir, 'lock'), join(copy, 'lock'));
    const service = await startService({ dataDir: copy });
    assert.equal(await service.stop(), 0);
    assert.equal(await original.stop(), 0);
  });

  test('does not mind what is in its file', async () => {
    const dataDir = temporaryFolder();
    writeFileSync(join(dataDir, 'lock'), 'x'.repeat(5_000), { mode: 0o644 });
    const service = await startService({ dataDir });
    assert.equal(statSync(join(dataDir, 'lock')).mode & 0o077, 0);
    assert.equal(await service.stop(), 0);
  });
});
