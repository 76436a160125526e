// The port that the edges listen on together.

import { createServer } from 'node:net';
import { errorCode } from '../core/errors.ts';
import { ConfigError } from './config.ts';
import type { Config } from './config-schema.ts';

/**
 * The configured port, or a free one for 0. Throws when it is taken, which the edges can't notice
 * as they share a port.
 */
export async function freePort({ host, port }: Config): Promise<number> {
  const probe = createServer();
  const listening = Promise.withResolvers<void>();
  probe.once('error', listening.reject).listen({ host, port, exclusive: true }, listening.resolve);
  try {
    await listening.promise;
  } catch (error) {
    const code = errorCode(error);
    const reason = code === 'EADDRINUSE' ? 'is in use' : `can't be listened on (${code})`;
    throw new ConfigError(
      `port ${port} on ${host} ${reason}: choose another with PAYMENTS_PORT or PAYMENTS_HOST`,
    );
  }
  const address = probe.address();
  await new Promise((resolve) => probe.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : port;
}
