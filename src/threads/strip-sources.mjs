// @ts-check
// The thread that takes the types away from all sources of the service, tells the result, and ends.

import { readdirSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { parentPort } from 'node:worker_threads';

const root = new URL('../', import.meta.url);

/** @type {Map<string, readonly [start: number, end: number]>} */
const places = new Map();
/** @type {Buffer[]} */
const stripped = [];
let size = 0;
for (const file of readdirSync(root, { recursive: true, encoding: 'utf8' })) {
  if (!file.endsWith('.ts')) continue;
  const url = new URL(file, root);
  const source = Buffer.from(stripTypeScriptTypes(readFileSync(url, 'utf8')));
  stripped.push(source);
  places.set(url.href, [size, size + source.length]);
  size += source.length;
}
const bytes = new SharedArrayBuffer(size);
Buffer.concat(stripped).copy(Buffer.from(bytes));
parentPort?.postMessage({ bytes, places });
