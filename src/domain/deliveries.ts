// A delivery sends one event to one endpoint (transactional outbox). It is written in the same commit as its event and
// stays until retention removes it, with all its attempts. Each attempt is a record of its own, so that a retry does not
// write the receivers' earlier answers again.

import { type Refusal, refuse } from '../contract/errors/table.ts';
import type { Context, Outcome } from './decision.ts';
import { answered, refused } from './decision.ts';
import type { Draft } from './draft.ts';
import { missing } from './find.ts';
import { attemptIndex, endedIndex, endpointDueIndex, fieldIndex, scopeOf, timeKey } from './indexes.ts';
import type {
  AttemptRecord,
  AttemptResult,
  DeliveryRecord,
  EventRecord,
  WebhookEndpointRecord,
} from './record.ts';
import type { View } from './view.ts';

/** How many deliveries of an event are pending, without those to deleted endpoints. */
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
  /** The delivery was resent and had gone ahead of the others for this attempt. */
  readonly first: boolean;
  readonly result: AttemptResult;
}

/**
 * Records an attempt. A 2xx ends the delivery; anything else schedules the next attempt with ±10 % jitter until the
 * schedule is used up. When the delivery has ended or was resent meanwhile, the attempt is only listed.
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

/** The due time of a resent delivery: before all others, so that it is sent at once. */
export const dueFirstMs = 0;

/**
 * Makes a delivery pending again, ahead of the others and from the start of the schedule. Refused when its endpoint is
 * disabled or deleted.
 */
export function resendDelivery(draft: Draft, params: { delivery: string }): Outcome {
  const delivery = draft.get('delivery', params.delivery);
  if (delivery === undefined) return refused(missing(params.delivery, null));
  const refusal = refuseResending(draft, delivery.endpoint);
  if (refusal !== null) return refused(refusal);
  if (draft.get('event', delivery.event) === undefined) return refused(missing(delivery.event, null));
  putAgain(draft, delivery, dueFirstMs);
  return { body: '{}' };
}

const resentPerCommandMax = 100;

/**
 * Makes some failed deliveries of an endpoint pending again, oldest first and behind those that are due already. The answer
 * has how many they were, and the delivery to continue after; null when none is left. A delivery whose event is gone stays
 * failed.
 */
export function resendFailed(draft: Draft, { after }: { after?: string | undefined }, id: string): Outcome {
  const endpoint = draft.get('webhook_endpoint', id);
  if (endpoint === undefined) return refused(missing(id, null));
  const refusal = refuseResending(draft, id);
  if (refusal !== null) return refused(refusal);
  const index = fieldIndex('delivery', scopeOf(endpoint.org, endpoint.livemode), 'failed', id);
  let [seen, resent] = [0, 0];
  for (const delivery of draft.view.scan(index, { after, descending: false })) {
    if (delivery.kind !== 'delivery') continue;
    if (draft.get('event', delivery.event) !== undefined) {
      putAgain(draft, delivery, draft.context.serviceMs);
      resent++;
    }
    if (++seen === resentPerCommandMax) return answered({ resent, after: delivery.id });
  }
  return answered({ resent, after: null });
}

/** Null when deliveries to this endpoint can be sent again. */
function refuseResending(draft: Draft, endpoint: string): Refusal | null {
  const status = draft.get('webhook_endpoint', endpoint)?.status ?? 'deleted';
  if (status === 'enabled') return null;
  return refuse('invalid_request', { message: 'invalid_request.delivery_state', values: { status } });
}

function putAgain(draft: Draft, delivery: DeliveryRecord, dueMs: number): void {
  draft.put({ ...delivery, status: 'pending', tries: 0, due_at_ms: dueMs, ended_at_ms: null });
}

const endedPerCommandMax = 500;
const prunedPerCommandMax = 500;

/**
 * Ends some of the pending deliveries of a deleted endpoint. Returns the sort key to continue after, so that the next call
 * does not scan the rows of these; null when none is left.
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
 * Removes some of the deliveries that ended before a moment of service time, with their attempts. For one that was resent
 * the last end counts.
 */
export function pruneDeliveries(
  draft: Draft,
  params: { endedBeforeMs: number },
): { readonly result: { readonly more: boolean } } {
  let count = 0;
  const before = timeKey(params.endedBeforeMs);
  for (const record of draft.view.scan(endedIndex, { before, descending: false })) {
    if (count === prunedPerCommandMax) break;
    for (const attempt of draft.view.scan(attemptIndex(record.id), { descending: false })) {
      if (attempt.kind === 'attempt') draft.remove({ ...attempt, answer: '' });
    }
    draft.remove(record);
    count++;
  }
  return { result: { more: count === prunedPerCommandMax } };
}
