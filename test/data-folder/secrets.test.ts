// The data folder reveals nothing to another user of the machine, and a copy of it no signing secret; and the key that seals
// the secrets.

import assert from 'node:assert/strict';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Secret, TOTP } from 'otpauth';
import { newSecretsKey } from '../../src/crypto/secret-box.ts';
import { hiddenFields, password, Visitor } from '../dashboard/fixture.ts';
import { paymentsWith } from '../main/payments-command.ts';
import { newOrganization, type Service, startService } from '../service.ts';
import { temporaryFolder } from '../temporary-folder.ts';

function payments(dataDir: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  return paymentsWith({ PAYMENTS_PORT: '0', ...env }, '--data-dir', dataDir, '--json', ...args);
}

async function assertRefused(
  dataDir: string,
  expected: RegExp,
  env: Readonly<Record<string, string>> = {},
): Promise<void> {
  const { code, error } = await payments(dataDir, ['serve'], env);
  assert.match(error, /^[^\n]+\n$/, 'one line');
  assert.match(error, expected);
  assert.equal(code, 1);
}

/** Every file and folder, the data folder itself among them. */
function entriesOf(dataDir: string): string[] {
  const inside = readdirSync(dataDir, { recursive: true, withFileTypes: true });
  return [dataDir, ...inside.map(({ parentPath, name }) => join(parentPath, name))];
}

async function createEndpoint(service: Service): Promise<{ id: string; secret: string }> {
  const { key } = await newOrganization(service);
  const body = { url: 'https://93.184.216.34/hook', enabled_events: ['*'] };
  const { status, json } = await service.call('/v1/webhook_endpoints', { key, body, idempotencyKey: 'one' });
  assert.equal(status, 200);
  return json;
}

async function shownSecrets(service: Service, endpoint: string): Promise<string[]> {
  const params = { endpoint };
  const shown = await service.operate<{ secrets: { secret: string }[] }>('webhooks.show-secret', params);
  return shown.secrets.map(({ secret }) => secret);
}

test('nobody but the owner can read the data folder, whatever the umask', async () => {
  const dataDir = join(temporaryFolder(), 'data');
  const before = process.umask(0);
  const service = await startService({ dataDir, env: { PAYMENTS_SHARDS: '2' } }).finally(() =>
    process.umask(before),
  );
  await createEndpoint(service);
  const assertPrivate = () => {
    for (const path of [...entriesOf(dataDir), `${dataDir}.secrets-key`])
      assert.equal(statSync(path).mode & 0o077, 0, path);
  };
  assertPrivate();
  assert.equal(await service.stop(), 0);
  assertPrivate();
  // A restore may have made it all readable.
  for (const path of entriesOf(dataDir)) chmodSync(path, statSync(path).isDirectory() ? 0o755 : 0o644);
  const again = await startService({ dataDir });
  assertPrivate();
  assert.equal(await again.stop(), 0);
});

