// Deliveries: one event on its way to one endpoint (the transactional outbox). A delivery is written in the same
// commit as its event and stays until retention removes it, with every attempt that was made. An attempt is a record
// of its own: its answer is written once, not again with every retry.

import { refuse } from '../contract/errors/table.ts';
import type { Context, Outcome } from './decision.ts';
import { refused } from './decision.ts';
import type { Draft } from './draft.ts';
import { missing } from './find.ts';
import { attemptIndex, endpointDueIndex, fieldIndex, overIndex, scopeOf, timeKey } from './indexes.ts';
import type {
  AttemptRecord,
  AttemptResult,
  DeliveryRecord,
  EventRecord,
  WebhookEndpointRecord,
} from './record.ts';
import type { View } from './view.ts';

/** How many deliveries of an event still wait for a success; those to a deleted endpoint wait for nothing. */
export function pendingDeliveries(view: View, event: EventRecord): number {
  const index = fieldIndex('delivery', scopeOf(event.org, event.livemode), 'event', event.id);
  let count = 0;
  for (const delivery of view.scan(index, { descending: false })) {
    if (delivery.kind !== 'delivery' || delivery.status !== 'pending') continue;
    if (view.get('webhook_endpoint', delivery.endpoint)?.status !== 'deleted') count++;
  }
  return count;
}

export interface AttemptReport {
  readonly delivery: string;
  /** Which attempt of the delivery it was, from 0: a report that comes twice is recorded once. */
  readonly number: number;
  /** It was the attempt for which a resent delivery had gone ahead of the others. */
  readonly first: boolean;
  readonly result: AttemptResult;
}

/**
 * Records an attempt: a 2xx ends the delivery, anything else schedules the next attempt with ±10 % jitter, until the
 * schedule is used up. An attempt of a delivery that has ended, or was sent again, meanwhile is only listed.
 */
export function recordAttempt(
  draft: Draft,
  report: AttemptReport,
): { readonly result: DeliveryRecord['status'] | null } {
  const { context } = draft;
  const { delivery: id, number, result } = report;
  const delivery = draft.get('delivery', id);
  if (delivery === undefined || delivery.attempt_count !== number) return { result: null };
  draft.put<AttemptRecord>({
    kind: 'attempt',
    id: context.newId('attempt'),
    org: delivery.org,
    livemode: delivery.livemode,
    created: Math.floor(context.nowMs / 1000),
    delivery: id,
    ...result,
  });
  const isDeleted = draft.get('webhook_endpoint', delivery.endpoint)?.status === 'deleted';
  const isResent = delivery.due_at_ms === dueFirstMs && !report.first;
  const after = isResent ? {} : progress(context, delivery, result, isDeleted);
  const { status } = draft.put<DeliveryRecord>({ ...delivery, attempt_count: number + 1, ...after });
  return { result: status };
}

function progress(
  context: Context,
  { status, tries }: DeliveryRecord,
  result: AttemptResult,
  isDeleted: boolean,
): Partial<DeliveryRecord> {
  if (status !== 'pending') return {};
  const over = { tries: tries + 1, due_at_ms: null, ended_at_ms: context.serviceMs };
  if (result.failure === null) return { ...over, status: 'succeeded' };
  if (isDeleted) return { ...over, status: 'ended' };
  const waitMs = context.settings.webhookRetryMs[tries];
  if (waitMs === undefined) return { ...over, status: 'failed' };
  const jitter = Math.floor((waitMs * (context.randomBelow(2001) - 1000)) / 10_000);
  return { tries: tries + 1, due_at_ms: context.serviceMs + waitMs + jitter };
}

/** When a resent delivery is due: before all that wait, so that it leaves at once however many there are. */
export const dueFirstMs = 0;

/**
 * Queues a delivery again, ahead of the others and from the start of the schedule; refused while its endpoint is
 * disabled or gone.
 */
export function resendDelivery(draft: Draft, params: { delivery: string }): Outcome {
  const delivery = draft.get('delivery', params.delivery);
  if (delivery === undefined) return refused(missing(params.delivery, null));
  const endpoint = draft.get('webhook_endpoint', delivery.endpoint);
  if (endpoint?.status !== 'enabled') {
    const values = { status: endpoint?.status ?? 'deleted' };
    return refused(refuse('invalid_request', { message: 'invalid_request.delivery_state', values }));
  }
  draft.put({ ...delivery, status: 'pending', tries: 0, due_at_ms: dueFirstMs, ended_at_ms: null });
  return { body: '{}' };
}

const endedPerCommandMax = 500;
const prunedPerCommandMax = 500;

/**
 * Ends deliveries that wait for an endpoint that was deleted, some at a time. Returns the sort key to go on after, so
 * that the next call need not pass over what this one ended; null when none is left.
 */
export function endDeliveries(draft: Draft, endpoint: WebhookEndpointRecord, after?: string): string | null {
  const { serviceMs } = draft.context;
  let count = 0;
  for (const record of draft.view.scan(endpointDueIndex(endpoint.id), { after, descending: false })) {
    if (record.kind !== 'delivery') continue;
    draft.put<DeliveryRecord>({ ...record, status: 'ended', due_at_ms: null, ended_at_ms: serviceMs });
    if (++count === endedPerCommandMax) return timeKey(record.due_at_ms!) + record.id;
  }
  return null;
}

/**
 * Removes deliveries that came to be over before a moment of service time, with their attempts, some at a time. One that was sent again
 * came to be over anew: its attempts are kept from then.
 */
export function pruneDeliveries(
  draft: Draft,
  params: { endedBeforeMs: number },
): { readonly result: { readonly more: boolean } } {
  let count = 0;
  const before = timeKey(params.endedBeforeMs);
  for (const record of draft.view.scan(overIndex, { before, descending: false })) {
    if (count === prunedPerCommandMax) break;
    for (const attempt of draft.view.scan(attemptIndex(record.id), { descending: false })) {
      if (attempt.kind === 'attempt') draft.remove({ ...attempt, answer: '' });
    }
    draft.remove(record);
    count++;
  }
  return { result: { more: count === prunedPerCommandMax } };
}
