// The threads of the service load sources whose types were taken away once, for all of them.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { startWorker } from '../../src/threads/start-worker.ts';
import { stripSources } from '../../src/threads/stripped-sources.mjs';

/** A thread's own file, which loads a source and tells what it has found. */
const entry = new URL(
  `data:text/javascript,${encodeURIComponent(`
    import { parentPort } from 'node:worker_threads';
    const { formatAmount } = await import(${JSON.stringify(import.meta.resolve('../../src/core/money.ts'))});
    const { Type } = await import(${JSON.stringify(import.meta.resolve('typebox'))});
    const strips = process.moduleLoadList.some((name) => name.includes('amaro'));
    parentPort.postMessage({ strips, loaded: [typeof formatAmount, typeof Type.Object] });
  `)}`,
);

/** `npm test` has no thread take types out of what it has prepared; these threads load the sources as the service does. */
const env = { ...process.env, PREPARED_MODULES: '' };

async function found(): Promise<unknown> {
  const [message] = await once(startWorker(entry, { env }).worker, 'message');
  return message;
}

const loaded = ['function', 'function'];

test('a thread strips no sources where that was done before', async () => {
  assert.deepEqual(await found(), { strips: true, loaded });
  await stripSources();
  assert.deepEqual(await found(), { strips: false, loaded });
});
