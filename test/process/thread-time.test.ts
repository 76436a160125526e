// The processor time of a thread and the garbage collector's part of it, measured by the thread itself and by another one.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isMainThread, parentPort, Worker } from 'node:worker_threads';
import { Registry } from 'prom-client';
import { countThreadTime, gaugeThisThread, type ThreadGauge } from '../../src/process/thread-time.ts';

/** Keeps a little of much that it makes, until the collector has stopped this thread. */
async function makeGarbage(gauge: ThreadGauge): Promise<void> {
  for (let kept: object[] = []; gauge.collectorMs[0] === 0; kept = kept.slice(0, 1_000)) {
    for (let i = 0; i < 100_000; i++) kept.push({ i });
    await nextTurn();
  }
}

async function measured(): Promise<void> {
  const gauge = gaugeThisThread();
  await makeGarbage(gauge);
  parentPort!.postMessage(gauge);
  await once(parentPort!, 'message');
  parentPort!.close();
}

async function counts(): Promise<void> {
  const worker = new Worker(new URL(import.meta.url));
  const [gauge] = (await once(worker, 'message')) as [ThreadGauge];
  const registry = new Registry();
  countThreadTime(registry, 'own', new Map([['other', gauge]]));
  const text = await registry.metrics();
  const value = (metric: string, thread: string) =>
    Number(
      new RegExp(`^payments_thread_${metric}_seconds_total{thread="${thread}"} (\\S+)$`, 'm').exec(text)?.[1],
    );
  assert(value('gc', 'other') > 0, text);
  assert(value('gc', 'own') >= 0, text);
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
