// The command `payments` runs under the pinned Node, whatever Node the machine has, and the service is started again after a
// crash unless somebody else does that.

import assert from 'node:assert/strict';
import { type ChildProcessByStdio, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { test } from 'node:test';
import { send, startService } from '../service.ts';
import { temporaryFolder } from '../temporary-folder.ts';

type Served = ChildProcessByStdio<null, Readable, null>;

const root = join(import.meta.dirname, '../..');
const launcher = join(root, 'src/main/launch.mjs');
const path = (process.env.PATH ?? '').split(':').filter((folder) => !folder.includes('node_modules'));

/** A Node of the machine's own with another major version, if there is one. */
function otherNode(): string | undefined {
  return path
    .map((folder) => join(folder, 'node'))
    .find((node) => {
      const { stdout } = spawnSync(node, ['--version'], { encoding: 'utf8' });
      return /^v\d/.test(stdout ?? '') && !stdout.startsWith('v22.');
    });
}

test("the machine's own Node runs the pinned one", async (context) => {
  const node = otherNode();
  if (node === undefined) return context.skip('needs a Node of another major version in the PATH');
  const { stdout, status } = spawnSync(node, [launcher, '--version'], { encoding: 'utf8' });
  assert.match(stdout, /^\d+\.\d+\.\d+\n$/);
  assert.equal(status, 0);
  const wrong = spawnSync(node, [launcher, 'no-such-command'], { encoding: 'utf8' });
  assert.equal(wrong.status, 2, 'the exit code is handed on');

  const env = { ...process.env, NODE_ENV: 'test', PAYMENTS_DATA_DIR: temporaryFolder() };
  for (const [signal, code] of [
    ['SIGTERM', 0],
    ['SIGKILL', null],
  ] as const) {
    const child: Served = spawn(node, [launcher, 'serve'], { env, stdio: ['ignore', 'pipe', 'inherit'] });
    const [chunk]: unknown[] = await once(child.stdout, 'data');
    const url: string = /Listening on (\S+)/.exec(String(chunk))![1]!;
    assert.equal((await fetch(`${url}/readyz`)).status, 200);
    child.kill(signal);
    const [exitCode]: unknown[] = await once(child, 'exit');
    assert.equal(exitCode, code);
    // The service ends with its launcher, even one that could not pass on a signal.
    if (!child.stdout.readableEnded) await once(child.stdout.resume(), 'close');
    await assert.rejects(fetch(`${url}/readyz`));
  }
});

test('a service whose launcher is killed while it starts ends, too', async () => {
  const child = spawn(process.execPath, [join(root, 'src/main/serve.mjs'), 'serve'], {
    env: { ...process.env, NODE_ENV: 'test', PAYMENTS_DATA_DIR: temporaryFolder() },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  child.disconnect();
  const [, signal]: unknown[] = await once(child, 'exit');
  assert.equal(signal, 'SIGKILL');
});

test('who ends npm or npx ends the service', async () => {
  for (const [command, ...args] of [
    ['npm', 'start'],
    ['npx', '--no', 'payments', 'serve'],
  ] as const) {
    const dataDir = temporaryFolder();
    const env = {
      ...process.env,
      NODE_ENV: 'test',
      PAYMENTS_PORT: '0',
      PAYMENTS_DATA_DIR: dataDir,
      PATH: path.join(':'),
    };
    const child: Served = spawn(command, args, { cwd: root, env, stdio: ['ignore', 'pipe', 'inherit'] });
    let output = '';
    for await (const chunk of child.stdout.iterator({ destroyOnReturn: false })) {
      output += chunk;
      if (output.includes('Listening on') && output.endsWith('\n')) break;
    }
    const url = /Listening on (\S+)/.exec(output)![1]!;
    assert.equal((await fetch(`${url}/readyz`)).status, 200);
    child.kill('SIGTERM');
    await once(child.stdout.resume(), 'close');
    await assert.rejects(fetch(`${url}/readyz`));
    // It has ended in order: its socket is gone.
    assert.equal(existsSync(join(dataDir, 'operator.sock')), false);
  }
});

/** The processes that a process has started. */
function childrenOf(pid: number): number[] {
  const { stdout } = spawnSync('ps', ['-o', 'pid=', '--ppid', String(pid)], { encoding: 'utf8' });
  return stdout.split('\n').filter(Boolean).map(Number);
}

test('a service that is killed comes back with what it had, and one that is told to stop twice stops once', async () => {
  const service = await startService({ launcher });
  const body = { amount: 12_000, currency: 'mad' };
  const made = await service.call('/v1/payment_intents', { body, idempotencyKey: 'kept' });
  for (const signal of ['SIGKILL', 'SIGABRT'] as const) {
    const [running] = childrenOf(service.process.pid!);
    const url = (text: string) => /Listening on (\S+)/.exec(text)?.[1];
    const before = service.output().length;
    process.kill(running!, signal);
    const again = await service.until(() => url(service.output().slice(before)));
    assert.match(
      service.output().slice(before),
      new RegExp(`payments: the service has ended by ${signal} and is started again (at once|in 0\\.1 s)\n`),
    );
    const read = await send(again, `/v1/payment_intents/${made.json.id}`, { key: service.keys!.secret });
    assert.equal(read.text, made.text);
  }
  service.process.kill('SIGTERM');
  assert.equal(await service.stop(), 0);
  assert.equal(existsSync(join(service.dataDir, 'operator.sock')), false);
});

test('a service that is refused its start is not started again', () => {
  const env = { ...process.env, PAYMENTS_PORT: 'http', PAYMENTS_DATA_DIR: temporaryFolder() };
  const { status, stderr } = spawnSync(process.execPath, [launcher, 'serve'], { env, encoding: 'utf8' });
  assert.match(stderr, /^payments: PAYMENTS_PORT is "http"[^\n]+\n$/);
  assert.equal(status, 1);
});

test('under systemd the service is the process that systemd knows, and ends of a crash', async () => {
  const env = { NOTIFY_SOCKET: join(temporaryFolder(), 'notify'), PAYMENTS_LOG_LEVEL: 'silent' };
  const service = await startService({ launcher, env });
  // It may have a helper that talks to systemd.
  assert.doesNotMatch(
    spawnSync('ps', ['-o', 'args=', '--ppid', String(service.process.pid)]).stdout.toString(),
    /payments\.ts/,
  );
  assert.equal((await service.call('/readyz')).status, 200);
  service.process.ref();
  const exited = once(service.process, 'exit');
  process.kill(service.process.pid!, 'SIGKILL');
  assert.deepEqual(await exited, [null, 'SIGKILL']);
  assert.doesNotMatch(service.output(), /started again/);
});

test('the first process of a container ends with the service, which is another process', async (context) => {
  const under = ['unshare', '--user', '--map-root-user', '--pid', '--fork', '--kill-child'];
  if (spawnSync(under[0]!, [...under.slice(1), 'true']).status !== 0)
    return context.skip('needs the right to make a process the first one of its kind');
  const service = await startService({ launcher, under });
  const [first] = childrenOf(service.process.pid!);
  const [running] = childrenOf(first!);
  service.process.ref();
  const exited = once(service.process, 'exit');
  process.kill(running!, 'SIGKILL');
  assert.deepEqual(await exited, [128 + constants.signals.SIGKILL, null]);
  assert.doesNotMatch(service.output(), /started again/);
});

test('without the pinned Node it says what to do', (context) => {
  const node = otherNode();
  if (node === undefined) return context.skip('needs a Node of another major version in the PATH');
  const folder = join(temporaryFolder(), 'src/main');
  mkdirSync(folder, { recursive: true });
  copyFileSync(launcher, join(folder, 'launch.mjs'));
  const { stderr, status } = spawnSync(node, [join(folder, 'launch.mjs'), 'serve'], { encoding: 'utf8' });
  assert.match(stderr, /^payments needs Node 22, .* Run "npm ci" [^\n]+\n$/);
  assert.equal(status, 1);
});

test('it is found by npx and npm in the checkout', async () => {
  const service = await startService();
  const env = { ...process.env, NODE_ENV: 'test', PAYMENTS_DATA_DIR: service.dataDir, PATH: path.join(':') };
  for (const [command, ...args] of [
    ['npx', '--no', 'payments', 'org', 'list', '--json'],
    ['npm', 'run', '-s', 'payments', '--', 'org', 'list', '--json'],
  ] as const) {
    const { stdout, status } = spawnSync(command, args, { cwd: root, env, encoding: 'utf8' });
    assert.equal(JSON.parse(stdout)[0].name, 'Sandbox');
    assert.equal(status, 0);
  }
  assert.equal(await service.stop(), 0);
});
