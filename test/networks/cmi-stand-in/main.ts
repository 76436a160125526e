// A stand-in for CMI's gateway, in a process of its own: for the tests, and to try live card payments without CMI.
//   node test/networks/cmi-stand-in/main.ts --client-id ID --store-key-file F --api-user U --api-password-file F [--port P]
// Beside CMI's own addresses it has `/control/…`: what it knows of its orders, a statement of them, and what it is to do wrong.

import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parseArgs } from 'node:util';
import { type Answer, Gateway } from './gateway.ts';
import { statementOf } from './statement.ts';

const { values } = parseArgs({
  options: {
    'client-id': { type: 'string' },
    'store-key-file': { type: 'string' },
    'api-user': { type: 'string' },
    'api-password-file': { type: 'string' },
    port: { type: 'string', default: '0' },
  },
});

function option(name: Exclude<keyof typeof values, 'port'>): string {
  const value = values[name];
  if (value !== undefined) return value;
  process.stderr.write(`--${name} is needed\n`);
  process.exit(2);
}

const secretIn = (file: string) => readFileSync(file, 'utf8').trim();
const gateway = new Gateway({
  clientId: option('client-id'),
  storeKey: secretIn(option('store-key-file')),
  apiUser: option('api-user'),
  apiPassword: secretIn(option('api-password-file')),
});

const types = { html: 'text/html; charset=utf-8', xml: 'text/xml; charset=ISO-8859-9' };

function give(response: ServerResponse, { status, type, body, afterwards }: Answer): void {
  if (status === null) {
    response.destroy();
    return;
  }
  if (afterwards !== undefined) response.once('finish', afterwards);
  response.writeHead(status, { 'Content-Type': types[type] }).end(body);
}

async function control(path: string, body: string): Promise<string> {
  const given = body === '' ? {} : JSON.parse(body);
  switch (path) {
    case '/control/orders':
      return JSON.stringify(gateway.orders(), null, 2);
    case '/control/statement':
      return statementOf(gateway.ledger);
    case '/control/misbehave':
      gateway.misbehave(given);
      return '';
    case '/control/callback':
      await gateway.callBack(given.oid, given.change ?? null);
      return '';
    case '/control/ledger':
      Object.assign(gateway.ledger, given);
      return '';
    case '/control/release':
      gateway.release();
      return '';
    default:
      throw new Error(`there is no ${path}`);
  }
}

async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
  let body = '';
  for await (const chunk of request.setEncoding('utf8')) body += chunk;
  const path = request.url!;
  if (path.startsWith('/control/')) {
    response.end(await control(path, body));
  } else if (request.method !== 'POST') {
    response.writeHead(405).end();
  } else if (path === '/fim/est3Dgate') {
    give(response, gateway.start(body));
  } else if (path === '/fim/decision') {
    give(response, await gateway.decide(body));
  } else if (path === '/fim/api') {
    give(response, await gateway.request(body));
  } else {
    response.writeHead(404).end();
  }
}

const server = createServer((request, response) => {
  take(request, response).catch((error: Error) => response.writeHead(500).end(`${error.stack}\n`));
});
server.listen(Number(values.port), '127.0.0.1');
await once(server, 'listening');
process.stdout.write(
  `The CMI stand-in listens on http://127.0.0.1:${(server.address() as AddressInfo).port}\n`,
);
