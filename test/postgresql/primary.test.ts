// Connections to the primary, and what is asked over them of whoever owns nothing.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { after, test } from 'node:test';
import { systemTimers, type Timers } from '../../src/core/scheduler.ts';
import { JournalDamaged } from '../../src/journal/journal.ts';
import { askPrimary } from '../../src/postgresql/database.ts';
import { parseJournalUrl } from '../../src/postgresql/journal-url.ts';
import { PostgresLog } from '../../src/postgresql/partition-log.ts';
import { findPrimary } from '../../src/postgresql/primary.ts';
import { serviceIn } from '../../src/postgresql/service-table.ts';
import { poll } from '../poll.ts';
import { retriedAtOnce } from './retries.ts';
import { leftOut, onlyDatabase, startServers } from './servers.ts';

const skip = { skip: leftOut };
const started = leftOut === false ? startServers({ after }, 0) : null;
/** How long an acquisition that failed waits for the next, and the first server for the others. */
const [retryMs, othersMs] = [200, 300];
const service = { folder: 'f', generation: 0, shards: 1 };

async function options() {
  const address = parseJournalUrl((await started)!.url);
  assert(typeof address !== 'string');
  return { address, password: null, ca: null, ...onlyDatabase, timers: systemTimers };
}

async function connect() {
  const primary = await findPrimary(await options());
  assert(typeof primary !== 'string');
  return primary;
}

