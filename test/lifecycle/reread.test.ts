// SIGHUP applies changes of the configuration files while the service runs. Over real TLS, open connections stay as they
// are, new ones get the new certificate, and a file that can't be used changes nothing.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { connect, type TLSSocket } from 'node:tls';
import { loadConfig } from '../../src/config/config.ts';
import type { Config } from '../../src/config/config-schema.ts';
import { ConfigError } from '../../src/config/settings.ts';
import { createReread } from '../../src/lifecycle/reread.ts';
import { createLogger } from '../../src/telemetry/logger.ts';
import { type Service, startService } from '../service.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { createAuthority, type Identity } from '../webhooks/certificates.ts';

const old = createAuthority('Old authority');
const renewed = createAuthority('New authority');
const hosts = ['127.0.0.1'];

interface Files {
  readonly env: Readonly<Record<string, string>>;
  write(identity: Identity): void;
}

function certificateFiles(identity: Identity): Files {
  const folder = temporaryFolder();
  const [certFile, keyFile] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  const write = ({ cert, key }: Identity) => {
    writeFileSync(certFile, cert);
    writeFileSync(keyFile, key);
  };
  write(identity);
  const env = {
    PAYMENTS_TLS_CERT_FILE: certFile,
    PAYMENTS_TLS_KEY_FILE: keyFile,
    PAYMENTS_LOG_LEVEL: 'info',
  };
  return { env, write };
}

/** A connection whose handshake is done; whoever signed its certificate is not looked at. */
async function open(service: Service): Promise<TLSSocket> {
  const { hostname, port } = new URL(service.url);
  const socket = connect({ host: hostname, port: Number(port), rejectUnauthorized: false });
  await once(socket, 'secureConnect', { signal: AbortSignal.timeout(60_000) });
  return socket;
}

const issuerOf = (socket: TLSSocket) => String(socket.getPeerCertificate().issuer.CN);

async function issuerNow(service: Service): Promise<string> {
  const socket = await open(service);
  const issuer = issuerOf(socket);
  socket.destroy();
  return issuer;
}

async function ask(socket: TLSSocket): Promise<string> {
  socket.write('GET /healthz HTTP/1.1\r\nHost: pay\r\n\r\n');
  const [chunk] = await once(socket, 'data', { signal: AbortSignal.timeout(60_000) });
  return /^HTTP\/1\.1 (\d+)/.exec(String(chunk))![1]!;
}

/** Sends SIGHUP and waits for the line that says what came of it. */
async function hangUp(service: Service, line: RegExp): Promise<void> {
  const before = service.output().length;
  service.process.kill('SIGHUP');
  await service.until(() => line.test(service.output().slice(before)) || undefined);
}

test('new connections get a renewed certificate, on every edge, and none that is open is dropped', async () => {
  const files = certificateFiles(old.issue({ hosts }));
  const service = await startService({ env: { ...files.env, PAYMENTS_EDGES: '2' } });
  const kept = await Promise.all(Array.from({ length: 8 }, () => open(service)));
  for (const socket of kept) assert.equal(await ask(socket), '200');
  // Twice: what was put in the place of the first certificate can itself be replaced.
  for (const [authority, name] of [
    [renewed, 'New authority'],
    [old, 'Old authority'],
  ] as const) {
    files.write(authority.issue({ hosts }));
    await hangUp(service, /new connections get the certificate/);
    // Which edge a connection comes to is the kernel's choice: one of many comes to each.
    for (let i = 0; i < 12; i++) assert.equal(await issuerNow(service), name);
    for (const socket of kept) assert.equal(await ask(socket), '200');
  }
  for (const socket of kept) socket.destroy();
  assert.equal(await service.stop(), 0);
});

describe('a file that can not be used changes nothing and is named', () => {
  const good = old.issue({ hosts });
  const files = certificateFiles(good);
  let service: Service;
  before(async () => {
    service = await startService({ env: files.env });
  });

  const broken: readonly [string, Identity, RegExp][] = [
    [
      'no certificate',
      { ...good, cert: 'no certificate' },
      /PAYMENTS_TLS_CERT_FILE names .* can't be used for TLS/,
    ],
    ['an empty file', { ...good, cert: '' }, /PAYMENTS_TLS_CERT_FILE names .* can't be used for TLS/],
    [
      "another certificate's key",
      { ...good, key: renewed.issue({ hosts }).key },
      /PAYMENTS_TLS_KEY_FILE names .* can't be used for TLS/,
    ],
  ];
  for (const [what, identity, reason] of broken) {
    test(what, async () => {
      const kept = await open(service);
      files.write(identity);
      await hangUp(service, new RegExp(`${reason.source}.*stays as it is`));
      assert.equal(await ask(kept), '200');
      assert.equal(await issuerNow(service), 'Old authority');
      kept.destroy();
    });
  }

  test('and once it is mended it is taken', async () => {
    files.write(renewed.issue({ hosts }));
    await hangUp(service, /new connections get the certificate/);
    assert.equal(await issuerNow(service), 'New authority');
    assert.equal(await service.stop(), 0);
  });
});

test('what can change while it runs is applied, what can not is named, and a wrong file changes nothing', async () => {
  const env = { NODE_ENV: 'test', PAYMENTS_LOG_LEVEL: 'info' };
  const config = loadConfig(env, join(import.meta.dirname, '../../config'));
  const lines: string[] = [];
  const logger = await createLogger({
    level: 'info',
    thread: 'main',
    destination: { write: (line) => void lines.push(line) },
  });
  let load = (): Config => config;
  const applied: string[] = [];
  const apply = async () => {
    applied.push(reread.active.logLevel);
    return [];
  };
  const reread = createReread(config, { load: () => load(), apply, logger });
  const said = async (next: () => Config) => {
    load = next;
    lines.length = 0;
    await reread.request();
    return lines.map((line) => JSON.parse(line).msg);
  };
  assert.deepEqual(await said(() => config), ['the configuration was read again']);
  const [host, tls] = ['0.0.0.0', { tlsCertFile: '/cert.pem', tlsKeyFile: '/key.pem' }];
  assert.deepEqual(await said(() => ({ ...config, logLevel: 'debug', host, ...tls })), [
    'the configuration was read again',
    'changed in the files, and active after the next start: host, tlsCertFile, tlsKeyFile',
  ]);
  assert.deepEqual(reread.active, { ...config, logLevel: 'debug' });
  assert.deepEqual(applied, ['info', 'debug']);
  const wrong = () => {
    throw new ConfigError('"port" in default.json is wrong: correct it');
  };
  assert.deepEqual(await said(wrong), [
    '"port" in default.json is wrong: correct it. Everything stays as it is',
  ]);
  assert.deepEqual(reread.active, { ...config, logLevel: 'debug' });
});

test('without TLS, again and again, and in the middle of a stop, SIGHUP ends nothing', async () => {
  const service = await startService({ env: { PAYMENTS_LOG_LEVEL: 'info' } });
  for (let i = 0; i < 3; i++) await hangUp(service, /the configuration was read again/);
  assert.equal((await service.call('/v1/account')).status, 200);
  service.process.kill('SIGTERM');
  for (let i = 0; i < 5; i++) service.process.kill('SIGHUP');
  assert.equal(await service.stop(), 0);
});
