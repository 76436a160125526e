// The operators' commands about webhooks: they list endpoints, deliveries and attempts, show and roll secrets, follow the
// events of a test organization as they happen, and trigger an event of a type.

import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { Type } from 'typebox';
import { overlapSecondsMax } from '../../contract/limits.ts';
import type { CommandOperation } from '../../contract/routes/table.ts';
import { type EventType, modes } from '../../contract/vocabulary.ts';
import { firstSuccess } from '../../domain/attempts.ts';
import { attemptIndex, fieldIndex, kindIndex, scopeOf } from '../../domain/indexes.ts';
import type {
  AttemptRecord,
  AttemptResult,
  DeliveryRecord,
  ReviewRecord,
  WebhookEndpointRecord,
} from '../../domain/record.ts';
import { listedMax, OperatorFailure } from '../socket/protocol.ts';
import { defineCommand, type OperatorCommand } from './command.ts';
import {
  type PresentedDelivery,
  type PresentedSecret,
  presentAttempt,
  presentDelivery,
  presentEndpoint,
  presentSecrets,
} from './present-webhooks.ts';
import type { OperatorServices } from './services.ts';
import { command, recordOf, records, recordsIn } from './shard-records.ts';
import { trigger, typeThatHappens } from './trigger.ts';

const followedPerStep = 100;
const followIntervalMs = 100;

const text = Type.String();
const optionalText = Type.Union([Type.String({ maxLength: 64 }), Type.Null()]);

/** An event as `events.follow` yields it; `body` is its JSON text, which is what gets signed. */
export interface FollowedEvent {
  readonly id: string;
  readonly type: string;
  readonly body: string;
}

/** The first item of `events.follow`: the organization, its signing secret, and the event after which it starts. */
export interface FollowStart {
  readonly organization: string;
  readonly secret: string;
  readonly after: string;
}

export const webhookCommands: readonly OperatorCommand[] = [
  defineCommand('webhooks.list', { org: text }, async ({ org }, services) => {
    const { id } = services.directory.organization(org);
    const listed = await recordsIn<WebhookEndpointRecord>(services, id, modes, (scope) =>
      kindIndex('webhook_endpoint', scope),
    );
    return listed.map(presentEndpoint);
  }),
  defineCommand(
    'webhooks.deliveries',
    { endpoint: text, failedOnly: Type.Boolean() },
    async ({ endpoint: id, failedOnly }, services) => {
      const { org, livemode } = await endpointOf(services, id);
      const field = failedOnly ? 'failed' : 'endpoint';
      const index = fieldIndex('delivery', scopeOf(org, livemode), field, id);
      const deliveries = await records<DeliveryRecord>(services, id, index);
      return deliveries.map((delivery) => presentDelivery(delivery, services.now()));
    },
  ),
  defineCommand('webhooks.attempts', { delivery: text }, async ({ delivery: id }, services) => {
    const delivery = await recordOf<DeliveryRecord>(services, id, 'delivery');
    return (await attemptsOf(services, delivery)).reverse().map(presentAttempt);
  }),
  defineCommand('webhooks.resend', { delivery: text }, ({ delivery }, services) =>
    resend(services, delivery),
  ),
  defineCommand('webhooks.resend-failed', { endpoint: text }, ({ endpoint }, services) =>
    resendFailed(services, endpoint),
  ),
  defineCommand(
    'webhooks.roll-secret',
    { endpoint: text, overlapSeconds: Type.Integer({ minimum: 0, maximum: overlapSecondsMax }) },
    ({ endpoint, overlapSeconds }, services) => rollSecret(services, endpoint, overlapSeconds),
  ),
  defineCommand('webhooks.show-secret', { endpoint: text }, ({ endpoint }, services) =>
    secretsOf(services, endpoint),
  ),
  defineCommand('webhooks.sample', { endpoint: text, type: text }, ({ endpoint, type }, services) =>
    sendSample(services, endpoint, type),
  ),
  defineCommand('events.follow', { org: optionalText, after: optionalText }, (params, services, signal) =>
    follow(params, services, signal),
  ),
  defineCommand('trigger', { org: optionalText, type: text }, async ({ org, type }, services) =>
    triggered(services, organizationFor(services, org).id, typeThatHappens(type)),
  ),
];

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
  return presentDelivery(await recordOf<DeliveryRecord>(services, delivery, 'delivery'), services.now());
}

