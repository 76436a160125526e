// The typed client of the guide: types are made of a running service's description, the program of the guide compiles
// against them as strictly as TypeScript can, and does what it says against that service.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { startService } from '../service.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const root = join(import.meta.dirname, '../..');
const guide = readFileSync(join(root, 'docs/guide/typed-client.md'), 'utf8');
const program = /^```ts\n([\s\S]*?)^```$/m.exec(guide)![1]!;
/** The version of TypeScript that the guide has its readers install, which openapi-typescript needs. */
const generator = join(import.meta.dirname, 'node_modules/openapi-typescript/bin/cli.js');
const compiler = join(root, 'node_modules/typescript/bin/tsc');

const strict = {
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  skipLibCheck: false,
  module: 'nodenext',
  target: 'es2022',
  types: ['node'],
};

const run = promisify(execFile);

/** What a run wrote to standard output; what went wrong is in the error that it throws. */
async function outputOf(
  folder: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<string> {
  try {
    const { stdout } = await run(process.execPath, args, { cwd: folder, env: { ...process.env, ...env } });
    return stdout;
  } catch (error) {
    const { message, stdout } = error as Error & { stdout: string };
    throw new Error(`${message}\n${stdout}`);
  }
}

test('the typed client of the guide compiles strictly, and pays, refunds and lists', async (context) => {
  const service = await startService();
  context.after(() => service.stop());
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module' }));
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: strict }));
  writeFileSync(join(folder, 'client.ts'), program);
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  await outputOf(folder, [generator, `${service.url}/openapi.json`, '--output', 'payments.d.ts']);
  // A compiler that lets everything pass would prove nothing.
  writeFileSync(join(folder, 'wrong.ts'), program.replace('amount: 25000', "amount: '250.00'"));
  const compiled = await outputOf(folder, [compiler, '-p', '.', '--noEmit']).catch(({ message }) => message);
  const errors = compiled.split('\n').filter((line: string) => line.includes('error TS'));
  assert.equal(errors.length, 1, compiled);
  assert.match(errors[0], /^wrong\.ts.* not assignable to type 'number'/);

  // As the guide says, without settings in a file.
  const [, ...options] = /^npx (tsc .*)$/m.exec(guide)![1]!.split(' ');
  rmSync(join(folder, 'tsconfig.json'));
  await outputOf(folder, [compiler, ...options]);
  const said = await outputOf(folder, ['client.js'], { URL: service.url, KEY: service.keys!.secret });
  assert.match(said, /Send the customer to http\S+\/pay\/ch_/);
  const refunds = await service.call('/v1/refunds');
  const amounts = refunds.json.data.map((refund: { amount: number }) => refund.amount);
  assert.deepEqual(amounts, [10_000]);
  assert.ok(said.includes(refunds.json.data[0].id));
});
