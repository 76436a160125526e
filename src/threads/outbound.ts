// What the configuration says of requests to addresses that others name.

import { readFileSync } from 'node:fs';
import type { Config } from '../config/config-schema.ts';
import { checkWebhookUrl } from '../http-client/address-guard.ts';
import { idleMsMax } from '../http-client/connections.ts';
import {
  createResolver,
  ResolutionFailure,
  type Resolve,
  rememberAddresses,
} from '../http-client/resolver.ts';
import { systemClocks } from '../telemetry/system-clocks.ts';

/** `timeoutMs`: the time for a whole resolution. */
function resolverOf({ webhooks }: Config, timeoutMs: number): Resolve {
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

const lookupTimeoutMs = 5_000;

/**
 * Checks whether a webhook address is allowed: its form, and every address that its name resolves
 * to. The same rules are checked again at each attempt. It rejects when the name does not resolve
 * now, because there is no address to check.
 */
export function createAddressCheck(config: Config): (url: string) => Promise<boolean> {
  const { allowHttp, allowPrivate } = config.webhooks;
  const resolve = resolverOf(config, lookupTimeoutMs);
  return async (url) => {
    const checked = checkWebhookUrl(url, { allowHttp, allowPrivate });
    if (!checked.ok) return false;
    if (checked.literal !== null) return true;
    try {
      await resolve(checked.host);
      return true;
    } catch (error) {
      if (error instanceof ResolutionFailure && error.notPublic) return false;
      throw error;
    }
  };
}
