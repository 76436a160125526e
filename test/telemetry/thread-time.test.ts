// The processor time of a thread and the garbage collector's part of it, measured by the thread itself and by another one.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isMainThread, parentPort, Worker } from 'node:worker_threads';
import { Registry } from 'prom-client';
import { countThreadTime, gaugeThisThread, type ThreadGauge } from '../../src/telemetry/thread-time.ts';

/** More objects than a young generation holds. */
function makeSomeGarbage(): void {
  const made: object[] = [];
  for (let i = 0; i < 1_000_000; i++) made.push({ i });
}

async function measured(): Promise<void> {
  const gauge = gaugeThisThread();
  while (gauge.collectorMs[0] === 0) {
    makeSomeGarbage();
    await nextTurn();
  }
  parentPort!.postMessage(gauge);
  await once(parentPort!, 'message');
  parentPort!.close();
}

async function counts(): Promise<void> {
  const worker = new Worker(new URL(import.meta.url));
  const [gauge] = (await once(worker, 'message')) as [ThreadGauge];
  const registry = new Registry();
  countThreadTime(registry, 'own', new Map([['other', gauge]]));
  let text = await registry.metrics();
  const value = (metric: string, thread: string) =>
    Number(
      new RegExp(`^payments_thread_${metric}_seconds_total{thread="${thread}"} (\\S+)$`, 'm').exec(text)?.[1],
    );
  assert(value('gc', 'other') > 0, text);
  while (value('gc', 'own') === 0) {
    makeSomeGarbage();
    await nextTurn();
    text = await registry.metrics();
  }
  assert(value('gc', 'own') > 0, text);
  if (process.platform === 'linux') {
    assert(value('cpu', 'other') > 0, text);
    assert(value('cpu', 'own') > 0, text);
  }
  worker.postMessage('end');
  await once(worker, 'exit');
}

if (isMainThread)
  test('a thread counts its own processor time and that of another, and the collector in both', counts);
else await measured();
