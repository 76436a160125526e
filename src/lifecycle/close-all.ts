// Closes what the service has opened, or ends the process when that takes too long: the journal has
// all acknowledged changes.

import { errorText } from '../core/errors.ts';
import { keepAlive, systemTimers, type Timers } from '../core/scheduler.ts';
import { CommandFailure, ServiceCrash } from '../operator/use-cases/failures.ts';
import type { Closers } from './closers.ts';

/** The longest time for a stop. */
const stopMsMax = 4_500;

/** This process, as far as it can be ended. */
interface EndedProcess {
  readonly timers: Timers;
  writeError(text: string): void;
  /** Has the launcher not start the service again. */
  tellStopping(): void;
  /** Ends it at once: a regular exit would wait for the threads that hang, or abort. */
  kill(): void;
}

const thisProcess: EndedProcess = {
  timers: systemTimers,
  writeError: (text) => void process.stderr.write(text),
  tellStopping: () => void process.send?.('stopping'),
  kill: () => void process.kill(process.pid, 'SIGKILL'),
};

/** `failure`: why the service ends, if it was not told to; it may not come to say so otherwise. */
export async function closeAll(
  closers: Closers,
  failure: unknown,
  { timers, writeError, tellStopping, kill }: EndedProcess = thisProcess,
): Promise<void> {
  const cancel = timers.after(stopMsMax, () => {
    if (failure !== null) writeError(`payments: ${errorText(failure)}\n`);
    if (isRefusal(failure)) tellStopping();
    writeError(`payments: it has not stopped within ${stopMsMax} ms and is ended as it is\n`);
    kill();
  });
  // What hangs may leave nothing else that keeps the process running until it is ended.
  await keepAlive(() => closers.close()).finally(cancel);
}

/** Another start would be refused, too. */
function isRefusal(failure: unknown): boolean {
  return failure instanceof CommandFailure && !(failure instanceof ServiceCrash);
}
