// The schema of the configuration. The type, the check of every value, and the environment variable
// of every key derive from it (`webhooks.retrySeconds` is PAYMENTS_WEBHOOKS_RETRY_SECONDS). A value
// that may be absent is `null`; groups are one level deep. `config.ts` loads the values.

import { type Static, type TSchema, Type } from 'typebox';
import { shardMibMax, shardMibMin } from '../shard/memory.ts';
import { shardsMax } from '../shard/shard-map.ts';

/** More threads than any machine needs. */
export const edgesMax = 64;
export const webhookThreadsMax = 64;
/** The most milliseconds that `setTimeout` takes. */
const timerMsMax = 2_147_483_647;

const text = (description: string) => Type.String({ minLength: 1, description });
const optionalText = (description: string) =>
  Type.Union([Type.String({ minLength: 1 }), Type.Null()], { description });
const optionalCount = (minimum: number, maximum: number, description: string) =>
  Type.Union([Type.Integer({ minimum, maximum }), Type.Null()], { description });
const count = (minimum: number, maximum: number, description: string) =>
  Type.Integer({ minimum, maximum, description });
const group = <T extends Record<string, TSchema>>(properties: T) =>
  Type.Object(properties, { additionalProperties: false });

export const configSchema = group({
  host: text('address to listen on'),
  port: count(0, 65_535, 'port to listen on; 0 takes a free one'),
  dataDir: text('folder of all data'),
  shards: count(0, shardsMax, 'shard threads; 0: one for each core that has no edge, at least one'),
  edges: count(0, edgesMax, 'threads that accept connections; 0: one for each four cores, at least one'),
  webhookThreads: count(
    0,
    webhookThreadsMax,
    'threads that deliver webhooks; 0: one for each four cores, at least one',
  ),
  logLevel: Type.Enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], {
    description: 'least severe log lines that are written',
  }),
  tlsCertFile: optionalText('certificate chain, PEM; with tlsKeyFile'),
  tlsKeyFile: optionalText('private key, PEM; with tlsCertFile'),
  secretsKeyFile: optionalText(
    'keys that seal the signing secrets; none: beside the data folder, not in production',
  ),
  baseUrl: optionalText('public address of the service; none: derived from host and port'),
  signUp: Type.Enum(['open', 'closed'], {
    description: 'who may make an organization in the dashboard: open: anybody; closed: operators alone',
  }),
  requestTimeoutMs: count(100, timerMsMax, 'a request must be answered within this time'),
  stopNoticeMs: count(
    0,
    600_000,
    'for so long a service that is told to stop serves on while /readyz fails, so that load balancers take it out first',
  ),
  connections: group({
    max: count(0, 1_000_000, 'connections at a time; 0: what the limit of open files leaves, at most 10000'),
    perAddressMax: count(
      0,
      1_000_000,
      'connections from one address (of IPv6: a /64) at a time, on Linux; 0: a twentieth of all, or 64 where that is less, but at most a quarter; pages.trustedProxies are exempt',
    ),
  }),
  memory: group({
    shardMib: count(
      0,
      shardMibMax,
      `heap of each shard thread, MiB, at least ${shardMibMin}; 0: follows the machine's memory and the number of shards`,
    ),
  }),
  mailbox: group({
    requestsMax: count(
      0,
      1_000_000,
      'reads, and as many writes and questions of pages, that may wait for a shard; 0: 8 for each MiB of memory.shardMib, at most 4096',
    ),
    mibMax: count(0, shardMibMax, 'MiB that they take; 0: an eighth of memory.shardMib'),
    organizationPercent: count(
      1,
      100,
      'what one organization may use of each, as long as others leave it free',
    ),
  }),
  journal: group({
    url: optionalText(
      'PostgreSQL servers that hold the log, too, as postgresql://user@host-a,host-b/database, or several such databases by ranges of partitions, as 0-15=URL 16-31=URL; none: the data folder alone holds it',
    ),
    passwordFile: optionalText('file with the password for journal.url; none: PGPASSWORD, if that is set'),
    caFile: optionalText('certificates that sign those of the servers of journal.url, PEM; none: no TLS'),
    single: Type.Boolean({
      description:
        'whether one PostgreSQL without standbys is wanted: its disk is then all that holds the log besides this machine',
    }),
    segmentBytesMax: count(1_048_576, 68_719_476_736, 'size at which a log segment is closed'),
    logBytesMax: count(
      67_108_864,
      Number.MAX_SAFE_INTEGER,
      'bytes that the log of a shard takes, about; beyond, stored responses move to the checkpoint early',
    ),
    stalledCommitSeconds: count(1, 3_600, '/readyz fails while a commit takes longer than this'),
    checkpointIntervalMs: count(10, timerMsMax, 'longest time between two checkpoints'),
    scrubSeconds: count(0, 31_536_000, 'time in which all that is stored is read and checked once; 0: never'),
  }),
  cluster: group({
    node: optionalText(
      'name of this node among those that share the service over journal.url; none: this one is alone',
    ),
    address: optionalText(
      'host:port at which the other nodes reach this one; none: they can not pass requests on to it',
    ),
    link: optionalText(
      'host:port at which the other nodes reach this one, to have it run partitions and with requests for those; none: it runs none for others',
    ),
    certFile: optionalText(
      'certificate of this node for links, PEM; with cluster.keyFile and cluster.caFile; none: links go by the secrets key',
    ),
    keyFile: optionalText('private key of cluster.certFile, PEM'),
    caFile: optionalText('authorities that sign the certificates of the nodes, PEM'),
    beatMs: count(50, 60_000, 'time between two beats of the lease'),
    trustMs: count(
      200,
      240_000,
      'a node believes that it has the lease for so long from sending a beat; at least three beats',
    ),
    takeMs: count(
      300,
      300_000,
      'a lease whose beat has not changed for so long is taken; at least a quarter longer than cluster.trustMs',
    ),
  }),
  logArchive: group({
    dir: optionalText('folder into which the log is archived as it grows; none: it is not archived'),
    command: optionalText(
      'shell command that carries each archived file away; it gets the path in PAYMENTS_ARCHIVE_FILE and the name in PAYMENTS_ARCHIVE_NAME',
    ),
    maxAgeSeconds: count(1, 86_400, 'a change is archived when it has this age, at the latest'),
    recipients: Type.Array(Type.String(), {
      description: 'public keys of age for which the archive is encrypted; empty: not encrypted',
    }),
  }),
  simulator: group({
    latencyMs: count(0, 3_600_000, 'time that the simulated networks take to answer'),
    refundSettleMs: count(
      0,
      timerMsMax,
      'time until a simulated refund, or a card payment that lingers, is settled',
    ),
  }),
  networks: group({
    doubtSeconds: count(
      1,
      86_400,
      'time until a refund or a capture that was not answered is sent again, when it is not known at a network that may make it twice',
    ),
  }),
  attempts: group({
    cardAttemptSeconds: count(1, 86_400, 'life of a card page'),
    cashCodeSeconds: count(1, 2_592_000, 'life of a cash code'),
  }),
  events: group({
    keptDays: count(4, 3_650, 'days for which events can be listed; longer than they are retried'),
  }),
  requestLogs: group({
    keptDays: count(0, 365, 'days for which the request logs of organizations are kept; 0: there are none'),
    mibMax: count(
      1,
      1_048_576,
      'MiB that they take for each organization and mode; beyond, the oldest are dropped',
    ),
  }),
  pages: group({
    visitsPerMinute: count(1, 1_000_000, 'page visits allowed to one address'),
    trustedProxies: Type.Array(Type.String(), { description: 'proxies whose X-Forwarded-For is believed' }),
  }),
  dashboard: group({
    sessionIdleMinutes: count(5, 43_200, 'a session ends when it is not used for so long'),
    sessionDays: count(1, 90, 'a session ends so long after its sign-in, in any case'),
    hashCost: count(
      10,
      15,
      'what a password takes to hash: scrypt with 2 to this power as N; less than 15 is for tests, and refused in production',
    ),
  }),
  audit: group({
    keptDays: count(
      30,
      36_500,
      'days for which actions are kept in the audit record; whole files of 64 MiB go',
    ),
  }),
  mail: group({
    url: optionalText(
      'how mails are sent: smtp://host:port, smtps://host:port, and for development file:///folder or log:; none: not at all',
    ),
    from: optionalText('address that mails come from'),
    user: optionalText('name at the SMTP server; with mail.passwordFile'),
    passwordFile: optionalText('file with the password at the SMTP server; with mail.user'),
  }),
  metrics: group({
    host: text('address that serves the metrics over HTTP'),
    port: optionalCount(
      0,
      65_535,
      'port that serves the metrics over HTTP; 0 takes a free one; none: not served',
    ),
  }),
  webhooks: group({
    retrySeconds: Type.Array(Type.Number({ minimum: 0, maximum: 2_592_000 }), {
      maxItems: 100,
      description: 'waits after the first attempt and between the retries',
    }),
    timeoutMs: count(1, timerMsMax, 'longest time for one attempt'),
    concurrency: count(1, 65_536, 'attempts in flight in all'),
    allowPrivate: Type.Boolean({ description: 'deliver to private addresses; not in production' }),
    allowHttp: Type.Boolean({ description: 'deliver to http:// addresses; not in production' }),
    caFile: optionalText('certificates trusted besides the public ones, PEM; not in production'),
    dnsServers: Type.Array(Type.String(), { description: "name servers; empty: the system's" }),
    attemptsKeptDays: count(1, 3_650, 'days for which delivery attempts stay listed'),
    attemptsKeptMax: count(
      64,
      100_000_000,
      'attempts that are kept of an organization in a mode; beyond, the oldest go. First attempts that succeed do not count',
    ),
    answersKeptMax: count(
      1,
      100_000_000,
      'how many of these attempts, the newest, keep the beginning of the answer',
    ),
  }),
});

