// A process of its own for visits.test.ts, which shows what it logs and whether it goes on.

import { scrypt } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { Registry } from 'prom-client';
import { createLogger } from '../../src/telemetry/logger.ts';
import { Visits } from '../../src/threads/visits.ts';

const registry = new Registry();
const destination = { write: (line: string) => void process.stdout.write(line) };
const logger = await createLogger({ level: 'info', thread: 'main', destination });
const visits = new Visits(registry, logger, 'main', ['dashboard']);
const [what] = process.argv.slice(2);
if (what?.startsWith('one kind')) visits.catchStraysOf('dashboard');
else visits.catchStrays();

async function rejectLater(message: string): Promise<void> {
  await wait(1);
  throw new Error(message);
}

function raise(message: string): never {
  throw new Error(message);
}

if (what === 'visit') {
  visits.run('dashboard', 'req_1', () => {
    void rejectLater('a promise');
    void Promise.reject(new Error('a rejection'));
    setTimeout(() => raise('a timer'), 1);
    process.nextTick(() => raise('a tick'));
    scrypt('a', 'b', 32, { N: 16 }, () => raise('a callback'));
  });
} else if (what === 'one kind: strays') {
  setTimeout(() => raise('a timer'), 1);
  scrypt('a', 'b', 32, { N: 16 }, () => raise('a callback'));
} else if (what === 'one kind: a step of its own') {
  setTimeout(() => visits.own(() => raise('of the thread')), 1);
} else if (what === 'one kind: a rejection') {
  void rejectLater('of the thread');
} else if (what === 'rejection') {
  void rejectLater('of nobody');
} else if (what === 'timer') {
  setTimeout(() => raise('of nobody'), 1);
} else {
  for (let i = 0; i < 1_000; i++) visits.failed(new Error('again'), 'dashboard', `req_${i}`);
}
// There is nothing left to do.
await once(process, 'beforeExit');
if (what !== 'visit' && what !== 'flood') process.stdout.write('it went on\n');
const [metric] = await registry.getMetricsAsJSON();
process.stdout.write(`${(metric as { values: { value: number }[] }).values[0]!.value}\n`);
