// Reads of what may be damaged, or may meet a bug of the service: one that fails refuses the
// request that needed it, and everything else goes on.

import { type Refusal, refuse } from '../contract/errors/table.ts';
import { isOfLanguage, type OnVisitFailed } from '../core/visit-failure.ts';
import { JournalDamaged } from '../journal/journal.ts';

const failed = { refusal: refuse('api_error') };
const damaged = { refusal: refuse('api_error', { message: 'api_error.record_damaged' }) };

export interface ReadObserver {
  /** Called with the reason when a record or a stored response can't be read. */
  readonly onDamage: (reason: string) => void;
  /** Called with an exception that a request has caused before anything was changed. */
  readonly onVisitFailed: OnVisitFailed;
}

export class GuardedReads {
  readonly #observer: ReadObserver;

  constructor(observer: ReadObserver) {
    this.#observer = observer;
  }

  /** The result of a read, or a refusal if it finds a damaged record. */
  read<T>(read: () => T): T | { readonly refusal: Refusal } {
    return this.readOr(damaged, read);
  }

  /** The result of a read, or `otherwise` if it finds damage. */
  readOr<T, R>(otherwise: R, read: () => T): T | R {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof JournalDamaged)) throw error;
      this.#observer.onDamage(error.message);
      return otherwise;
    }
  }

  /**
   * The same for a request of which nothing has changed yet. An exception of the language is a bug
   * that its bytes have met: it alone fails. All others, such as a broken invariant, end the shard.
   */
  readForRequest<T>(requestId: string | null, read: () => T): T | { readonly refusal: Refusal } {
    try {
      return this.read(read);
    } catch (error) {
      if (!isOfLanguage(error)) throw error;
      this.#observer.onVisitFailed(error, 'api', requestId);
      return failed;
    }
  }
}
