// The service: it locks the data folder, opens the directory and the operators' socket, and starts
// the threads. It closes everything in order, when it is told to stop and when it can't start.

import { randomBytes } from 'node:crypto';
import Registry from 'prom-client/lib/registry.js';
import { baseUrlOf, checkFiles, describeConfig, environmentOf } from '../config/config.ts';
import type { Config } from '../config/config-schema.ts';
import { freePort } from '../config/ports.ts';
import { ConfigError } from '../config/settings.ts';
import { sizedFor } from '../config/sizing.ts';
import { errorText } from '../core/errors.ts';
import { SecretBox } from '../crypto/secret-box.ts';
import { Dashboard, type DashboardOptions } from '../dashboard/dashboard.ts';
import type { DataFolder } from '../data-folder/data-folder.ts';
import { DataFolderError } from '../data-folder/data-folder-error.ts';
import { Pause } from '../data-folder/pause.ts';
import { openSecretsKeys } from '../data-folder/secrets-key.ts';
import { type AnswerVisit, answerVisits } from '../edge/dashboard/dashboard-port.ts';
import { examine } from '../health/doctor.ts';
import { checkHttpServerBinary } from '../health/http-server-binary.ts';
import { JournalDamaged, JournalFailure } from '../journal/journal.ts';
import { closeAll } from '../lifecycle/close-all.ts';
import { Closers } from '../lifecycle/closers.ts';
import { Ending } from '../lifecycle/ending.ts';
import { createReread } from '../lifecycle/reread.ts';
import { ServiceManager } from '../lifecycle/service-manager.ts';
import { openLending } from '../node/open-lending.ts';
import { type Owned, own } from '../node/own.ts';
import { type Owning, tellFailedCommand } from '../node/owning.ts';
import type { Audit } from '../operator/audit/audit.ts';
import { openOperatorServer } from '../operator/socket/server.ts';
import { CommandFailure, ServiceCrash } from '../operator/use-cases/failures.ts';
import { failingEndpoints } from '../telemetry/failing-endpoints.ts';
import { createLogger, type Logger } from '../telemetry/logger.ts';
import { serveMetrics } from '../telemetry/metrics-server.ts';
import { readStatus } from '../telemetry/status.ts';
import { createSupervisorMetrics, mergeMetrics } from '../telemetry/supervisor-metrics.ts';
import { systemClocks } from '../telemetry/system-clocks.ts';
import { countThreadTime } from '../telemetry/thread-time.ts';
import { Supervisor } from '../threads/supervisor.ts';
import { quietHeaps, ThreadFailure } from '../threads/thread.ts';
import { Visits } from '../threads/visits.ts';
import { watchStorage } from '../threads/watch-storage.ts';
import { greet } from './first-start.ts';
import { openMail } from './mail.ts';
import { openParts } from './open-parts.ts';
import { operatorServices } from './operator-services.ts';

/**
 * Runs the service until it is told to stop. `load` reads the configuration again at a SIGHUP. With
 * `acceptLoss` it also starts on a data folder with parts that are older than the others. Throws
 * `CommandFailure` with one clear line when it can't start or continue.
 */
export async function serve(config: Config, load: () => Config, acceptLoss: boolean): Promise<void> {
  const ending = new Ending(config.stopNoticeMs);
  // The handlers stay, because a second signal must not end the process during its stop: a terminal
  // sends SIGINT to the whole group, and the launcher forwards its own.
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      // However this ends, the launcher does not start the service again.
      process.send?.('stopping');
      ending.stop();
    });
  }
  // Until there are threads, there is nothing that would have to be read again.
  process.on('SIGHUP', () => {});
  const closers = new Closers();
  let failure: unknown = null;
  try {
    await run({ config, load, acceptLoss, ending, closers });
  } catch (error) {
    failure = asCommandFailure(error);
    throw failure;
  } finally {
    await closeAll(closers, failure);
  }
}

/**
 * An error as the command line tells it: the start was refused, or another start may help. Any
 * other is a bug, and stays as it is.
 */
function asCommandFailure(error: unknown): unknown {
  const refusals = [ConfigError, DataFolderError, JournalDamaged];
  if (refusals.some((refusal) => error instanceof refusal)) return new CommandFailure(errorText(error));
  // Such as a full disk.
  if (error instanceof JournalFailure) return new ServiceCrash(error.message);
  if (!(error instanceof ThreadFailure)) return error;
  return error.fatal ? new CommandFailure(error.message) : new ServiceCrash(error.message);
}

interface Run extends Pick<Owning, 'config' | 'load' | 'ending' | 'closers'> {
  readonly acceptLoss: boolean;
}

/** The port, the public address, and the address for this machine. */
async function addressesOf(config: Config): Promise<{ port: number; baseUrl: string; url: string }> {
  const port = await freePort(config);
  return { port, baseUrl: baseUrlOf(config, port), url: baseUrlOf({ ...config, baseUrl: null }, port) };
}

async function run(given: Run): Promise<void> {
  prepare(given.config);
  const addresses = await addressesOf(given.config);
  const logger = await createLogger({ level: given.config.logLevel, thread: 'main' });
  watchStorage(logger);
  const manager = new ServiceManager(process.env, { pid: process.pid, logger });
  const owning = { ...given, ...addresses, logger, manager };
  const owned = await own(owning);
  if (owned !== null) await runOwned({ ...owning, owned });
}

interface OwnedRun extends Run, Owning {
  readonly baseUrl: string;
  readonly url: string;
  readonly owned: Owned;
}

