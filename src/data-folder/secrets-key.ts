// The key file has the keys with which the signing secrets in the data folder are sealed. It is
// outside of that folder, so that a backup of the folder alone reveals no secret. Each line is a
// key in base 64; the first one seals, all of them open. The directory has a sealed check value, so
// that a start notices a file with other keys.

import { existsSync, readFileSync } from 'node:fs';
import type { Config } from '../config/config-schema.ts';
import { ConfigError, type Environment } from '../config/settings.ts';
import { errorCode } from '../core/errors.ts';
import { isSecretsKey, newSecretsKey, SecretBox, SecretUnreadable } from '../crypto/secret-box.ts';
import type { Directory } from '../directory/directory.ts';
import { isWithin } from '../disk/is-within.ts';
import { replaceFile } from '../disk/sync-path.ts';

const variable = 'PAYMENTS_SECRETS_KEY_FILE';
const makeOne = '(umask 077; openssl rand -base64 32 > FILE)';
/** The owner to which the check value is bound. */
const checkOwner = { id: 'key-check-value', org: '' };

/** The path of the key file. Throws `ConfigError` when none is configured in production. */
export function secretsKeyFileOf({ secretsKeyFile, dataDir }: Config, environment: Environment): string {
  if (secretsKeyFile === null) {
    if (environment !== 'production') return `${dataDir}.secrets-key`;
    throw new ConfigError(
      `${variable} is not set, which production needs: name a file outside the data folder; ${makeOne} makes one`,
    );
  }
  if (!isWithin(dataDir, secretsKeyFile)) return secretsKeyFile;
  throw new ConfigError(
    `${variable} names ${secretsKeyFile}, which is in the data folder: move it out, so that no backup has both`,
  );
}

/**
 * The keys with which the signing secrets are sealed. The first start makes the file if none is
 * configured. Throws `ConfigError` when it is missing, is no key file, or has other keys.
 */
export async function openSecretsKeys(
  config: Config,
  environment: Environment,
  directory: Directory,
): Promise<readonly string[]> {
  const file = secretsKeyFileOf(config, environment);
  const { keyCheckValue } = directory;
  if (!existsSync(file) && keyCheckValue === null && config.secretsKeyFile === null)
    writeKeyFile(file, [newSecretsKey()]);
  const keys = readKeyFile(file);
  const box = new SecretBox(keys);
  if (keyCheckValue === null) await putKeyCheckValue(directory, keys);
  else checkKeys(box, keyCheckValue, file);
  return keys;
}

/**
 * The keys of a node that stands by. Throws `ConfigError` when they do not open what another node
 * has sealed.
 */
export function requireKeysOf(
  keyCheckValue: string,
  config: Config,
  environment: Environment,
): readonly string[] {
  const file = secretsKeyFileOf(config, environment);
  const keys = readKeyFile(file);
  checkKeys(new SecretBox(keys), keyCheckValue, file);
  return keys;
}

function checkKeys(box: SecretBox, keyCheckValue: string, file: string): void {
  try {
    box.open(keyCheckValue, checkOwner);
  } catch (error) {
    if (!(error instanceof SecretUnreadable)) throw error;
    throw new ConfigError(
      `${file} does not have the key that seals the signing secrets of this service: name the right file with ${variable}`,
    );
  }
}

/** Makes later starts require the first of `keys`. */
export async function putKeyCheckValue(directory: Directory, keys: readonly string[]): Promise<void> {
  await directory.putKeyCheckValue(new SecretBox(keys).seal('', checkOwner));
}

function readKeyFile(file: string): readonly string[] {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    const fault =
      errorCode(error) === 'ENOENT'
        ? `does not exist: put it back or name it with ${variable}; for a new data folder ${makeOne} makes one`
        : `can't be read (${errorCode(error)}): see what it is, and whether the user of the service may read it`;
    throw new ConfigError(`the key file of the signing secrets, ${file}, ${fault}`);
  }
  const keys = text.split('\n').flatMap((line) => line.trim() || []);
  if (keys.length > 0 && keys.every(isSecretsKey)) return keys;
  throw new ConfigError(
    `${file} is not a key file: each of its lines must be 32 bytes in base 64, as ${makeOne} writes them`,
  );
}

/** Replaces a key file in one step. Throws `ConfigError` when its folder can't be written. */
export function writeKeyFile(file: string, keys: readonly string[]): void {
  try {
    replaceFile(file, keys.map((key) => `${key}\n`).join(''));
  } catch (error) {
    const code = errorCode(error);
    throw new ConfigError(
      `the key file of the signing secrets, ${file}, can't be written (${code}): name one elsewhere with ${variable}`,
    );
  }
}
