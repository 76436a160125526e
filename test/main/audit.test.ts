// The audit record of a running service: each operator's action and each refused key is in the record and in the log.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { newOrganization, type Service, startService } from '../service.ts';

const entry = fileURLToPath(new URL('../../src/main/payments.ts', import.meta.url));

interface Row {
  readonly kind: 'operator' | 'refused_key';
  readonly by: { readonly user: string | null; readonly uid: number; readonly sudo_user: string | null };
  readonly action: string;
  readonly params: Record<string, unknown>;
  readonly outcome: string;
  readonly object: string | null;
  readonly code: string;
  readonly times: number;
  readonly address: string | null;
  readonly key: string | null;
  readonly organization: string | null;
  readonly prefix: string | null;
  readonly path: string | null;
}

/** Runs the command line as somebody would who came through sudo. */
function payments(service: Service, ...args: string[]): string {
  const env = { ...process.env, NODE_ENV: 'test', SUDO_USER: 'amina' };
  const command = [entry, ...args, '--data-dir', service.dataDir];
  return execFileSync(process.execPath, command, { env, encoding: 'utf8' });
}

const audit = (service: Service, ...args: string[]): Row[] =>
  JSON.parse(payments(service, 'audit', '--json', ...args));

function auditText({ dataDir }: Service): string {
  const folder = join(dataDir, 'audit');
  return readdirSync(folder)
    .map((name) => readFileSync(join(folder, name), 'utf8'))
    .join('');
}

test('an answered action is in the audit record although the service was killed at once', async () => {
  const service = await startService();
  const { id, keys } = JSON.parse(payments(service, 'org', 'create', '--name', 'Souk', '--json'));
  payments(service, 'key', 'revoke', keys.test.secret);
  await assert.rejects(service.operate('key.revoke', { key: 'svc_sk_test_unknown' }));
  payments(service, 'metrics');
  await service.kill();

  const rows = audit(service);
  assert.deepEqual(
    rows.map(({ kind, action, outcome }) => [kind, action, outcome]),
    [
      ['operator', 'org.create', 'done'],
      ['operator', 'key.revoke', 'done'],
      ['operator', 'key.revoke', 'refused'],
    ],
  );
  const [created, revoked] = rows;
  assert.deepEqual([created!.params, created!.object], [{ name: 'Souk' }, id]);
  assert.match(revoked!.object!, /^key_/);
  assert.deepEqual([created!.by.uid, created!.by.sudo_user], [process.getuid!(), 'amina']);
  assert.match(payments(service, 'audit'), /\(sudo by amina\) +org\.create +org_\w+ +done$/m);
  assert.doesNotMatch(auditText(service), /svc_[sp]k_\w+_\w/);

  // What changes the folder while no service runs is an operator's action too.
  payments(service, 'secrets', 'roll-key');
  payments(service, 'reshard', '--shards', '2');
  assert.deepEqual(
    audit(service, '--limit', '2').map(({ action, outcome, by }) => [action, outcome, by.sudo_user]),
    [
      ['secrets.roll', 'done', 'amina'],
      ['reshard', 'done', 'amina'],
    ],
  );
});

test('a refused key leaves a row, and a flood of them a few', async () => {
  const service = await startService({ env: { PAYMENTS_LOG_LEVEL: 'info' } });
  const { id, key } = await newOrganization(service);
  const { id: keyId } = await service.operate<{ id: string }>('key.revoke', { key });
  const wrong = (number: number) => `svc_sk_live_${String(number).padStart(40, 'x')}`;
  for (let number = 0; number < 300; number++) {
    const { status } = await service.call('/v1/account', { key: wrong(number) });
    assert.equal(status, 401);
  }
  assert.equal((await service.call('/v1/account', { key: null })).status, 401);
  for (let time = 0; time < 3; time++) {
    const { json } = await service.call('/v1/payment_intents', { key, body: {} });
    assert.equal(json.error.code, 'api_key_revoked');
  }
  assert.equal(await service.stop(), 0);
  assert.match(service.output(), /"audit":\{"at":"[^"]+","id":"aud_\w+".*"action":"key.revoke"/);

  const rows = audit(service, '--keys');
  assert.ok(rows.length < 100, `${rows.length} rows`);
  const timesOf = (code: string) =>
    rows.filter((row) => row.code === code).reduce((sum, { times }) => sum + times, 0);
  assert.deepEqual([timesOf('api_key_invalid'), timesOf('api_key_revoked')], [300, 3]);
  const made = rows.find(({ code }) => code === 'api_key_invalid')!;
  assert.deepEqual(
    [made.key, made.prefix, made.address, made.path],
    [null, 'svc_sk_live_', '127.0.0.1', '/v1/account'],
  );
  const ours = rows.find(({ code }) => code === 'api_key_revoked')!;
  assert.deepEqual([ours.key, ours.organization, ours.prefix], [keyId, id, null]);
  assert.ok(!auditText(service).includes('xxxx') && !auditText(service).includes(key.slice(12)));
  assert.match(service.output(), /"audit":\{"at":"[^"]+","code":"api_key_revoked"/);
  assert.match(payments(service, 'audit', '--keys'), /127\.0\.0\.1 +api_key_revoked +key_\w+ +refused/);
});
