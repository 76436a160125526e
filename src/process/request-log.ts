// The log line of an answered request. Nearly all lines are of this kind, so it is built here directly, in the form that the
// logger gives its lines. Ids that the service made, names from its tables and numbers need not be escaped or scrubbed. What
// a client sent is checked by `edge/loggable.ts`.

import pino from 'pino';
import type { Answered } from '../edge/api.ts';
import { loggableIdempotencyKey, loggablePath } from '../edge/loggable.ts';
import type { Logger } from './logger.ts';

/** Returns the function that logs a request, in order with the other lines of `logger`, which is the logger of `thread`. */
export function createRequestLog(logger: Logger, thread: string): (answered: Answered) => void {
  const stream = (logger as unknown as { [pino.symbols.streamSym]: pino.DestinationStream })[
    pino.symbols.streamSym
  ];
  let lastMs = 0;
  let start = '';
  return (answered) => {
    if (!logger.isLevelEnabled('info')) return;
    const { answeredAtMs, requestId, address, org, key, route, status, code, durationMs, replayed } =
      answered;
    if (answeredAtMs !== lastMs) {
      lastMs = answeredAtMs;
      start = `{"level":"info","time":"${new Date(answeredAtMs).toISOString()}","thread":"${thread}","requestId":"`;
    }
    stream.write(
      `${start}${requestId}","address":"${address}","org":${quoted(org)},"key":${quoted(key)},"route":${quoted(route)},` +
        `"path":${quoted(pathOf(answered))},"idempotencyKey":${idempotencyKeyOf(answered)},"status":${status},` +
        `"code":${quoted(code)},"durationMs":${durationMs},"replayed":${replayed},"msg":"request"}\n`,
    );
  };
}

/** The path of a route without an id is in the table of routes, so it need not be checked. */
function pathOf({ route, path }: Answered): string | null {
  return route?.endsWith(path) ? path : loggablePath(path);
}

function idempotencyKeyOf({ idempotencyKey }: Answered): string {
  const key = loggableIdempotencyKey(idempotencyKey);
  return key === null ? 'null' : JSON.stringify(key);
}

function quoted(text: string | null): string {
  return text === null ? 'null' : `"${text}"`;
}
