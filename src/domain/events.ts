// An event says what happened, with the object as it was then as JSON text that never changes. Each
// event has a delivery to every endpoint that is subscribed to it.

import type { EventType } from '../contract/vocabulary.ts';
import type { Context } from './decision.ts';
import type { DeliveryRecord, EventRecord, WebhookEndpointRecord } from './record.ts';

/** The event `type` about `object` (a presented resource, or its JSON text). */
export function newEvent(context: Context, type: EventType, object: object | string): EventRecord {
  return {
    kind: 'event',
    id: context.newId('event'),
    org: context.org,
    livemode: context.livemode,
    created: Math.floor(context.nowMs / 1000),
    type,
    api_version: context.apiVersion,
    object_json: typeof object === 'string' ? object : JSON.stringify(object),
    request_id: context.request?.request_id ?? null,
    idempotency_key: context.request?.idempotency_key ?? null,
    by: context.cause.by,
    by_name: context.cause.name ?? context.request?.member ?? null,
    sample: false,
  };
}

/** A new delivery, due at once. */
export function openDelivery(
  context: Context,
  endpoint: WebhookEndpointRecord,
  event: EventRecord,
): DeliveryRecord {
  return {
    kind: 'delivery',
    id: context.newId('delivery'),
    org: context.org,
    livemode: context.livemode,
    created: Math.floor(context.nowMs / 1000),
    endpoint: endpoint.id,
    event: event.id,
    event_type: event.type,
    status: 'pending',
    due_at_ms: context.serviceMs,
    ended_at_ms: null,
    attempt_count: 0,
    tries: 0,
    first_at_ms: null,
    first_duration_ms: null,
    first_status: null,
    answered: [],
  };
}

/**
 * An event as JSON text. It contains the stored text of the object, so every delivery and every
 * read has the same bytes. Only `pendingWebhooks` changes. What really happened says nothing about
 * samples, so that its bytes stay as they always were.
 */
export function eventJson(event: EventRecord, pendingWebhooks: number): string {
  const request = JSON.stringify({ id: event.request_id, idempotency_key: event.idempotency_key });
  const sample = event.sample ? '"sample":true,' : '';
  return (
    `{"id":"${event.id}","object":"event","type":"${event.type}","api_version":"${event.api_version}",` +
    `"created":${event.created},"livemode":${event.livemode},${sample}"organization":"${event.org}",` +
    `"data":{"object":${event.object_json}},"request":${request},"pending_webhooks":${pendingWebhooks}}`
  );
}
