// The gate between a thread that is about to end and the one that it started, with two real threads.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { TaskGate } from '../../src/threads/task-gate.ts';

test('tasks go through an open gate side by side, and through one that is shut not at all', async () => {
  const gate = new TaskGate(TaskGate.memory());
  const first = Promise.withResolvers<number>();
  const running = gate.run(() => first.promise);
  assert.equal(await gate.run(async () => 2), 2);
  first.resolve(1);
  assert.equal(await running, 1);
  await assert.rejects(
    gate.run(() => Promise.reject(new Error('failed'))),
    /failed/,
  );
  assert.equal(gate.shut(0), true);
  await assert.rejects(
    gate.run(() => assert.fail('it ran')),
    /the gate is shut/,
  );
});

test('shutting takes no longer than it may', async () => {
  const gate = new TaskGate(TaskGate.memory());
  const task = Promise.withResolvers<void>();
  const running = gate.run(() => task.promise);
  assert.equal(gate.shut(1), false);
  task.resolve();
  await running;
});

test('who shuts it waits for the task that another thread has under way', async () => {
  const memory = TaskGate.memory();
  const done = new Int32Array(new SharedArrayBuffer(4));
  const module = new URL('../../src/threads/task-gate.ts', import.meta.url).href;
  const worker = new Worker(
    `const { parentPort, workerData: { memory, done, module } } = require('node:worker_threads');
    import(module).then(({ TaskGate }) => new TaskGate(memory).run(async () => {
      parentPort.postMessage('begun');
      for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setTimeout(resolve, 5));
      Atomics.store(done, 0, 1);
    }));`,
    { eval: true, workerData: { memory, done, module } },
  );
  await once(worker, 'message');
  assert.equal(new TaskGate(memory).shut(60_000), true);
  assert.equal(Atomics.load(done, 0), 1);
  await worker.terminate();
});

test('a task that waits outside of it holds nobody up, and goes on only through an open gate', async () => {
  const gate = new TaskGate(TaskGate.memory());
  const steps: string[] = [];
  const wait = Promise.withResolvers<void>();
  await gate.run(() => gate.outside(async () => {}));
  void gate.run(async () => {
    steps.push('begun');
    await gate.outside(() => wait.promise);
    steps.push('gone on');
  });
  assert.equal(gate.shut(1), true);
  wait.resolve();
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(steps, ['begun']);
  await assert.rejects(
    gate.run(async () => {}),
    /the gate is shut/,
  );
});
