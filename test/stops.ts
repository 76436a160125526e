// Stops of a service on a machine that may be busy with something else.

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import type { Service } from './service.ts';

const pressure = '/proc/pressure/cpu';
/** A machine where somebody waits for a processor for so much of the time is busy. */
const busyShare = 0.9;

/** For how long in all somebody has waited for a processor of this machine; 0: it does not say. */
function waitedMs(): number {
  const text = existsSync(pressure) ? readFileSync(pressure, 'latin1') : '';
  return Number(/^some .*total=(\d+)$/m.exec(text)?.[1] ?? 0) / 1000;
}

interface Stop {
  readonly ms: number;
  /** False: the time for a stop was over before it had closed everything, which loses nothing that was acknowledged. */
  readonly isInOrder: boolean;
}

/** Tells it to stop, and waits. Fails when that is not in order, unless the machine was too busy for it. */
export async function stopInOrder(service: Service): Promise<Stop> {
  const [fromMs, waitedBeforeMs] = [performance.now(), waitedMs()];
  const code = await service.stop();
  const ms = Math.round(performance.now() - fromMs);
  const isBusy = waitedMs() - waitedBeforeMs > busyShare * ms;
  const isLate =
    code === null && /it has not stopped within \d+ ms and is ended as it is/.test(service.output());
  if (!isBusy || !isLate) assert.equal(code, 0, service.output());
  return { ms, isInOrder: !isLate };
}
