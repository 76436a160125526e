// What `payments doctor` says of the certificates that the service shows.

import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { loadConfig } from '../../src/config/config.ts';
import type { Config } from '../../src/config/config-schema.ts';
import { certificateChecks } from '../../src/health/certificate-checks.ts';
import { examineStopped } from '../../src/health/examine-stopped.ts';
import { certifyNode } from '../../src/operator/use-cases/certify-node.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const configDir = join(import.meta.dirname, '..', '..', 'config');
const dayMs = 86_400_000;
const none = { certFile: null, keyFile: null, caFile: null };

function made(context: TestContext, node = 'b') {
  const folder = join(temporaryFolder(context), 'certificates');
  const { certificate, key, authority } = certifyNode(folder, node, new Date());
  const files = { certFile: certificate, keyFile: key, caFile: authority };
  return { files, endsMs: Date.parse(new X509Certificate(readFileSync(certificate)).validTo) };
}

function found(cluster: object, nowMs: number, tls: object = {}) {
  const config = {
    tlsCertFile: null,
    tlsKeyFile: null,
    cluster: { node: 'b', ...cluster },
    ...tls,
  };
  return certificateChecks(config as Config, nowMs);
}

test('a service that shows no certificate has none to look at', () => {
  assert.deepEqual(found(none, 0), []);
});

test('a certificate that is good for two more weeks is', (context) => {
  const { files, endsMs } = made(context);
  const detail = `${files.certFile} is good until ${new Date(endsMs).toISOString()}`;
  assert.deepEqual(found(files, endsMs - 14 * dayMs), [{ name: 'certificates', ok: true, detail }]);
});

test('one that ends before, or has ended, is told of with what to do; that of HTTPS, too', (context) => {
  const { files, endsMs } = made(context);
  const detail =
    `${files.certFile} ends at ${new Date(endsMs).toISOString()}: put the renewed files there, ` +
    'and send the service SIGHUP';
  const wrong = [{ name: 'certificates', ok: false, detail }];
  assert.deepEqual(found(files, endsMs - 14 * dayMs + 1), wrong);
  assert.deepEqual(found(files, endsMs + dayMs), wrong);
  assert.deepEqual(found(none, endsMs, { tlsCertFile: files.certFile, tlsKeyFile: files.keyFile }), wrong);
});

test('files that do not fit each other, or are gone, are told of before a start fails', (context) => {
  const { files, endsMs } = made(context);
  const other = made(context).files;
  const [unfit] = found({ ...files, keyFile: other.keyFile }, endsMs - 30 * dayMs);
  assert.equal(unfit!.ok, false);
  assert.match(unfit!.detail, /^PAYMENTS_CLUSTER_KEY_FILE names a file that can't be used for TLS/);
  rmSync(files.caFile);
  const [gone] = found(files, endsMs - 30 * dayMs);
  assert.match(gone!.detail, /PAYMENTS_CLUSTER_CA_FILE names .* which does not exist/);
});

test('while no service runs they are told of once, too', async (context) => {
  const { files } = made(context);
  rmSync(files.caFile);
  const dataDir = join(temporaryFolder(context), 'none');
  const config = loadConfig({ NODE_ENV: 'test', PAYMENTS_DATA_DIR: dataDir }, configDir);
  const checks = await examineStopped({ ...config, cluster: { ...config.cluster, ...files } }, 'test');
  const telling = checks.filter(({ detail }) => detail.includes(files.caFile));
  assert.deepEqual(
    telling.map(({ name, ok }) => [name, ok]),
    [['certificates', false]],
  );
});
