// Webhook endpoints, and what becomes of the deliveries to them.

import type { EventType } from '../../../src/contract/vocabulary.ts';
import { createBucket, spendFromAll } from '../../../src/core/token-bucket.ts';
import { attemptsPerTrim } from '../../../src/domain/attempts.ts';
import {
  type AttemptReport,
  endedPerCommandMax,
  prunedPerCommandMax,
  resentPerCommandMax,
} from '../../../src/domain/deliveries.ts';
import { timedKey } from '../../../src/domain/indexes.ts';
import type { RecordOf } from '../../../src/domain/record.ts';
import { mergedMetadata, metadataOf, own, type Params } from './payments.ts';
import { showEndpoint } from './resources.ts';
import { type Expected, refuse, type Turn } from './turn.ts';

type Endpoint = RecordOf<'webhook_endpoint'>;
type Delivery = RecordOf<'delivery'>;
type Attempt = RecordOf<'attempt'>;

const endpointsMax = 16;
const secretsMax = 4;
const byHandPerMinute = 30;
const answersOfDelivery = 2;

function ownEndpoint(turn: Turn, id: string): Endpoint | null {
  const endpoint = own(turn, 'webhook_endpoint', id);
  return endpoint?.status === 'deleted' ? null : endpoint;
}

const isMixed = (types: readonly string[] = []) => types.length !== 1 && types.includes('*');

function checked({ asked }: Turn, url: string): Expected | null {
  if (asked.addressAllowed === null) return { checks: url };
  return asked.addressAllowed ? null : refuse('url_not_allowed', 'url');
}

export function createEndpoint(turn: Turn, params: Params): Expected {
  if (isMixed(params.enabled_events)) return refuse('parameter_invalid', 'enabled_events');
  if (turn.asked.endpointsBusy) return refuse('webhook_endpoints_busy');
  const others = turn.own('webhook_endpoint').filter(({ status }) => status !== 'deleted');
  if (others.length >= endpointsMax) return refuse('webhook_endpoint_limit_reached');
  const check = checked(turn, params.url);
  if (check !== null) return check;
  const endpoint = turn.put<Endpoint>({
    ...turn.fresh('webhook_endpoint'),
    url: params.url,
    enabled_events: params.enabled_events,
    status: 'enabled',
    draining: false,
    metadata: metadataOf({}, params.metadata),
    api_version: params.api_version ?? turn.asked.apiVersion,
    secrets: turn.chanceOf('webhook_endpoint')?.secrets.slice(0, 1) ?? [],
    ...{ by_hand: null, failed_resent_at_ms: null },
  });
  return { answer: showEndpoint(endpoint, anySecret), stored: showEndpoint(endpoint) };
}

/** A secret that is shown once. */
export const anySecret = 'a signing secret';

export function updateEndpoint(turn: Turn, params: Params, id: string): Expected {
  if (isMixed(params.enabled_events)) return refuse('parameter_invalid', 'enabled_events');
  const before = ownEndpoint(turn, id);
  if (before === null) return refuse('resource_missing');
  if (turn.asked.endpointsBusy) return refuse('webhook_endpoints_busy');
  const merged = mergedMetadata(before.metadata, params.metadata);
  if ('refused' in merged) return merged;
  const { url = before.url, enabled_events = before.enabled_events, disabled } = params;
  const check = url === before.url ? null : checked(turn, url);
  if (check !== null) return check;
  const status = disabled === undefined ? before.status : disabled ? 'disabled' : 'enabled';
  const endpoint = turn.change('webhook_endpoint', id, { ...merged, url, enabled_events, status });
  return { answer: showEndpoint(endpoint) };
}

export function deleteEndpoint(turn: Turn, _params: Params, id: string): Expected {
  if (ownEndpoint(turn, id) === null) return refuse('resource_missing');
  if (turn.asked.endpointsBusy) return refuse('webhook_endpoints_busy');
  const nothing = { metadata: {}, enabled_events: [], secrets: [] };
  turn.change('webhook_endpoint', id, { ...nothing, status: 'deleted', draining: true });
  return { answer: { id, object: 'webhook_endpoint', deleted: true } };
}

/** A secret is new and has no end; the others end with the overlap at the latest. */
export function rollSecret(turn: Turn, { overlapSeconds }: Params, id: string): Expected {
  const endpoint = ownEndpoint(turn, id);
  if (endpoint === null) return refuse('resource_missing');
  const { nowMs } = turn.asked;
  const endMs = nowMs + overlapSeconds * 1000;
  const kept = endpoint.secrets
    .map((each) => ({ ...each, expires_at_ms: Math.min(each.expires_at_ms ?? Infinity, endMs) }))
    .filter((each) => each.expires_at_ms > nowMs);
  const secrets = [{ sealed: anySecret, expires_at_ms: null }, ...kept].slice(0, secretsMax);
  turn.change('webhook_endpoint', id, { secrets });
  return { answer: { id, secret: anySecret } };
}

