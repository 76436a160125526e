// The directory's rows in PostgreSQL, with a standby that every write waits for.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemTimers, type Timers } from '../../src/core/scheduler.ts';
import { PostgresRows } from '../../src/postgresql/directory-rows.ts';
import { parseJournalUrl } from '../../src/postgresql/journal-url.ts';
import { leftOut, onlyDatabase, type PostgresServers, startServers } from './servers.ts';

const skip = { skip: leftOut };
/** How long a write that was refused waits for the next try. */
const retryMs = 200;

function rowsOn(
  servers: PostgresServers,
  timers: Timers = systemTimers,
  onTrouble: (trouble: string | null) => void = () => {},
  isSingle = false,
  node: string | null = null,
) {
  const address = parseJournalUrl(servers.url);
  assert(typeof address !== 'string');
  const service = { folder: 'f', generation: 0, shards: 1 };
  const options = {
    address,
    password: null,
    ca: null,
    ...onlyDatabase,
    lease: null,
    node,
    isSingle,
    onTrouble,
  };
  return new PostgresRows({ ...options, service, timers });
}

const text = (rows: Record<string, string | null>) =>
  new Map(
    Object.entries(rows).map(([row, content]) => [row, content && Buffer.from(content)] as const),
  ) as Map<string, Buffer | null>;

async function allAfter(rows: PostgresRows, sequence: number) {
  const found: Record<string, string | null> = {};
  for await (const portion of rows.readAfter(sequence))
    for (const [row, content] of portion) found[row] = content && String(content);
  return found;
}

test('rows are read as they were written, also from where a machine left off', skip, async (context) => {
  const servers = await startServers(context, 1);
  const rows = rowsOn(servers);
  assert.deepEqual(await rows.acquire(), { sequence: 0, checksum: 0 });
  const first = await rows.replace(text({ a: 'one', b: 'two' }));
  const second = await rows.write(text({ b: null, c: 'three' }));
  assert.deepEqual([first.sequence, second.sequence], [1, 2]);
  assert.notEqual(first.checksum, second.checksum);
  assert.deepEqual(await allAfter(rows, 0), { a: 'one', b: null, c: 'three' });
  assert.deepEqual(await allAfter(rows, 1), { b: null, c: 'three' });
  assert.deepEqual(await allAfter(rows, 2), {});
  assert.deepEqual([await rows.checksumAt(1), await rows.checksumAt(3)], [first.checksum, null]);
  // More than one portion.
  const many = Object.fromEntries(Array.from({ length: 12_000 }, (_, n) => [`row/${n}`, String(n)]));
  await rows.replace(text(many));
  assert.deepEqual(await allAfter(rows, 2), many);
  assert.deepEqual([await rows.checksumAt(1), await rows.checksumAt(2)], [null, null], 'all began anew');
  await rows.close();
});

test('a newer owner fences an older one', skip, async (context) => {
  const servers = await startServers(context, 1);
  const [older, newer] = [rowsOn(servers), rowsOn(servers)];
  await older.acquire();
  await older.write(text({ a: 'one' }));
  assert.equal((await newer.acquire()).sequence, 1);
  await assert.rejects(older.write(text({ a: 'zombie' })), /newer owner/);
  await newer.write(text({ a: 'two' }));
  assert.deepEqual(await allAfter(newer, 0), { a: 'two' });
  await Promise.all([older.close(), newer.close()]);
});

test(
  'an epoch that is given twice, as after a wrong promotion, is that of the node that has taken it there',
  skip,
  async (context) => {
    const servers = await startServers(context, 1);
    const [primary] = servers.all;
    const on = (node: string) => rowsOn(servers, systemTimers, () => {}, false, node);
    const [former, next] = [on('a'), on('b')];
    await former.acquire();
    await former.write(text({ a: 'one' }));
    // The standby that is promoted has the write and not who took the directory last.
    const lost =
      'update payments.partitions set epoch = epoch - 1, node = null where partition = -1 returning epoch';
    await primary!.query(lost, 'payments');
    await primary!.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'payments'",
    );
    assert.deepEqual((await next.acquire()).sequence, 1);
    const [{ epoch }] = (await primary!.query<{ epoch: string }>(
      'select epoch from payments.partitions where partition = -1',
      'payments',
    )) as [{ epoch: string }];
    assert.equal(epoch, '1', 'it is given twice');
    for (const content of ['zombie', 'zombie again'])
      await assert.rejects(former.write(text({ a: content })), /newer owner/);
    await next.write(text({ a: 'two' }));
    assert.deepEqual(await allAfter(next, 0), { a: 'two' });
    await Promise.all([former.close(), next.close()]);
  },
);

