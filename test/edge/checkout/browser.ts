// Real Chromium for the tests of the pages, with a server on the loopback interface in place of the edge, and a merchant's
// shop beside it.

import { createServer, type Server } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { addressOf, pageAssets } from '../../../src/html/assets.ts';
import { chromiumMissing, findChromium } from './chromium.ts';
import { createService, type Service } from './in-process-service.ts';

/** By an import, Node would first read all of its seven megabytes for what it exports. */
const playwright: typeof import('playwright-core') = createRequire(import.meta.url)('playwright-core');

const missing = chromiumMissing();
if (missing) test('the pages in real Chromium', { skip: missing }, () => {});

/** A test that drives Chromium; where there is none, one line a file says so instead. */
export const browserTest: (title: string, run: (context: TestContext) => Promise<void>) => void = missing
  ? () => {}
  : test;

/** Null where there is no Chromium: then no `browserTest` runs either. */
export async function launchBrowser(): Promise<Browser | null> {
  if (missing) return null;
  const { executablePath, env } = await findChromium();
  return playwright.chromium.launch({
    executablePath,
    env: { ...process.env, ...env },
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
}

export interface Site {
  readonly service: Service;
  /** Where the pages are. */
  readonly url: string;
  /** The merchant's shop, on another origin. */
  readonly shopUrl: string;
  close(): Promise<void>;
}

/** The pages and a shop, each on a free port. */
export async function openSite(options: { readonly latencyMs?: number } = {}): Promise<Site> {
  let service: Service | null = null;
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const [path = '', query = ''] = request.url!.split('?');
    const asset = pageAssets.find((candidate) => addressOf(candidate) === path);
    if (asset !== undefined) {
      response.writeHead(200, { 'content-type': asset.type }).end(asset.text);
      return;
    }
    const header = (name: string) => String(request.headers[name] ?? '');
    const asked = {
      method: request.method!,
      path,
      query,
      headers: {
        acceptLanguage: header('accept-language'),
        cookie: header('cookie'),
        forwardedFor: header('x-forwarded-for'),
        secFetchSite: header('sec-fetch-site'),
      },
      remoteAddress: request.socket.remoteAddress!,
      requestId: 'req_1',
      body: Buffer.concat(chunks),
    };
    const { pages } = service!;
    const answer = pages.turnAway(asked) ?? (await pages.handle(asked));
    response.writeHead(answer.status, answer.headers.flat());
    response.end(answer.body);
  });
  const shop = createServer((request, response) => {
    // Many shops redirect once more.
    if (request.url!.startsWith('/thanks?')) {
      response.writeHead(302, { location: request.url!.replace('/thanks', '/order') }).end();
    } else {
      response.setHeader('content-type', 'text/html');
      response.end(
        `<title>Shop</title><p>${request.url!.startsWith('/order') ? 'Thank you' : 'Your basket'}</p>`,
      );
    }
  });
  // The names differ, so that a link to the shop crosses sites as in the real world.
  const [url, shopUrl] = [
    `http://localhost:${await listen(server)}`,
    `http://127.0.0.1:${await listen(shop)}`,
  ];
  service = createService({ ...options, baseUrl: url });
  return {
    service,
    url,
    shopUrl,
    async close() {
      for (const listening of [server, shop]) {
        listening.closeAllConnections();
        await new Promise((resolve) => listening.close(resolve));
      }
    },
  };
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}