/** The signing secrets of an endpoint that are in force. */
export async function secretsOf(
  services: OperatorServices,
  id: string,
): Promise<{ readonly id: string; readonly secrets: readonly PresentedSecret[] }> {
  return {
    id,
    secrets: presentSecrets(await endpointOf(services, id), services.now(), services.secrets),
  };
}

/** Signs with a new secret; the others sign for at most `overlapSeconds` more. */
export async function rollSecret(services: OperatorServices, id: string, overlapSeconds: number) {
  await command(services, id, 'roll_secret', { overlapSeconds });
  return secretsOf(services, id);
}

/** Sends a made-up event to an endpoint of test mode. */
export async function sendSample(services: OperatorServices, id: string, type: string): Promise<unknown> {
  return command(services, id, 'send_sample', { type: typeThatHappens(type) });
}

/**
 * Resends all failed deliveries of an endpoint, step by step; settles with how many there were. `onBegun` is called when the
 * first ones are resent, after which it is not refused any more.
 */
export async function resendFailed(
  services: OperatorServices,
  endpoint: string,
  onBegun = () => {},
): Promise<{ readonly id: string; readonly resent: number }> {
  let resent = 0;
  for (let after: string | null | undefined; after !== null; ) {
    const step = (await command(services, endpoint, 'resend_failed', { after })) as ResentStep;
    resent += step.resent;
    after = step.after;
    onBegun();
  }
  return { id: endpoint, resent };
}

interface ResentStep {
  readonly resent: number;
  readonly after: string | null;
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

/** Yields first the organization, then each event of test mode after `after`, or each that happens from now on. */
async function* follow(
  { org, after }: { readonly org: string | null; readonly after: string | null },
  services: OperatorServices,
  signal: AbortSignal,
): AsyncGenerator<FollowStart | FollowedEvent> {
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
    return { events: JSON.parse(body) as FollowedEvent[], last: last! };
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

/** Drives the API until an event of this type has happened; answers the event. */
function triggered(services: OperatorServices, org: string, type: EventType): Promise<unknown> {
  const called = async (operation: CommandOperation, id: string, params: object) => {
    const idempotencyKey = randomUUID();
    const call = { org, livemode: false, operation, id, params, idempotencyKey } as const;
    const answer = await services.callApi({ ...call, language: 'en', member: null, address: '' });
    if (answer.ok) return answer.body;
    const isFault = answer.error.type === 'api_error';
    throw new OperatorFailure(isFault ? 'failed' : 'refused', answer.error.message);
  };
  const eventsAfter = async (after: string | null) => {
    const request = { kind: 'events_after', org, livemode: false, after, limit: followedPerStep } as const;
    const { body, cursor } = await services.askShard(org, request);
    const events = (JSON.parse(body) as FollowedEvent[]).map((event) => JSON.parse(event.body));
    return { events, cursor: cursor! };
  };
  return trigger(
    {
      call: (operation, id, params) => called(operation, id, params) as never,
      command: (operation, id, params) => command(services, id, operation, params),
      reviewOf: async (intent) => {
        const reviews = await records<ReviewRecord>(services, org, kindIndex('review', scopeOf(org, false)));
        const review = reviews.find(({ payment_intent }) => payment_intent === intent);
        if (review === undefined) throw new OperatorFailure('failed', 'no review was opened');
        return review.id;
      },
      newestEvent: async () => (await eventsAfter(null)).cursor,
      eventsAfter,
    },
    type,
  );
}
