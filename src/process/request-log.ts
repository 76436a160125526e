// The log's line for an answered request. By far the most lines are of this kind, and an edge writes one for each
// answer: so it is put together here, in the form that the logger gives its lines. Most of it was not sent by a client
// and need not be escaped or scrubbed: ids that the service made, names from its own tables, numbers. What was sent
// passes `edge/loggable.ts`.

import pino from 'pino';
import type { Answered } from '../edge/api.ts';
import { loggableIdempotencyKey, loggablePath } from '../edge/loggable.ts';
import type { Logger } from './logger.ts';

/** Gives the function that logs a request, in step with the lines of `logger`, the logger of `thread`. */
export function createRequestLog(logger: Logger, thread: string): (answered: Answered) => void {
  const stream = (logger as unknown as { [pino.symbols.streamSym]: pino.DestinationStream })[
    pino.symbols.streamSym
  ];
  let lastMs = 0;
  let time = '';
  return (answered) => {
    if (!logger.isLevelEnabled('info')) return;
    const { answeredAtMs, requestId, address, org, key, route, status, code, durationMs, replayed } =
      answered;
    if (answeredAtMs !== lastMs) {
      lastMs = answeredAtMs;
      time = new Date(answeredAtMs).toISOString();
    }
    stream.write(
      `{"level":"info","time":"${time}","thread":"${thread}","requestId":"${requestId}","address":"${address}",` +
        `"org":${quoted(org)},"key":${quoted(key)},"route":${quoted(route)},` +
        `"path":${quoted(loggablePath(answered.path))},` +
        `"idempotencyKey":${JSON.stringify(loggableIdempotencyKey(answered.idempotencyKey))},"status":${status},"code":${quoted(code)},"durationMs":${durationMs},` +
        `"replayed":${replayed},"msg":"request"}\n`,
    );
  };
}

function quoted(text: string | null): string {
  return text === null ? 'null' : `"${text}"`;
}
