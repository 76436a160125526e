// At a SIGHUP the configuration files, and the certificate files that they name, are read again.
// Values that can change while the service runs are applied; the log names the others, which need a
// restart. If anything is wrong, nothing changes.

import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { checkFiles, describeConfig } from '../config/config.ts';
import type { Config } from '../config/config-schema.ts';
import { ConfigError } from '../config/settings.ts';
import type { Logger } from '../telemetry/logger.ts';

interface RereadOptions {
  /** Reads the configuration from the files. Throws `ConfigError`. */
  readonly load: () => Config;
  /**
   * Every thread is to apply what is active now. Resolves with the failures, each as one line.
   */
  readonly apply: () => Promise<string[]>;
  readonly logger: Logger;
}

interface Reread {
  readonly active: Config;
  /** Reads the files again when any reading that is under way has ended. Never rejects. */
  request(): Promise<void>;
}

/** `config` is active at first. */
export function createReread(config: Config, options: RereadOptions): Reread {
  const { load, apply, logger } = options;
  let active = config;
  let last = Promise.resolve();

  async function read(): Promise<void> {
    const files = load();
    const next = changeable(active, files);
    checkFiles(next);
    logger.level = next.logLevel;
    active = next;
    const failures = await apply();
    for (const failure of failures) logger.error(failure);
    if (failures.length === 0) logger.info(`the configuration was read again${certificatesOf(next)}`);
    const wanted = new Map(describeConfig(files).map(({ key, value }) => [key, value]));
    const waiting = describeConfig(next).filter(
      ({ key, value }) => !isDeepStrictEqual(value, wanted.get(key)),
    );
    if (waiting.length === 0) return;
    const keys = waiting.map(({ key }) => key);
    logger.warn({ keys }, `changed in the files, and active after the next start: ${keys.join(', ')}`);
  }

  return {
    get active() {
      return active;
    },
    request() {
      last = last.then(read).catch((error: unknown) => {
        if (error instanceof ConfigError) logger.error(`${error.message}. Everything stays as it is`);
        else logger.error({ err: error }, 'the configuration could not be read again');
      });
      return last;
    },
  };
}

/**
 * The active configuration with the changes in `files` that need no restart. To begin or to end
 * with certificates does.
 */
function changeable(active: Config, files: Config): Config {
  const { logLevel, tlsCertFile, tlsKeyFile } = files;
  const { certFile, keyFile, caFile } = files.cluster;
  const both = (one: string | null, other: string | null) => (one === null) === (other === null);
  return {
    ...active,
    logLevel,
    ...(both(active.tlsCertFile, tlsCertFile) && { tlsCertFile, tlsKeyFile }),
    ...(both(active.cluster.certFile, certFile) && {
      cluster: { ...active.cluster, certFile, keyFile, caFile },
    }),
  };
}

function certificatesOf({ tlsCertFile, cluster }: Config): string {
  const told = Object.entries({ connections: tlsCertFile, links: cluster.certFile }).flatMap(
    ([what, file]) => {
      if (file === null) return [];
      const { validTo } = new X509Certificate(readFileSync(file));
      return `new ${what} get the certificate in ${file}, which is good until ${validTo}`;
    },
  );
  return told.length === 0 ? '' : `: ${told.join('; ')}`;
}