test('a log is looked at without being owned, and not that of another data folder', skip, async () => {
  const postgres = await options();
  assert.equal(await serviceIn(postgres), null, 'there are no tables yet');
  const owned = { ...postgres, lease: null, node: null, isSingle: true, onTrouble() {}, partition: 0 };
  const log = new PostgresLog({ ...owned, service });
  const { metadata, ...empty } = await log.inspect();
  assert.deepEqual(empty, { epoch: 0, firstSequence: 1, end: { sequence: 0, checksum: 0 } });
  assert.equal(metadata.size, 0);
  assert.deepEqual(await serviceIn(postgres), { ...service, division: null, partitions: null });
  const other = new PostgresLog({ ...owned, service: { ...service, folder: 'g' } });
  await assert.rejects(other.inspect(), (error) => {
    assert(error instanceof JournalDamaged);
    assert(error.isRemote, 'no file here is damaged');
    assert.match(error.message, /of f \(generation 0, 1 shards\), and this one is g \(/);
    return true;
  });
  await Promise.all([log.close(), other.close()]);
});

test('an acquisition that is refused again and again leaves no connections behind', skip, async () => {
  const [server] = (await started)!.all;
  await server!.query('revoke update on payments.partitions from payments', 'payments');
  const { timers, tried } = retriedAtOnce(retryMs, 8);
  const troubles: (string | null)[] = [];
  const onTrouble = (trouble: string | null) => void troubles.push(trouble);
  const owned = { ...(await options()), lease: null, node: null, isSingle: true, onTrouble, partition: 0 };
  const log = new PostgresLog({ ...owned, timers, service });
  const acquired = log.acquire(0);
  await tried;
  const connections = await server!.connections();
  assert(connections <= 2, `${connections} connections`);
  await server!.query('grant update on payments.partitions to payments', 'payments');
  assert.equal((await acquired).epoch, 1);
  assert.equal(troubles.length, 2, troubles.join());
  assert.match(String(troubles[0]), /permission denied for table partitions/);
  await log.close();
});

test('a server that answers once another one was chosen is left again', skip, async () => {
  const { address, ...rest } = await options();
  // Nobody waits for the others.
  const timers: Timers = {
    after(ms, action) {
      if (ms !== othersMs) return systemTimers.after(ms, action);
      action();
      return () => {};
    },
  };
  const [host] = address.hosts;
  const hosts = [host!, host!, host!];
  const primary = await findPrimary({ ...rest, address: { ...address, hosts }, timers });
  assert(typeof primary !== 'string');
  const [server] = (await started)!.all;
  await poll(async () => (await server!.connections()) === 1 || undefined);
  assert.equal((await primary.query({ text: 'select 1' })).length, 1);
  primary.close();
});

test('why no server takes writes is told in the order of the servers, whichever answers first', async () => {
  const answered = Promise.withResolvers<void>();
  const servers = [
    (socket: Socket) => void answered.promise.then(() => socket.destroy()),
    (socket: Socket) => void socket.destroy(),
  ].map((answer) => createServer(answer).listen(0, '127.0.0.1'));
  await Promise.all(servers.map((server) => once(server, 'listening')));
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  const hosts = ports.map((port) => `127.0.0.1:${port}`).join(',');
  const address = parseJournalUrl(`postgresql://payments@${hosts}/payments`);
  assert(typeof address !== 'string');
  // Each server has a timer until it has answered: the first one answers when the second one has.
  let begun = 0;
  const timers: Timers = { after: () => (++begun === 2 ? answered.resolve : () => {}) };
  const found = await findPrimary({ address, password: null, ca: null, timers });
  for (const server of servers) server.close();
  assert(typeof found === 'string');
  assert.deepEqual(
    Array.from(found.matchAll(/127\.0\.0\.1:(\d+): /g), ([, port]) => Number(port)),
    ports,
  );
});

test('a server that says nothing is waited for until nobody wants it any more', async () => {
  const closing = new AbortController();
  const server = createServer(() => closing.abort()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = parseJournalUrl(
    `postgresql://payments@127.0.0.1:${(server.address() as AddressInfo).port}/payments`,
  );
  assert(typeof address !== 'string');
  const timers: Timers = { after: () => () => {} };
  const found = await findPrimary({ address, password: null, ca: null, timers, closing: closing.signal });
  server.close();
  assert.match(String(found), /Connection terminated/);
});

test('a standby says that it is one, and is left', skip, async (context) => {
  const servers = await startServers(context, 1);
  const standby = servers.all[1]!;
  const { address, ...rest } = await options();
  const hosts = [{ host: '127.0.0.1', port: standby.port }];
  const found = await findPrimary({ ...rest, address: { ...address, hosts } });
  assert.equal(found, `no PostgreSQL takes writes: 127.0.0.1:${standby.port} is a standby`);
  await poll(async () => (await standby.connections()) === 0 || undefined);
});

test('a server that refuses a connection, and does not end it, is left', { timeout: 30_000 }, async () => {
  const left = Promise.withResolvers<void>();
  const fields = 'SFATAL\0C53300\0Mthere are too many\0\0';
  const server = createServer((socket) => {
    socket.on('data', () =>
      socket.write(Buffer.from(`E\0\0\0${String.fromCharCode(4 + fields.length)}${fields}`)),
    );
    socket.on('error', () => {}).on('close', left.resolve);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const address = parseJournalUrl(`postgresql://payments@127.0.0.1:${port}/payments`);
  assert(typeof address !== 'string');
  const found = await findPrimary({ address, password: null, ca: null, timers: systemTimers });
  assert.match(String(found), /: there are too many$/);
  await left.promise;
  server.close();
});

test('why a question has no answer is told, and what is damaged is damaged', skip, async () => {
  const postgres = await options();
  const failing = (error: Error) => askPrimary(postgres, () => Promise.reject(error));
  const [host] = postgres.address.hosts;
  assert.equal(await failing(new Error('it is late')), `127.0.0.1:${host!.port}: it is late`);
  const damaged = new JournalDamaged('nothing is there', { isRemote: true });
  await assert.rejects(failing(damaged), damaged);
});

test('who is asked for a password gives it', async () => {
  for (const [password, sent] of [
    ['a secret', 'p\0\0\0\ra secret\0'],
    ['', 'p\0\0\0\x05\0'],
  ] as const) {
    const heard = Promise.withResolvers<string>();
    const server = createServer((socket) =>
      socket
        .on('error', () => {})
        // Its first message says who it is; then it is asked for the password as it is.
        .once('data', () => {
          socket.write(Buffer.of(0x52, 0, 0, 0, 8, 0, 0, 0, 3));
          socket.once('data', (bytes) => {
            heard.resolve(bytes.toString('latin1'));
            socket.destroy();
          });
        }),
    ).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const address = parseJournalUrl(`postgresql://payments@127.0.0.1:${port}/payments`);
    assert(typeof address !== 'string');
    const found = findPrimary({ address, password, ca: null, timers: systemTimers });
    assert.equal(await heard.promise, sent);
    assert.equal(typeof (await found), 'string');
    server.close();
  }
});

test('a connection that is there stays when nobody looks for a server any more', skip, async () => {
  const closing = new AbortController();
  const primary = await findPrimary({ ...(await options()), closing: closing.signal });
  assert(typeof primary !== 'string');
  closing.abort();
  assert.equal((await primary.query({ text: 'select 1' })).length, 1);
  primary.close();
});

test('what a server tells without need is no warning', skip, async () => {
  const primary = await connect();
  const raise = (text: string) => primary.query({ text: `do $$ begin raise ${text}; end $$` });
  await raise("info 'it is so'");
  await raise("notice 'it is skipped'");
  assert.equal(primary.takeWarning(), null);
  await raise("warning 'it is late'");
  await raise("warning 'it is later'");
  assert.equal(primary.takeWarning(), 'WARNING: it is late');
  assert.equal(primary.takeWarning(), null);
  primary.close();
});

test('a server looks soon whether a connection is still there', skip, async () => {
  const primary = await connect();
  const text = `select name, setting::integer from pg_settings
    where name like 'tcp_%' or name = 'idle_in_transaction_session_timeout' order by name`;
  const rows = await primary.query<{ name: string; setting: number }>({ text });
  primary.close();
  assert.deepEqual(
    rows.map(({ name, setting }) => `${name} ${setting}`),
    [
      'idle_in_transaction_session_timeout 2000',
      'tcp_keepalives_count 3',
      'tcp_keepalives_idle 10',
      'tcp_keepalives_interval 10',
      'tcp_user_timeout 40000',
    ],
  );
});
