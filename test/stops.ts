// Stops of a service on a machine that may be busy with something else. A process that hangs is not waiting for a processor,
// and one on a busy machine is: Linux says for how long each thread has.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import type { Service } from './service.ts';

const lookMs = 20;
/** So much in all is what it takes to make a stop late that is in order. One that hangs has less, on a busy machine, too. */
const heldUpMs = 3_000;

/** For how long each thread of a process has waited for a processor since this was called. */
class ProcessorWaits {
  readonly #folder: string;
  readonly #before = new Map<string, number>();
  readonly #now = new Map<string, number>();
  readonly #looking: NodeJS.Timeout;

  constructor(pid: number) {
    this.#folder = `/proc/${pid}/task`;
    this.#look(this.#before);
    this.#looking = setInterval(() => this.#look(this.#now), lookMs);
  }

  #look(waits: Map<string, number>): void {
    try {
      for (const thread of readdirSync(this.#folder)) {
        const [, ns] = readFileSync(`${this.#folder}/${thread}/schedstat`, 'latin1').split(' ');
        waits.set(thread, Number(ns) / 1e6);
      }
    } catch {
      // The thread or the process ends, or the machine does not say.
    }
  }

  /** Of all threads together. */
  end(): number {
    clearInterval(this.#looking);
    let ms = 0;
    for (const [thread, nowMs] of this.#now) ms += nowMs - (this.#before.get(thread) ?? 0);
    return ms;
  }
}

interface Stop {
  readonly ms: number;
  /** False: the time for a stop was over before it had closed everything, which loses nothing that was acknowledged. */
  readonly isInOrder: boolean;
}

/** Tells it to stop, and waits. Fails when that is not in order, unless it was held up by what else runs on the machine. */
export async function stopInOrder(service: Service): Promise<Stop> {
  const waits = new ProcessorWaits(service.process.pid!);
  const fromMs = performance.now();
  const code = await service.stop();
  const ms = Math.round(performance.now() - fromMs);
  const isHeldUp = waits.end() > heldUpMs;
  const isLate = code === null && /it has not stopped within \d+ ms/.test(service.output());
  if (!isHeldUp || !isLate) assert.equal(code, 0, service.output());
  return { ms, isInOrder: !isLate };
}
