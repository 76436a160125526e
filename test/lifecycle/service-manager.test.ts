// The messages to systemd: as the class sends them, as a running service gives them to a helper that writes them down, and as
// the real helper sends them over a real socket; and systemd's own check of the unit.

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { test } from 'node:test';
import { ServiceManager } from '../../src/lifecycle/service-manager.ts';
import { startService } from '../service.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const root = join(import.meta.dirname, '..', '..');

/** A service manager whose words are kept, and whose time passes when told. */
function managerFor(env: Readonly<Record<string, string>>, fails = false) {
  const told: string[] = [];
  const warned: string[] = [];
  const ticks: { ms: number; run: () => unknown; ended: boolean }[] = [];
  const manager = new ServiceManager(env, {
    pid: 7,
    logger: { warn: (_: object, message: string) => warned.push(message) } as never,
    async tell(words) {
      if (fails) throw new Error('ENOENT');
      told.push(words.join(' '));
    },
    every(ms, run) {
      const tick = { ms, run, ended: false };
      ticks.push(tick);
      return () => {
        tick.ended = true;
      };
    },
  });
  return { manager, told, warned, ticks };
}

const socket = { NOTIFY_SOCKET: '/run/systemd/notify' };

test('without systemd nothing is said', () => {
  const { manager, told, ticks } = managerFor({ WATCHDOG_USEC: '3000000' });
  manager.ready('listening');
  manager.watch(async () => {});
  manager.stopping();
  assert.deepEqual([told, ticks], [[], []]);
});

test('systemd hears of the start, three times in the watchdog’s time that all is well, and of the stop', async () => {
  const { manager, told, ticks } = managerFor({ ...socket, WATCHDOG_USEC: '3000000', WATCHDOG_PID: '7' });
  manager.ready('listening');
  const end = manager.watch(async () => {});
  assert.deepEqual(
    ticks.map(({ ms }) => ms),
    [1_000],
  );
  await ticks[0]!.run();
  await ticks[0]!.run();
  manager.stopping();
  await new Promise(setImmediate);
  assert.deepEqual(told, ['--ready --status=listening', 'WATCHDOG=1', 'WATCHDOG=1', 'STOPPING=1']);
  await end();
  assert.ok(ticks[0]!.ended);
});

test('systemd gets the words in order, however long one of them takes', async () => {
  const told: string[] = [];
  const slow = Promise.withResolvers<void>();
  const manager = new ServiceManager(socket, {
    pid: 7,
    logger: { warn() {} } as never,
    async tell([word]) {
      if (word === '--ready') await slow.promise;
      told.push(word!);
    },
  });
  manager.ready('listening');
  manager.stopping();
  await new Promise(setImmediate);
  slow.resolve();
  await new Promise(setImmediate);
  assert.deepEqual(told, ['--ready', 'STOPPING=1']);
});

test('while a thread hangs the watchdog hears nothing', async () => {
  const { manager, told, ticks } = managerFor({ ...socket, WATCHDOG_USEC: '3000000' });
  const answered = Promise.withResolvers<void>();
  manager.watch(() => answered.promise);
  const first = ticks[0]!.run();
  await ticks[0]!.run();
  assert.deepEqual(told, []);
  answered.resolve();
  await first;
  assert.deepEqual(told, ['WATCHDOG=1'], 'once: nobody is asked again before the answer has come');
});

test('a watchdog for another process, or none, is left alone', () => {
  const others: Record<string, string>[] = [
    { WATCHDOG_USEC: '3000000', WATCHDOG_PID: '8' },
    {},
    { WATCHDOG_USEC: '0' },
  ];
  for (const env of others) {
    const { manager, ticks } = managerFor({ ...socket, ...env });
    manager.watch(async () => {});
    assert.equal(ticks.length, 0);
  }
});

