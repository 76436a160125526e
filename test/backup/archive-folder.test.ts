// A folder that is named as an archive and has no log: it must not pass for one that is whole.

import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { openLogAt } from '../../src/backup/log-folders.ts';
import { runCommandLine } from '../operator/cli/command-line.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const id = 'a'.repeat(32);

test('an archive without the log of a shard is refused', async (context) => {
  const archive = temporaryFolder(context);
  const open = () =>
    openLogAt({ dataDir: () => assert.fail('a data folder'), from: null, archive, identityFile: null });
  const refusal = (message: string) => ({ name: 'CommandFailure', message });
  await assert.rejects(open(), refusal(`${archive} is no archive: it has no data folder's log`));
  mkdirSync(join(archive, id, 'directory'), { recursive: true });
  await assert.rejects(
    open(),
    refusal(`${archive} is no archive of the data folder ${id} in its generation 0`),
  );
  const generation = join(archive, id, 'generation-0');
  mkdirSync(generation);
  await assert.rejects(open(), refusal(`${generation} has the log of no shard: it is no archive`));
  mkdirSync(join(generation, 'shard-1'));
  await assert.rejects(open(), refusal(`${generation} lacks shards: it has 1 of at least 2`));
  mkdirSync(join(generation, 'shard-0'));
  assert.equal((await open()).shards.length, 2);
});

test('a file that can not be opened is named in one line', async (context) => {
  const archive = temporaryFolder(context);
  mkdirSync(join(archive, id, 'generation-0', 'shard-0'), { recursive: true });
  const changes = join(archive, id, 'directory');
  mkdirSync(changes);
  const file = join(changes, '0000000000000001-0000000000000002.log');
  symlinkSync(file, file);
  const { code, error } = await runCommandLine(['verify', '--archive', archive], { openLog: openLogAt });
  assert.equal(error, `payments: ELOOP: too many symbolic links encountered, open '${file}'\n`);
  assert.equal(code, 1);
});
