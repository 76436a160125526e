// A pool for work of the main thread that blocks for tens of milliseconds. Its thread starts with
// the first task and ends when there has been none for a while. It may be terminated, so nothing in
// it uses LMDB. A task is a function of a file, which gets and returns plain data.

import { fileURLToPath } from 'node:url';
import { Piscina } from 'piscina';
import type { AuditReader } from '../operator/audit/audit-trail.ts';

const idleMs = 30_000;
const auditReaderFile = fileURLToPath(import.meta.resolve('../operator/audit/audit-reader.ts'));

export class BlockingPool {
  readonly #pool = new Piscina({
    minThreads: 0,
    maxThreads: 1,
    idleTimeout: idleMs,
    // A thread that waits for its next task by `Atomics.wait` handles nothing else meanwhile.
    atomics: 'disabled',
  });

  /** `onFailure` is told why the thread ended, when that failed no task. */
  constructor(onFailure: (error: Error) => void) {
    this.#pool.on('error', onFailure);
  }

  get auditReader(): AuditReader {
    const run = (name: keyof AuditReader, asked: object) =>
      this.#pool.run(asked, { filename: auditReaderFile, name });
    return {
      newestRow: (rows) => run('newestRow', rows),
      actionsBefore: (asked) => run('actionsBefore', asked),
    };
  }

  /** Resolves when its thread has ended. What waits is rejected. */
  close(): Promise<void> {
    return this.#pool.destroy();
  }
}
