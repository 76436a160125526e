// The relay of this node, and what it answers while nobody serves.

import { randomFillSync } from 'node:crypto';
import { Relay } from '../cluster/relay.ts';
import { baseUrlOf } from '../config/config.ts';
import type { Config } from '../config/config-schema.ts';
import { sizedFor } from '../config/sizing.ts';
import { errorBody, unavailable } from '../contract/errors/table.ts';
import { idPrefixes } from '../contract/id-prefixes.ts';
import { createIdFactory, createRandomText } from '../core/ids.ts';
import { createNetworksOf } from '../edge/http/client-address.ts';

const connectMs = 2_000;
/** As at edges. */
const slowClientMs = 60_000;
const answerMs = 2_000;

/** A connection that is passed on takes two descriptors. */
export function relayOf(config: Config, shards: number, port: number): Relay {
  const { host, tlsCertFile } = config;
  const { max, perAddressMax } = sizedFor(config, shards).connections;
  return new Relay({
    host,
    port,
    connectionsMax: Math.floor(max / 2),
    perAddressMax: Math.ceil(perAddressMax / 2),
    networksOf: createNetworksOf(config.pages.trustedProxies),
    connectMs,
    slowClientMs,
    answerMs,
    refusal: tlsCertFile === null ? () => refusalOf(baseUrlOf(config, port)) : null,
  });
}

const ids = createIdFactory(createRandomText(randomFillSync));

/** The HTTP response while nobody serves. */
function refusalOf(baseUrl: string): string {
  const requestId = ids.next(idPrefixes.request, 0, Date.now());
  const body = errorBody(unavailable, { language: 'en', requestId, baseUrl });
  const lines = [
    'HTTP/1.1 503 Service Unavailable',
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Cache-Control: no-store',
    `Request-Id: ${requestId}`,
    `Retry-After: ${unavailable.retryAfterSeconds}`,
    'Connection: close',
  ];
  return `${lines.join('\r\n')}\r\n\r\n${body}`;
}
