// A draft collects the changes of one command, on top of the state that it reads. Deciders write
// nowhere else. The draft becomes the decision's changes, or is discarded.

import type { EventType } from '../contract/vocabulary.ts';
import type { Context } from './decision.ts';
import { newEvent, openDelivery } from './events.ts';
import { isOfKind, required } from './find.ts';
import type { Change, NetworkCallRecord, RecordKind, RecordOf } from './record.ts';
import type { View } from './view.ts';

export class Draft {
  readonly view: View;
  readonly context: Context;
  readonly networkCalls: NetworkCallRecord[] = [];
  readonly #changes = new Map<string, Change>();

  constructor(view: View, context: Context) {
    this.view = view;
    this.context = context;
  }

  get changes(): readonly Change[] {
    return [...this.#changes.values()];
  }

  /** The record as this draft has it so far. */
  get<K extends RecordKind>(kind: K, id: string): RecordOf<K> | undefined {
    const drafted = this.#changes.get(id);
    if (drafted === undefined) return this.view.get(kind, id);
    return isOfKind(drafted, kind) && !drafted.removed ? drafted : undefined;
  }

  /**
   * The record that another one names, so it must be there. Throws an `AssertionFailure` when it is
   * not.
   */
  require<K extends RecordKind>(kind: K, id: string | null | undefined): RecordOf<K> {
    return required(this, kind, id);
  }

  put<R extends Change>(record: R): R {
    this.#changes.set(record.id, record);
    return record;
  }

  remove(record: Change): void {
    this.#changes.set(record.id, { ...record, removed: true });
  }

  /**
   * Records an event about `object` (a resource, or its JSON text), and a delivery to each endpoint
   * that wants it.
   */
  emit(type: EventType, object: object | string): void {
    const event = this.put(newEvent(this.context, type, object));
    for (const endpoint of this.context.endpoints) {
      if (endpoint.status !== 'enabled') continue;
      if (!endpoint.enabled_events.includes('*') && !endpoint.enabled_events.includes(type)) continue;
      this.put(openDelivery(this.context, endpoint, event));
    }
  }

  /**
   * Records a call to a payment network, which is made once the draft is durable. The network is
   * told of its payment intent, so a damaged one keeps the call from being decided.
   */
  call(call: NetworkCallRecord): NetworkCallRecord {
    this.require('payment_intent', call.payment_intent);
    this.networkCalls.push(call);
    return this.put(call);
  }
}