export function sendSample(turn: Turn, { type }: { type: EventType }, id: string): Expected {
  const endpoint = ownEndpoint(turn, id);
  if (endpoint === null) return refuse('resource_missing');
  if (endpoint.livemode) return refuse('test_mode_only');
  if (endpoint.status === 'disabled') return refuse('invalid_request');
  if (!spend(turn, endpoint)) return refuse('rate_limit_exceeded');
  const { object_json = '' } = turn.chanceOf('event') ?? {};
  const { request, cause, apiVersion } = turn.asked;
  const event = turn.put<RecordOf<'event'>>({
    ...turn.fresh('event'),
    ...{ type, api_version: apiVersion, object_json, sample: true },
    ...{ request_id: request?.request_id ?? null, idempotency_key: request?.idempotency_key ?? null },
    ...{ by: cause.by, by_name: cause.name ?? request?.member ?? null },
  });
  return { answer: { event: event.id, delivery: turn.owe(id, event).id } };
}

/** Counts a delivery by hand; false: there were too many. */
function spend(turn: Turn, { id, by_hand }: Endpoint): boolean {
  const { serviceMs } = turn.asked;
  const bucket = createBucket(byHandPerMinute, serviceMs);
  if (by_hand !== null) Object.assign(bucket, { units: by_hand.units, updatedAtMs: by_hand.updated_at_ms });
  if (spendFromAll([bucket], serviceMs) !== null) return false;
  const { units, updatedAtMs: updated_at_ms } = bucket;
  turn.change('webhook_endpoint', id, { by_hand: { units, updated_at_ms } });
  return true;
}

export function recordAttempt(turn: Turn, report: AttemptReport, serial: number): Delivery['status'] | null {
  const { result, number } = report;
  const delivery = turn.get('delivery', report.delivery);
  if (delivery?.attempt_count !== number) return null;
  const { at_ms, duration_ms, status, failure } = result;
  const { id } = delivery;
  turn.change('delivery', id, { attempt_count: number + 1 });
  if (number === 0 && failure === null)
    turn.change('delivery', id, { first_at_ms: at_ms, first_duration_ms: duration_ms, first_status: status });
  else listAttempt(turn, id, { ...result, serial, answer: failure === null ? null : result.answer });
  // One that was sent again meanwhile goes on from there.
  if (delivery.status !== 'pending' || (delivery.due_at_ms === 0 && !report.first)) return delivery.status;
  const over = { tries: delivery.tries + 1, due_at_ms: null, ended_at_ms: turn.asked.serviceMs };
  const waitMs = turn.asked.settings.webhookRetryMs[delivery.tries];
  const isDeleted = turn.get('webhook_endpoint', delivery.endpoint)?.status === 'deleted';
  if (failure === null) turn.change('delivery', id, { ...over, status: 'succeeded' });
  else if (isDeleted) turn.change('delivery', id, { ...over, status: 'ended' });
  else if (waitMs === undefined) turn.change('delivery', id, { ...over, status: 'failed' });
  else turn.change('delivery', id, { tries: delivery.tries + 1, due_at_ms: { about: waitMs } as never });
  return turn.the('delivery', id).status;
}

function listAttempt(
  turn: Turn,
  delivery: string,
  fields: Pick<Attempt, 'at_ms' | 'duration_ms' | 'status' | 'failure' | 'answer' | 'serial'>,
): void {
  const { id, answer } = turn.put<Attempt>({ ...turn.fresh('attempt'), delivery, ...fields });
  if (!answer) return;
  const answered = [...turn.the('delivery', delivery).answered, id];
  while (answered.length > answersOfDelivery) dropAnswer(turn, answered.shift() as string);
  turn.change('delivery', delivery, { answered });
}

function dropAnswer(turn: Turn, id: string): void {
  if (turn.get('attempt', id)?.answer) turn.change('attempt', id, { answer: null });
}

/** Of attempts beyond the quotas the answers go, and then the attempts; none within them. */
export function trimAttempts(turn: Turn, { serial }: { serial: number }): Expected {
  const { answersKeptMax, attemptsKeptMax } = turn.asked.settings;
  const beyond = (kept: number) =>
    turn
      .own('attempt')
      .filter((each) => each.serial !== null && each.serial <= serial - kept)
      .filter((each) => (each.serial ?? 0) > serial - kept - attemptsPerTrim);
  for (const { id } of beyond(answersKeptMax)) dropAnswer(turn, id);
  for (const attempt of beyond(attemptsKeptMax)) turn.remove({ ...attempt, answer: null });
  return { result: null };
}

