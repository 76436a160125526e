// Starts: what is wrong is one clear line on standard error with an exit code other than 0, and nothing is left behind that
// would hinder a corrected start; and the ways to listen.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { get } from 'node:https';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import { copyOfDataFolder, newKey, startService } from '../service.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { createAuthority } from '../webhooks/certificates.ts';
import { paymentsWith } from './payments-command.ts';

/** A start that is refused with one line that matches. */
async function assertRefused(env: Readonly<Record<string, string>>, expected: RegExp): Promise<void> {
  const { code, out, error } = await paymentsWith(env, 'serve');
  assert.equal(out, '');
  assert.match(error, /^payments: [^\n]+\n$/, 'one line');
  assert.match(error, expected);
  assert.equal(code, 1);
}

async function useFolder(shards: string): Promise<string> {
  const service = await startService({ env: { PAYMENTS_SHARDS: shards } });
  assert.equal(await service.stop(), 0);
  return service.dataDir;
}

const used = new Map<string, Promise<string>>();

/** A folder that a service has used once and left in order: a copy, since one start serves all tests. */
async function usedFolder(shards: string): Promise<string> {
  const original = used.get(shards) ?? useFolder(shards);
  used.set(shards, original);
  return copyOfDataFolder(await original);
}

describe('a start is refused', () => {
  test('on a port that is taken', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const env = { PAYMENTS_PORT: String(port), PAYMENTS_DATA_DIR: join(temporaryFolder(), 'data') };
    await assertRefused(
      env,
      new RegExp(`port ${port} on 127.0.0.1 is in use: choose another with PAYMENTS_PORT`),
    );
    server.close();
  });

  test('on an address that this machine does not have', () => {
    const env = { PAYMENTS_HOST: '192.0.2.1', PAYMENTS_DATA_DIR: temporaryFolder() };
    return assertRefused(env, /on 192\.0\.2\.1 can't be listened on \(EADDRNOTAVAIL\)/);
  });

  test('in a folder that is a file, or lies under one, or can be written by nobody', async () => {
    const file = join(temporaryFolder(), 'file');
    writeFileSync(file, '');
    await assertRefused(
      { PAYMENTS_DATA_DIR: file },
      /file is not a folder: choose another with PAYMENTS_DATA_DIR/,
    );
    await assertRefused({ PAYMENTS_DATA_DIR: join(file, 'data') }, /is not a folder/);
    await assertRefused(
      { PAYMENTS_DATA_DIR: '/proc/payments' },
      /\/proc\/payments can't be written \(E\w+\)/,
    );
  });

  test('in a folder of something else', async () => {
    const dataDir = temporaryFolder();
    writeFileSync(join(dataDir, 'photo.jpg'), '');
    await assertRefused(
      { PAYMENTS_DATA_DIR: dataDir },
      /has photo\.jpg .* not a data folder of this service/,
    );
    assert.deepEqual(readdirSync(dataDir), ['photo.jpg']);
    rmSync(join(dataDir, 'photo.jpg'));
    writeFileSync(join(dataDir, 'format.json'), '{"service":"another","version":1,"shards":1}');
    await assertRefused(
      { PAYMENTS_DATA_DIR: dataDir },
      /format\.json was written by another program or version/,
    );
    writeFileSync(join(dataDir, 'format.json'), 'null');
    await assertRefused({ PAYMENTS_DATA_DIR: dataDir }, /written by another program or version/);
    writeFileSync(join(dataDir, 'format.json'), '{"serv');
    await assertRefused(
      { PAYMENTS_DATA_DIR: dataDir },
      /format\.json can't be read: restore all of .* from a backup/,
    );
  });

  test('in a folder that is in use', async () => {
    const service = await startService();
    const env = { PAYMENTS_DATA_DIR: service.dataDir };
    await assertRefused(env, /is in use by another process|another server runs on this data folder/);
    assert.equal((await service.call('/v1/account')).status, 200, 'the first one notices nothing');
    assert.equal(await service.stop(), 0);
  });

  test('with another number of shards than the folder has', async () => {
    const dataDir = await usedFolder('2');
    const env = { PAYMENTS_DATA_DIR: dataDir, PAYMENTS_SHARDS: '3' };
    await assertRefused(
      env,
      /laid out for 2 shards .* asks for 3: set PAYMENTS_SHARDS=2, or .*payments reshard --shards 3/,
    );
  });

  test('when every shard is damaged', async () => {
    const dataDir = await usedFolder('1');
    writeFileSync(join(dataDir, 'shard-0', 'state', 'data.mdb'), Buffer.alloc(100_000, 1));
    const env = { PAYMENTS_DATA_DIR: dataDir, PAYMENTS_LOG_LEVEL: 'silent' };
    await assertRefused(env, /data\.mdb is damaged: .*Restore the data folder from a backup/);
  });

  const parts = [
    'directory',
    'directory/data.mdb',
    'shard-0',
    'shard-1/log',
    'shard-1/state',
    'shard-0/state/data.mdb',
  ];
  for (const part of parts) {
    test(`in a folder whose ${part} is missing: nothing is put in its place`, async () => {
      const dataDir = await usedFolder('2');
      rmSync(join(dataDir, part), { recursive: true });
      const expected = new RegExp(`${part} is missing: restore all of .* from a backup`);
      await assertRefused({ PAYMENTS_DATA_DIR: dataDir }, expected);
      assert(!existsSync(join(dataDir, part)));
    });
  }

  test('in a folder with a shard that its format does not count', async () => {
    const dataDir = await usedFolder('2');
    const format = join(dataDir, 'format.json');
    writeFileSync(format, readFileSync(format, 'utf8').replace('"shards":2', '"shards":1'));
    const expected = /format\.json names 1 shards, but .*shard-1 exists: restore all of .* from a backup/;
    await assertRefused({ PAYMENTS_DATA_DIR: dataDir }, expected);
  });

  const damages: readonly (readonly [name: string, damage: (file: string) => void])[] = [
    ['cut short', (file) => truncateSync(file, 5_000)],
    ['emptied', (file) => truncateSync(file, 0)],
    ['overwritten', (file) => writeFileSync(file, Buffer.alloc(100_000, 1))],
  ];
  for (const [name, damage] of damages) {
    test(`with a directory that was ${name}`, async () => {
      const dataDir = await usedFolder('1');
      damage(join(dataDir, 'directory', 'data.mdb'));
      const expected = /directory\/data\.mdb is damaged: .* Restore the data folder from a backup/;
      await assertRefused({ PAYMENTS_DATA_DIR: dataDir }, expected);
    });
  }

  test('with certificates that can not be used', async () => {
    const folder = temporaryFolder();
    const { cert, key } = createAuthority().issue({ hosts: ['localhost'] });
    const other = createAuthority().issue({ hosts: ['localhost'] });
    const file = (name: string, content: string) => {
      writeFileSync(join(folder, name), content);
      return join(folder, name);
    };
    const start = (certFile: string, keyFile: string) => ({
      PAYMENTS_DATA_DIR: join(folder, 'data'),
      PAYMENTS_TLS_CERT_FILE: certFile,
      PAYMENTS_TLS_KEY_FILE: keyFile,
    });
    const good = [file('cert.pem', cert), file('key.pem', key)] as const;
    const absent = join(folder, 'absent.pem');
    await assertRefused(
      start(absent, good[1]),
      /PAYMENTS_TLS_CERT_FILE names .*absent\.pem, which does not exist/,
    );
    await assertRefused(start(good[0], folder), /PAYMENTS_TLS_KEY_FILE names .*, which can't be read/);
    await assertRefused(
      start(file('bad.pem', 'no certificate'), good[1]),
      /PAYMENTS_TLS_CERT_FILE .*can't be used for TLS/,
    );
    await assertRefused(
      start(good[0], file('other.pem', other.key)),
      /PAYMENTS_TLS_KEY_FILE .*can't be used for TLS/,
    );
  });

  test('in a folder whose path is too long for a socket', () => {
    const dataDir = join(temporaryFolder(), 'long'.repeat(30));
    return assertRefused({ PAYMENTS_DATA_DIR: dataDir }, /operator\.sock is too long for a socket/);
  });

  test('with a wrong configuration', async () => {
    const env = { PAYMENTS_DATA_DIR: temporaryFolder() };
    await assertRefused(
      { ...env, PAYMENTS_PORT: 'http' },
      /PAYMENTS_PORT is "http": it must be an integer from 0 to 65535/,
    );
    await assertRefused(
      { ...env, PAYMENTS_SHARD: '2' },
      /PAYMENTS_SHARD is not a known variable: .*PAYMENTS_SHARDS/,
    );
    await assertRefused({ ...env, NODE_ENV: 'staging' }, /NODE_ENV is "staging"/);
  });
});

test('a folder in which a first start was cut short is no foreign one', async () => {
  const dataDir = temporaryFolder();
  writeFileSync(join(dataDir, 'format.json.new'), '{"ser');
  mkdirSync(join(dataDir, 'lost+found'));
  const first = await startService({ dataDir });
  assert.equal(await first.stop(), 0);
  // Killed before all parts were made.
  const format = join(dataDir, 'format.json');
  const written = readFileSync(format, 'utf8');
  writeFileSync(format, written.replace('"complete":true', '"complete":false'));
  rmSync(join(dataDir, 'shard-0'), { recursive: true });
  const second = await startService({ dataDir });
  assert.equal(await second.stop(), 0);
  assert.equal(readFileSync(format, 'utf8'), written);
});

test('over TLS', async () => {
  const folder = temporaryFolder();
  const authority = createAuthority();
  const { cert, key } = authority.issue({ hosts: ['127.0.0.1'] });
  writeFileSync(join(folder, 'cert.pem'), cert);
  writeFileSync(join(folder, 'key.pem'), key);
  const env = {
    PAYMENTS_TLS_CERT_FILE: join(folder, 'cert.pem'),
    PAYMENTS_TLS_KEY_FILE: join(folder, 'key.pem'),
  };
  const service = await startService({ env });
  assert.match(service.url, /^https:\/\/127\.0\.0\.1:\d+$/);
  const headers = { Authorization: `Bearer ${service.keys!.secret}` };
  const request = get(`${service.url}/v1/account`, { ca: authority.cert, headers, agent: false });
  const [response] = await once(request, 'response');
  assert.equal(response.statusCode, 200);
  assert.equal(JSON.parse(await textOf(response)).object, 'account');
  assert.equal(await service.stop(), 0);
});

test('on several edges', async () => {
  const service = await startService({ env: { PAYMENTS_EDGES: '2', PAYMENTS_LOG_LEVEL: 'info' } });
  // Which edge a connection comes to is the kernel's choice: one of many comes to each.
  const edges = ['edge-0', 'edge-1'];
  await service.until(async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => service.call('/v1/account', { headers: { Connection: 'close' } })),
    );
    for (const { status } of answers) assert.equal(status, 200);
    const output = service.output();
    return edges.every((edge) => output.includes(`"thread":"${edge}"`)) || undefined;
  });
  const key = await newKey(service, (await service.call('/v1/account')).json.id, 'test');
  const answers = await Promise.all(Array.from({ length: 20 }, () => service.call('/v1/account', { key })));
  for (const { status } of answers) assert.equal(status, 200, 'every edge knows the new key');
  assert.equal(await service.stop(), 0);
});
