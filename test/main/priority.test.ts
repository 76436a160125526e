// The priority of a process that was started with a low one.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';

const priority = join(import.meta.dirname, '../../src/backup/pace.ts');
const script = `
  import { getPriority } from 'node:os';
  const { lowerPriority } = await import(process.argv[1]);
  lowerPriority(5);
  console.log(getPriority());
`;

test('it is lowered, and never raised, which only root can', (context) => {
  const run = (niceness: number) =>
    spawnSync(
      'nice',
      ['-n', String(niceness), process.execPath, '--input-type=module', '-e', script, priority],
      {
        encoding: 'utf8',
      },
    );
  const own = Number(spawnSync('nice', { encoding: 'utf8' }).stdout);
  if (own > 0) return context.skip('runs with a low priority itself');
  assert.equal(run(0).stdout, '5\n');
  assert.equal(run(15).stdout, '15\n');
});
