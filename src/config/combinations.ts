// What values of the configuration must be like besides their type, and which go together.

import { isIP, isIPv4 } from 'node:net';
import { takeMargin } from '../cluster/lease.ts';
import { parseNodeAddress } from '../cluster/node.ts';
import { jitteredMost } from '../core/jitter.ts';
import { checkRecipient } from '../disk/age-recipient.ts';
import { isWithin } from '../disk/is-within.ts';
import { isMailUrl, isSenderAddress } from '../mail/mail-url.ts';
import { parseJournalDatabases } from '../postgresql/journal-url.ts';
import { shardMibMin } from '../shard/memory.ts';
import { variableOf } from './config-schema.ts';
import { ConfigError, type Environment, type Setting, type Settings, settingOf } from './settings.ts';

/** Keys that are of no use without another one. */
const needed: readonly (readonly [path: string, needs: string])[] = [
  ['mail.url', 'mail.from'],
  ['journal.passwordFile', 'journal.url'],
  ['journal.caFile', 'journal.url'],
  ['journal.single', 'journal.url'],
  ['cluster.node', 'journal.url'],
  ['cluster.address', 'journal.url'],
  ['cluster.link', 'cluster.node'],
  ['cluster.certFile', 'cluster.link'],
];
const pairs = [
  ['tlsCertFile', 'tlsKeyFile'],
  ['cluster.certFile', 'cluster.keyFile'],
  ['cluster.certFile', 'cluster.caFile'],
  ['mail.user', 'mail.passwordFile'],
] as const;
const forDevelopment = ['webhooks.allowPrivate', 'webhooks.allowHttp', 'webhooks.caFile'];
/** Passwords whose hashes get out are safe from guesses by what a guess takes. */
const hashCostMin = 15;

/** Refuses values that contradict each other or the environment, and malformed addresses. */
export function refuseCombinations(settings: Settings, environment: Environment): void {
  const setting = (path: string) => settingOf(settings, path);
  const refuseAlone = (path: string, absent: string, remedy: string) => {
    if (setting(path).value && setting(absent).value === null)
      throw new ConfigError(`${setting(path).where} is set without ${variableOf(absent)}: ${remedy}`);
  };
  for (const [one, other] of pairs) {
    refuseAlone(one, other, 'set both, or neither');
    refuseAlone(other, one, 'set both, or neither');
  }
  for (const [path, needs] of needed) refuseAlone(path, needs, 'set both');
  for (const path of forDevelopment) {
    const { value, where } = setting(path);
    if (environment === 'production' && value !== false && value !== null)
      throw new ConfigError(`${where} is set, which is refused with NODE_ENV=production: unset it`);
  }
  const hashCost = setting('dashboard.hashCost');
  if (environment === 'production' && Number(hashCost.value) < hashCostMin)
    throw new ConfigError(
      `${hashCost.where} is ${hashCost.value}: with NODE_ENV=production it must be at least ${hashCostMin}`,
    );
  const { value: shardMib, where } = setting('memory.shardMib');
  if (typeof shardMib === 'number' && shardMib !== 0 && shardMib < shardMibMin)
    throw new ConfigError(`${where} is ${shardMib}: it must be at least ${shardMibMin}, or 0`);
  refuseSamePort(settings);
  const [archive, dataDir] = [setting('logArchive.dir'), setting('dataDir')];
  if (typeof archive.value === 'string' && isWithin(String(dataDir.value), archive.value))
    throw new ConfigError(
      `${archive.where} is ${archive.value}, which is in the data folder and would be lost with it: name a folder on another disk`,
    );
  refuseEarlyRetention(setting('events.keptDays'), setting('webhooks.retrySeconds'));
  refuseLeaseTimes(setting('cluster.beatMs'), setting('cluster.trustMs'), setting('cluster.takeMs'));
  refuseJournalUrl(setting('journal.url'));
  for (const path of ['cluster.address', 'cluster.link'])
    refuseForm(setting(path), (text) => parseNodeAddress(text) !== null, 'host:port');
  refuseForm(setting('mail.url'), isMailUrl, 'smtp://host:port, smtps://host:port, file:///folder or log:');
  refuseForm(setting('mail.from'), isSenderAddress, 'an e-mail address');
  refuseForm(setting('baseUrl'), isBaseUrl, 'an http:// or https:// address without user, query or fragment');
  refuseForm(setting('webhooks.dnsServers'), isNameServer, 'IP addresses, each with a port if not 53');
  refuseForm(setting('logArchive.recipients'), isRecipient, 'public keys of age, such as age1…');
  refuseForm(setting('pages.trustedProxies'), isNetwork, 'IP addresses or networks such as 10.0.0.0/8');
}

