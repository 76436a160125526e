// Requests to addresses that others name, as the configuration has them.

import { readFileSync } from 'node:fs';
import type { Config } from '../config/config-schema.ts';
import { idleMsMax } from '../http-client/connections.ts';
import { createResolver, type Resolve, rememberAddresses } from '../http-client/resolver.ts';
import { systemClocks } from '../telemetry/system-clocks.ts';

/** `timeoutMs`: the time for a whole resolution. */
export function resolverOf({ webhooks }: Config, timeoutMs: number): Resolve {
  const { allowPrivate, dnsServers } = webhooks;
  const servers = dnsServers.length > 0 ? dnsServers : undefined;
  return createResolver({ servers, timeoutMs, allowPrivate });
}

/** What requests with such a timeout are allowed, and what they trust. */
export function outboundOf(config: Config, timeoutMs: number) {
  const { allowHttp, allowPrivate, caFile } = config.webhooks;
  const { monotonic } = systemClocks();
  // Half of the time, so that a DNS server that answers for IPv4 only still leaves time for the
  // request.
  const resolve = resolverOf(config, timeoutMs / 2);
  return {
    timeoutMs,
    monotonic,
    allowHttp,
    allowPrivate,
    resolve: rememberAddresses(resolve, idleMsMax, monotonic),
    extraCa: caFile === null ? undefined : readFileSync(caFile, 'utf8'),
  };
}