function again(turn: Turn, id: string, due_at_ms: number): void {
  turn.change('delivery', id, { status: 'pending', tries: 0, due_at_ms, ended_at_ms: null });
}

export function resend(turn: Turn, { delivery: id }: Params): Expected {
  const delivery = turn.get('delivery', id);
  if (delivery === undefined) return refuse('resource_missing');
  const endpoint = turn.get('webhook_endpoint', delivery.endpoint);
  if (endpoint?.status !== 'enabled') return refuse('invalid_request');
  if (turn.get('event', delivery.event) === undefined) return refuse('resource_missing');
  if (!spend(turn, endpoint)) return refuse('rate_limit_exceeded');
  again(turn, id, 0);
  return { answer: {} };
}

const betweenMs = 3_600_000;

const byId = (a: { id: string }, b: { id: string }) => (a.id < b.id ? -1 : 1);

export function resendFailed(turn: Turn, { after }: Params, id: string): Expected {
  const endpoint = turn.get('webhook_endpoint', id);
  if (endpoint === undefined) return refuse('resource_missing');
  if (endpoint.status !== 'enabled') return refuse('invalid_request');
  const { serviceMs } = turn.asked;
  const { failed_resent_at_ms: lastMs } = endpoint;
  const isFirst = after === undefined;
  if (isFirst && lastMs !== null && serviceMs < lastMs + betweenMs) return refuse('rate_limit_exceeded');
  const beganMs = isFirst ? serviceMs : (lastMs ?? serviceMs);
  const failed = turn
    .own('delivery')
    .filter((each) => each.endpoint === id && each.status === 'failed' && each.id > (after ?? ''))
    .sort(byId)
    .slice(0, resentPerCommandMax);
  const meant = failed.filter(
    (each) => (each.ended_at_ms ?? Infinity) <= beganMs && turn.get('event', each.event) !== undefined,
  );
  for (const each of meant) again(turn, each.id, serviceMs);
  const next = failed.length === resentPerCommandMax ? (failed.at(-1)?.id ?? null) : null;
  if (isFirst && (meant.length > 0 || next !== null))
    turn.change('webhook_endpoint', id, { failed_resent_at_ms: serviceMs });
  return { answer: { resent: meant.length, after: next } };
}

function endDelivery(turn: Turn, id: string): void {
  turn.change('delivery', id, { status: 'ended', due_at_ms: null, ended_at_ms: turn.asked.serviceMs });
}

/** What waits for an endpoint that is gone ends, so much with one command, in the order in which it would have gone. */
export function drain(turn: Turn, { after = '' }: Params, id: string): Expected {
  const endpoint = turn.get('webhook_endpoint', id);
  if (endpoint === undefined || !endpoint.draining) return { result: { after: null } };
  const waiting = turn
    .own('delivery')
    .filter((each) => each.endpoint === id && each.status === 'pending')
    .map((each) => ({ id: each.id, key: timedKey(each.due_at_ms ?? 0, each.id) }))
    .filter(({ key }) => key > after)
    .sort((a, b) => (a.key < b.key ? -1 : 1))
    .slice(0, endedPerCommandMax);
  for (const each of waiting) endDelivery(turn, each.id);
  if (waiting.length === endedPerCommandMax) return { result: { after: waiting.at(-1)!.key } };
  turn.change('webhook_endpoint', id, { draining: false });
  return { result: { after: null } };
}

/** Records go in order, and a delivery after its attempts. */
export function pruneDeliveries(turn: Turn, { deliveries, limit }: Params): Expected {
  const ofDelivery = (id: string) => turn.own('attempt').filter(({ delivery }) => delivery === id);
  const inOrder = deliveries.flatMap((id: string) => [
    ...ofDelivery(id)
      .sort(byId)
      .map((each) => ({ ...each, answer: null })),
    turn.get('delivery', id),
  ]);
  const gone = inOrder.slice(0, limit);
  for (const each of gone) turn.remove(each);
  return { result: { removed: gone.length } };
}

export function pruneEvents(turn: Turn, { after, before }: Params): Expected {
  const old = turn
    .own('event')
    .filter(({ id }) => id < before && (after === undefined || id > after))
    .sort(byId);
  let changed = 0;
  let last: string | null = null;
  for (const event of old) {
    if (changed >= prunedPerCommandMax) return { result: { after: last } };
    const waiting = turn
      .own('delivery')
      .filter((each) => each.event === event.id && each.status === 'pending');
    for (const each of waiting) endDelivery(turn, each.id);
    turn.remove({ ...event, object_json: '' });
    changed += 1 + waiting.length;
    last = event.id;
  }
  return { result: { after: null } };
}
