// The log line of an answered request. Nearly all lines are of this kind, so it is built here
// directly, in the form that the logger gives its lines, of as few pieces as possible. Ids that the
// service made, names from its tables and numbers need not be escaped or scrubbed. What a client
// sent is checked by `edge/api/loggable.ts`.

import pino from 'pino';
import { routeTable } from '../contract/routes/table.ts';
import type { Answered } from '../edge/api/api.ts';
import { loggableIdempotencyKey, loggablePath } from '../edge/api/loggable.ts';
import type { Logger } from './logger.ts';

/** The keys whose part of a line is remembered. */
const keysMax = 10_000;
const firstEnd = ',"replayed":false,"msg":"request"}\n';
const replayedEnd = ',"replayed":true,"msg":"request"}\n';

/** Returns the function that logs a request, in order with the other lines of the thread. */
export function createRequestLine(logger: Logger, thread: string): (answered: Answered) => void {
  const stream = (logger as unknown as { [pino.symbols.streamSym]: pino.DestinationStream })[
    pino.symbols.streamSym
  ];
  let lastMs = 0;
  let start = '';
  const senders = new Map<string, Sender>();
  const senderOf = (answered: Answered): Sender => {
    const { key, address } = answered;
    const known = key === null ? undefined : senders.get(key);
    if (known?.address === address) return known;
    const sender = { address, text: senderText(answered) };
    if (senders.size >= keysMax) senders.clear();
    if (key !== null) senders.set(key, sender);
    return sender;
  };
  return (answered) => {
    if (!logger.isLevelEnabled('info')) return;
    const { answeredAtMs, requestId, durationMs, replayed } = answered;
    if (answeredAtMs !== lastMs) {
      lastMs = answeredAtMs;
      start = `{"level":"info","time":"${new Date(answeredAtMs).toISOString()}","thread":"${thread}","requestId":"`;
    }
    const what = routeText(answered) + idempotencyKeyText(answered) + statusText(answered) + durationMs;
    stream.write(start + requestId + senderOf(answered).text + what + (replayed ? replayedEnd : firstEnd));
  };
}

/** Who sent a request, and from where: mostly the same text for requests with one key. */
interface Sender {
  readonly address: string;
  readonly text: string;
}

function senderText({ address, org, key }: Answered): string {
  return `","address":"${address}","org":${quoted(org)},"key":${quoted(key)},"route":`;
}

const routeTexts = new Map(
  routeTable.map(({ method, path }) => [`${method} ${path}`, `"${method} ${path}","path":"${path}"`]),
);

/** The path of a route without an id is in the table of routes, so it need not be checked. */
function routeText({ route, path }: Answered): string {
  if (route?.endsWith(path)) return routeTexts.get(route)!;
  return `${quoted(route)},"path":${quoted(loggablePath(path))}`;
}

function idempotencyKeyText({ idempotencyKey }: Answered): string {
  const key = loggableIdempotencyKey(idempotencyKey);
  return key === null ? ',"idempotencyKey":null' : `,"idempotencyKey":${JSON.stringify(key)}`;
}

const success = ',"status":200,"code":null,"durationMs":';

function statusText({ status, code }: Answered): string {
  if (status === 200 && code === null) return success;
  return `,"status":${status},"code":${quoted(code)},"durationMs":`;
}

function quoted(text: string | null): string {
  return text === null ? 'null' : `"${text}"`;
}