export type Config = Static<typeof configSchema>;

/** One key of the configuration: its path, its environment variable and the schema of its value. */
export interface ConfigKey {
  readonly path: string;
  readonly variable: string;
  readonly schema: TSchema;
  readonly description: string;
}

/** Every key, in the order of the schema. */
export const configKeys: readonly ConfigKey[] = keysOf(configSchema, '');

export function isGroup(schema: TSchema): schema is TSchema & { properties: Record<string, TSchema> } {
  return Type.IsObject(schema);
}

/** The environment variable of a key: PAYMENTS_WEBHOOKS_RETRY_SECONDS for webhooks.retrySeconds. */
export function variableOf(path: string): string {
  const snake = path.replaceAll('.', '_').replace(/[A-Z]/g, (letter) => `_${letter}`);
  return `PAYMENTS_${snake.toUpperCase()}`;
}

/** What the schema of a value may have. One that may be absent is a union with null at the end. */
export interface AnySchema extends TSchema {
  readonly type?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly items?: AnySchema;
  readonly anyOf?: readonly [AnySchema, ...AnySchema[]];
  readonly description?: string;
}

/** What a value must be, in words: "an integer from 0 to 65535". */
export function expectationOf(schema: TSchema): string {
  const { anyOf, type, minimum, maximum, items }: AnySchema = schema;
  if (anyOf !== undefined) return `${expectationOf(anyOf[0])}, or nothing`;
  if (type === 'integer') return `an integer from ${minimum} to ${maximum}`;
  if (type === 'number') return `a number from ${minimum} to ${maximum}`;
  if (type === 'boolean') return 'true or false';
  if (Type.IsEnum(schema)) return `one of ${schema.enum.join(', ')}`;
  if (items !== undefined)
    return Type.IsNumber(items) ? `a list, each ${expectationOf(items)}` : 'a list of texts';
  return 'a text that is not empty';
}

function keysOf(schema: TSchema, prefix: string): ConfigKey[] {
  if (isGroup(schema)) {
    return Object.entries(schema.properties).flatMap(([name, property]) =>
      keysOf(property, prefix === '' ? name : `${prefix}.${name}`),
    );
  }
  const { description = '' }: AnySchema = schema;
  return [{ path: prefix, variable: variableOf(prefix), schema, description }];
}
