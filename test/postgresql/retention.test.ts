// The tables in PostgreSQL, and how long they are kept: days of the log that every mirror has, and that no retry needs, are
// dropped as a whole.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import pg from 'pg';
import { systemTimers } from '../../src/core/scheduler.ts';
import { parseJournalUrl } from '../../src/postgresql/journal-url.ts';
import { findPrimary } from '../../src/postgresql/primary.ts';
import { forgetRemovedRows, keepDays } from '../../src/postgresql/retention.ts';
import { keepTables, migrate } from '../../src/postgresql/schema.ts';
import { leftOut, startServers } from './servers.ts';

const skip = { skip: leftOut, timeout: 30_000 };
const started = leftOut === false ? startServers({ after }, 0) : null;

async function clientOf(): Promise<pg.Client> {
  const servers = (await started)!;
  const client = new pg.Client(servers.all[0]!.address('payments', 'payments'));
  // It ends with the server.
  client.on('error', () => {});
  await client.connect();
  return client;
}

test('days are made ahead, and dropped when they are old and every mirror has them', skip, async () => {
  const client = await clientOf();
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

test('what was removed of the directory is known for 30 days, the last write for ever', skip, async () => {
  const client = await clientOf();
  await migrate(client);
  for (const [sequence, days, name, content] of [
    [1, 32, 'kept', 'one'],
    [2, 31, 'removed 31 days ago', null],
    [3, 29, 'removed 29 days ago', null],
  ] as const) {
    await client.query(
      "insert into payments.directory_writes values ($1, 0, now() - $2::integer * interval '1 day')",
      [sequence, days],
    );
    await client.query('insert into payments.directory values ($1, $2, $3)', [name, content, sequence]);
  }
  const known = async () => {
    await forgetRemovedRows(client);
    const { rows: writes } = await client.query(
      'select sequence::integer from payments.directory_writes order by sequence',
    );
    const { rows } = await client.query('select name from payments.directory order by sequence');
    return [...writes.map(({ sequence }) => sequence), ...rows.map(({ name }) => name)];
  };
  assert.deepEqual(await known(), [3, 'kept', 'removed 29 days ago']);
  await client.query("update payments.directory_writes set at = at - interval '1 year'");
  assert.deepEqual(await known(), [3, 'kept', 'removed 29 days ago']);
});

test(
  'a node that stands still while it has the lock of the tables holds up nobody for long',
  skip,
  async () => {
    const client = await clientOf();
    await keepTables(client);
    const address = parseJournalUrl((await started)!.url);
    assert(typeof address !== 'string');
    const still = await findPrimary({ address, password: null, ca: null, timers: systemTimers });
    assert(typeof still !== 'string');
    const standsStill = Promise.withResolvers<void>();
    const isStill = { query: (text: string, values: unknown[] = []) => sendUntilLocked(text, values) };
    let isLocked = false;
    const sendUntilLocked = (text: string, values: unknown[]) => {
      if (isLocked) {
        standsStill.resolve();
        return new Promise(() => {});
      }
      isLocked = text.includes('pg_advisory_xact_lock');
      return still.client.query(text, values);
    };
    void keepTables(isStill as pg.Client);
    await standsStill.promise;

    // Nothing is missing, so nobody asks for the lock.
    await migrate(client);
    // A day is. Whoever waits is told so by the server, and the next one gets the lock: the server has ended the other.
    const { rows } = await client.query<{ name: string }>(
      "select max(relname) as name from pg_class where relname ~ '^log_[0-9]{8}$'",
    );
    await client.query(`drop table payments.${rows[0]!.name}`);
    await assert.rejects(migrate(client), /canceling statement due to lock timeout/);
    while (
      !(await keepTables(client).then(
        () => true,
        () => false,
      ))
    );
    still.destroy(new Error('the test is over'));
  },
);

test('tables of a newer service are refused where an older one can not go on with them', skip, async () => {
  const client = await clientOf();
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
