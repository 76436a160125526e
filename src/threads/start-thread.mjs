// @ts-check
// The first file of each thread: it loads the thread's own, which is its argument, without types.

import { workerData } from 'node:worker_threads';
import { loadStripped } from './stripped-sources.mjs';

loadStripped();
try {
  await import(/** @type {string} */ (process.argv[2]));
} catch (error) {
  // It loads nothing any more, so nobody need wait for it.
  const { TaskGate } = await import('./task-gate.ts');
  if (!workerData.isLoaded) new TaskGate(workerData.gate).leave();
  throw error;
}
