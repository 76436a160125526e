// What the steps of a start share: what they are given, and the threads without which it can't go
// on.

import type { Config } from '../config/config-schema.ts';
import type { Logger } from '../telemetry/logger.ts';
import { Thread, ThreadFailure } from '../threads/thread.ts';
import type { News } from '../threads/thread-protocol.ts';
import type { ServiceManager } from './service-manager.ts';

export interface Owning {
  readonly config: Config;
  /** Where the service will listen. */
  readonly port: number;
  readonly logger: Logger;
  readonly manager: ServiceManager;
  /** Settled when the service is to stop. */
  readonly told: PromiseWithResolvers<void>;
  readonly closers: (() => Promise<unknown>)[];
}

export type Kept = Pick<Thread, 'ask' | 'stop'>;

/** A thread without which the process can't go on. */
export function keep(
  { told, closers }: Owning,
  name: string,
  entry: URL,
  data: unknown,
  onNews?: (news: News) => void,
): Kept {
  const thread = Thread.worker({ name, entry }).begin(data, onNews);
  let isStopping = false;
  const stop = once(() => {
    isStopping = true;
    return thread.stop();
  });
  thread.ended.then((failure) => {
    if (!isStopping) told.reject(failure ?? new ThreadFailure(`${name} has ended`, false));
  });
  closers.push(stop);
  return {
    get ask() {
      return thread.ask;
    },
    stop,
  };
}

export function once<T>(end: () => Promise<T>): () => Promise<T> {
  let ended: Promise<T> | null = null;
  return () => {
    ended ??= end();
    return ended;
  };
}
