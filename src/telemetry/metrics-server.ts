// Serves the metrics to Prometheus over HTTP, on a port of their own: `GET /metrics`. It needs no
// key, so it listens on loopback unless configured otherwise, and never on the port of the API.

import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, isIPv6 } from 'node:net';
import type { Config } from '../config/config-schema.ts';
import { listenOn } from '../config/ports.ts';
import type { Logger } from './logger.ts';

const contentType = 'text/plain; version=0.0.4; charset=utf-8';
/** Connections at once; a scraper needs one. */
const connectionsMax = 16;
const requestMsMax = 5_000;
/** As long as Prometheus waits for an answer. */
const quietMsMax = 10_000;

/**
 * Serves `text` if configured, until the returned function is called. A connection that is quiet
 * for `quietMs` ends, also when its client takes no answer: otherwise a few would keep the scraper
 * out for good. Throws `ConfigError`.
 */
export async function serveMetrics(
  { metrics: { host, port } }: Pick<Config, 'metrics'>,
  text: () => Promise<string>,
  logger: Logger,
  quietMs = quietMsMax,
): Promise<() => Promise<void>> {
  if (port === null) return async () => {};
  const server = createServer(answerWith(text, logger));
  server.maxConnections = connectionsMax;
  server.requestTimeout = requestMsMax;
  server.headersTimeout = requestMsMax;
  server.timeout = quietMs;
  await listenOn(
    server,
    { host, port },
    "the metrics' port",
    'PAYMENTS_METRICS_PORT or PAYMENTS_METRICS_HOST',
  );
  server.on('error', (error) => logger.error({ err: error }, 'the server of the metrics failed'));
  const name = isIPv6(host) ? `[${host}]` : host;
  const url = `http://${name}:${(server.address() as AddressInfo).port}/metrics`;
  logger.info({ url }, `metrics on ${url}`);
  return async () => {
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
  };
}

function answerWith(text: () => Promise<string>, logger: Logger): RequestListener {
  /** The metrics that are being gathered. Requests that arrive meanwhile get the same ones. */
  let gathering: Promise<string> | null = null;
  const gather = () => {
    gathering ??= text().finally(() => {
      gathering = null;
    });
    return gathering;
  };
  return async ({ method, url }, response) => {
    const answer = (status: number, body: string) => {
      response.writeHead(status, { 'Content-Type': contentType, 'Cache-Control': 'no-store' }).end(body);
    };
    const known = url?.split('?')[0] === '/metrics';
    if (!known || (method !== 'GET' && method !== 'HEAD')) return answer(known ? 405 : 404, 'GET /metrics\n');
    try {
      answer(200, await gather());
    } catch (error) {
      logger.error({ err: error }, 'the metrics could not be gathered');
      answer(500, 'the metrics could not be gathered: the log says why\n');
    }
  };
}