async function runOwned(given: OwnedRun): Promise<void> {
  const { load, ending, closers, logger, manager, port, baseUrl, url, owned } = given;
  const { folder, audit } = owned;
  const sized = (config: Config) => sizedFor(config, folder.shards);
  const config = sized(owned.config);
  const registry = new Registry();
  const pause = new Pause(folder);
  const metrics = createSupervisorMetrics(registry, config, pause);
  const visits = watchThread(registry, logger);
  const { directory, ...parts } = await openParts({ ...given, config, metrics });
  const secretsKeys = await openSecretsKeys(config, environmentOf(process.env), directory);
  const secrets = new SecretBox(secretsKeys);
  const mail = await openMail({ config, directory, secrets, registry, logger, closers });
  const lending = openLending(given, { ...parts, config, secretsKeys, registry, pause });
  const apply = () => supervisor.reread();
  const reread = rereadAtHangup(config, { load: () => sized(load()), apply, logger });
  const supervisor = new Supervisor({
    ...owned,
    ...parts,
    config: () => reread.active,
    lending,
    directory,
    secretsKeys,
    port,
    baseUrl,
    logger,
    metrics,
    onEdgeEnded: ({ message }) => ending.reject(new ServiceCrash(message)),
    onRefusedKeys: (refused) => visits.run('refused_keys', null, () => void audit.refusedKeys(refused)),
    onDashboardPort: (port) => answerVisits(port, answerVisit, visits.failed),
  });
  const allMetrics = async () => [
    await registry.getMetricsAsJSON(),
    ...(await supervisor.metrics()),
    ...(await owned.metrics()),
  ];
  const merged = async () => mergeMetrics(await allMetrics());
  const failing = failingEndpoints(supervisor.clients);
  const offered = {
    baseUrl,
    directory,
    secrets,
    mail: mail.queue,
    config: () => describeConfig(reread.active),
    checks: async () => mail.checksAfter(await examine(await allMetrics(), folder, pause.paused, config)),
    status: () => readStatus({ folder, pause, url, config, failing, metrics: allMetrics }),
    resume: async () => ({ paused: await pause.end(() => supervisor.resume()) }),
  };
  const services = operatorServices(offered, { supervisor, active: config, metrics: merged });
  const answerVisit = openDashboard({ config, services, audit, baseUrl, logger, visits });
  closers.push(await openOperators(folder, audit, services, logger));
  closers.push(() => supervisor.stop());
  closers.push(await serveMetrics(config, async () => (await merged()).metrics(), logger));
  if ((await Promise.race([supervisor.start(), ending.promise.then(() => 'ending')])) !== 'ending') {
    await greet({ directory, url, production: environmentOf(process.env) === 'production', write: print });
    logger.info(listeningFields(config, folder, pause, { url, baseUrl }), `listening on ${url}`);
    manager.ready(`listening on ${url}`);
    closers.push(manager.watch(allMetrics));
    mail.tell(services, () => pause.paused !== null);
    ending.onNotice(() => {
      logger.info('told to stop');
      supervisor.announceStop();
    });
    await ending.promise;
  }
  logger.info('stopping');
  manager.stopping();
}

function rereadAtHangup(...given: Parameters<typeof createReread>): ReturnType<typeof createReread> {
  const reread = createReread(...given);
  process.on('SIGHUP', () => void reread.request());
  return reread;
}

const print = (text: string) => void process.stdout.write(text);

/** Returns what closes it. */
async function openOperators(
  folder: DataFolder,
  audit: Audit,
  services: Parameters<typeof openOperatorServer>[0]['services'],
  logger: Logger,
): Promise<() => Promise<unknown>> {
  const server = await openOperatorServer({
    dataDir: folder.path,
    audit,
    services,
    onFailure: tellFailedCommand(logger),
  });
  return () => server.close();
}

/** Measures this thread, and lets it go on whatever a visit does in it. */
function watchThread(registry: Registry, logger: Logger): Visits {
  countThreadTime(registry, 'main');
  const visits = new Visits(registry, logger, 'main', ['dashboard', 'refused_keys']);
  visits.catchStrays();
  return visits;
}

/** The dashboard, as the configuration wants it. */
function openDashboard(parts: {
  readonly config: Config;
  readonly services: DashboardOptions['services'];
  readonly audit: Audit;
  readonly baseUrl: string;
  readonly logger: Logger;
  readonly visits: Visits;
}): AnswerVisit {
  const { config, logger, visits, ...others } = parts;
  const { sessionIdleMinutes, sessionDays, hashCost } = config.dashboard;
  const dashboard = new Dashboard({
    ...others,
    isSignUpOpen: config.signUp === 'open',
    sessionLimits: { idleMs: sessionIdleMinutes * 60_000, absoluteMs: sessionDays * 86_400_000 },
    hashCost,
    trustedProxies: config.pages.trustedProxies,
    monotonic: systemClocks().monotonic,
    randomBytes,
    onError: (error, requestId) => visits.unanswered(error, 'dashboard', requestId),
    onRefusedSignIn: (address) => logger.warn({ address }, 'a sign-in to the dashboard was refused'),
  });
  return (request, gone) => visits.run('dashboard', request.requestId, () => dashboard.answer(request, gone));
}

/** Checks what can be checked before the data folder is touched, and prepares the process. */
function prepare(config: Config): void {
  checkFiles(config);
  checkHttpServerBinary();
  quietHeaps();
  // uWebSockets.js reads this when it is loaded. Headers between the service's limit and this one
  // are answered by the service.
  process.env.UWS_HTTP_MAX_HEADERS_SIZE = String(64 * 1024);
}

/** What the log says when the service listens. */
function listeningFields(
  { edges, memory }: Config,
  { shards }: DataFolder,
  { paused }: Pause,
  addresses: object,
) {
  return { ...addresses, shards, edges, ...memory, ...(paused !== null && { paused }) };
}
