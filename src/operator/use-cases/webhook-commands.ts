// The operators' commands about webhooks and the events of test mode.

import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { Type } from 'typebox';
import { listedMax, overlapSecondsMax } from '../../contract/limits.ts';
import { modes } from '../../contract/vocabulary.ts';
import { defined } from '../../core/assert.ts';
import { firstSuccess } from '../../domain/attempts.ts';
import { attemptIndex, fieldIndex, kindIndex, scopeOf } from '../../domain/indexes.ts';
import type {
  AttemptRecord,
  AttemptResult,
  DeliveryRecord,
  WebhookEndpointRecord,
} from '../../domain/record.ts';
import type { EndpointNow } from '../../shard/endpoint-health.ts';
import type { ListedEvent } from '../../shard/protocol.ts';
import { defineCommand } from './command.ts';
import { OperatorFailure } from './failures.ts';
import {
  type PresentedDelivery,
  presentAttempt,
  presentDelivery,
  presentEndpoint,
  presentSecrets,
} from './present.ts';
import type { ApiCall, OperatorServices } from './services.ts';
import { ask, command, nowOf, recordOf, records, recordsIn } from './shard-records.ts';
import { type Actor, type ApiObject, trigger, typeThatHappens } from './trigger.ts';

const followedPerStep = 100;
const followIntervalMs = 100;

const text = Type.String();
const optionalText = Type.Union([Type.String({ maxLength: 64 }), Type.Null()]);

/** The first item of `events.follow`: it starts after this event. */
export interface FollowStart {
  readonly organization: string;
  readonly secret: string;
  readonly after: string;
}

const endpoint = Type.String();
const delivery = Type.String();

export const webhookCommands = {
  'webhooks.list': defineCommand({ org: text }, async ({ org }, services) => {
    const { id } = services.directory.organization(org);
    const listed = await recordsIn<WebhookEndpointRecord>(services, id, modes, (scope) =>
      kindIndex('webhook_endpoint', scope),
    );
    const health = new Map<string, EndpointNow>();
    for (const livemode of [false, true])
      for (const each of await ask(services, { kind: 'endpoint_health', org: id, livemode }))
        health.set(each.id, each);
    return listed.map((endpoint) => presentEndpoint(endpoint, health.get(endpoint.id)));
  }),
  'webhooks.deliveries': defineCommand(
    { endpoint, failedOnly: Type.Boolean() },
    async ({ endpoint: id, failedOnly }, services) => {
      const { org, livemode } = await endpointOf(services, id);
      const field = failedOnly ? 'failed' : 'endpoint';
      const index = fieldIndex('delivery', scopeOf(org, livemode), field, id);
      const deliveries = await records<DeliveryRecord>(services, id, index);
      const now = await nowOf(services, id);
      return deliveries.map((delivery) => presentDelivery(delivery, now));
    },
  ),
  'webhooks.attempts': defineCommand({ delivery }, async ({ delivery: id }, services) => {
    const delivery = await recordOf(services, id, 'delivery');
    return (await attemptsOf(services, delivery)).reverse().map(presentAttempt);
  }),
  'webhooks.resend': defineCommand({ delivery }, ({ delivery }, services) => resend(services, delivery)),
  'webhooks.resend-failed': defineCommand({ endpoint }, ({ endpoint }, services) =>
    resendFailed(services, endpoint),
  ),
  'webhooks.roll-secret': defineCommand(
    { endpoint, overlapSeconds: Type.Integer({ minimum: 0, maximum: overlapSecondsMax }) },
    ({ endpoint, overlapSeconds }, services) => rollSecret(services, endpoint, overlapSeconds),
  ),
  'webhooks.show-secret': defineCommand({ endpoint }, ({ endpoint }, services) =>
    secretsOf(services, endpoint),
  ),
  'webhooks.sample': defineCommand({ endpoint, type: text }, ({ endpoint, type }, services) =>
    sendSample(services, endpoint, type),
  ),
  'events.follow': defineCommand({ org: optionalText, after: optionalText }, (params, services, signal) =>
    follow(params, services, signal),
  ),
  trigger: defineCommand({ org: optionalText, type: text }, async ({ org, type }, services) =>
    trigger(actorIn(services, organizationFor(services, org).id), typeThatHappens(type)),
  ),
};

