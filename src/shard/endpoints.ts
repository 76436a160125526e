// The webhook endpoints of each scope, read when they are first needed, and which scopes wait for
// the address of a new or changed endpoint to be looked up.

import { kindIndex, scopeOf } from '../domain/indexes.ts';
import type { Change, WebhookEndpointRecord } from '../domain/record.ts';
import type { View } from '../domain/view.ts';
import type { Scope } from './scope.ts';

export class Endpoints {
  readonly #records: Pick<View, 'scan'>;
  readonly #byScope = new Map<string, readonly WebhookEndpointRecord[]>();
  /** The names of the scopes that wait. */
  readonly #busy = new Set<string>();

  constructor(records: Pick<View, 'scan'>) {
    this.#records = records;
  }

  /** The endpoints of a scope, oldest first. */
  of({ name }: Scope): readonly WebhookEndpointRecord[] {
    let endpoints = this.#byScope.get(name);
    if (endpoints === undefined) {
      const records = this.#records.scan(kindIndex('webhook_endpoint', name), { descending: false });
      endpoints = [...records].filter((record) => record.kind === 'webhook_endpoint');
      this.#byScope.set(name, endpoints);
    }
    return endpoints;
  }

  /** Called with every change as it is applied. */
  observe({ kind, org, livemode }: Change): void {
    if (kind === 'webhook_endpoint') this.#byScope.delete(scopeOf(org, livemode));
  }

  isBusy({ name }: Scope): boolean {
    return this.#busy.has(name);
  }

  setBusy({ name }: Scope, isBusy: boolean): void {
    if (isBusy) this.#busy.add(name);
    else this.#busy.delete(name);
  }
}
