// The API client of `payments listen` and `payments trigger`, which use a test key from any
// machine. A refusal becomes an `OperatorFailure`: `failed` when the same request may succeed
// later.

import { randomUUID } from 'node:crypto';
import { type Command, InvalidArgumentError } from 'commander';
import { type Operation, routeTable } from '../../contract/routes/table.ts';
import { defined } from '../../core/assert.ts';
import { codeOrText } from '../../core/errors.ts';
import { withoutSlashAtEnd } from '../../core/slash-at-end.ts';
import type { ListedEvent } from '../../shard/protocol.ts';
import { OperatorFailure, wrongUsage } from '../use-cases/failures.ts';
import type { Actor } from '../use-cases/trigger.ts';
import type { FollowStart } from '../use-cases/webhook-commands.ts';
import { contentOf } from './context.ts';

const defaultUrl = 'http://127.0.0.1:8080';

export interface Api {
  readonly url: string;
  readonly apiKey: string;
}

/** Options of a command that works with an API key instead of the operators' socket. */
export interface ApiOptions {
  readonly apiKey?: string;
  readonly apiKeyFile?: string;
  readonly url?: string;
}

export function addApiOptions(command: Command): Command {
  return command
    .option('--api-key <key>', 'a test secret key, to work over HTTP; other users of the machine can see it')
    .option('--api-key-file <file>', 'a file with such a key; or set PAYMENTS_API_KEY')
    .option('--url <url>', `the address of the service that the key is for (${defaultUrl})`, httpUrl);
}

/** The API that the options name, or PAYMENTS_API_KEY; null for the operators' socket. */
export function apiOf(options: ApiOptions, org: string | null): Api | null {
  const { url } = options;
  const apiKey = givenKey(options) ?? (org === null ? process.env.PAYMENTS_API_KEY : undefined);
  if (apiKey === undefined || apiKey === '') {
    if (url !== undefined)
      throw wrongUsage('give a key with --url: --api-key-file, PAYMENTS_API_KEY, or --api-key');
    return null;
  }
  // The error for a header that can't be sent would quote the key.
  if (!/^[!-~]+$/.test(apiKey))
    throw wrongUsage('this is no API key: a key has letters, digits and underscores only');
  if (org !== null) throw wrongUsage('the key names its organization: leave the organization out');
  return { apiKey, url: withoutSlashAtEnd(url ?? defaultUrl) };
}

function givenKey({ apiKey, apiKeyFile }: ApiOptions): string | undefined {
  if (apiKey !== undefined && apiKeyFile !== undefined)
    throw wrongUsage('give one of --api-key and --api-key-file');
  // As from a variable that is not set: without a key another way would be taken silently.
  if (apiKey === '') throw wrongUsage('--api-key is empty: give a key, or leave the option out');
  if (apiKeyFile === undefined) return apiKey;
  const text = contentOf(apiKeyFile, wrongUsage);
  if (/^\S+$/.test(text)) return text;
  throw wrongUsage(`${apiKeyFile} must contain one key and nothing else`);
}

export function httpUrl(text: string): string {
  const url = URL.parse(text);
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url.href;
  throw new InvalidArgumentError(`It must be an address such as ${defaultUrl}.`);
}

const requestMsMax = 40_000;

/** Calls the API as the merchant whose key it is. Only an operator can close a review. */
export function actorOver(api: Api): Actor {
  const callApi = async (operation: Operation, id: string, query: string, init: RequestInit = {}) => {
    const route = routeTable.find((each) => each.operation === operation);
    const { method, path } = defined(route, `${operation} has a route`);
    const signal = AbortSignal.timeout(requestMsMax);
    const response = await send(api, path.replace('{id}', id) + query, { ...init, method, signal });
    return JSON.parse(await response.text());
  };
  return {
    async call(operation, id, params) {
      const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': randomUUID() };
      const body = JSON.stringify(params);
      return callApi(operation, id, '', { headers, body });
    },
    list: (operation, query) => callApi(operation, '', `?${new URLSearchParams(query)}`),
    async closeReview() {
      throw new OperatorFailure(
        'refused',
        'only an operator can make review.closed happen: trigger it on the machine of the service, without --api-key',
      );
    },
  };
}

async function send(api: Api, path: string, init: RequestInit): Promise<Response> {
  const headers = { ...init.headers, Authorization: `Bearer ${api.apiKey}` };
  const response = await fetch(api.url + path, { ...init, headers, redirect: 'error' }).catch(
    (error: Error) => {
      const code = codeOrText(error.cause ?? error);
      throw new OperatorFailure('failed', `no service answers at ${api.url} (${code}): name it with --url`);
    },
  );
  if (response.ok) return response;
  const said = errorIn(await response.json().catch(() => null));
  const mayHelp = response.status === 429 || response.status >= 500;
  throw new OperatorFailure(
    mayHelp ? 'failed' : 'refused',
    said ?? `${api.url} answered ${response.status}: is it this service?`,
  );
}

function errorIn(answer: unknown): string | null {
  const { error }: { readonly error?: { readonly code: string; readonly message: string } } = answer ?? {};
  return error === undefined ? null : `${error.message} (${error.code})`;
}

/** The service writes at least a heart-beat every few seconds. */
const silenceMsMax = 20_000;
const eventCharactersMax = 4 * 1024 * 1024;

/** Follows the stream of events after `after`, or from now on, until it ends. */
export function followEvents(
  api: Api,
  after: string | null,
  onItem: (item: FollowStart | ListedEvent) => Promise<void>,
): Promise<void> {
  return followStream(api, '/v1/test_helpers/events/stream', after, async ({ id, event, data }) => {
    if (id === null) return;
    if (event === 'start') await onItem({ ...JSON.parse(data), after: id });
    else await onItem({ id, type: JSON.parse(data).type, body: data });
  });
}

/** A server-sent event. */
interface StreamEvent {
  readonly id: string | null;
  readonly event: string | null;
  readonly data: string;
}

/** Follows a stream after the position `after`, until it ends or `onEvent` answers `false`. */
export async function followStream(
  api: Api,
  path: string,
  after: string | null,
  onEvent: (event: StreamEvent) => Promise<unknown>,
): Promise<void> {
  const silence = new AbortController();
  const headers = { Accept: 'text/event-stream', ...(after !== null && { 'Last-Event-ID': after }) };
  const watch = setTimeout(() => silence.abort(), silenceMsMax);
  try {
    const response = await send(api, path, { headers, signal: silence.signal });
    let received = '';
    const body = defined(response.body, 'a stream has a body');
    for await (const text of body.pipeThrough(new TextDecoderStream())) {
      watch.refresh();
      const texts = (received + text).split('\n\n');
      received = texts.pop() ?? '';
      if (received.length > eventCharactersMax) break;
      for (const each of texts) {
        const event = eventOf(each);
        if (event !== null && (await onEvent(event)) === false) return;
      }
    }
  } catch (error) {
    if (error instanceof OperatorFailure) throw error;
    throw new OperatorFailure('failed', 'the stream was interrupted');
  } finally {
    clearTimeout(watch);
    silence.abort();
  }
}

/** Null for a heart-beat. */
function eventOf(text: string): StreamEvent | null {
  const fields = new Map(
    text.split('\n').map((line): [string, string] => {
      const colon = line.indexOf(': ');
      return [line.slice(0, colon), line.slice(colon + 2)];
    }),
  );
  const data = fields.get('data');
  return data === undefined
    ? null
    : { id: fields.get('id') ?? null, event: fields.get('event') ?? null, data };
}
