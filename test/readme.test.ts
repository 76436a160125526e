// The README and the guides as a new user follows them: their blocks are run in a shell as they are, after the lines that the first
// start prints.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { pathOfShell } from './main/payments-command.ts';
import { type Service, startService, withRequestLogs } from './service.ts';

const root = join(import.meta.dirname, '..');
const readme = readFileSync(join(root, 'README.md'), 'utf8');
/** The blocks of a document that are for a shell. */
const blocksOf = (text: string) => [...text.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map((match) => match[1]!);
const blocks = blocksOf(readme);
const scripts: Readonly<Record<string, string>> = JSON.parse(
  readFileSync(join(root, 'package.json'), 'utf8'),
).scripts;

/** The npm scripts that a block names: these install, start, test or measure, each of which is a job of its own. */
function scriptsOf(block: string): string[] {
  return [...block.matchAll(/\bnpm (?:run )?(start|test|[a-z:-]+)/g)]
    .map((match) => match[1]!)
    .filter((name) => name !== 'ci');
}

const forNpm = blocks.filter((block) => /^npm /m.test(block));
const isEndless = (block: string) => /^(?:\w+=\S+ )*npx payments listen/m.test(block);
const pasted = blocks.filter((block) => !forNpm.includes(block) && !isEndless(block));
/** The blocks of the guides, by the names of their files. */
const guides = new Map(
  readdirSync(join(root, 'docs/guide')).map((name) => {
    const own = blocksOf(readFileSync(join(root, 'docs/guide', name), 'utf8'));
    return [name, own.filter((block) => !/^(npm|npx tsc) /m.test(block))] as const;
  }),
);
const endless = [...blocks, ...[...guides.values()].flat()].filter(isEndless);

/** A shell into which a user has pasted the lines that the first start printed. */
function shellOf(service: Service, path = process.env.PATH) {
  const lines = service.output().match(/^ {2}export .*$/gm)!;
  // The folder is the default one for users; a test has its own.
  const env = { ...process.env, NODE_ENV: 'test', PAYMENTS_DATA_DIR: service.dataDir, PATH: path };
  return (block: string) =>
    spawn('bash', ['-euo', 'pipefail', '-c', `${lines.join('\n')}\n${block}`], {
      cwd: root,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
      // Of its own, so that what it started can be ended with it.
      detached: true,
    });
}

async function startedFor(context: TestContext): Promise<Service> {
  const service = await startService({ env: withRequestLogs });
  context.after(() => service.stop());
  return service;
}

/** What one shell says to all blocks, as for somebody who reads from top to bottom. Fails unless it takes them all. */
async function paste(service: Service, pastedBlocks: readonly string[]): Promise<string> {
  const child = shellOf(service, pathOfShell)(pastedBlocks.join('\n'));
  const [out, error, [code]] = await Promise.all([
    textOf(child.stdout),
    textOf(child.stderr),
    once(child, 'exit') as Promise<[number | null]>,
  ]);
  assert.equal(code, 0, `${out}\n${error}`);
  assert.doesNotMatch(out, /"error"/);
  return out;
}

/** The types of the events that have happened in test mode. */
async function eventTypesOf(service: Service): Promise<Set<string>> {
  const events = await service.call('/v1/events?limit=100');
  return new Set(events.json.data.map((event: { type: string }) => event.type));
}

test('the blocks of the README work as they stand, in their order', { timeout: 600_000 }, async (context) => {
  const service = await startedFor(context);
  assert.ok(pasted.length >= 3);
  const out = await paste(service, pasted);
  assert.ok((await eventTypesOf(service)).has('payment_intent.succeeded'));
  assert.match(out, /Atlas Books/);
});

test('the blocks of each guide work as they stand', { timeout: 300_000 }, async (context) => {
  const service = await startedFor(context);
  const outputs: Record<string, string> = {};
  for (const [name, own] of guides) {
    const ending = own.filter((block) => !isEndless(block));
    if (ending.length > 0) outputs[name] = await paste(service, ending);
  }
  const names = ['cards.md', 'cash.md', 'quick-start.md', 'refunds.md', 'retries.md', 'testing.md'];
  assert.deepEqual(Object.keys(outputs), names);
  assert.match(outputs['quick-start.md']!, /"status":"succeeded"/);
  const sameThrice = outputs['retries.md']!.trim().split('\n');
  assert.deepEqual([sameThrice.length, new Set(sameThrice).size], [3, 1]);
  const types = await eventTypesOf(service);
  for (const type of [
    'payment_intent.requires_action',
    'charge.succeeded',
    'charge.refunded',
    'refund.updated',
  ]) {
    assert.ok(types.has(type), type);
  }
  assert.equal((await service.call('/v1/checkout/sessions')).json.data.length, 2);
});

test('the commands that run until they are ended start as they stand', {
  timeout: 300_000,
}, async (context) => {
  const service = await startedFor(context);
  assert.ok(endless.length >= 2);
  const org = /export ORG=(\S+)/.exec(service.output())![1]!;
  for (const block of endless) {
    const child = shellOf(service)(block);
    const errors = textOf(child.stderr);
    const [line] = await Promise.race([
      once(child.stdout, 'data'),
      once(child, 'exit').then(async () => assert.fail(`it ended: ${await errors}`)),
    ]);
    assert.ok(String(line).includes(org), String(line));
    process.kill(-child.pid!, 'SIGKILL');
    await once(child, 'close');
  }
});

test('every npm script that the README names exists', () => {
  const named = forNpm.flatMap(scriptsOf);
  assert.ok(named.includes('start') && named.includes('bench'));
  assert.deepEqual(
    named.filter((name) => scripts[name] === undefined),
    [],
  );
});
