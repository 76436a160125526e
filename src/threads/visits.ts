// What a thread does with the exceptions that visits cause. Each entry hands over what it catches.
// What nobody waits for (a promise that was left alone, a callback that throws) would end the
// thread: where a visit runs within `run`, Node tells which visit it is from, and the thread goes
// on. In a thread with one kind of visit, whatever its `own` steps have not thrown is one's. What
// belongs to no visit ends the thread as ever.

import { AsyncLocalStorage } from 'node:async_hooks';
import type { Registry } from 'prom-client';
import { isOfLanguage, type OnVisitFailed, type VisitEntry } from '../core/visit-failure.ts';
import { LogLimit } from '../telemetry/log-limit.ts';
import type { Logger } from '../telemetry/logger.ts';
import { metricsIn } from '../telemetry/metrics-in.ts';

/** Whoever finds a bug can cause many of these. All are counted. */
const loggedPerSecondMax = 10;

interface Running {
  readonly entry: VisitEntry;
  readonly requestId: string | null;
}

export class Visits {
  readonly #running = new AsyncLocalStorage<Running>();
  readonly #logger: Logger;
  readonly failed: OnVisitFailed;
  /** What a step of the thread itself has thrown. */
  #ownError: unknown = null;

  /** `entries`: those of the calling thread, which `thread` names. */
  constructor(registry: Registry, logger: Logger, thread: string, entries: readonly VisitEntry[]) {
    this.#logger = logger;
    const errors = metricsIn(registry).counter(
      'payments_visit_errors_total',
      'Exceptions that requests, forms and reports have caused: each is a bug',
      ['thread', 'entry'],
    );
    for (const entry of entries) errors.labels(thread, entry).inc(0);
    const logged = new LogLimit({
      perSecondMax: loggedPerSecondMax,
      onLeftOut: (visits) => logger.error({ visits }, `${visits} more visits failed; they are not logged`),
    });
    this.failed = (error, entry, requestId) => {
      errors.labels(thread, entry).inc();
      if (logged.admit()) logger.error({ requestId, entry, err: error }, 'a visit failed because of a bug');
    };
  }

  /** A page could not be shown: because of a bug, or because what it needs is away for now. */
  unanswered(error: unknown, entry: VisitEntry, requestId: string): void {
    if (isOfLanguage(error)) this.failed(error, entry, requestId);
    else this.#logger.error({ requestId, entry, err: error }, 'a page could not be shown');
  }

  /** Runs a step of a visit. */
  run<T>(entry: VisitEntry, requestId: string | null, step: () => T): T {
    return this.#running.run({ entry, requestId }, step);
  }

  /** Runs a step of the thread itself: what it throws ends the thread, `catchStraysOf` or not. */
  own<T>(step: () => T): T {
    try {
      return step();
    } catch (error) {
      this.#ownError = error;
      throw error;
    }
  }

  /** From now on, what a visit has left alone does not end the thread. */
  catchStrays(): void {
    const take = (error: unknown) => {
      const visit = this.#running.getStore();
      if (visit === undefined) throw error;
      this.failed(error, visit.entry, visit.requestId);
    };
    process.on('unhandledRejection', take);
    process.on('uncaughtException', take);
  }

  /**
   * The same for a thread with one kind of visit: every exception that no step of its `own` has
   * thrown is theirs. It needs no `run`, which makes each promise of the thread cost more.
   */
  catchStraysOf(entry: VisitEntry): void {
    process.on('uncaughtException', (error, origin) => {
      if (error === this.#ownError || origin === 'unhandledRejection') throw error;
      this.failed(error, entry, null);
    });
  }
}
