// The network calls without a final outcome, in memory: a summary of each, because metrics and the
// networks' runner ask for them often, and there may be thousands.

import type { Change, NetworkCallRecord } from '../domain/record.ts';

export type OpenCallSummary = Pick<
  NetworkCallRecord,
  'id' | 'org' | 'livemode' | 'action' | 'created' | 'accepted'
>;

export class OpenCalls {
  readonly #calls = new Map<string, OpenCallSummary>();

  /** Called with every change as it is applied, and with those that are open at a start. */
  observe(change: Change): void {
    if (change.kind !== 'network_call') return;
    const { id, org, livemode, action, created, accepted, removed } = change;
    if (removed) this.#calls.delete(id);
    else this.#calls.set(id, { id, org, livemode, action, created, accepted });
  }

  get(id: string): OpenCallSummary | undefined {
    return this.#calls.get(id);
  }

  /** The oldest first. */
  all(): Iterable<OpenCallSummary> {
    return this.#calls.values();
  }
}
