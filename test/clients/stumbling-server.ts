// A server before the service that stumbles as networks do: it says what a test tells it for the first requests, passes the others
// on, and writes all of them down.

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as textOf } from 'node:stream/consumers';

/**
 * Instead of an answer: a status with a refusal and headers, or with the JSON of something else, no answer at all, or one that is lost after the request has run, as a
 * whole or from the middle of its chunks on.
 */
type Stumble =
  | { readonly status: number; readonly code: string; readonly retryAfter?: number | string }
  | { readonly status: number; readonly body: string }
  | 'no answer'
  | 'answer lost'
  | 'answer cut';

interface Arrived {
  readonly what: string;
  readonly idempotencyKey: string | undefined;
}

export async function startStumbling(serviceUrl: string) {
  const stumbles: Stumble[] = [];
  const arrived: Arrived[] = [];
  const server = createServer(async (request, response) => {
    const { method, url, headers } = request;
    const body = await textOf(request);
    arrived.push({ what: `${method} ${url}`, idempotencyKey: headers['idempotency-key'] as string });
    const stumble = stumbles.shift();
    if (stumble === 'no answer') return void request.socket.destroy();
    if (typeof stumble === 'object' && 'body' in stumble) {
      response.writeHead(stumble.status, { 'Content-Type': 'application/json' });
      return void response.end(stumble.body);
    }
    if (typeof stumble === 'object') {
      const { status, code, retryAfter } = stumble;
      response.writeHead(status, {
        'Content-Type': 'application/json',
        ...(retryAfter !== undefined && { 'Retry-After': retryAfter }),
      });
      return void response.end(JSON.stringify({ error: { type: 'api_error', code, message: code } }));
    }
    const sent = Object.fromEntries(
      Object.entries(headers).filter(([name]) => /^(authorization|content-type|idempotency-key)$/.test(name)),
    ) as Record<string, string>;
    const answer = await fetch(serviceUrl + url, {
      method: method!,
      headers: sent,
      ...(body !== '' && { body }),
    });
    const text = await answer.text();
    if (stumble === 'answer lost') return void request.socket.destroy();
    response.writeHead(answer.status, { 'Content-Type': answer.headers.get('content-type')! });
    if (stumble === 'answer cut') {
      const half = text.slice(0, text.length / 2);
      return void response.write(half, () => request.socket.destroySoon());
    }
    response.end(text);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stumbles,
    arrived,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