test('no signing secret lies in the data folder; only its own key opens what does', async () => {
  const dataDir = join(temporaryFolder(), 'data');
  const keyFile = `${dataDir}.secrets-key`;
  let service = await startService({ dataDir });
  const { id, secret } = await createEndpoint(service);
  await service.operate('webhooks.roll-secret', { endpoint: id, overlapSeconds: 3600 });
  const secrets = await shownSecrets(service, id);
  assert.equal(secrets.length, 2);
  assert.equal(secrets[1], secret);
  const assertSealed = () => {
    for (const path of entriesOf(dataDir)) {
      if (!statSync(path).isFile()) continue;
      const bytes = readFileSync(path);
      for (const each of secrets) assert(!bytes.includes(each.slice(-32)), path);
    }
  };
  assertSealed();
  assert.equal(await service.stop(), 0);
  assertSealed();

  const key = readFileSync(keyFile);
  rmSync(keyFile);
  await assertRefused(
    dataDir,
    /key file of the signing secrets, .*data\.secrets-key, does not exist: put it back/,
  );
  assert(!existsSync(keyFile), 'none is made in its place');
  mkdirSync(keyFile);
  await assertRefused(dataDir, /data\.secrets-key, can't be read \(EISDIR\): see what it is/);
  rmSync(keyFile, { recursive: true });
  writeFileSync(keyFile, newSecretsKey());
  await assertRefused(dataDir, /does not have the key that seals the signing secrets/);
  writeFileSync(keyFile, 'secret');
  await assertRefused(dataDir, /is not a key file: each of its lines must be 32 bytes in base 64/);
  writeFileSync(keyFile, key);
  const inside = join(dataDir, 'secrets-key');
  await assertRefused(dataDir, /is in the data folder: move it out/, { PAYMENTS_SECRETS_KEY_FILE: inside });
  await assertRefused(dataDir, /PAYMENTS_SECRETS_KEY_FILE is not set, which production needs/, {
    NODE_ENV: 'production',
  });
  service = await startService({ dataDir, env: { PAYMENTS_SECRETS_KEY_FILE: keyFile } });
  assert.deepEqual(await shownSecrets(service, id), secrets);
  assert.equal(await service.stop(), 0);
});

const signInPath = '/dashboard/sign-in';
/** The Sandbox's owner, as the link of the first start lets them in. */
const email = 'owner@example.com';

/** Has the owner choose a password and turn on an authenticator app. Returns the app's codes, by the steps from now. */
async function ownerWithApp(service: Service): Promise<(steps: number) => string> {
  const me = '/dashboard/me';
  const visitor = new Visitor(service.url);
  await visitor.submit(/\/dashboard\/invite\/[\w-]+/.exec(service.output())![0], {});
  assert.equal((await visitor.submit(me, { password }, `${me}/password`)).status, 303);
  const { body } = await visitor.get(`${me}/two-step`);
  const totp = new TOTP({ secret: Secret.fromBase32(/data-copy="([A-Z2-7]{32})"/.exec(body)![1]!) });
  const codeOf = (steps: number) => totp.generate({ timestamp: Date.now() + steps * 30_000 });
  const form = hiddenFields(body, `${me}/two-step`);
  assert.equal((await visitor.post(`${me}/two-step`, { ...form, code: codeOf(-1) })).status, 200);
  return codeOf;
}

/** Whether the owner's password and the next code of the app sign in. */
async function signsIn(service: Service, codeOf: (steps: number) => string): Promise<boolean> {
  const visitor = new Visitor(service.url);
  const { body } = await visitor.submit(signInPath, { email, password });
  const form = hiddenFields(body, `${signInPath}/code`);
  return (await visitor.post(`${signInPath}/code`, { ...form, code: codeOf(1) })).status === 303;
}

test('rolling the key: everything is sealed with the new one, and a crash on the way loses nothing', async () => {
  const dataDir = join(temporaryFolder(), 'data');
  const keyFile = `${dataDir}.secrets-key`;
  let service = await startService({ dataDir, env: { PAYMENTS_SHARDS: '2' } });
  const endpoints = [await createEndpoint(service), await createEndpoint(service)];
  const owner = await ownerWithApp(service);
  const running = await payments(dataDir, ['secrets', 'roll-key']);
  assert.match(running.error, /the service runs on .*: stop it first/);
  // What no checkpoint holds yet is sealed anew, too.
  await service.kill();
  const backup = join(temporaryFolder(), 'data');
  cpSync(dataDir, backup, { recursive: true });
  const oldKey = readFileSync(keyFile, 'utf8').trim();

  const { error, out } = await payments(dataDir, ['secrets', 'roll-key']);
  assert.equal(error, '');
  const { secrets, kept } = JSON.parse(out);
  assert.equal(secrets, 3);
  const newKey = readFileSync(keyFile, 'utf8').trim();
  assert.notEqual(newKey, oldKey);
  assert.equal(readFileSync(kept, 'utf8').trim(), oldKey);
  service = await startService({ dataDir });
  for (const { id, secret } of endpoints) assert.deepEqual(await shownSecrets(service, id), [secret]);
  assert.equal(await signsIn(service, owner), true);
  assert.equal(await service.stop(), 0);

  // The backup opens with the key of its time; ended on the way, the file has both keys, and anything may be sealed with either.
  await assertRefused(backup, /does not have the key/, { PAYMENTS_SECRETS_KEY_FILE: keyFile });
  for (const folder of [dataDir, backup]) {
    const both = join(temporaryFolder(), 'secrets-key');
    writeFileSync(both, `${newSecretsKey()}\n${newKey}\n${oldKey}\n`);
    const env = { PAYMENTS_SECRETS_KEY_FILE: both };
    service = await startService({ dataDir: folder, env });
    for (const { id, secret } of endpoints) assert.deepEqual(await shownSecrets(service, id), [secret]);
    assert.equal(await service.stop(), 0);
    assert.equal((await payments(folder, ['secrets', 'roll-key'], env)).error, '');
    assert.match(readFileSync(both, 'utf8'), /^[^\n]+\n$/);
    service = await startService({ dataDir: folder, env });
    for (const { id, secret } of endpoints) assert.deepEqual(await shownSecrets(service, id), [secret]);
    assert.equal(await service.stop(), 0);
  }
});
