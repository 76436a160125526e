// A delivery sends one event to one endpoint (transactional outbox). It is written in the same
// commit as its event and stays until retention removes it, with its attempts (attempts.ts). What
// members and operators send by hand, and send again, is limited for each endpoint, because its
// receiver may be somebody else's server. The limits are kept in the endpoint's record, so that a
// restart does not lift them. Retention ends those that wait with an event that goes.

import { type Refusal, refuse } from '../contract/errors/table.ts';
import { resendFailedIntervalMs, sentByHandPerMinuteMax } from '../contract/limits.ts';
import { assert, defined } from '../core/assert.ts';
import { jittered } from '../core/jitter.ts';
import { pieceSize } from '../core/piece-size.ts';
import * as bucket from '../core/token-bucket.ts';
import { addAttempt, isFirstSuccess } from './attempts.ts';
import { answered, type Context, type Outcome, refused } from './decision.ts';
import type { Draft } from './draft.ts';
import { missing, recordsOf } from './find.ts';
import { attemptIndex, endpointDueIndex, fieldIndex, kindIndex, scopeOf, timedKey } from './indexes.ts';
import type { AttemptResult, DeliveryRecord, EventRecord, WebhookEndpointRecord } from './record.ts';
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
 * Records an attempt; `serial` is its number if it becomes a record. A 2xx ends the delivery;
 * anything else schedules the next attempt with ±10 % jitter until the schedule is used up. When
 * the delivery has ended or was resent meanwhile, the attempt is only listed.
 */
export function recordAttempt(
  draft: Draft,
  report: AttemptReport & { readonly serial: number },
): { readonly result: DeliveryRecord['status'] | null } {
  return { result: record(draft, report, report.serial) };
}

/**
 * Records first attempts that have succeeded, as most attempts do, each of another delivery. What a
 * command costs besides its changes is paid once for all of them.
 */
export function recordSuccesses(
  draft: Draft,
  { reports }: { readonly reports: readonly AttemptReport[] },
): { readonly result: readonly (DeliveryRecord['status'] | null)[] } {
  const result = reports.map((report) => {
    assert(isFirstSuccess(report.number, report.result), 'none of them becomes a record');
    return record(draft, report, 0);
  });
  return { result };
}

function record(draft: Draft, report: AttemptReport, serial: number): DeliveryRecord['status'] | null {
  const { context } = draft;
  const { delivery: id, number, result } = report;
  const delivery = draft.get('delivery', id);
  if (delivery === undefined || delivery.attempt_count !== number) return null;
  const told = addAttempt(draft, delivery, { number, serial, result });
  const isDeleted = draft.get('webhook_endpoint', delivery.endpoint)?.status === 'deleted';
  const isResent = delivery.due_at_ms === dueFirstMs && !report.first;
  const after = isResent ? {} : progress(context, delivery, result, isDeleted);
  return draft.put<DeliveryRecord>({ ...delivery, attempt_count: number + 1, ...told, ...after }).status;
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
  const dueMs = context.serviceMs + jittered(waitMs, context.randomBelow);
  return { tries: tries + 1, due_at_ms: dueMs };
}

/** The due time of a resent delivery: before all others, so that it is sent at once. */
export const dueFirstMs = 0;

/**
 * Makes a delivery pending again, ahead of the others and from the start of the schedule. Refused
 * when its endpoint is disabled or deleted, or too much was sent to it by hand lately.
 */
export function resendDelivery(draft: Draft, params: { delivery: string }): Outcome {
  const delivery = draft.get('delivery', params.delivery);
  if (delivery === undefined) return refused(missing('delivery', params.delivery, null));
  const endpoint = draft.get('webhook_endpoint', delivery.endpoint);
  if (endpoint?.status !== 'enabled') return refused(notEnabled(endpoint));
  if (draft.get('event', delivery.event) === undefined)
    return refused(missing('event', delivery.event, null));
  const excess = spendByHand(draft, endpoint);
  if (excess !== null) return refused(excess);
  putAgain(draft, delivery, dueFirstMs);
  return { body: '{}' };
}

