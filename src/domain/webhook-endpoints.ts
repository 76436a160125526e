// Webhook endpoints: the addresses to which events are delivered. An address is checked before it
// is accepted, which takes time; meanwhile other changes to the endpoints of the same mode are
// refused as busy.

import { type Refusal, refuse } from '../contract/errors/table.ts';
import { webhookEndpointsMax } from '../contract/limits.ts';
import type { ParamsOf } from '../contract/routes/table.ts';
import { isApiVersion, refuseVersion } from '../contract/versions.ts';
import type { EventType } from '../contract/vocabulary.ts';
import { answered, type Outcome, refused } from './decision.ts';
import { endDeliveries, spendByHand } from './deliveries.ts';
import type { Draft } from './draft.ts';
import { newEvent, openDelivery } from './events.ts';
import { type Found, find } from './find.ts';
import { changedMetadata, initialMetadata } from './metadata.ts';
import { presentWebhookEndpoint } from './present.ts';
import type { WebhookEndpointRecord } from './record.ts';
import { sampleObject } from './samples.ts';

const secretCharacters = 32;

/**
 * A new signing secret: `svc_whsec_` and 32 base-62 characters (190 bits). `randomText` returns
 * unbiased base-62 characters from a cryptographic source.
 */
export function newSigningSecret(randomText: (length: number) => string): string {
  return `svc_whsec_${randomText(secretCharacters)}`;
}

/**
 * The host of the address does not resolve now. The same request can succeed later, so this refusal
 * is not stored.
 */
export const addressUnresolved = refuse('url_not_allowed', {
  param: 'url',
  message: 'url_not_allowed.unresolved',
  retryAfterSeconds: 5,
});

/** Null when the address is allowed, an outcome when it must be checked first or is refused. */
function checkAddress(draft: Draft, url: string): Outcome | null {
  const { addressAllowed } = draft.context;
  if (addressAllowed === null) return { checksAddress: url };
  return addressAllowed ? null : refused(refuse('url_not_allowed', { param: 'url' }));
}

/** `*` means all types, so it can't be listed with others. */
function refuseMixedEvents(types: readonly string[]): Refusal | null {
  if (types.length === 1 || !types.includes('*')) return null;
  return refuse('parameter_invalid', { param: 'enabled_events', message: 'parameter_invalid.all_events' });
}

export function createWebhookEndpoint(draft: Draft, params: ParamsOf<'create_webhook_endpoint'>): Outcome {
  const { context } = draft;
  const mixed = refuseMixedEvents(params.enabled_events);
  if (mixed !== null) return refused(mixed);
  const version = params.api_version ?? context.apiVersion;
  if (!isApiVersion(version)) return refused(refuseVersion('api_version'));
  if (context.endpointsBusy) return refused(refuse('webhook_endpoints_busy'));
  if (context.endpoints.length >= webhookEndpointsMax) {
    return refused(refuse('webhook_endpoint_limit_reached', { values: { max: webhookEndpointsMax } }));
  }
  const wait = checkAddress(draft, params.url);
  if (wait !== null) return wait;
  const secret = newSigningSecret(context.randomText);
  const id = context.newId('webhook_endpoint');
  const endpoint = draft.put<WebhookEndpointRecord>({
    kind: 'webhook_endpoint',
    id,
    org: context.org,
    livemode: context.livemode,
    created: Math.floor(context.nowMs / 1000),
    url: params.url,
    enabled_events: params.enabled_events,
    status: 'enabled',
    draining: false,
    metadata: initialMetadata(params.metadata),
    api_version: version,
    secrets: [{ sealed: context.sealSecret(secret, id), expires_at_ms: null }],
    by_hand: null,
    failed_resent_at_ms: null,
  });
  return {
    body: JSON.stringify(presentWebhookEndpoint(endpoint, secret)),
    storedBody: JSON.stringify(presentWebhookEndpoint(endpoint)),
  };
}

function changeableEndpoint(draft: Draft, id: string): Found<'webhook_endpoint'> {
  const found = find(draft.view, draft.context, 'webhook_endpoint', id);
  if ('refusal' in found || !draft.context.endpointsBusy) return found;
  return { refusal: refuse('webhook_endpoints_busy') };
}

