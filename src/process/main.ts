// The service: opens the data folder, the directory and the operators' socket, starts the threads, and stops all of
// it in order when it is told to.

import { createServer } from 'node:net';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { Registry } from 'prom-client';
import { Directory } from '../directory/directory.ts';
import { CliFailure } from '../operator/cli-context.ts';
import { openOperatorServer } from '../operator/operator-server.ts';
import { baseUrlOf, ConfigError, checkFiles, describeConfig, environmentOf, shardCountOf } from './config.ts';
import type { Config } from './config-schema.ts';
import { DataFolderError, openDataFolder } from './data-folder.ts';
import { greet } from './first-start.ts';
import { createLogger } from './logger.ts';
import { mergeMetrics } from './metrics.ts';
import { operatorServices } from './operator-services.ts';
import { Supervisor } from './supervisor.ts';
import { ThreadFailure } from './thread.ts';

/** All that a graceful stop may take; after that the process ends as it is, and the journal has what was answered. */
const stopMsMax = 4_500;

/** Runs the service until it is told to stop. Throws `CliFailure`, one clear line, when it can't start. */
export async function serve(config: Config): Promise<void> {
  try {
    await run(config);
  } catch (error) {
    const isClear = error instanceof ConfigError || error instanceof DataFolderError || error instanceof ThreadFailure;
    throw isClear ? new CliFailure(error.message) : error;
  }
}

async function run(config: Config): Promise<void> {
  checkFiles(config);
  // uWebSockets.js reads this when it is loaded. Headers between our limit and this one get an answer of ours.
  process.env.UWS_HTTP_MAX_HEADERS_SIZE = String(64 * 1024);
  const port = await freePort(config);
  const baseUrl = baseUrlOf(config, port);
  const folder = openDataFolder(config.dataDir, config.shards, shardCountOf(config, availableParallelism()));
  const logger = await createLogger({ level: config.logLevel, thread: 'main' });
  const directory = new Directory(join(folder.path, 'directory'), Date.now);
  const supervisor = new Supervisor({ config, folder, directory, port, baseUrl, logger });
  const registry = new Registry();
  const operators = await openOperatorServer({
    dataDir: folder.path,
    services: operatorServices({
      directory,
      supervisor,
      config: () => describeConfig(config),
      metricsText: async () => mergeMetrics([await registry.getMetricsAsJSON(), ...(await supervisor.metrics())]),
    }),
    onFailure: (error: unknown) => logger.error({ err: error }, "an operator's command failed"),
  });
  const stop = stopper(async () => {
    await supervisor.stop();
    await operators.close();
    await directory.closeStore();
  }, logger);
  try {
    await supervisor.start();
  } catch (error) {
    await stop();
    throw error;
  }
  await greet({ directory, baseUrl, production: environmentOf(process.env) === 'production' });
  logger.info({ url: baseUrl, shards: folder.shards, edges: config.edges }, `listening on ${baseUrl}`);
  const told = Promise.withResolvers<void>();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => told.resolve());
  await told.promise;
  logger.info('stopping');
  await stop();
  logger.info('stopped');
}

/** Stops once; gives up waiting after `stopMsMax`. */
function stopper(end: () => Promise<void>, logger: { error(message: string): void }): () => Promise<void> {
  return async () => {
    const timer = setTimeout(() => {
      logger.error('stopping took too long: what was not answered is in the journal or was never acknowledged');
      process.exit(1);
    }, stopMsMax);
    await end();
    clearTimeout(timer);
  };
}

/** The configured port, or a free one for 0; throws when it is taken. Edges share a port, so they can't tell themselves. */
async function freePort({ host, port }: Config): Promise<number> {
  const probe = createServer();
  const listening = Promise.withResolvers<void>();
  probe.once('error', listening.reject).listen({ host, port, exclusive: true }, listening.resolve);
  try {
    await listening.promise;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const reason = code === 'EADDRINUSE' ? 'is in use' : `can't be listened on (${code})`;
    throw new ConfigError(`port ${port} on ${host} ${reason}: choose another with PAYMENTS_PORT or PAYMENTS_HOST`);
  }
  const address = probe.address();
  await new Promise((resolve) => probe.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : port;
}
