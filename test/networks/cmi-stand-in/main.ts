// A stand-in for CMI's gateway, in a process of its own: for the tests, and to try live card payments without CMI (`npm run cmi`).
// Beside CMI's own addresses it has `/control/…`: what it knows of its orders, a statement of them, and what it is to do wrong.

import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { type Answer, Gateway } from './gateway.ts';
import { apiUser, clientId, secretFiles } from './merchant.ts';
import { statementOf } from './statement.ts';

const { values } = parseArgs({
  options: {
    folder: { type: 'string', default: 'cmi-stand-in' },
    port: { type: 'string', default: '8085' },
  },
});
const folder = resolve(values.folder);
mkdirSync(folder, { recursive: true });

/** The secret in a file of the folder; a new one when there is none. */
function secretIn(name: string): string {
  const file = join(folder, name);
  if (!existsSync(file)) writeFileSync(file, `${randomBytes(16).toString('hex')}\n`, { mode: 0o600 });
  return readFileSync(file, 'utf8').trim();
}

const gateway = new Gateway({
  clientId,
  apiUser,
  storeKey: secretIn(secretFiles.storeKey),
  apiPassword: secretIn(secretFiles.apiPassword),
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
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
process.stdout.write(`The CMI stand-in listens on ${url}

npx payments network set $ORG --mode live --network cmi --gateway ${url} \\
  --client-id ${clientId} --store-key-file ${join(folder, secretFiles.storeKey)} \\
  --api-user ${apiUser} --api-password-file ${join(folder, secretFiles.apiPassword)}
`);
