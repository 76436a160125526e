import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Answered } from '../../src/edge/api.ts';
import { createLogger } from '../../src/process/logger.ts';
import { createRequestLog } from '../../src/process/request-log.ts';

const answered: Answered = {
  answeredAtMs: Date.UTC(2026, 10, 1, 10),
  requestId: 'req_1',
  org: 'org_1',
  route: 'POST /v1/payment_intents',
  status: 200,
  code: null,
  durationMs: 3,
  replayed: false,
};

async function linesOf(level: string, requests: readonly Answered[]): Promise<string[]> {
  const lines: string[] = [];
  const logger = await createLogger({
    level,
    thread: 'edge-0',
    destination: { write: (line) => lines.push(line) },
  });
  const logRequest = createRequestLog(logger, 'edge-0');
  for (const request of requests) logRequest(request);
  return lines;
}

test('a request is logged as the logger would log it', async () => {
  const refused = {
    ...answered,
    org: null,
    route: null,
    status: 401,
    code: 'api_key_missing',
    replayed: true,
  };
  const lines = await linesOf('info', [answered, refused]);
  for (const [i, request] of [answered, refused].entries()) {
    const { answeredAtMs, ...fields } = request;
    const time = new Date(answeredAtMs).toISOString();
    assert.equal(lines[i]?.at(-1), '\n');
    assert.deepEqual(JSON.parse(lines[i]!), {
      level: 'info',
      time,
      thread: 'edge-0',
      ...fields,
      msg: 'request',
    });
  }
});

test('a logger that takes only warnings gets no requests', async () => {
  assert.deepEqual(await linesOf('warn', [answered]), []);
});
