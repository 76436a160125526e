import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Answered } from '../../src/edge/api/api.ts';
import { createLogger } from '../../src/telemetry/logger.ts';
import { createRequestLine } from '../../src/telemetry/request-line.ts';

const answered = {
  answeredAtMs: Date.UTC(2026, 10, 1, 10),
  requestId: 'req_1',
  address: '203.0.113.7',
  org: 'org_1',
  key: 'key_1',
  route: 'POST /v1/payment_intents',
  path: '/v1/payment_intents',
  idempotencyKey: 'order "1"\\',
  status: 200,
  code: null,
  durationMs: 3,
  replayed: false,
};

async function linesOf(level: string, requests: readonly (typeof answered | object)[]): Promise<string[]> {
  const lines: string[] = [];
  const logger = await createLogger({
    level,
    thread: 'edge-0',
    destination: { write: (line) => lines.push(line) },
  });
  const logRequest = createRequestLine(logger, 'edge-0');
  for (const request of requests) logRequest(request as Answered);
  return lines;
}

test('a request is logged as the logger would log it', async () => {
  const refused = {
    ...answered,
    org: null,
    key: null,
    idempotencyKey: undefined,
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
      idempotencyKey: fields.idempotencyKey ?? null,
      msg: 'request',
    });
  }
});

const card = '4242424242424242';
const spaced = card.replace(/\d{4}(?=\d)/g, '$& ');
const keys: readonly (readonly [sent: string, logged: string | null])[] = [
  ['order-1001', 'order-1001'],
  ['0199b7f2-7a3c-7cc1-b6d8-3f0a52a1e9d4', '0199b7f2-7a3c-7cc1-b6d8-3f0a52a1e9d4'],
  [card, null],
  [spaced, null],
  [spaced.replaceAll(' ', '.'), null],
  [spaced.replaceAll(' ', '/'), null],
  [`order:${card}`, null],
  // What the API takes, because no rule of card numbers fits it, can be looked up.
  [`order${card}`, `order${card}`],
  [`${card}1001`, `${card}1001`],
  ['svc_sk_test_abc', null],
  [Buffer.from('svc_sk_test_abc:').toString('base64'), null],
  ['é', null],
  ['x'.repeat(256), null],
];
for (const [sent, logged] of keys) {
  test(`of the idempotency key ${JSON.stringify(sent.slice(0, 40))} the log has ${logged}`, async () => {
    const [line] = await linesOf('info', [{ ...answered, idempotencyKey: sent }]);
    assert.equal(JSON.parse(line!).idempotencyKey, logged);
  });
}

const paths: readonly (readonly [sent: string, logged: string | null])[] = [
  ['/v1/payment_intents/pi_01ABC', '/v1/payment_intents/pi_01ABC'],
  [`/v1/charges/${card}`, null],
  ['/v1/svc_sk_test_abc', null],
  ['/v1/%34%32', null],
  ['/v1/"', null],
  [`/${'x'.repeat(300)}`, null],
];
for (const [sent, logged] of paths) {
  test(`of the path ${sent.slice(0, 40)} the log has ${logged}`, async () => {
    const [line] = await linesOf('info', [{ ...answered, path: sent }]);
    assert.equal(JSON.parse(line!).path, logged);
  });
}

test('a logger that takes only warnings gets no requests', async () => {
  assert.deepEqual(await linesOf('warn', [answered]), []);
});