const everywhere = ['0.0.0.0', '::'];

/** What listens on a port that is taken ends at each start, and is started again. */
function refuseSamePort(settings: Settings): void {
  const setting = (path: string) => settingOf(settings, path);
  const { value: host } = setting('host');
  const link = setting('cluster.link');
  const listening = [
    { ...setting('port'), host },
    { ...setting('metrics.port'), host: setting('metrics.host').value },
    { ...link, value: typeof link.value === 'string' ? parseNodeAddress(link.value)?.port : null, host },
  ].filter(({ value }) => typeof value === 'number' && value > 0);
  for (const [i, one] of listening.entries())
    for (const other of listening.slice(0, i)) {
      const hosts = [one.host, other.host];
      const meet = one.host === other.host || hosts.some((each) => everywhere.includes(String(each)));
      if (one.value === other.value && meet)
        throw new ConfigError(
          `${one.where} has port ${one.value}, and so has ${other.where}: choose another`,
        );
    }
}

const daySeconds = 86_400;
/** A delivery whose event is gone ends, although it was to be tried again. */
function refuseEarlyRetention(kept: Setting, retries: Setting): void {
  const seconds = (retries.value as readonly number[]).reduce((sum, each) => sum + each, 0);
  const days = Math.ceil((seconds * jitteredMost) / daySeconds);
  if (Number(kept.value) < days)
    throw new ConfigError(
      `${kept.where} is ${kept.value}, and with ${retries.where} an event is retried for up to ${days} days: keep events for as long`,
    );
}

/** So that a beat may be lost, and that two nodes never believe themselves at a time. */
function refuseLeaseTimes(beat: Setting, trust: Setting, take: Setting): void {
  const [beatMs, trustMs, takeMs] = [Number(beat.value), Number(trust.value), Number(take.value)];
  if (trustMs < 3 * beatMs)
    throw new ConfigError(
      `${trust.where} is ${trustMs} and ${beat.where} is ${beatMs}: it must be at least three times as long`,
    );
  if (takeMs < takeMargin * trustMs)
    throw new ConfigError(
      `${take.where} is ${takeMs} and ${trust.where} is ${trustMs}: it must be at least a quarter longer`,
    );
}

function refuseForm(setting: Setting, isValid: (text: string) => boolean, expected: string): void {
  const values = [setting.value].flat().filter((value) => typeof value === 'string');
  const wrong = values.find((value) => !isValid(value));
  if (wrong === undefined) return;
  throw new ConfigError(`${setting.where} is ${JSON.stringify(wrong)}: it must be ${expected}`);
}

function refuseJournalUrl({ value, where }: Setting): void {
  if (typeof value !== 'string') return;
  const databases = parseJournalDatabases(value);
  // What is wrong may be the password, which is not shown.
  if (typeof databases === 'string') throw new ConfigError(`${where} ${databases}`);
}

function isBaseUrl(text: string): boolean {
  return /^https?:\/\/[^\s@?#]+$/.test(text) && URL.canParse(text);
}

function isNameServer(text: string): boolean {
  const [, address = text, port = '53'] =
    /^\[(.+)\](?::(\d+))?$/.exec(text) ?? /^([\d.]+):(\d+)$/.exec(text) ?? [];
  return isIP(address) !== 0 && Number(port) > 0 && Number(port) <= 65_535;
}

function isRecipient(text: string): boolean {
  try {
    checkRecipient(text);
    return true;
  } catch {
    return false;
  }
}

function isNetwork(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/');
  if (isIP(address) === 0 || rest.length > 0) return false;
  return bits === undefined || (/^\d+$/.test(bits) && Number(bits) <= (isIPv4(address) ? 32 : 128));
}
