// What connectors are given of the answers that networks send, over real sockets.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { loadConfig } from '../../src/config/config.ts';
import { createSend } from '../../src/threads/networks.ts';
import { webhookEnv } from '../webhooks/service-webhooks.ts';

const configDir = fileURLToPath(new URL('../../config', import.meta.url));
const send = createSend(loadConfig({ NODE_ENV: 'test', ...webhookEnv }, configDir));

/** What a connector is given when a network sends these bytes and closes the connection. */
async function given(bytes: string): Promise<unknown> {
  const network = createServer((socket) => socket.once('data', () => socket.end(bytes)));
  network.listen(0, '127.0.0.1');
  await once(network, 'listening');
  const { port } = network.address() as AddressInfo;
  const post = { headers: {}, body: '{}', isIdempotent: true, answerBytesMax: 1_000 };
  try {
    return await send({ url: `http://127.0.0.1:${port}/`, ...post }).catch((error: Error) => error.message);
  } finally {
    network.close();
  }
}

const ok = 'HTTP/1.1 200 OK\r\n';
const body = '{"id":"op_1","status":"done"}';
const chunk = `${body.length.toString(16)}\r\n${body}\r\n`;

test('an answer that is whole is given, whatever its status', async () => {
  const rows: readonly [bytes: string, status: number, body: string][] = [
    [`${ok}Content-Length: ${body.length}\r\n\r\n${body}`, 200, body],
    [`${ok}Transfer-Encoding: chunked\r\n\r\n${chunk}0\r\n\r\n`, 200, body],
    [`${ok}\r\n${body}`, 200, body],
    ['HTTP/1.1 502 Bad Gateway\r\nContent-Length: 4\r\n\r\noops', 502, 'oops'],
    ['HTTP/1.1 302 Found\r\nLocation: https://elsewhere.example/\r\nContent-Length: 0\r\n\r\n', 302, ''],
  ];
  for (const [bytes, status, text] of rows)
    assert.deepEqual(await given(bytes), { status, body: text }, bytes);
});

test('an answer that ends before its end is none, also when what came of it makes sense', async () => {
  const rows: readonly [bytes: string, error: string][] = [
    [`${ok}Content-Length: ${body.length + 1}\r\n\r\n${body}`, 'connection closed within the answer'],
    [`${ok}Transfer-Encoding: chunked\r\n\r\n${chunk}`, 'connection closed within the answer'],
    [`${ok}Transfer-Encoding: chunked\r\n\r\n${chunk}nonsense\r\n`, 'answer is not HTTP (chunk)'],
    ['HTTP/1.1 20', 'connection closed without an answer'],
    ['', 'connection closed without an answer'],
  ];
  for (const [bytes, error] of rows) assert.equal(await given(bytes), error, bytes);
});
