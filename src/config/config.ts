// Loads the configuration, once, when the process starts: `default.json`, then the file of
// NODE_ENV, then the environment. Each value is checked where it is set. A wrong value ends the
// start with one line that says what is wrong, where, and what to do. Nothing else in the service
// takes settings from the environment.

import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { join, resolve } from 'node:path';
import { createSecureContext, type SecureContextOptions } from 'node:tls';
import { Check } from 'typebox/schema';
import { faultOfCertificate } from '../cluster/node-certificate.ts';
import { defined, elementAt } from '../core/assert.ts';
import { errorCode, errorText } from '../core/errors.ts';
import { withoutSlashAtEnd } from '../core/slash-at-end.ts';
import type { ConfigLine } from '../operator/use-cases/services.ts';
import { refuseCombinations } from './combinations.ts';
import {
  type AnySchema,
  type Config,
  type ConfigKey,
  configKeys,
  configSchema,
  expectationOf,
  isGroup,
  variableOf,
} from './config-schema.ts';
import { ConfigError, type Environment, environments, type Settings, settingOf } from './settings.ts';

type Variables = Readonly<Record<string, string | undefined>>;

/** The value of NODE_ENV, `development` when unset. Throws `ConfigError` for an unknown one. */
export function environmentOf(env: Variables): Environment {
  const name = env.NODE_ENV || 'development';
  const known = environments.find((each) => each === name);
  if (known !== undefined) return known;
  throw new ConfigError(`NODE_ENV is "${name}": set it to one of ${environments.join(', ')}, or unset it`);
}

/**
 * The active configuration for `env` (the process's environment variables) and the files in
 * `configDir`. Paths in it are absolute. Throws `ConfigError`.
 */
export function loadConfig(env: Variables, configDir: string): Config {
  const environment = environmentOf(env);
  const settings: Settings = new Map();
  readFileSettings(join(configDir, 'default.json'), settings);
  const missing = configKeys.find((key) => !settings.has(key.path));
  if (missing) {
    throw new ConfigError(`"${missing.path}" is missing in ${join(configDir, 'default.json')}: add it there`);
  }
  readFileSettings(join(configDir, `${environment}.json`), settings);
  readVariables(env, settings);
  refuseCombinations(settings, environment);
  return assemble(settings);
}

/** Throws `ConfigError` when a certificate or another file that is named can't be used. */
export function checkFiles(config: Config): void {
  checkCertificates(config);
  checkOtherFiles(config);
}

/** But for the certificates that the service shows. Throws `ConfigError`, too. */
export function checkOtherFiles(config: Pick<Config, 'mail' | 'journal' | 'webhooks'>): void {
  readNamed('mail.passwordFile', config.mail.passwordFile);
  readNamed('journal.passwordFile', config.journal.passwordFile);
  // The TLS library ignores parts of an authorities file that are no certificates.
  checkPem('webhooks.caFile', { cert: readNamed('webhooks.caFile', config.webhooks.caFile) });
  checkPem('journal.caFile', { cert: readNamed('journal.caFile', config.journal.caFile) });
}

/** Of the certificates that the service shows; throws `ConfigError`, too. */
export function checkCertificates(config: Pick<Config, 'tlsCertFile' | 'tlsKeyFile' | 'cluster'>): void {
  const cert = readNamed('tlsCertFile', config.tlsCertFile);
  const key = readNamed('tlsKeyFile', config.tlsKeyFile);
  checkPem('tlsCertFile', { cert });
  checkPem('tlsKeyFile', { cert, key });
  checkNodeFiles(config.cluster);
}

function checkNodeFiles({ node, certFile, keyFile, caFile }: Config['cluster']): void {
  const cert = readNamed('cluster.certFile', certFile);
  const key = readNamed('cluster.keyFile', keyFile);
  const ca = readNamed('cluster.caFile', caFile);
  checkPem('cluster.certFile', { cert });
  checkPem('cluster.keyFile', { cert, key });
  checkPem('cluster.caFile', { cert: ca });
  if (cert === undefined || ca === undefined || node === null) return;
  const fault = faultOfCertificate(node, cert, ca);
  if (fault !== null)
    throw new ConfigError(`${variableOf('cluster.certFile')} names ${certFile}, which ${fault}`);
}

function readNamed(path: string, file: string | null): Buffer | undefined {
  if (file === null) return undefined;
  try {
    return readFileSync(file);
  } catch (error) {
    const reason = errorCode(error) === 'ENOENT' ? 'does not exist' : "can't be read";
    throw new ConfigError(
      `${variableOf(path)} names ${file}, which ${reason}: correct the path or its permissions`,
    );
  }
}

function checkPem(path: string, contents: SecureContextOptions): void {
  try {
    createSecureContext(contents);
  } catch (error) {
    const reason = errorText(error);
    throw new ConfigError(
      `${variableOf(path)} names a file that can't be used for TLS (${reason}): name another`,
    );
  }
}

/** The public address without a final slash, by default of the host and the `port` listened on. */
export function baseUrlOf(config: Config, port: number): string {
  if (config.baseUrl !== null) return withoutSlashAtEnd(config.baseUrl);
  const scheme = config.tlsCertFile === null ? 'http' : 'https';
  const everywhere = config.host === '0.0.0.0' || config.host === '::';
  const host = everywhere ? 'localhost' : isIP(config.host) === 6 ? `[${config.host}]` : config.host;
  return `${scheme}://${host}:${port}`;
}

