// The pages on the loopback interface, served in place of the edge, and a merchant's shop beside them.

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { addressOf, pageAssets } from '../../../src/html/assets.ts';
import { createService, type Service } from './in-process-service.ts';

interface Site {
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