test('a helper that is missing is told of, and ends nothing', async () => {
  const { manager, warned } = managerFor(socket, true);
  manager.ready('listening');
  await new Promise(setImmediate);
  assert.match(warned[0]!, /^systemd could not be told \(--ready .*NotifyAccess=all$/);
});

test('the service tells systemd when it listens, that its threads answer, and when it stops', async () => {
  const folder = temporaryFolder();
  const file = join(folder, 'told');
  writeFileSync(join(folder, 'systemd-notify'), `#!/bin/sh\necho "$@" >>'${file}'\n`);
  chmodSync(join(folder, 'systemd-notify'), 0o700);
  const service = await startService({
    env: { PATH: `${folder}:${process.env.PATH}`, NOTIFY_SOCKET: '/x', WATCHDOG_USEC: '300000' },
  });
  const lines = () => (existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : []);
  await service.until(() => lines().filter((line) => line === 'WATCHDOG=1').length >= 2 || undefined);
  assert.ok(lines().includes(`--ready --status=listening on ${service.url}`));
  assert.equal(await service.stop(), 0);
  assert.ok(lines().includes('STOPPING=1'));
});

const has = (command: string, ...args: string[]) => spawnSync(command, args).status === 0;
const lacksHelper = has('systemd-notify', '--version') && has('python3', '--version') ? false : 'needs them';

test('the real helper’s words arrive at a real socket', { skip: lacksHelper }, async () => {
  const path = join(temporaryFolder(), 'notify');
  const listener = spawn('python3', [
    '-c',
    `import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
print("bound", flush=True)
while True:
    words = s.recv(4096).decode()
    print(words, flush=True)
    if "STOPPING" in words: break`,
    path,
  ]);
  await once(listener.stdout, 'data');
  const output = textOf(listener.stdout);
  const isReady = new Promise<void>((resolve) =>
    listener.stdout.on('data', (words) => /READY=1/.test(String(words)) && resolve()),
  );
  const service = await startService({ env: { NOTIFY_SOCKET: path } });
  await isReady;
  await service.stop();
  const words = await output;
  assert.match(words, /^READY=1$/m);
  assert.ok(words.includes(`STATUS=listening on ${service.url}\n`), words);
  assert.match(words, /^STOPPING=1$/m);
});

const lacksAnalyze = has('systemd-analyze', '--version') ? false : 'needs systemd-analyze';

test('systemd takes the unit, and finds little that it could do beyond its work', {
  skip: lacksAnalyze,
}, () => {
  const file = join(temporaryFolder(), 'payments.service');
  const unit = readFileSync(join(root, 'config', 'payments.service'), 'utf8');
  writeFileSync(file, unit.replaceAll('/opt/payments', root));
  const verified = spawnSync('systemd-analyze', ['verify', '--man=no', file], { encoding: 'utf8' });
  assert.deepEqual([verified.status, verified.stderr], [0, '']);
  const judged = spawnSync('systemd-analyze', ['security', '--offline=true', '--threshold=20', file], {
    encoding: 'utf8',
  });
  assert.equal(judged.status, 0, `more than 2.0 of 10: ${judged.stdout}`);
});

/** The calls of a set such as `@system-service`, those of the sets within it included. */
function callsIn(set: string): string[] {
  const { stdout } = spawnSync('systemd-analyze', ['syscall-filter', '--no-pager', set], {
    encoding: 'utf8',
  });
  const lines = stdout.split('\n').slice(1);
  return lines
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
    .flatMap((line) => (line.startsWith('@') ? callsIn(line) : [line]));
}

const lacksTrace = has('strace', '-V') ? lacksAnalyze : 'needs strace';

test('the unit refuses no system call that the service makes', { skip: lacksTrace }, async () => {
  const unit = readFileSync(join(root, 'config', 'payments.service'), 'utf8');
  const allowed = new Set(callsIn('@default'));
  for (const [, not, sets] of unit.matchAll(/^SystemCallFilter=(~?)(.*)$/gm)) {
    for (const call of sets!.split(' ').flatMap(callsIn))
      not === '~' ? allowed.delete(call) : allowed.add(call);
  }
  const calls = join(temporaryFolder(), 'calls');
  const service = await startService({ under: ['strace', '-D', '-f', '-qq', '-o', calls] });
  const body = { amount: 12_000, currency: 'mad' };
  await service.call('/v1/payment_intents', { body, idempotencyKey: 'a' });
  await service.operate('doctor', {});
  await service.operate('status', {});
  await service.stop();
  const made = new Set(readFileSync(calls, 'utf8').match(/(?<=^\d+ +)[a-z]\w*(?=\()/gm));
  assert.ok(made.has('accept4') && made.size > 30, [...made].join(' '));
  assert.deepEqual(
    [...made].filter((call) => !allowed.has(call)),
    [],
  );
});

test('the unit starts what is there, and sets variables that the service knows', () => {
  const unit = readFileSync(join(root, 'config', 'payments.service'), 'utf8');
  const [, node, entry] = /^ExecStart=\/opt\/payments\/(\S+) (\S+) serve$/m.exec(unit)!;
  assert.ok(existsSync(join(root, node!)) && existsSync(join(root, entry!)));
  const env: Record<string, string> = { PATH: process.env.PATH! };
  for (const [, name, value] of unit.matchAll(/^Environment=(\w+)=(.*)$/gm)) env[name!] = value!;
  const run = spawnSync(join(root, node!), [join(root, entry!), 'config', '--json'], {
    env,
    encoding: 'utf8',
  });
  assert.equal(run.status, 0, run.stderr);
  const lines: { variable: string; value: unknown }[] = JSON.parse(run.stdout);
  const { value } = lines.find(({ variable }) => variable === 'PAYMENTS_DATA_DIR')!;
  assert.match(unit, /^StateDirectory=payments$/m);
  assert.equal(value, '/var/lib/payments/data');
});
