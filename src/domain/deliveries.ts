// Deliveries: one event on its way to one endpoint (the transactional outbox). A delivery is written in the same
// commit as its event and stays until retention removes it, with every attempt that was made.

import { refuse } from '../contract/errors.ts';
import type { Context, Outcome } from './decision.ts';
import { refused } from './decision.ts';
import type { Draft } from './draft.ts';
import { deliveryIndex, endpointDueIndex, fieldIndex, scopeOf } from './indexes.ts';
import type { AttemptResult, DeliveryRecord, EventRecord, WebhookEndpointRecord } from './record.ts';
import type { View } from './state.ts';

/** A new delivery, due at once. */
export function openDelivery(
  context: Context,
  endpoint: WebhookEndpointRecord,
  event: EventRecord,
): DeliveryRecord {
  return {
    kind: 'delivery',
    id: context.newId('whd'),
    org: context.org,
    livemode: context.livemode,
    created: Math.floor(context.nowMs / 1000),
    endpoint: endpoint.id,
    event: event.id,
    event_type: event.type,
    status: 'pending',
    due_at_ms: context.nowMs,
    attempts: [],
    tries: 0,
  };
}

/** How many deliveries of an event still wait for a success. */
export function pendingDeliveries(view: View, event: EventRecord): number {
  const index = fieldIndex('delivery', scopeOf(event.org, event.livemode), 'event', event.id);
  let count = 0;
  for (const delivery of view.scan(index, { descending: false })) {
    if (delivery.kind === 'delivery' && delivery.status === 'pending') count++;
  }
  return count;
}

/**
 * Applies the result of an attempt: a 2xx ends the delivery, anything else schedules the next attempt with ±10 %
 * jitter, until the schedule is used up. A result for a delivery that has ended meanwhile is only listed.
 */
export function recordAttempt(draft: Draft, params: { delivery: string; result: AttemptResult }): Outcome {
  const { context } = draft;
  const delivery = draft.get('delivery', params.delivery);
  if (delivery === undefined) return { body: '{}' };
  const attempts = [...delivery.attempts, params.result];
  if (delivery.status !== 'pending') {
    draft.put({ ...delivery, attempts });
    return { body: '{}' };
  }
  const succeeded = params.result.failure === null;
  const waitMs = context.settings.webhookRetryMs[delivery.tries];
  if (succeeded || waitMs === undefined) {
    const status = succeeded ? 'succeeded' : 'failed';
    draft.put({ ...delivery, attempts, tries: delivery.tries + 1, status, due_at_ms: null });
    return { body: '{}' };
  }
  const jitter = Math.floor((waitMs * (context.randomBelow(2001) - 1000)) / 10_000);
  draft.put({ ...delivery, attempts, tries: delivery.tries + 1, due_at_ms: context.nowMs + waitMs + jitter });
  return { body: '{}' };
}

/** Queues a delivery again, from the start of the schedule; refused while its endpoint is disabled or gone. */
export function resendDelivery(draft: Draft, params: { delivery: string }): Outcome {
  const { context } = draft;
  const delivery = draft.get('delivery', params.delivery);
  if (delivery === undefined) {
    return refused(refuse('resource_missing', { values: { id: params.delivery } }));
  }
  const endpoint = draft.get('webhook_endpoint', delivery.endpoint);
  if (endpoint?.status !== 'enabled') {
    const values = { status: endpoint?.status ?? 'deleted' };
    return refused(refuse('invalid_request', { message: 'invalid_request.delivery_state', values }));
  }
  draft.put({ ...delivery, status: 'pending', tries: 0, due_at_ms: context.nowMs });
  return { body: '{}' };
}

const endedPerCommandMax = 500;
const prunedPerCommandMax = 500;

/** Ends deliveries that wait for an endpoint that was deleted, some at a time; true while there may be more. */
export function endDeliveries(draft: Draft, endpoint: WebhookEndpointRecord): boolean {
  let count = 0;
  for (const record of draft.view.scan(endpointDueIndex(endpoint.id), { descending: false })) {
    if (record.kind !== 'delivery') continue;
    draft.put<DeliveryRecord>({ ...record, status: 'ended', due_at_ms: null });
    if (++count === endedPerCommandMax) break;
  }
  return count === endedPerCommandMax;
}

/** Removes deliveries created before a time, with their attempts, some at a time. */
export function pruneDeliveries(draft: Draft, params: { createdBefore: number }): Outcome {
  let count = 0;
  for (const record of draft.view.scan(deliveryIndex, { descending: false })) {
    if (record.created >= params.createdBefore || count === prunedPerCommandMax) break;
    if (record.kind === 'delivery' && record.status === 'pending') continue;
    draft.remove(record);
    count++;
  }
  return { body: JSON.stringify({ more: count === prunedPerCommandMax }) };
}
