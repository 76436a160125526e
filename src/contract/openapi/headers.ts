// The headers in the API description: those of requests, and those of answers by route and status.

import { errors } from '../errors/table.ts';
import { idempotencyKeyCharactersMax } from '../limits.ts';
import type { Route } from '../routes/route.ts';
import { apiVersions, keyChallenges, languages, newestApiVersion } from '../vocabulary.ts';
import { exampleIds, exampleKey, exampleRequestPlace } from './examples.ts';
import type { Json } from './schemas.ts';

const idempotencyKey = {
  name: 'Idempotency-Key',
  in: 'header',
  schema: {
    type: 'string',
    minLength: 1,
    maxLength: idempotencyKeyCharactersMax,
    pattern: '^[\\x20-\\x7E]+$',
  },
  example: exampleKey,
} as const;

const lastEventId = { name: 'Last-Event-ID', in: 'header' } as const;

/** The headers of requests, by the name of their component. */
export const requestHeaders = {
  IdempotencyKeyRequired: {
    ...idempotencyKey,
    required: true,
    description:
      'A key of your own making, new for each payment or refund and the same for each retry. For 24 hours, the same key with the same request gets the same answer, and nothing runs again.',
  },
  IdempotencyKey: {
    ...idempotencyKey,
    description:
      'A key of your own making, so that the request can be retried. For 24 hours, the same key with the same request gets the same answer, and nothing runs again.',
  },
  ServiceVersion: {
    name: 'X-Service-Version',
    in: 'header',
    description: 'The version of the API to answer with. Without it, the version of your account.',
    schema: { type: 'string', enum: [...apiVersions] },
    example: newestApiVersion,
  },
  LastEventId: {
    ...lastEventId,
    description:
      'The id of the last event that was received: the stream goes on after it. Without it, from now on.',
    schema: { type: 'string', pattern: '^evt_[0-9A-Za-z]*$' },
    example: exampleIds.event,
  },
  LastRequestPlace: {
    ...lastEventId,
    description:
      'The last id that was received: the stream goes on after it. Without it, with the newest requests.',
    schema: { type: 'string', pattern: '^[0-9a-f=,-]+$' },
    example: exampleRequestPlace,
  },
  AcceptLanguage: {
    name: 'Accept-Language',
    in: 'header',
    description: `The language of messages: ${languages.join(', ')}. English when none of them is accepted.`,
    schema: { type: 'string', default: 'en' },
    example: 'fr',
  },
} as const satisfies Record<string, Json>;

const integer = { type: 'integer', minimum: 0 } as const;
const counted = 'Absent from a request that was refused before it was counted.';

/** The headers of answers, by name, which is also the name of their component. */
export const responseHeaders = {
  'Request-Id': {
    description: 'Identifier of the request: quote it when you ask for help.',
    required: true,
    schema: { type: 'string', pattern: '^req_[0-9A-Za-z]{24,}$' },
    example: exampleIds.request,
  },
  'Cache-Control': {
    description: 'Answers must not be stored on their way.',
    required: true,
    schema: { type: 'string', const: 'no-store' },
    example: 'no-store',
  },
  'RateLimit-Limit': {
    description: `The limit per minute of the bucket with the fewest requests left. ${counted}`,
    schema: integer,
    example: 600,
  },
  'RateLimit-Remaining': {
    description: `How many requests that bucket still lets through now, its burst included. ${counted}`,
    schema: integer,
    example: 699,
  },
  'RateLimit-Reset': {
    description: `Seconds until that bucket is full again. ${counted}`,
    schema: integer,
    example: 1,
  },
  'Idempotent-Replayed': {
    description: 'Present when this is the kept answer to the first request with the same key.',
    schema: { type: 'string', const: 'true' },
    example: 'true',
  },
  'Original-Request': {
    description: 'In a replay, the identifier of the first request.',
    schema: { type: 'string', pattern: '^req_[0-9A-Za-z]{24,}$' },
    example: exampleIds.request,
  },
  'Retry-After': {
    description: 'Seconds to wait before sending the same request again.',
    schema: { type: 'integer', minimum: 1 },
    example: 2,
  },
  'WWW-Authenticate': {
    description: 'The two ways to send a key.',
    required: true,
    schema: { type: 'string' },
    example: keyChallenges,
  },
  'Content-Disposition': {
    description: 'The name of the file that a browser saves.',
    required: true,
    schema: { type: 'string' },
    example: 'attachment; filename="payment_intents.csv"',
  },
  'X-Content-Type-Options': {
    description: 'A browser takes the answer for what its type says, and for nothing else.',
    required: true,
    schema: { type: 'string' },
    example: 'nosniff',
  },
} as const satisfies Record<string, Json>;

type ResponseHeader = keyof typeof responseHeaders;

/** Answers with these statuses can come from requests that were counted in the rate limits. */
const countedStatuses: readonly number[] = [200, 400, 402, 404, 409, 429, 500, 503];
/** Responses with these statuses can be stored for an idempotency key, and so be replayed. */
const storedStatuses = new Set([
  200,
  ...Object.values(errors)
    .filter((error) => error.stored)
    .map(({ status }) => status),
]);
const retryAfterStatuses: readonly number[] = [429, 503];

/** The headers that the answers of a route with this status can carry, as references. */
export function headerRefs(route: Route, status: number): Json {
  const names: ResponseHeader[] = ['Request-Id', 'Cache-Control'];
  if (countedStatuses.includes(status))
    names.push('RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset');
  if (route.idempotency !== 'ignored' && storedStatuses.has(status)) {
    names.push('Idempotent-Replayed', 'Original-Request');
  }
  // A webhook address that does not resolve now may do later: its refusal has a Retry-After.
  const looksUp = status === 400 && route.refusals.includes('url_not_allowed');
  if (looksUp || retryAfterStatuses.includes(status)) names.push('Retry-After');
  if (status === 401) names.push('WWW-Authenticate');
  if (status === 200 && route.kind === 'export') names.push('Content-Disposition', 'X-Content-Type-Options');
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

/** The headers that a request to the route may or must carry, as references. */
export function requestHeaderRefs(route: Route): Json[] {
  const names: (keyof typeof requestHeaders)[] = ['ServiceVersion', 'AcceptLanguage'];
  if (route.idempotency === 'required') names.unshift('IdempotencyKeyRequired');
  if (route.idempotency === 'optional') names.unshift('IdempotencyKey');
  if (route.kind === 'stream')
    names.unshift(route.operation === 'stream_events' ? 'LastEventId' : 'LastRequestPlace');
  return names.map((name) => ({ $ref: `#/components/parameters/${name}` }));
}