/** Counts one delivery that is sent to an endpoint by hand, or says why it must not be sent now. */
export function spendByHand(draft: Draft, endpoint: WebhookEndpointRecord): Refusal | null {
  const { serviceMs } = draft.context;
  const limit = sentByHandPerMinuteMax;
  const { by_hand: left } = endpoint;
  const tokens: bucket.TokenBucket =
    left === null
      ? bucket.createBucket(limit, serviceMs)
      : { perMinute: limit, units: left.units, updatedAtMs: left.updated_at_ms };
  if (bucket.spendFromAll([tokens], serviceMs) !== null) {
    const wait = bucket.retryAfterSeconds(tokens, serviceMs);
    const message = 'rate_limit_exceeded.by_hand';
    return refuse('rate_limit_exceeded', { message, values: { limit, wait }, retryAfterSeconds: wait });
  }
  const by_hand = { units: tokens.units, updated_at_ms: tokens.updatedAtMs };
  draft.put<WebhookEndpointRecord>({ ...endpoint, by_hand });
  return null;
}

export const resentPerCommandMax = pieceSize(100);

/** When all failed deliveries of an endpoint can be sent again, in service time; 0: they can be. */
export function resendFailedAtMs({ failed_resent_at_ms: lastMs }: WebhookEndpointRecord): number {
  return lastMs === null ? 0 : lastMs + resendFailedIntervalMs;
}

/**
 * Makes some failed deliveries of an endpoint pending again, oldest first and behind those that are
 * due already. The answer has how many they were, and the delivery to continue after; null when
 * none is left. A delivery whose event is gone stays failed. The first step is refused until some
 * time after the one before; the others take what had failed by then.
 */
export function resendFailed(draft: Draft, { after }: { after?: string | undefined }, id: string): Outcome {
  const endpoint = draft.get('webhook_endpoint', id);
  if (endpoint === undefined) return refused(missing('webhook_endpoint', id, null));
  const { serviceMs } = draft.context;
  const isFirst = after === undefined;
  if (endpoint.status !== 'enabled') return refused(notEnabled(endpoint));
  const refusal = isFirst ? refuseSoSoon(endpoint, serviceMs) : null;
  if (refusal !== null) return refused(refusal);
  const beganMs = isFirst ? serviceMs : (endpoint.failed_resent_at_ms ?? serviceMs);
  const index = fieldIndex('delivery', scopeOf(endpoint.org, endpoint.livemode), 'failed', id);
  let [seen, resent, next]: [number, number, string | null] = [0, 0, null];
  for (const delivery of recordsOf(draft.view, 'delivery', index, { after, descending: false })) {
    const isMeant = delivery.ended_at_ms !== null && delivery.ended_at_ms <= beganMs;
    if (isMeant && draft.get('event', delivery.event) !== undefined) {
      putAgain(draft, delivery, serviceMs);
      resent++;
    }
    if (++seen < resentPerCommandMax) continue;
    next = delivery.id;
    break;
  }
  if (isFirst && (resent > 0 || next !== null))
    draft.put<WebhookEndpointRecord>({ ...endpoint, failed_resent_at_ms: serviceMs });
  return answered({ resent, after: next });
}

/** Why deliveries to an endpoint that is disabled, deleted or gone can't be sent again. */
function notEnabled(endpoint: WebhookEndpointRecord | undefined): Refusal {
  const status = endpoint?.status ?? 'deleted';
  return refuse('invalid_request', { message: 'invalid_request.delivery_state', values: { status } });
}