export function updateWebhookEndpoint(
  draft: Draft,
  params: ParamsOf<'update_webhook_endpoint'>,
  id: string,
): Outcome {
  const mixed = refuseMixedEvents(params.enabled_events ?? []);
  if (mixed !== null) return refused(mixed);
  const found = changeableEndpoint(draft, id);
  if ('refusal' in found) return found;
  const before = found.record;
  const changed = changedMetadata(before.metadata, params.metadata);
  if ('refusal' in changed) return changed;
  if (params.url !== undefined && params.url !== before.url) {
    const wait = checkAddress(draft, params.url);
    if (wait !== null) return wait;
  }
  const status = params.disabled === undefined ? before.status : params.disabled ? 'disabled' : 'enabled';
  const endpoint = draft.put<WebhookEndpointRecord>({
    ...before,
    url: params.url ?? before.url,
    enabled_events: params.enabled_events ?? before.enabled_events,
    ...changed,
    status,
  });
  return answered(presentWebhookEndpoint(endpoint));
}

export function deleteWebhookEndpoint(draft: Draft, _params: object, id: string): Outcome {
  const found = changeableEndpoint(draft, id);
  if ('refusal' in found) return found;
  const nothing = { metadata: {}, enabled_events: [], secrets: [] };
  draft.put<WebhookEndpointRecord>({ ...found.record, ...nothing, status: 'deleted', draining: true });
  return answered({ id, object: 'webhook_endpoint', deleted: true });
}

/**
 * Ends some deliveries of a deleted endpoint. Returns where to continue; null when all have ended.
 */
export function drainEndpoint(
  draft: Draft,
  params: { after?: string },
  id: string,
): { readonly result: { readonly after: string | null } } {
  const endpoint = draft.get('webhook_endpoint', id);
  if (endpoint === undefined || !endpoint.draining) return { result: { after: null } };
  const after = endDeliveries(draft, endpoint, params.after);
  if (after === null) draft.put<WebhookEndpointRecord>({ ...endpoint, draining: false });
  return { result: { after } };
}

/**
 * Sends a sample event of this type to the endpoint, whether or not it is subscribed to the type.
 */
export function sendSample(
  draft: Draft,
  { type }: { type: EventType },
  endpoint: WebhookEndpointRecord,
): Outcome {
  const { context } = draft;
  if (endpoint.livemode) return refused(refuse('test_mode_only'));
  if (endpoint.status === 'disabled') {
    const values = { status: endpoint.status };
    return refused(refuse('invalid_request', { message: 'invalid_request.delivery_state', values }));
  }
  const excess = spendByHand(draft, endpoint);
  if (excess !== null) return refused(excess);
  const event = draft.put({ ...newEvent(context, type, sampleObject(context, type)), sample: true });
  const delivery = draft.put(openDelivery(context, endpoint, event));
  return answered({ event: event.id, delivery: delivery.id });
}

/**
 * Active secrets of an endpoint. Each adds to the signature header, whose length receivers limit.
 */
const secretsMax = 4;

/**
 * Adds a new signing secret. The old ones also sign for at most `overlapSeconds`. At most four are
 * active, so the oldest may end at once.
 */
export function rollSecret(
  draft: Draft,
  params: { overlapSeconds: number },
  endpoint: WebhookEndpointRecord,
): Outcome {
  const { id } = endpoint;
  const { nowMs } = draft.context;
  const endsAtMs = nowMs + params.overlapSeconds * 1000;
  const still = endpoint.secrets
    .map(({ sealed, expires_at_ms }) => ({
      sealed,
      expires_at_ms: Math.min(expires_at_ms ?? endsAtMs, endsAtMs),
    }))
    .filter(({ expires_at_ms }) => expires_at_ms > nowMs)
    .slice(0, secretsMax - 1);
  const secret = newSigningSecret(draft.context.randomText);
  const sealed = draft.context.sealSecret(secret, id);
  draft.put<WebhookEndpointRecord>({ ...endpoint, secrets: [{ sealed, expires_at_ms: null }, ...still] });
  return answered({ id, secret });
}
