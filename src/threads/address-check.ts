// Checks whether a webhook address is allowed when an endpoint is created or its address is changed: its form, and every
// address that its name resolves to. The same rules are checked again at each attempt.

import type { Config } from '../config/config-schema.ts';
import { checkWebhookUrl } from '../http-client/address-guard.ts';
import { createResolver, ResolutionFailure } from '../http-client/resolver.ts';

const lookupTimeoutMs = 5_000;

/** The check. It rejects when the name does not resolve now, because there is no address to check. */
export function createAddressCheck({ webhooks }: Config): (url: string) => Promise<boolean> {
  const { allowHttp, allowPrivate, dnsServers } = webhooks;
  const resolve = createResolver({
    timeoutMs: lookupTimeoutMs,
    allowPrivate,
    ...(dnsServers.length > 0 && { servers: dnsServers }),
  });
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
