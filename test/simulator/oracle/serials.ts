// The serial numbers of attempts, by which the oldest are found: a new one comes right after the newest that this process has
// given, or else that is there. Those that were removed before do not count, since the numbers may begin anew once none is left.

import { scopeOf } from '../../../src/domain/indexes.ts';
import type { Change, RecordOf } from '../../../src/domain/record.ts';

type Attempt = Change & RecordOf<'attempt'>;

export class Serials {
  /** By scope, of each attempt that is there. */
  readonly #ofScopes = new Map<string, Map<string, number>>();
  /** By scope, the number of the attempt that was recorded last. */
  readonly #last = new Map<string, number>();

  constructor(attempts: Iterable<Attempt>) {
    for (const attempt of attempts) this.#ofScope(attempt).set(attempt.id, attempt.serial ?? 0);
  }

  #ofScope({ org, livemode }: Attempt): Map<string, number> {
    const scope = scopeOf(org, livemode);
    const serials = this.#ofScopes.get(scope) ?? new Map<string, number>();
    this.#ofScopes.set(scope, serials);
    return serials;
  }

  isNew(attempt: Attempt): boolean {
    return !attempt.removed && !this.#ofScope(attempt).has(attempt.id);
  }

  /** What is wrong with the number of an attempt that is new; null: nothing. */
  changed(attempt: Attempt): string | null {
    const { id, serial, removed } = attempt;
    const serials = this.#ofScope(attempt);
    if (removed) serials.delete(id);
    if (!this.isNew(attempt)) return null;
    const scope = scopeOf(attempt.org, attempt.livemode);
    const next = 1 + (this.#last.get(scope) ?? Math.max(0, ...serials.values()));
    serials.set(id, serial ?? 0);
    this.#last.set(scope, serial ?? 0);
    return serial === next ? null : `${id} has the number ${serial}, and ${next} comes next`;
  }
}