/** The attempts of a delivery that are still there, newest first. */
export async function attemptsOf(
  services: OperatorServices,
  delivery: DeliveryRecord,
): Promise<(AttemptResult & { readonly id?: string })[]> {
  const written = await records<AttemptRecord>(services, delivery.id, attemptIndex(delivery.id));
  const first = firstSuccess(delivery);
  return first === null || written.length === listedMax ? written : [...written, first];
}

/** Sends a delivery again, ahead of those that wait. */
export async function resend(services: OperatorServices, delivery: string): Promise<PresentedDelivery> {
  await command(services, delivery, 'resend_delivery', { delivery });
  const resent = await recordOf(services, delivery, 'delivery');
  return presentDelivery(resent, await nowOf(services, delivery));
}

export async function secretsOf(services: OperatorServices, id: string) {
  const endpoint = await endpointOf(services, id);
  return { id, secrets: presentSecrets(endpoint, services.now(), services.secrets) };
}

/** Signs with a new secret; the others sign for at most `overlapSeconds` more. */
export async function rollSecret(services: OperatorServices, id: string, overlapSeconds: number) {
  await command(services, id, 'roll_secret', { overlapSeconds });
  return secretsOf(services, id);
}

export async function sendSample(services: OperatorServices, id: string, type: string) {
  return command(services, id, 'send_sample', { type: typeThatHappens(type) });
}

/**
 * Resends all failed deliveries of an endpoint, step by step, and returns how many there were.
 * `onBegun` is called after the first step, from when on nothing is refused any more.
 */
export async function resendFailed(
  services: OperatorServices,
  endpoint: string,
  onBegun = () => {},
): Promise<{ readonly id: string; readonly resent: number }> {
  let resent = 0;
  for (let after: string | null | undefined; after !== null; ) {
    const step = await command(services, endpoint, 'resend_failed', { after });
    resent += step.resent;
    after = step.after;
    onBegun();
  }
  return { id: endpoint, resent };
}

function endpointOf(services: OperatorServices, id: string): Promise<WebhookEndpointRecord> {
  return recordOf(services, id, 'webhook_endpoint');
}

/** The named organization; without a name the only one that exists. */
function organizationFor({ directory }: OperatorServices, org: string | null) {
  if (org !== null) return directory.organization(org);
  const [only, ...others] = directory.organizations();
  if (only !== undefined && others.length === 0) return only;
  throw new OperatorFailure('refused', 'there are several organizations: name one');
}

/** Yields the organization, then each test event after `after`, or from now on. */
async function* follow(
  { org, after }: { readonly org: string | null; readonly after: string | null },
  services: OperatorServices,
  signal: AbortSignal,
): AsyncGenerator<FollowStart | ListedEvent> {
  const { id } = organizationFor(services, org);
  const since = async (cursor: string | null) => {
    const request = {
      kind: 'events_after',
      org: id,
      livemode: false,
      after: cursor,
      limit: followedPerStep,
    } as const;
    const { body, cursor: last } = await services.askShard(id, request);
    const events: ListedEvent[] = JSON.parse(body);
    return { events, last: defined(last, 'events come with a cursor') };
  };
  let cursor = after ?? (await since(null)).last;
  yield { organization: id, secret: await services.listenSecret(id), after: cursor };
  while (!signal.aborted) {
    const { events, last } = await since(cursor);
    yield* events;
    cursor = last;
    if (events.length < followedPerStep) await wait(followIntervalMs, undefined, { signal });
  }
}

/** Calls the API as a merchant of test mode would. */
function actorIn(services: OperatorServices, org: string): Actor {
  const callApi = async (call: Pick<ApiCall, 'operation' | 'id' | 'params' | 'query' | 'idempotencyKey'>) => {
    const common = { org, livemode: false, language: 'en', member: null, address: '' } as const;
    const answer = await services.callApi({ ...common, ...call });
    if (answer.ok) return answer.body;
    const isFault = answer.error.type === 'api_error';
    throw new OperatorFailure(isFault ? 'failed' : 'refused', answer.error.message);
  };
  return {
    call: async (operation, id, params) =>
      (await callApi({ operation, id, params, idempotencyKey: randomUUID() })) as ApiObject,
    list: async (operation, query) => (await callApi({ operation, query })) as { data: ApiObject[] },
    closeReview: (id) => command(services, id, 'close_review', { as: 'approved' }),
  };
}