function refuseSoSoon(endpoint: WebhookEndpointRecord, serviceMs: number): Refusal | null {
  const waitMs = resendFailedAtMs(endpoint) - serviceMs;
  if (waitMs <= 0) return null;
  const values = { every: resendFailedIntervalMs / 60_000, wait: Math.ceil(waitMs / 60_000) };
  const message = 'rate_limit_exceeded.resend_failed';
  return refuse('rate_limit_exceeded', { message, values, retryAfterSeconds: Math.ceil(waitMs / 1000) });
}

function putAgain(draft: Draft, delivery: DeliveryRecord, dueMs: number): void {
  draft.put({ ...delivery, status: 'pending', tries: 0, due_at_ms: dueMs, ended_at_ms: null });
}

function dueMsOf({ id, due_at_ms }: DeliveryRecord): number {
  return defined(due_at_ms, `${id} is not due`);
}

export const endedPerCommandMax = pieceSize(128);

/**
 * Ends some of the pending deliveries of a deleted endpoint. Returns the sort key to continue
 * after, so that the next call does not scan the rows of these; null when none is left.
 */
export function endDeliveries(draft: Draft, endpoint: WebhookEndpointRecord, after?: string): string | null {
  let count = 0;
  for (const record of draft.view.scan(endpointDueIndex(endpoint.id), { after, descending: false })) {
    if (record.kind !== 'delivery') continue;
    endDelivery(draft, record);
    if (++count === endedPerCommandMax) return timedKey(dueMsOf(record), record.id);
  }
  return null;
}

/**
 * Removes deliveries that have ended, with their attempts: `limit` records at most. The attempts go
 * first, so that the rest of a delivery that has more of them is found again.
 */
export function pruneDeliveries(
  draft: Draft,
  { deliveries, limit }: { readonly deliveries: readonly string[]; readonly limit: number },
): { readonly result: { readonly removed: number } } {
  let removed = 0;
  for (const id of deliveries) {
    for (const attempt of recordsOf(draft.view, 'attempt', attemptIndex(id), { descending: false })) {
      if (removed === limit) break;
      draft.remove({ ...attempt, answer: null });
      removed++;
    }
    if (removed === limit) break;
    draft.remove(draft.require('delivery', id));
    removed++;
  }
  return { result: { removed } };
}

function endDelivery(draft: Draft, delivery: DeliveryRecord): void {
  const ended_at_ms = draft.context.serviceMs;
  draft.put<DeliveryRecord>({ ...delivery, status: 'ended', due_at_ms: null, ended_at_ms });
}

/** Events, and the deliveries that end with them. The last event may go beyond. */
export const prunedPerCommandMax = pieceSize(128);

/**
 * Removes some of the events of an organization in a mode whose retention time is over: their ids,
 * which ascend also when the clock steps back, come before `before` (shard/event-retention.ts). The
 * oldest go first. A delivery that still waits with such an event has nothing left to send. Returns
 * the event to continue after, so that the next call does not scan the rows of these; null when
 * none is left.
 */
export function pruneEvents(
  draft: Draft,
  { after, before }: { readonly after?: string | undefined; readonly before: string },
): { readonly result: { readonly after: string | null } } {
  const { org, livemode } = draft.context;
  let changed = 0;
  let last: string | null = null;
  const index = kindIndex('event', scopeOf(org, livemode));
  for (const event of recordsOf(draft.view, 'event', index, { after, before, descending: false })) {
    if (changed >= prunedPerCommandMax) return { result: { after: last } };
    changed += 1 + endDeliveriesOf(draft, event);
    draft.remove({ ...event, object_json: '' });
    last = event.id;
  }
  return { result: { after: null } };
}

/** Ends the deliveries that still wait with an event. Returns how many. */
function endDeliveriesOf(draft: Draft, { id, org, livemode }: EventRecord): number {
  const index = fieldIndex('delivery', scopeOf(org, livemode), 'event', id);
  let count = 0;
  for (const delivery of recordsOf(draft.view, 'delivery', index, { descending: false })) {
    if (delivery.status !== 'pending') continue;
    endDelivery(draft, delivery);
    count++;
  }
  return count;
}