test('a write whose answer is lost is stored once, whatever became of it', skip, async (context) => {
  const servers = await startServers(context, 1);
  const [primary, standby] = servers.all as [(typeof servers.all)[0], (typeof servers.all)[0]];
  const rows = rowsOn(servers);
  await rows.acquire();
  const end = "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'payments'";
  // Stored, and waiting for the standby, when the connection ends.
  standby.freeze();
  const waiting = rows.write(text({ a: 'one' }));
  const waits = "select 1 from pg_stat_activity where wait_event = 'SyncRep'";
  while ((await primary.query(waits)).length === 0);
  await primary.query(end);
  standby.thaw();
  assert.equal((await waiting).sequence, 1);
  // Not stored: the connection ends in the middle of the statement, the first time.
  await primary.query('create sequence payments.tries', 'payments');
  await primary.query('grant all on sequence payments.tries to payments', 'payments');
  await primary.query(
    `create function payments.fail() returns trigger language plpgsql as $$ begin
       if nextval('payments.tries') = 1 then perform pg_terminate_backend(pg_backend_pid()); end if;
       return new; end $$`,
    'payments',
  );
  const fails =
    'fails before insert on payments.directory_writes for each row execute function payments.fail()';
  await primary.query(`create trigger ${fails}`, 'payments');
  const failing = rows.write(text({ b: 'two' }));
  assert.equal((await failing).sequence, 2);
  const [{ writes }] = (await primary.query<{ writes: string }>(
    'select count(*) as writes from payments.directory_writes',
    'payments',
  )) as [{ writes: string }];
  assert.equal(writes, '2');
  assert.deepEqual(await allAfter(rows, 0), { a: 'one', b: 'two' });
  await rows.close();
});

test('a write that is under way when all is closed is waited for', skip, async (context) => {
  const servers = await startServers(context, 1);
  const [primary, standby] = servers.all as [(typeof servers.all)[0], (typeof servers.all)[0]];
  // It would wait for half a second.
  const timers: Timers = {
    after: (ms, action) => (ms === 500 ? () => {} : systemTimers.after(ms, action)),
  };
  const rows = rowsOn(servers, timers);
  await rows.acquire();
  standby.freeze();
  const waiting = rows.write(text({ a: 'one' }));
  const waits = "select 1 from pg_stat_activity where wait_event = 'SyncRep'";
  while ((await primary.query(waits)).length === 0);
  const closed = rows.close(waiting);
  standby.thaw();
  assert.equal((await waiting).sequence, 1);
  await closed;
  await assert.rejects(rows.write(text({ b: 'two' })), /the connection is closed/);
});

test('a write that PostgreSQL refuses is told of, and tried again after a pause', skip, async (context) => {
  const servers = await startServers(context, 0);
  const [primary] = servers.all as [(typeof servers.all)[0]];
  let pauses = 0;
  const timers: Timers = {
    after(ms, action) {
      if (ms === retryMs) pauses++;
      return systemTimers.after(ms, action);
    },
  };
  const troubles: (string | null)[] = [];
  const rows = rowsOn(servers, timers, (trouble) => void troubles.push(trouble), true);
  await rows.acquire();
  // As a disk does that has room again after a while.
  await primary.query('create sequence payments.tries', 'payments');
  await primary.query('grant all on sequence payments.tries to payments', 'payments');
  await primary.query(
    `create function payments.refuse() returns trigger language plpgsql as $$ begin
       if nextval('payments.tries') <= 3 then raise 'No space left on device' using errcode = '53100'; end if;
       return new; end $$`,
    'payments',
  );
  const refuses =
    'refuses before insert on payments.directory_writes for each row execute function payments.refuse()';
  await primary.query(`create trigger ${refuses}`, 'payments');
  assert.equal((await rows.write(text({ a: 'one' }))).sequence, 1);
  assert.equal(pauses, 3);
  assert.equal(troubles.length, 2, troubles.join('\n'));
  assert.match(String(troubles[0]), /No space left on device/);
  assert.equal(troubles[1], null);
  await rows.close();
});
