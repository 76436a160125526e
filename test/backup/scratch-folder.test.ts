// The folder into which a backup is restored to be verified: it is gone afterwards, however its process has ended, because it
// holds everything that the backup does.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { withScratchFolder } from '../../src/backup/scratch-folder.ts';
import { poll } from '../poll.ts';
import { temporaryFolder } from '../temporary-folder.ts';

test('it is there as long as it is used', async (context) => {
  const parent = temporaryFolder(context);
  for (const failure of [null, new Error('damaged')]) {
    let folder = '';
    const used = withScratchFolder(parent, 'odd name $(touch x) ', async (given) => {
      folder = given;
      writeFileSync(join(given, 'restored'), '');
      if (failure !== null) throw failure;
      return existsSync(given);
    });
    if (failure === null) assert.equal(await used, true);
    else await assert.rejects(used, failure);
    assert.match(folder, /\/odd name \$\(touch x\) \w{6}$/);
    assert.deepEqual(readdirSync(parent), []);
  }
});

const module = JSON.stringify(new URL('../../src/backup/scratch-folder.ts', import.meta.url).href);

for (const signal of ['SIGINT', 'SIGKILL'] as const)
  test(`it goes with a process that ends by ${signal}`, async (context) => {
    const parent = temporaryFolder(context);
    const program = `
      import { writeFileSync } from 'node:fs';
      import { withScratchFolder } from ${module};
      await withScratchFolder(${JSON.stringify(parent)}, 'verify-', (folder) => {
        writeFileSync(folder + '/restored', '');
        console.log('in use');
        return new Promise(() => setInterval(() => {}, 1_000));
      });
    `;
    const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(child.stdout, 'data');
    assert.equal(readdirSync(parent).length, 1);
    mkdirSync(join(parent, 'of-others'));
    child.kill(signal);
    await poll(
      () => readdirSync(parent).length === 1 || undefined,
      () => `${readdirSync(parent)}`,
    );
    assert.deepEqual(readdirSync(parent), ['of-others']);
  });
