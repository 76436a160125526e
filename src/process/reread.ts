// SIGHUP: the configuration files, and the certificate files that they name, are read again. What can change while the
// service runs is put in force; what can't waits for the next start and is named. Anything that is wrong changes
// nothing at all.

import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { ConfigError, checkFiles, describeConfig } from './config.ts';
import type { Config } from './config-schema.ts';
import type { Logger } from './logger.ts';

export interface RereadOptions {
  /** The configuration as the files have it now. Throws `ConfigError`. */
  readonly load: () => Config;
  /** Has every thread take over what can change; gives what failed, one line each. */
  readonly putInForce: (config: Config) => Promise<string[]>;
  readonly logger: Logger;
}

export interface Reread {
  readonly inForce: Config;
  /** Reads again, after any reading that is under way. Never rejects. */
  request(): Promise<void>;
}

/** Begins with `config` in force. */
export function createReread(config: Config, options: RereadOptions): Reread {
  const { load, putInForce, logger } = options;
  let inForce = config;
  let last = Promise.resolve();

  async function read(): Promise<void> {
    const files = load();
    const next = changeable(inForce, files);
    checkFiles(next);
    logger.level = next.logLevel;
    const failures = await putInForce(next);
    inForce = next;
    for (const failure of failures) logger.error(failure);
    if (failures.length === 0) logger.info(`the configuration was read again${certificateOf(next)}`);
    const wanted = new Map(describeConfig(files).map(({ key, value }) => [key, value]));
    const waiting = describeConfig(next).filter(
      ({ key, value }) => !isDeepStrictEqual(value, wanted.get(key)),
    );
    if (waiting.length === 0) return;
    const keys = waiting.map(({ key }) => key);
    logger.warn({ keys }, `changed in the files, and in force after the next start: ${keys.join(', ')}`);
  }

  return {
    get inForce() {
      return inForce;
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

/** The configuration in force with what `files` can change of it. TLS can't be turned on or off: the port stays. */
function changeable(inForce: Config, files: Config): Config {
  const { logLevel, tlsCertFile, tlsKeyFile } = files;
  const hasTls = inForce.tlsCertFile !== null;
  if ((tlsCertFile !== null) !== hasTls) return { ...inForce, logLevel };
  return { ...inForce, logLevel, tlsCertFile, tlsKeyFile };
}

function certificateOf({ tlsCertFile }: Config): string {
  if (tlsCertFile === null) return '';
  const { validTo } = new X509Certificate(readFileSync(tlsCertFile));
  return `: new connections get the certificate in ${tlsCertFile}, which is good until ${validTo}`;
}
