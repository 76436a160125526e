// PostgreSQL keeps the log by days: those that every mirror has, and that no retry needs, are dropped as a whole.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import pg from 'pg';
import { keepDays } from '../../src/postgresql/retention.ts';
import { migrate } from '../../src/postgresql/schema.ts';
import { leftOut, type PostgresServers, startServers } from './servers.ts';

async function clientOf(servers: PostgresServers): Promise<pg.Client> {
  const client = new pg.Client(servers.all[0]!.address('payments', 'payments'));
  // It ends with the server.
  client.on('error', () => {});
  await client.connect();
  return client;
}

test('days are made ahead, and dropped when they are old and every mirror has them', {
  skip: leftOut,
}, async (context) => {
  const servers = await startServers(context, 0);
  const client = await clientOf(servers);
  await migrate(client);
  const days = async () => {
    const { rows } = await client.query(
      "select relname from pg_class where relname ~ '^log_[0-9]{8}$' order by relname",
    );
    return rows.map(({ relname }) => relname as string);
  };
  const ahead = await days();
  assert.equal(ahead.length, 4);
  for (const [day, sequence] of [
    ['2026-01-01', 10],
    ['2026-01-02', 20],
  ] as const) {
    await client.query(
      `create table payments.log_${day.replaceAll('-', '')} partition of payments.log for values from ('${day}') to (date '${day}' + 1)`,
    );
    await client.query("insert into payments.log values ($1, 0, $2, $2, 1, 0, 'x')", [day, sequence]);
  }
  await client.query(
    'insert into payments.partitions (partition, next_sequence, mirrored) values (0, 21, 9)',
  );
  await keepDays(client);
  assert.equal((await days()).length, 6, 'the mirror lacks both');
  await client.query('update payments.partitions set mirrored = 19');
  await keepDays(client);
  assert.deepEqual(await days(), ['log_20260102', ...ahead]);
  await client.query('update payments.partitions set mirrored = 20');
  await keepDays(client);
  assert.deepEqual(await days(), ahead);
  await keepDays(client);
});

test('tables of a newer service are refused where an older one can not go on with them', {
  skip: leftOut,
}, async (context) => {
  const servers = await startServers(context, 0);
  const client = await clientOf(servers);
  await migrate(client);
  await client.query('update payments.version set version = 99');
  await migrate(client);
  const { rows } = await client.query('select version from payments.version');
  assert.deepEqual(rows, [{ version: 99 }]);
  await client.query('update payments.version set oldest = 99');
  await assert.rejects(
    migrate(client),
    /its tables have version 99, and this service knows \d+: start the newer service/,
  );
});