/** Every key with its active value. A value whose key says that it is a secret is hidden. */
export function describeConfig(config: Config): ConfigLine[] {
  return configKeys.map(({ path, variable, description }) => {
    const value = valueAt(config, path);
    const hidden = value !== null && /secret|password|token/i.test(path) && !path.endsWith('File');
    return { key: path, variable, value: hidden ? '[hidden]' : value, description };
  });
}

function readFileSettings(file: string, settings: Settings): void {
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    const reason = errorText(error).replaceAll('\n', ' ');
    throw new ConfigError(`${file} can't be read as JSON (${reason}): restore or correct it`);
  }
  readGroup(content, configSchema, '', file, settings);
}

function readGroup(content: unknown, schema: object, prefix: string, file: string, settings: Settings): void {
  if (typeof content !== 'object' || content === null || Array.isArray(content)) {
    const what = prefix === '' ? file : `"${prefix.slice(0, -1)}" in ${file}`;
    throw new ConfigError(`${what} must be an object of settings: put braces around them`);
  }
  const { properties } = schema as typeof configSchema;
  for (const [name, value] of Object.entries(content)) {
    const property = Object.hasOwn(properties, name)
      ? properties[name as keyof typeof properties]
      : undefined;
    const path = prefix + name;
    if (property === undefined) {
      const known = Object.keys(properties).map((key) => prefix + key);
      throw new ConfigError(`"${path}" in ${file} is not a known key: ${suggestion(path, known)}`);
    }
    if (isGroup(property)) readGroup(value, property, `${path}.`, file, settings);
    else {
      const key = defined(
        configKeys.find((each) => each.path === path),
        path,
      );
      put(settings, key, value, `"${path}" in ${file}`);
    }
  }
}

/** A start leaves them as they are: the command line and the command of the archive have them. */
const variablesOfCommands = ['PAYMENTS_API_KEY', 'PAYMENTS_ARCHIVE_FILE', 'PAYMENTS_ARCHIVE_NAME'];

function readVariables(env: Variables, settings: Settings): void {
  const keys = new Map(configKeys.map((key) => [key.variable, key]));
  for (const [variable, text] of Object.entries(env)) {
    if (!variable.startsWith('PAYMENTS_') || variablesOfCommands.includes(variable) || text === undefined)
      continue;
    const key = keys.get(variable);
    if (key === undefined) {
      throw new ConfigError(`${variable} is not a known variable: ${suggestion(variable, [...keys.keys()])}`);
    }
    put(settings, key, parseVariable(key, text), variable);
  }
}

function put(settings: Settings, key: ConfigKey, value: unknown, where: string): void {
  if (!Check(key.schema, value)) {
    const expected = expectationOf(key.schema);
    throw new ConfigError(
      `${where} is ${JSON.stringify(value)}: it must be ${expected} (${key.description})`,
    );
  }
  settings.set(key.path, { value, where });
}

/** The value of a variable's text. Text that is no such value stays, and is refused later. */
function parseVariable(key: ConfigKey, text: string): unknown {
  const { type, items, anyOf }: AnySchema = key.schema;
  if (anyOf !== undefined) return text === '' ? null : parseScalar(anyOf[0].type, text);
  if (items === undefined) return parseScalar(type, text);
  if (text.trim() === '') return [];
  return text.split(',').map((item) => parseScalar(items.type, item.trim()));
}

function parseScalar(type: string | undefined, text: string): unknown {
  if (type === 'integer' || type === 'number') return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text;
  if (type !== 'boolean') return text;
  if (text === 'true' || text === '1') return true;
  return text === 'false' || text === '0' ? false : text;
}

function assemble(settings: Settings): Config {
  const config: Record<string, unknown> = {};
  for (const { path } of configKeys) {
    const [first = '', second] = path.split('.');
    let { value } = settingOf(settings, path);
    if (typeof value === 'string' && /(?:File|Dir|\.dir)$/.test(path)) value = resolve(value);
    if (second === undefined) config[first] = value;
    else config[first] = { ...(config[first] as object | undefined), [second]: value };
  }
  return config as Config;
}

function valueAt(config: Config, path: string): unknown {
  return path.split('.').reduce<unknown>((value, name) => (value as Record<string, unknown>)[name], config);
}

function suggestion(name: string, known: readonly string[]): string {
  const close = nearest(name, known);
  return close === undefined ? 'remove it' : `remove it, or did you mean ${close}?`;
}

/** The most similar candidate, if it needs at most two edits, or a third of the name's length. */
function nearest(name: string, candidates: readonly string[]): string | undefined {
  let best: string | undefined;
  let bestDistance = Math.max(2, Math.floor(name.length / 3)) + 1;
  for (const candidate of candidates) {
    const distance = editDistance(name, candidate);
    if (distance >= bestDistance) continue;
    best = candidate;
    bestDistance = distance;
  }
  return best;
}

/** Insertions, deletions and substitutions of a character that turn `a` into `b`. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const substitution = elementAt(row, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(substitution, elementAt(row, j) + 1, elementAt(next, j - 1) + 1));
    }
    row = next;
  }
  return elementAt(row, b.length);
}
