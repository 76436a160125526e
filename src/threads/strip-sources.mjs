// @ts-check
// The thread that takes the types away from all sources of the service, and reads those of TypeBox,
// which have none. It tells the result, and ends.

import { readdirSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { parentPort } from 'node:worker_threads';

/** @type {Map<string, readonly [start: number, end: number]>} */
const places = new Map();
/** @type {Buffer[]} */
const stripped = [];
let size = 0;

/**
 * @param {URL} folder
 * @param {string} ending
 * @param {(source: string) => string} strip
 */
function take(folder, ending, strip) {
  for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith(ending)) continue;
    const url = new URL(file, folder);
    const source = Buffer.from(strip(readFileSync(url, 'utf8')));
    stripped.push(source);
    places.set(url.href, [size, size + source.length]);
    size += source.length;
  }
}

take(new URL('../', import.meta.url), '.ts', stripTypeScriptTypes);
take(new URL('./', import.meta.resolve('typebox')), '.mjs', (source) => source);
const bytes = new SharedArrayBuffer(size);
Buffer.concat(stripped).copy(Buffer.from(bytes));
parentPort?.postMessage({ bytes, places });
