// The API client of `payments listen` and `payments trigger`, which use a test key from any machine: requests, and the
// stream of events. A refusal becomes an `OperatorFailure`: `failed` when the same request may succeed later, else
// `refused`.

import { readFileSync } from 'node:fs';
import { type Command, InvalidArgumentError } from 'commander';
import { OperatorFailure } from '../socket/protocol.ts';
import type { FollowedEvent, FollowStart } from '../use-cases/webhook-commands.ts';

export const defaultUrl = 'http://127.0.0.1:8080';

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
    .option(
      '--api-key <key>',
      "a test secret key, to work over HTTP instead of the operators' socket; other users of the machine can see it",
    )
    .option('--api-key-file <file>', 'a file with such a key; PAYMENTS_API_KEY may hold one, too')
    .option('--url <url>', `address of the service, with a key (${defaultUrl})`, httpUrl);
}

/**
 * The API that the options name, or PAYMENTS_API_KEY where no organization is named; null for the operators' socket. `org` is
 * the organization that the user named.
 */
export function apiOf(options: ApiOptions, org: string | null, command: Command): Api | null {
  const { url } = options;
  const given = givenKey(options, command);
  const apiKey = given ?? (org === null ? process.env.PAYMENTS_API_KEY : undefined);
  if (apiKey === undefined || apiKey === '') {
    if (url !== undefined)
      command.error('give a key with --url: --api-key-file, PAYMENTS_API_KEY, or --api-key');
    return null;
  }
  // A header that can't be sent would be told with what is in it.
  if (!/^[!-~]+$/.test(apiKey)) command.error('the API key is none: it has letters, digits and underscores');
  if (org !== null) command.error('the key names its organization: leave the organization out');
  return { apiKey, url: (url ?? defaultUrl).replace(/\/+$/, '') };
}

function givenKey({ apiKey, apiKeyFile }: ApiOptions, command: Command): string | undefined {
  if (apiKey !== undefined && apiKeyFile !== undefined)
    command.error('give one of --api-key and --api-key-file');
  if (apiKeyFile === undefined) return apiKey;
  try {
    const text = readFileSync(apiKeyFile, 'utf8').trim();
    if (/^\S+$/.test(text)) return text;
  } catch (error) {
    return command.error(`${apiKeyFile} can't be read (${(error as NodeJS.ErrnoException).code})`);
  }
  return command.error(`${apiKeyFile} must hold one key and nothing else`);
}

/** Parses an http or https address, for commander. */
export function httpUrl(text: string): string {
  const url = URL.parse(text);
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url.href;
  throw new InvalidArgumentError(`It must be an address such as ${defaultUrl}.`);
}

const requestMsMax = 40_000;

/** Sends a request and returns the answer's JSON. */
export async function callApi<T>(
  api: Api,
  method: string,
  path: string,
  more: { readonly body?: object; readonly idempotencyKey?: string } = {},
): Promise<T> {
  const { body, idempotencyKey } = more;
  const headers = {
    ...(body !== undefined && { 'Content-Type': 'application/json' }),
    ...(idempotencyKey !== undefined && { 'Idempotency-Key': idempotencyKey }),
  };
  const signal = AbortSignal.timeout(requestMsMax);
  const text = body === undefined ? null : JSON.stringify(body);
  const response = await send(api, path, { method, headers, body: text, signal });
  return (await response.json()) as T;
}

async function send(api: Api, path: string, init: RequestInit & { headers: object }): Promise<Response> {
  const headers = { ...init.headers, Authorization: `Bearer ${api.apiKey}` };
  const response = await fetch(api.url + path, { ...init, headers, redirect: 'error' }).catch(
    (error: Error) => {
      const { code = error.message } = (error.cause ?? {}) as { code?: string };
      throw new OperatorFailure('failed', `no service answers at ${api.url} (${code}): name it with --url`);
    },
  );
  if (response.ok) return response;
  const answer = (await response.json().catch(() => null)) as {
    error?: { code: string; message: string };
  } | null;
  const mayHelp = response.status === 429 || response.status >= 500;
  const said = answer?.error;
  throw new OperatorFailure(
    mayHelp ? 'failed' : 'refused',
    said === undefined
      ? `${api.url} answered ${response.status}: is it this service?`
      : `${said.message} (${said.code})`,
  );
}

/** The service writes at least a heart-beat every few seconds. */
const silenceMsMax = 20_000;
const frameCharactersMax = 4 * 1024 * 1024;

/** Follows the stream of events after `after`, or from now on. Resolves when the stream has ended. */
export async function followEvents(
  api: Api,
  after: string | null,
  onItem: (item: FollowStart | FollowedEvent) => Promise<void>,
): Promise<void> {
  const silence = new AbortController();
  const headers = { Accept: 'text/event-stream', ...(after !== null && { 'Last-Event-ID': after }) };
  const watch = setTimeout(() => silence.abort(), silenceMsMax);
  try {
    const response = await send(api, '/v1/test_helpers/events/stream', { headers, signal: silence.signal });
    let received = '';
    for await (const text of response.body!.pipeThrough(new TextDecoderStream())) {
      watch.refresh();
      const frames = (received + text).split('\n\n');
      received = frames.pop()!;
      if (received.length > frameCharactersMax) break;
      for (const frame of frames) {
        const item = itemOf(frame);
        if (item !== null) await onItem(item);
      }
    }
  } catch (error) {
    if (error instanceof OperatorFailure) throw error;
    throw new OperatorFailure('failed', 'the stream of events was interrupted');
  } finally {
    clearTimeout(watch);
    silence.abort();
  }
}

/** The event in a frame of the stream; null for a heart-beat. */
function itemOf(frame: string): FollowStart | FollowedEvent | null {
  const fields = new Map(
    frame.split('\n').map((line): [string, string] => {
      const colon = line.indexOf(': ');
      return [line.slice(0, colon), line.slice(colon + 2)];
    }),
  );
  const [id, data] = [fields.get('id'), fields.get('data')];
  if (id === undefined || data === undefined) return null;
  if (fields.get('event') === 'start') return { ...JSON.parse(data), after: id };
  return { id, type: (JSON.parse(data) as { type: string }).type, body: data };
}
