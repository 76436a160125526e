import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { baseUrlOf, checkFiles, describeConfig, loadConfig } from '../../src/config/config.ts';
import { configKeys, variableOf } from '../../src/config/config-schema.ts';
import { ConfigError } from '../../src/config/settings.ts';
import { shardCountOf, withThreads } from '../../src/config/sizing.ts';
import { certifyNode } from '../../src/operator/use-cases/certify-node.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { createAuthority } from '../webhooks/certificates.ts';

const configDir = fileURLToPath(new URL('../../config', import.meta.url));
const folder = temporaryFolder();

/** A folder of configuration files: the shipped default with `changes`, and the three others with theirs. */
function configFolder(changes: { default?: object; development?: string }): string {
  const dir = temporaryFolder();
  const { dataDir, shards, ...shipped } = loadConfig({}, configDir);
  writeFileSync(
    join(dir, 'default.json'),
    JSON.stringify({ dataDir, shards, ...shipped, ...changes.default }),
  );
  writeFileSync(join(dir, 'development.json'), changes.development ?? '{}');
  return dir;
}

describe('loadConfig', () => {
  test('defaults', () => {
    const config = loadConfig({}, configDir);
    assert.equal(config.host, '127.0.0.1');
    assert.equal(config.port, 8080);
    assert.equal(config.dataDir, resolve('data'));
    assert.equal(config.edges, 0);
    assert.equal(config.baseUrl, null);
    assert.deepEqual(config.webhooks.retrySeconds, [5, 300, 1800, 7200, 18000, 36000, 50400, 64800, 79200]);
    assert.equal(config.webhooks.allowPrivate, false);
    assert.equal(config.attempts.cashCodeSeconds, 259_200);
  });

  test('each environment has a file that loads', () => {
    for (const name of ['development', 'test', 'production']) loadConfig({ NODE_ENV: name }, configDir);
    assert.equal(loadConfig({ NODE_ENV: 'test' }, configDir).port, 0);
    assert.equal(loadConfig({ NODE_ENV: '' }, configDir).logLevel, 'debug');
  });

  test('what commands are given, on the command line and by the archive, is none of its variables', () => {
    const given = {
      PAYMENTS_API_KEY: 'svc_sk_test_x',
      PAYMENTS_ARCHIVE_FILE: '/archive/1.log',
      PAYMENTS_ARCHIVE_NAME: '1.log',
    };
    assert.deepEqual(loadConfig(given, configDir), loadConfig({}, configDir));
  });

  const accepted: [variable: string, text: string, path: string, value: unknown][] = [
    ['PAYMENTS_HOST', '0.0.0.0', 'host', '0.0.0.0'],
    ['PAYMENTS_PORT', '0', 'port', 0],
    ['PAYMENTS_DATA_DIR', '/var/lib/payments', 'dataDir', '/var/lib/payments'],
    ['PAYMENTS_DATA_DIR', 'here', 'dataDir', resolve('here')],
    ['PAYMENTS_SHARDS', '3', 'shards', 3],
    ['PAYMENTS_EDGES', '2', 'edges', 2],
    ['PAYMENTS_WEBHOOK_THREADS', '2', 'webhookThreads', 2],
    ['PAYMENTS_MEMORY_SHARD_MIB', '512', 'memory.shardMib', 512],
    ['PAYMENTS_LOG_LEVEL', 'warn', 'logLevel', 'warn'],
    ['PAYMENTS_BASE_URL', 'https://pay.example.ma', 'baseUrl', 'https://pay.example.ma'],
    ['PAYMENTS_BASE_URL', '', 'baseUrl', null],
    ['PAYMENTS_SIMULATOR_LATENCY_MS', '250', 'simulator.latencyMs', 250],
    ['PAYMENTS_WEBHOOKS_RETRY_SECONDS', '5, 300,0.5', 'webhooks.retrySeconds', [5, 300, 0.5]],
    ['PAYMENTS_WEBHOOKS_RETRY_SECONDS', '', 'webhooks.retrySeconds', []],
    ['PAYMENTS_WEBHOOKS_ALLOW_PRIVATE', 'true', 'webhooks.allowPrivate', true],
    ['PAYMENTS_WEBHOOKS_ALLOW_HTTP', '1', 'webhooks.allowHttp', true],
    ['PAYMENTS_WEBHOOKS_CA_FILE', '/etc/ca.pem', 'webhooks.caFile', '/etc/ca.pem'],
    [
      'PAYMENTS_WEBHOOKS_DNS_SERVERS',
      '127.0.0.1:5353,::1,[::1]:5353',
      'webhooks.dnsServers',
      ['127.0.0.1:5353', '::1', '[::1]:5353'],
    ],
    ['PAYMENTS_PAGES_TRUSTED_PROXIES', '10.0.0.0/8', 'pages.trustedProxies', ['10.0.0.0/8']],
  ];
  for (const [variable, text, path, value] of accepted) {
    test(`${variable}=${text}`, () => {
      const described = describeConfig(loadConfig({ [variable]: text }, configDir));
      assert.deepEqual(described.find((key) => key.key === path)?.value, value);
    });
  }

  test('an environment variable wins over the file of the environment, and that over the default', () => {
    assert.equal(loadConfig({ NODE_ENV: 'test', PAYMENTS_PORT: '9000' }, configDir).port, 9000);
    const dir = configFolder({ development: '{"pages":{"visitsPerMinute":7}}' });
    assert.equal(loadConfig({}, dir).pages.visitsPerMinute, 7);
    assert.deepEqual(loadConfig({}, dir).pages.trustedProxies, []);
  });

  const production = { NODE_ENV: 'production' };
  const inCluster = {
    PAYMENTS_HOST: '10.0.0.1',
    PAYMENTS_METRICS_HOST: '10.0.0.1',
    PAYMENTS_JOURNAL_URL: 'postgresql://payments@a,b/payments',
    PAYMENTS_CLUSTER_NODE: 'a',
    PAYMENTS_CLUSTER_LINK: 'a.internal:9000',
  };
  const refused: [env: Record<string, string>, message: RegExp][] = [
    [{ NODE_ENV: 'prod' }, /^NODE_ENV is "prod": set it to one of development, test, production/],
    [{ PAYMENTS_PORT: 'http' }, /^PAYMENTS_PORT is "http": it must be an integer from 0 to 65535/],
    [{ PAYMENTS_PORT: '65536' }, /^PAYMENTS_PORT is 65536: it must be an integer/],
    [{ PAYMENTS_PORT: '80.5' }, /^PAYMENTS_PORT is 80.5: /],
    [{ PAYMENTS_PORT: '' }, /^PAYMENTS_PORT is "": /],
    [{ PAYMENTS_HOST: '' }, /^PAYMENTS_HOST is "": it must be a text/],
    [{ PAYMENTS_LOG_LEVEL: 'loud' }, /^PAYMENTS_LOG_LEVEL is "loud": it must be one of trace, debug/],
    [
      { PAYMENTS_WEBHOOKS_ALLOW_HTTP: 'maybe' },
      /^PAYMENTS_WEBHOOKS_ALLOW_HTTP is "maybe": it must be true or/,
    ],
    [
      { PAYMENTS_WEBHOOKS_RETRY_SECONDS: '5,x' },
      /^PAYMENTS_WEBHOOKS_RETRY_SECONDS is \[5,"x"\]: .* a list, each/,
    ],
    [{ PAYMENTS_MEMORY_SHARD_MIB: '63' }, /^PAYMENTS_MEMORY_SHARD_MIB is 63: it must be at least 64, or 0/],
    [
      { PAYMENTS_MEMORY_SHARD_MIB: '-1' },
      /^PAYMENTS_MEMORY_SHARD_MIB is -1: it must be an integer from 0 to/,
    ],
    [
      { PAYMENTS_MEMORY_SHARD_MIB: '512M' },
      /^PAYMENTS_MEMORY_SHARD_MIB is "512M": it must be an integer from 0/,
    ],
    [{ PAYMENTS_PROT: '1' }, /^PAYMENTS_PROT is not a known variable: .*did you mean PAYMENTS_PORT\?$/],
    [{ PAYMENTS_WEBHOOK_TIMEOUT_MS: '1' }, /did you mean PAYMENTS_WEBHOOKS_TIMEOUT_MS\?$/],
    [{ PAYMENTS_ZZZZZZZZZZZZZZZZ: '1' }, /^PAYMENTS_ZZZZZZZZZZZZZZZZ is not a known variable: remove it/],
    [
      { PAYMENTS_TLS_CERT_FILE: 'a' },
      /^PAYMENTS_TLS_CERT_FILE is set without PAYMENTS_TLS_KEY_FILE: set both, or neither$/,
    ],
    [{ PAYMENTS_TLS_KEY_FILE: 'a' }, /^PAYMENTS_TLS_KEY_FILE is set without PAYMENTS_TLS_CERT_FILE/],
    [
      { ...production, PAYMENTS_WEBHOOKS_ALLOW_PRIVATE: 'true' },
      /^PAYMENTS_WEBHOOKS_ALLOW_PRIVATE is set, which/,
    ],
    [{ ...production, PAYMENTS_WEBHOOKS_ALLOW_HTTP: 'true' }, /refused with NODE_ENV=production: unset it$/],
    [{ ...production, PAYMENTS_WEBHOOKS_CA_FILE: 'ca' }, /^PAYMENTS_WEBHOOKS_CA_FILE is set/],
    [{ ...production, PAYMENTS_DASHBOARD_HASH_COST: '14' }, /_COST is 14: with .* it must be at least 15$/],
    [{ PAYMENTS_BASE_URL: 'pay.example.ma' }, /^PAYMENTS_BASE_URL is "pay.example.ma": it must be an http/],
    [{ PAYMENTS_BASE_URL: 'https://u:p@pay.example.ma' }, /^PAYMENTS_BASE_URL is/],
    [{ PAYMENTS_WEBHOOKS_DNS_SERVERS: '::1,dns.example' }, /^PAYMENTS_WEBHOOKS_DNS_SERVERS is "dns.example"/],
    [{ PAYMENTS_PAGES_TRUSTED_PROXIES: '10.0.0.0/33' }, /^PAYMENTS_PAGES_TRUSTED_PROXIES is/],
    [
      { PAYMENTS_PORT: '9464', PAYMENTS_METRICS_PORT: '9464' },
      /^PAYMENTS_METRICS_PORT has port 9464, and so has PAYMENTS_PORT: choose another$/,
    ],
    [
      { PAYMENTS_HOST: '0.0.0.0', PAYMENTS_METRICS_PORT: '8080' },
      /^PAYMENTS_METRICS_PORT has port 8080, and so has "port" in .*default\.json/,
    ],
    [
      { ...inCluster, PAYMENTS_METRICS_PORT: '9000' },
      /^PAYMENTS_CLUSTER_LINK has port 9000, and so has PAYMENTS_METRICS_PORT/,
    ],
    [
      { ...inCluster, PAYMENTS_PORT: '9000' },
      /^PAYMENTS_CLUSTER_LINK has port 9000, and so has PAYMENTS_PORT/,
    ],
    [
      { PAYMENTS_CLUSTER_TRUST_MS: '1499' },
      /^PAYMENTS_CLUSTER_TRUST_MS is 1499 and "cluster.beatMs" in .*default\.json is 500: .* three times/,
    ],
    [
      { PAYMENTS_CLUSTER_TAKE_MS: '2499' },
      /^PAYMENTS_CLUSTER_TAKE_MS is 2499 and "cluster.trustMs" in .* is 2000: it must be at least a quarter longer$/,
    ],
    [{ PAYMENTS_CLUSTER_NODE: 'a' }, /^PAYMENTS_CLUSTER_NODE is set without PAYMENTS_JOURNAL_URL: set both$/],
    [
      { ...inCluster, PAYMENTS_CLUSTER_ADDRESS: 'a.internal' },
      /^PAYMENTS_CLUSTER_ADDRESS is "a.internal": it must be host:port$/,
    ],
    ...['data', 'data/archive', './data/../data/..archive'].map((dir): [Record<string, string>, RegExp] => [
      { PAYMENTS_LOG_ARCHIVE_DIR: dir },
      /^PAYMENTS_LOG_ARCHIVE_DIR is \S+, which is in the data folder and would be lost with it/,
    ]),
    [
      { PAYMENTS_EVENTS_KEPT_DAYS: '4', PAYMENTS_WEBHOOKS_RETRY_SECONDS: '60,345600' },
      /^PAYMENTS_EVENTS_KEPT_DAYS is 4, and with PAYMENTS_WEBHOOKS_RETRY_SECONDS an event is retried for up to 5 days: keep/,
    ],
  ];
  for (const [env, message] of refused) {
    test(`refuses ${JSON.stringify(env)}`, () => refusal(() => loadConfig(env, configDir), message));
  }

  const side: Record<string, string>[] = [
    { PAYMENTS_HOST: '10.0.0.1', PAYMENTS_METRICS_PORT: '8080' },
    { PAYMENTS_PORT: '0', PAYMENTS_METRICS_PORT: '0' },
    { PAYMENTS_CLUSTER_TRUST_MS: '1500', PAYMENTS_CLUSTER_TAKE_MS: '1875' },
    { PAYMENTS_EVENTS_KEPT_DAYS: '4' },
    { PAYMENTS_LOG_ARCHIVE_DIR: 'data-archive' },
    { PAYMENTS_DATA_DIR: '/srv/data', PAYMENTS_LOG_ARCHIVE_DIR: '/srv' },
  ];
  for (const env of side) test(`takes ${JSON.stringify(env)}`, () => assert.ok(loadConfig(env, configDir)));

  test('production allows what is switched off explicitly', () => {
    const { webhooks } = loadConfig(
      { ...production, PAYMENTS_WEBHOOKS_ALLOW_PRIVATE: 'false', PAYMENTS_WEBHOOKS_CA_FILE: '' },
      configDir,
    );
    assert.deepEqual([webhooks.allowPrivate, webhooks.caFile], [false, null]);
  });

  const files: [changes: Parameters<typeof configFolder>[0], message: RegExp][] = [
    [{ default: { prot: 1 } }, /^"prot" in .*default\.json is not a known key: .*did you mean port\?$/],
    [{ default: { pages: { visitPerMinute: 1 } } }, /^"pages.visitPerMinute" in .*pages.visitsPerMinute\?$/],
    [{ default: { __proto__x: 1 } }, /^"__proto__x" in /],
    [{ default: { pages: 3 } }, /^"pages" in .*default\.json must be an object/],
    [{ default: { port: '80' } }, /^"port" in .*default\.json is "80": it must be an integer/],
    [{ default: { port: undefined } }, /^"port" is missing in .*default\.json: add it there$/],
    [{ development: '{"__proto__":{}}' }, /^"__proto__" in .*development\.json is not a known key/],
    [{ development: '[]' }, /development\.json must be an object/],
    [{ development: '{"port":}' }, /development\.json can't be read as JSON/],
  ];
  for (const [changes, message] of files) {
    test(`refuses a file with ${JSON.stringify(changes)}`, () =>
      refusal(() => loadConfig({}, configFolder(changes)), message));
  }

  test('refuses a folder without files', () => {
    refusal(() => loadConfig({}, join(folder, 'nowhere')), /default\.json can't be read as JSON \(ENOENT/);
  });
});

test('every key has a variable of its own', () => {
  assert.equal(variableOf('webhooks.retrySeconds'), 'PAYMENTS_WEBHOOKS_RETRY_SECONDS');
  assert.equal(new Set(configKeys.map((key) => key.variable)).size, configKeys.length);
  assert.ok(configKeys.every((key) => key.description !== ''));
});

test('checkFiles names the variable of a file that is not there, or holds no certificate', () => {
  const caFile = join(folder, 'ca.pem');
  const config = loadConfig({ PAYMENTS_WEBHOOKS_CA_FILE: caFile }, configDir);
  refusal(() => checkFiles(config), /^PAYMENTS_WEBHOOKS_CA_FILE names .*ca\.pem, which does not exist/);
  for (const text of ['', '127.0.0.1 localhost\n']) {
    writeFileSync(caFile, text);
    refusal(() => checkFiles(config), /^PAYMENTS_WEBHOOKS_CA_FILE names a file that can't be used for TLS/);
  }
  const authority = createAuthority().cert;
  writeFileSync(caFile, `${authority}\n${createAuthority().cert}`);
  checkFiles(config);
});

test('a node starts with a certificate of its own alone', () => {
  const at = join(temporaryFolder(), 'authority');
  const [a, b] = [certifyNode(at, 'a', new Date()), certifyNode(at, 'b', new Date())];
  const files = {
    PAYMENTS_CLUSTER_CERT_FILE: a.certificate,
    PAYMENTS_CLUSTER_KEY_FILE: a.key,
    PAYMENTS_CLUSTER_CA_FILE: a.authority,
  };
  const env = {
    PAYMENTS_JOURNAL_URL: 'postgresql://payments@127.0.0.1:1/payments',
    PAYMENTS_CLUSTER_NODE: 'a',
    PAYMENTS_CLUSTER_LINK: '127.0.0.1:9000',
  };
  const check = (given: object) => checkFiles(loadConfig({ ...env, ...given }, configDir));
  check({});
  check(files);
  for (const variable of Object.keys(files)) {
    refusal(
      () => check({ ...files, [variable]: '' }),
      /_FILE is set without PAYMENTS_CLUSTER_\w+_FILE: set both/,
    );
    refusal(
      () => check({ ...files, [variable]: join(at, 'none') }),
      new RegExp(`^${variable} names .*none, which does not exist`),
    );
  }
  refusal(
    () => check({ ...files, PAYMENTS_CLUSTER_KEY_FILE: b.key }),
    /^PAYMENTS_CLUSTER_KEY_FILE names a file that can't be used for TLS/,
  );
  refusal(
    () => check({ ...files, PAYMENTS_CLUSTER_NODE: 'b' }),
    /^PAYMENTS_CLUSTER_CERT_FILE names .*node-a\.pem, which is not that of node b: b\.payments-node\.internal is/,
  );
  const other = certifyNode(join(temporaryFolder(), 'authority'), 'a', new Date());
  refusal(
    () => check({ ...files, PAYMENTS_CLUSTER_CA_FILE: other.authority }),
    /^PAYMENTS_CLUSTER_CERT_FILE names .*node-a\.pem, which no authority in the file of PAYMENTS_CLUSTER_CA_FILE/,
  );
});

test('shardCountOf', () => {
  const config = loadConfig({}, configDir);
  assert.equal(shardCountOf({ ...config, shards: 3 }, 8), 3);
  assert.equal(shardCountOf({ ...config, edges: 3 }, 8), 5);
});

const machines: readonly (readonly [cores: number, edges: number, shards: number])[] = [
  [1, 1, 1],
  [2, 1, 1],
  [4, 1, 3],
  [8, 2, 6],
  [16, 4, 12],
  [512, 64, 64],
];
for (const [cores, edges, shards] of machines) {
  test(`a machine of ${cores} cores has ${edges} edges, as many webhook threads and ${shards} shards, unless told otherwise`, () => {
    const config = loadConfig({}, configDir);
    assert.equal(withThreads(config, cores).edges, edges);
    assert.equal(shardCountOf(config, cores), shards);
    assert.equal(withThreads(config, cores).webhookThreads, edges);
    const given = withThreads({ ...config, edges: 3, webhookThreads: 5 }, cores);
    assert.deepEqual([given.edges, given.webhookThreads], [3, 5]);
  });
}

test('baseUrlOf', () => {
  const config = loadConfig({}, configDir);
  assert.equal(baseUrlOf(config, 8080), 'http://127.0.0.1:8080');
  assert.equal(baseUrlOf({ ...config, host: '::1', tlsCertFile: '/c' }, 443), 'https://[::1]:443');
  assert.equal(baseUrlOf({ ...config, host: '0.0.0.0' }, 80), 'http://localhost:80');
  assert.equal(baseUrlOf({ ...config, baseUrl: 'https://pay.example.ma/' }, 1), 'https://pay.example.ma');
});

function refusal(run: () => unknown, message: RegExp): void {
  assert.throws(run, (error) => {
    assert.ok(error instanceof ConfigError);
    assert.match(error.message, message);
    assert.ok(!error.message.includes('\n'), 'one line');
    return true;
  });
}

test('the example of a cluster sets variables that there are, and brings the files that it names', () => {
  const cluster = join(import.meta.dirname, '../../config/cluster');
  const example = readFileSync(join(cluster, 'compose.yml'), 'utf8');
  const named = new Set([...example.matchAll(/PAYMENTS_\w+/g)].map(([name]) => name));
  assert.ok(named.size >= 6, [...named].join());
  const known = new Set<string>(configKeys.map(({ variable }) => variable));
  assert.deepEqual(
    [...named].filter((name) => !known.has(name)),
    [],
  );
  for (const [, file] of example.matchAll(/'\.\/([^:]+):/g))
    assert.ok(existsSync(join(cluster, file!)), file);
});
