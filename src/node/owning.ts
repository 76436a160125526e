// What the steps of a start share: what they are given, and the threads without which it can't go
// on.

import type { Config } from '../config/config-schema.ts';
import { lazily } from '../core/lazily.ts';
import { JournalFailure } from '../journal/journal.ts';
import type { Closers } from '../lifecycle/closers.ts';
import type { Ending } from '../lifecycle/ending.ts';
import type { ServiceManager } from '../lifecycle/service-manager.ts';
import type { Logger } from '../telemetry/logger.ts';
import { Thread } from '../threads/thread.ts';
import type { News } from '../threads/thread-protocol.ts';

export interface Owning {
  readonly config: Config;
  /** Reads the configuration again. */
  readonly load: () => Config;
  /** Where the service will listen. */
  readonly port: number;
  readonly logger: Logger;
  readonly manager: ServiceManager;
  readonly ending: Ending;
  readonly closers: Closers;
}

export type RequiredThread = Pick<Thread, 'ask' | 'stop'>;

/** A thread without which the process can't go on. */
export function requireThread(
  { ending, closers }: Owning,
  name: string,
  entry: URL,
  data: unknown,
  onNews: (news: News) => void,
): RequiredThread {
  const thread = Thread.worker({ name, entry }).begin(data, onNews);
  thread.onLost(name, ending.reject);
  const stop = lazily(() => thread.stop());
  closers.push(stop);
  return {
    get ask() {
      return thread.ask;
    },
    stop,
  };
}

/** Hears why something can't be owned in PostgreSQL, when that changes. */
export function tellTrouble(logger: Logger, what: string): (trouble: string | null) => void {
  return (trouble) => {
    if (trouble === null) logger.info(`PostgreSQL has ${what} again`);
    else logger.warn(`${what} can't be acquired or written in PostgreSQL, which is tried again: ${trouble}`);
  };
}

/**
 * Hears why something could not be written. What other machines have answered is no bug here: that
 * another node is the owner now is expected, and their words are enough.
 */
export function tellUnwritten(logger: Logger, what: string): (error: unknown) => void {
  const told = `${what} could not be written`;
  return (error) => {
    if (!(error instanceof JournalFailure) || !error.isRemote) logger.error({ err: error }, told);
    else logger[error.outcome === 'fenced' ? 'warn' : 'error'](`${told}: ${error.message}`);
  };
}

/** Hears of an operator's command that has failed by a fault of the server. */
export function tellFailedCommand(logger: Logger): (command: string, error: unknown) => void {
  return (command, error) => logger.error({ command, err: error }, "an operator's command failed");
}
