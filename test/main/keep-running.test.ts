// What the launcher does when the process that it runs ends: after a crash it starts it again, with growing waits, and after
// anything else it ends likewise. A small program stands in for the service; launch.test.ts has the service itself.

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import {
  argumentsAgain,
  GrowingWaits,
  isCrash,
  isKeptByOthers,
  isService,
} from '../../src/main/keep-running.mjs';
import { temporaryFolder } from '../temporary-folder.ts';

/** Notes each start with its arguments, then ends as it is its turn: by a signal, with a code, or as it is told to. */
const program = `
import { appendFileSync, readFileSync } from 'node:fs';
const [, , starts, endings, ...args] = process.argv;
appendFileSync(starts, args.join(' ') + '\\n');
process.once('disconnect', () => process.kill(process.pid, 'SIGKILL'));
const count = readFileSync(starts, 'utf8').split('\\n').length - 2;
const ending = endings.split(',')[count];
if (ending.startsWith('SIG')) {
  process.kill(process.pid, ending);
  setInterval(() => {}, 1_000);
} else if (ending.startsWith('told')) {
  process.on('SIGTERM', () => {
    process.send('stopping');
    if (ending === 'told and killed') setImmediate(() => process.kill(process.pid, 'SIGKILL'));
    else setTimeout(() => process.exit(0), 50);
  });
  console.log(process.pid);
} else process.exit(Number(ending));
`;

class Keeper {
  readonly child: ChildProcess;
  readonly #starts = join(temporaryFolder(), 'starts');
  readonly #complaints: Promise<string>;

  constructor(endings: string, { args = [], waitMs = 0 }: { args?: string[]; waitMs?: number } = {}) {
    const folder = temporaryFolder();
    const kept = join(folder, 'program.mjs');
    writeFileSync(kept, program);
    writeFileSync(this.#starts, '');
    this.child = spawn(
      process.execPath,
      [join(import.meta.dirname, 'keeper.mjs'), this.#starts, endings, ...args],
      {
        env: { ...process.env, KEPT_PROGRAM: kept, KEPT_WAITS: String(waitMs) },
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    );
    this.#complaints = textOf(this.child.stderr!);
  }

  /** The number of the process that it runs, once that can be told to stop. */
  async running(): Promise<number> {
    const [chunk] = await once(this.child.stdout!, 'data');
    return Number(String(chunk));
  }

  async ended(): Promise<{ code: number | null; starts: string[]; said: string[] }> {
    this.child.stdout!.resume();
    const [code] = this.child.exitCode === null ? await once(this.child, 'exit') : [this.child.exitCode];
    const starts = readFileSync(this.#starts, 'utf8').split('\n').slice(0, -1);
    return { code, starts, said: (await this.#complaints).split('\n').slice(0, -1) };
  }
}

test('a crash is any end that nobody has asked for', () => {
  for (const signal of ['SIGKILL', 'SIGABRT', 'SIGSEGV', 'SIGBUS', 'SIGILL', 'SIGTRAP'] as const)
    assert.equal(isCrash(null, signal), true, signal);
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGQUIT'] as const)
    assert.equal(isCrash(null, signal), false, signal);
  for (const code of [70, 7, 13, 134]) assert.equal(isCrash(code, null), true, String(code));
  for (const code of [0, 1, 2]) assert.equal(isCrash(code, null), false, String(code));
});

test('the waits grow to half a minute, and begin anew after a minute without a crash', () => {
  const waits = new GrowingWaits();
  const times = Array.from({ length: 12 }, () => waits.next(1_000));
  assert.deepEqual(times, [0, 100, 200, 400, 800, 1_600, 3_200, 6_400, 12_800, 25_600, 30_000, 30_000]);
  assert.deepEqual([waits.next(59_999), waits.next(60_000), waits.next(5)], [30_000, 0, 100]);
});

test('systemd, and whoever runs a container, start the service again themselves', () => {
  assert.equal(isKeptByOthers({ NOTIFY_SOCKET: '/run/systemd/notify' }, 77), true);
  assert.equal(isKeptByOthers({}, 1), true);
  assert.equal(isKeptByOthers({ NOTIFY_SOCKET: '' }, 77), false);
});

test('it knows the command that runs the service', () => {
  for (const line of [
    'serve',
    'serve --accept-loss',
    '--json serve',
    '--data-dir d serve',
    '--data-dir=d serve',
    '--data d serve',
  ])
    assert.equal(isService(line.split(' ')), true, line);
  for (const line of [
    '',
    'status',
    '--data-dir serve status',
    '--data serve status',
    'org create serve',
    '--help',
  ])
    assert.equal(isService(line.split(' ')), false, line);
});

test('after each crash it is started again, and says so; after an end in order it is not', async () => {
  const { code, starts, said } = await new Keeper('SIGKILL,SIGABRT,SIGSEGV,70,134,0').ended();
  assert.deepEqual([code, starts.length], [0, 6]);
  const ends = ['by SIGKILL', 'by SIGABRT', 'by SIGSEGV', 'with code 70', 'with code 134'];
  assert.deepEqual(
    said,
    ends.map((end) => `payments: the service has ended ${end} and is started again at once`),
  );
});

for (const [ending, expected] of [
  ['0', 0],
  ['1', 1],
  ['2', 2],
  ['SIGTERM', 128 + constants.signals.SIGTERM],
  ['SIGINT', 128 + constants.signals.SIGINT],
] as const) {
  test(`after ${ending} it is not started again, and its launcher ends likewise`, async () => {
    const { code, starts, said } = await new Keeper(ending).ended();
    assert.deepEqual([code, starts.length, said], [expected, 1, []]);
  });
}

test('a loss is accepted for one start only', async () => {
  assert.deepEqual(argumentsAgain(['serve', '--accept-loss', '--json']), ['serve', '--json']);
  const { starts } = await new Keeper('SIGKILL,0', { args: ['serve', '--accept-loss'] }).ended();
  assert.deepEqual(starts, ['serve --accept-loss', 'serve']);
});

test('told to stop, once or twice, it is not started again, however it ends', async () => {
  for (const [ending, expected] of [
    ['told', 0],
    ['told and killed', 128 + constants.signals.SIGKILL],
  ] as const) {
    const keeper = new Keeper(ending);
    await keeper.running();
    keeper.child.kill('SIGTERM');
    keeper.child.kill('SIGTERM');
    const { code, starts } = await keeper.ended();
    assert.deepEqual([code, starts.length], [expected, 1], ending);
  }
});

test('told to stop past its launcher, it is not started again either', async () => {
  const keeper = new Keeper('told');
  process.kill(await keeper.running(), 'SIGTERM');
  const { code, starts } = await keeper.ended();
  assert.deepEqual([code, starts.length], [0, 1]);
});

test('a launcher that waits to start it again ends at once when it is told to', async () => {
  const keeper = new Keeper('SIGKILL,0', { waitMs: 600_000 });
  const [line] = await once(keeper.child.stderr!, 'data');
  assert.match(String(line), /is started again in 600 s/);
  keeper.child.kill('SIGTERM');
  const { code, starts } = await keeper.ended();
  assert.deepEqual([code, starts.length], [0, 1]);
});

test('a launcher that is killed takes what it runs with it', async () => {
  const keeper = new Keeper('told');
  const running = await keeper.running();
  keeper.child.kill('SIGKILL');
  await keeper.ended();
  const isThere = () => {
    try {
      process.kill(running, 0);
      return true;
    } catch {
      return false;
    }
  };
  for (let i = 0; i < 500 && isThere(); i++) await wait(10);
  assert.equal(isThere(), false);
});
