// The webhook endpoints of each scope, read when they are first needed.

import { kindIndex, scopeOf } from '../domain/indexes.ts';
import type { Change, WebhookEndpointRecord } from '../domain/record.ts';
import type { View } from '../domain/view.ts';
import type { Scope, ScopeEndpoints } from './scope.ts';

export class Endpoints {
  readonly #records: Pick<View, 'scan'>;
  /** Of the scopes whose endpoints were read, by their names. */
  readonly #read = new Map<string, ScopeEndpoints>();

  constructor(records: Pick<View, 'scan'>) {
    this.#records = records;
  }

  of({ name, endpoints }: Scope): readonly WebhookEndpointRecord[] {
    if (endpoints.list === null) {
      const records = this.#records.scan(kindIndex('webhook_endpoint', name), { descending: false });
      endpoints.list = [...records].filter((record) => record.kind === 'webhook_endpoint');
      this.#read.set(name, endpoints);
    }
    return endpoints.list;
  }

  /** Called with every change as it is applied. */
  observe({ kind, org, livemode }: Change): void {
    const endpoints = kind === 'webhook_endpoint' ? this.#read.get(scopeOf(org, livemode)) : undefined;
    if (endpoints !== undefined) endpoints.list = null;
  }
}
