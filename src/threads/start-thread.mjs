// @ts-check
// The first file of each thread: it loads the thread's own, which is its argument, without types.

import { loadStripped } from './stripped-sources.mjs';

loadStripped();
await import(/** @type {string} */ (process.argv[2]));
