// @ts-check
// The sources without their types, as all threads of the service load them. Node takes the types
// away itself, but in each thread anew, and what does that stays there with 10 MB. So a thread that
// then ends does it for all of them. TypeBox's files are among them, because there are hundreds and
// most threads load them: Node would look for each one on the disk, in each thread anew. Plain
// JavaScript, because it runs before there are sources.

import { registerHooks } from 'node:module';
import { getEnvironmentData, setEnvironmentData, Worker } from 'node:worker_threads';

/**
 * @typedef {object} StrippedSources
 * @property {SharedArrayBuffer} bytes
 * @property {ReadonlyMap<string, readonly [start: number, end: number]>} places By a file's URL.
 */

const name = 'payments: stripped sources';
const stripper = new URL('./strip-sources.mjs', import.meta.url);

/** To be called in the main thread, which then loads stripped sources, too, before others start. */
export async function stripSources() {
  // What Node may still change about stripping concerns whoever changes Node's version.
  const worker = new Worker(stripper, { execArgv: ['--disable-warning=ExperimentalWarning'] });
  const sources = await new Promise((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
  });
  setEnvironmentData(name, sources);
  loadStripped();
}

/** Has this thread load the stripped sources, where there are any. */
export function loadStripped() {
  const sources = /** @type {StrippedSources | undefined} */ (getEnvironmentData(name));
  if (sources === undefined) return;
  const { bytes, places } = sources;
  registerHooks({
    resolve(specifier, context, nextResolve) {
      const url = specifier.startsWith('.') ? URL.parse(specifier, context.parentURL)?.href : undefined;
      if (url === undefined || !places.has(url)) return nextResolve(specifier, context);
      return { url, format: 'module', shortCircuit: true };
    },
    load(url, context, nextLoad) {
      const place = places.get(url);
      if (place === undefined) return nextLoad(url, context);
      const [start, end] = place;
      const source = Buffer.from(bytes, start, end - start).toString();
      return { format: 'module', source, shortCircuit: true };
    },
  });
}
