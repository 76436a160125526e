import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Piscina } from 'piscina';
import type { AttemptResult } from '../../src/domain/record.ts';
import { newSecretsKey, SecretBox } from '../../src/journal/secret-box.ts';
import type { AttemptWorkerOptions, SealedAttempt } from '../../src/webhooks/attempt-worker.ts';
import { createAuthority } from './certificates.ts';
import { addressRecords, startDnsServer } from './dns-server.ts';
import { startReceiver } from './receiver.ts';

const authority = createAuthority();
const identity = authority.issue({ hosts: ['receiver.example'] });
const dns = await startDnsServer((question) => addressRecords(question, ['127.0.0.1']));

const secretsKeys = [newSecretsKey()];
const owner = { id: 'we_1', org: 'org_1' };
const sealed = [new SecretBox(secretsKeys).seal('svc_whsec_a', owner)];

const workerData: AttemptWorkerOptions = {
  secretsKeys,
  timeoutMs: 5000,
  dnsServers: [dns.address],
  allowPrivate: true,
  extraCa: authority.cert,
};
const pool = new Piscina<SealedAttempt, AttemptResult>({
  filename: new URL('../../src/webhooks/attempt-worker.ts', import.meta.url).href,
  minThreads: 1,
  maxThreads: 1,
  concurrentTasksPerWorker: 100,
  atomics: 'disabled',
  workerData,
});
after(() => Promise.all([pool.destroy(), dns.close()]));

function run(port: number, path: string): Promise<AttemptResult> {
  const url = `https://receiver.example:${port}${path}`;
  return pool.run({
    endpoint: owner.id,
    org: owner.org,
    url,
    body: '{}',
    sealed,
    nowSeconds: 1_800_000_000.25,
  });
}

test('many attempts wait in one worker; the slow one holds up nobody', async () => {
  const held: (() => void)[] = [];
  const receiver = await startReceiver({
    identity,
    respond: (response, { url }) => (url === '/slow' ? held.push(() => response.end()) : response.end(url)),
  });
  const slow = run(receiver.port, '/slow');
  const quick = await Promise.all(Array.from({ length: 50 }, (_, i) => run(receiver.port, `/${i}`)));
  assert.deepEqual(
    quick.map(({ status, failure, answer, at_ms }) => ({ status, failure, answer, at_ms })),
    quick.map((_, i) => ({ status: 200, failure: null, answer: `/${i}`, at_ms: 1_800_000_000_250 })),
  );
  assert.equal(held.length, 1);
  for (const release of held) release();
  assert.equal((await slow).failure, null);
  await receiver.close();
});

test('a failure is a result, not a rejection', async () => {
  const receiver = await startReceiver();
  await receiver.close();
  const { status, failure } = await run(receiver.port, '/');
  assert.deepEqual({ status, failure }, { status: null, failure: 'connection refused' });
});
