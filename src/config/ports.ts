// Ports that are listened on: a clear error where one can't be, and a free one for 0.

import { createServer, type ListenOptions, type Server } from 'node:net';
import { errorCode } from '../core/errors.ts';
import type { Config } from './config-schema.ts';
import { ConfigError } from './settings.ts';

/** Throws `ConfigError` when it can't. `what`: the port, which `variables` change. */
export async function listenOn(
  server: Server,
  address: ListenOptions,
  what: string,
  variables: string,
): Promise<void> {
  const listening = Promise.withResolvers<void>();
  server.once('error', listening.reject).listen(address, listening.resolve);
  try {
    await listening.promise;
  } catch (error) {
    const code = errorCode(error);
    const reason = code === 'EADDRINUSE' ? 'is in use' : `can't be listened on (${code})`;
    throw new ConfigError(
      `${what} ${address.port} on ${address.host} ${reason}: choose another with ${variables}`,
    );
  }
}

/** The configured port, or a free one for 0. The edges share it and can't notice a taken one. */
export async function freePort({ host, port }: Config): Promise<number> {
  const probe = createServer();
  await listenOn(probe, { host, port, exclusive: true }, 'port', 'PAYMENTS_PORT or PAYMENTS_HOST');
  const address = probe.address();
  await new Promise((resolve) => probe.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : port;
}
