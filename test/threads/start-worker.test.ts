// What becomes of a process when its threads must end while they load LMDB's library, which they must not be stopped in.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { startWorker } from '../../src/threads/start-worker.ts';

const urlOf = (source: string) => new URL(`data:text/javascript,${encodeURIComponent(source)}`);
const sourceOf = (file: string) => JSON.stringify(new URL(`../../src/threads/${file}`, import.meta.url));

/** Says that it loads the library, and does that over and over for a while. */
const loading = `
  import { createRequire } from 'node:module';
  import { parentPort } from 'node:worker_threads';
  import { startOfThread } from ${sourceOf('thread-side.ts')};
  const require = createRequire(${JSON.stringify(import.meta.url)});
  require('lmdb');
  const library = Object.keys(require.cache).find((path) => /lmdb.*[.]node$/.test(path));
  parentPort.postMessage('loading');
  for (const endMs = performance.now() + 100; performance.now() < endMs; ) process.dlopen({ exports: {} }, library);
  await startOfThread();
`;

/** Starts such a thread, and ends when it is abandoned, whatever that thread does. */
const starting = `
  import { parentPort } from 'node:worker_threads';
  import { startWorker } from ${sourceOf('start-worker.ts')};
  import { startOfThread } from ${sourceOf('thread-side.ts')};
  const { worker, gate } = startWorker(new URL(${JSON.stringify(urlOf(loading))}));
  process.on('exit', () => gate.shut(60_000));
  worker.on('message', (message) => parentPort.postMessage(message));
  await startOfThread();
`;

test('nobody waits for a thread that can not be loaded', async () => {
  const { worker, gate } = startWorker(urlOf('throw new Error("it can not be loaded")'));
  const failed = once(worker, 'error');
  assert.equal(gate.shut(60_000), true);
  assert.equal((await failed)[0].message, 'it can not be loaded');
});

for (const [title, source] of [
  ['a thread that is abandoned while it loads a library ends when it has', loading],
  ['a thread that ends while another loads a library waits for the other', starting],
] as const)
  test(title, async () => {
    // A single one may be just between two loads.
    for (let round = 0; round < 5; round++) {
      const { worker, abandon } = startWorker(urlOf(source));
      const [message] = await once(worker, 'message');
      assert.equal(message, 'loading');
      abandon();
      assert.deepEqual(await once(worker, 'exit'), [0]);
    }
  });
