// The log of a partition in PostgreSQL, and its connections.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setImmediate, setTimeout as wait } from 'node:timers/promises';
import { systemTimers, type Timers } from '../../src/core/scheduler.ts';
import type { LogEnd } from '../../src/journal/journal.ts';
import { encodeBatch, endOfBatch } from '../../src/journal/log/codec.ts';
import { parseJournalUrl } from '../../src/postgresql/journal-url.ts';
import { PostgresLease } from '../../src/postgresql/lease-table.ts';
import { LogFollower } from '../../src/postgresql/log-follower.ts';
import type { OwnerOptions } from '../../src/postgresql/owner-connection.ts';
import { PostgresLog } from '../../src/postgresql/partition-log.ts';
import { PartitionTables } from '../../src/postgresql/partition-table.ts';
import { identity, startMs, tag, turnAt } from '../journal/journal-fixtures.ts';
import { poll, until } from '../poll.ts';
import { Link } from './links.ts';
import { retriedAtOnce } from './retries.ts';
import {
  leftOut,
  onlyDatabase,
  type PostgresServer,
  type PostgresServers,
  promoteWrongly,
  startServers,
} from './servers.ts';

const skip = { skip: leftOut };
/** For the tests that leave it as it was. */
const withStandby = leftOut === false ? startServers({ after }, 1) : null;
/** How long an acquisition that failed waits for the next. */
const retryMs = 200;
/** After how long without an answer it looks whether one will come, and tells of it. */
const [doubtMs, answerMs] = [1_000, 3_000];
/** A change that took so long may have waited for standbys. */
const waitedMs = 100;
/** For how long a log that is closed waits for what was noted last. */
const notedMs = 500;

function optionsOn(
  servers: Pick<PostgresServers, 'url'>,
  timers: Timers,
  isSingle: boolean,
  troubles: (string | null)[] = [],
): OwnerOptions {
  const address = parseJournalUrl(servers.url);
  assert(typeof address !== 'string');
  const onTrouble = (trouble: string | null) => void troubles.push(trouble);
  const options = {
    address,
    password: null,
    ca: null,
    ...onlyDatabase,
    lease: null,
    node: null,
    isSingle,
    onTrouble,
  };
  const { folder, generation } = identity;
  return { ...options, timers, service: { folder, generation, shards: 1 } };
}

function logOn(...given: Parameters<typeof optionsOn>) {
  return new PostgresLog({ ...optionsOn(...given), partition: 0 });
}

test('a server that is refused again and again is not left with the connections', skip, async (context) => {
  const servers = await startServers(context, 0);
  const troubles: (string | null)[] = [];
  const { timers, tried } = retriedAtOnce(retryMs, 8);
  const log = logOn(servers, timers, false, troubles);
  const acquired = assert.rejects(log.acquire(0), /the connection is closed/);
  await tried;
  assert.equal(troubles.length, 1);
  assert.match(String(troubles[0]), /does not hold what it acknowledges: synchronous_standby_names is empty/);
  const connections = await servers.all[0]!.connections();
  assert(connections <= 2, `${connections} connections`);
  await log.close();
  await acquired;
});

/** What is due within an hour runs in its time, and what is due later when a test says so. */
function heldHours() {
  const hours: (() => void)[] = [];
  const timers: Timers = {
    after(ms, action) {
      if (ms < 3_600_000) return systemTimers.after(ms, action);
      hours.push(action);
      return () => {};
    },
  };
  return { hours, timers };
}

test('no append becomes a part of the transaction that keeps the days', skip, async (context) => {
  const servers = await startServers(context, 0);
  const { hours, timers } = heldHours();
  const log = logOn(servers, timers, true);
  const { epoch } = await log.acquire(0);
  // There is something to do in the transaction.
  await servers.all[0]!.query(
    "create table payments.log_20200101 partition of payments.log for values from ('2020-01-01') to ('2020-01-02')",
    'payments',
  );
  const appends = 60;
  for (let sequence = 1; sequence <= appends; sequence++) {
    if (sequence % 10 === 5) hours.at(-1)!();
    const { bytes } = encodeBatch(turnAt(sequence, 1), tag, epoch);
    await log.append(epoch, { firstSequence: sequence, timeMs: startMs, end: endOfBatch(bytes), bytes });
  }
  const [row] = await servers.all[0]!.query<{ transactions: string }>(
    'select count(distinct xmin::text) as transactions from payments.log',
    'payments',
  );
  assert.equal(Number(row!.transactions), appends);
  await log.close();
});

test('the newest owner alone is confirmed, and writes', skip, async (context) => {
  const servers = await startServers(context, 1);
  const [older, newer] = [logOn(servers, systemTimers, false), logOn(servers, systemTimers, false)];
  const { epoch } = await older.acquire(0);
  await older.confirm(epoch);
  const acquired = await newer.acquire(0);
  await assert.rejects(older.confirm(epoch), { outcome: 'fenced' });
  await assert.rejects(older.begin(epoch, { sequence: 7, checksum: 0 }), { outcome: 'fenced' });
  await assert.rejects(older.note(epoch, new Map(), 0), { outcome: 'fenced' });
  const { bytes } = encodeBatch(turnAt(1, 1), tag, epoch);
  const batch = { firstSequence: 1, timeMs: startMs, end: endOfBatch(bytes), bytes };
  await assert.rejects(older.append(epoch, batch), { outcome: 'fenced' });
  const rows = await servers.all[0]!.query(
    'select next_sequence, checksum from payments.partitions',
    'payments',
  );
  assert.deepEqual(rows, [{ next_sequence: '1', checksum: '0' }]);
  await newer.confirm(acquired.epoch);

  // A primary that nobody follows any more can't know.
  await servers.all[1]!.stop('kill');
  const confirmed = newer.confirm(acquired.epoch).then(
    () => 'confirmed',
    () => 'not confirmed',
  );
  await newer.close();
  assert.equal(await confirmed, 'not confirmed');
  await older.close();
});

test(
  'an answer that was lost on its way is not waited for; one that waits for a standby is',
  skip,
  async (context) => {
    const servers = (await withStandby)!;
    const [primary, standby] = servers.all;
    const link = await new Link(primary!.port).open(context);
    const url = `postgresql://payments@127.0.0.1:${link.port}/payments`;
    const log = logOn({ url }, systemTimers, false);
    const { epoch } = await log.acquire(0);
    const batchAt = (sequence: number) => {
      const { bytes } = encodeBatch(turnAt(sequence, 1), tag, epoch);
      return { firstSequence: sequence, timeMs: startMs, end: endOfBatch(bytes), bytes };
    };
    await log.append(epoch, batchAt(1));

    // Longer than an answer that was lost would be waited for.
    standby!.freeze();
    const waiting = log.append(epoch, batchAt(2));
    const fate = await Promise.race([waiting.then(() => 'appended'), wait(4_000, 'waits')]);
    assert.equal(fate, 'waits');
    standby!.thaw();
    await waiting;

    // Something between the two has forgotten the connection.
    link.forget();
    await assert.rejects(log.append(epoch, batchAt(3)), {
      outcome: 'unknown',
      message: /an answer of .* was lost/,
    });
    await log.close();
  },
);

test('an answer that is late is waited for until it is known that it was lost', skip, async (context) => {
  const [primary] = (await withStandby)!.all as [PostgresServer];
  const link = await new Link(primary.port).open(context);
  const looks: (() => void)[] = [];
  const timers: Timers = {
    after(ms, action) {
      if (ms !== doubtMs) return systemTimers.after(ms, action);
      looks.push(action);
      return () => {};
    },
  };
  const log = logOn({ url: `postgresql://payments@127.0.0.1:${link.port}/payments` }, timers, false);
  const { epoch } = await log.acquire(0);
  const answered = `select 1 from pg_stat_activity
    where query like '%set epoch = epoch%' and state = 'idle' and pid <> pg_backend_pid()`;
  /** The answer comes when it has been looked for so often. */
  const confirmAfter = async (count: number) => {
    const give = link.hold();
    const confirmed = log.confirm(epoch);
    await poll(async () => (await primary.query(answered)).length > 0 || undefined);
    for (let look = 0; look < count; look++) {
      const begun = looks.length;
      looks.at(-1)!();
      await Promise.race([until(() => looks.length > begun), confirmed]);
    }
    give();
    await confirmed;
  };
  // It may have just left the server.
  await confirmAfter(1);
  // Nobody can know whether it has.
  await primary.query('revoke select on pg_stat_activity from public', 'payments');
  await confirmAfter(3);
  await primary.query('grant select on pg_stat_activity to public', 'payments');
  await log.close();
});

test('the owner of the first partition keeps the days, until it is closed', skip, async () => {
  const servers = (await withStandby)!;
  const { hours, timers } = heldHours();
  const options = optionsOn(servers, timers, false);
  const [first, other] = [0, 1].map((partition) => new PostgresLog({ ...options, partition }));
  await other!.acquire(0);
  assert.equal(hours.length, 0);
  await first!.acquire(0);
  const old = 'payments.log_20200101';
  await servers.all[0]!.query(
    `set role payments; create table ${old} partition of payments.log for values from ('2020-01-01') to ('2020-01-02')`,
    'payments',
  );
  hours[0]!();
  await first!.close();
  const find = `select 1 where to_regclass('${old}') is null`;
  await poll(async () => (await servers.all[0]!.query(find, 'payments')).length > 0 || undefined);
  for (let turn = 0; turn < 5; turn++) await setImmediate();
  assert.equal(hours.length, 1);
  await other!.close();
});

test('a log that is closed has stored what was noted last, if that does not take long', skip, async () => {
  const servers = (await withStandby)!;
  for (const isLate of [false, true]) {
    const late = Promise.withResolvers<() => void>();
    const timers: Timers = {
      after(ms, action) {
        if (ms !== notedMs) return systemTimers.after(ms, action);
        late.resolve(action);
        return () => {};
      },
    };
    const log = logOn(servers, timers, false);
    const { epoch } = await log.acquire(0);
    const noted = Promise.withResolvers<void>();
    const closed = log.close(noted.promise);
    await log.confirm(epoch);
    if (isLate) (await late.promise)();
    else noted.resolve();
    await closed;
    await assert.rejects(log.confirm(epoch), /the connection is closed/);
  }
});

test('an acquisition that no standby confirms waits on one connection', skip, async () => {
  const servers = (await withStandby)!;
  const [primary, standby] = servers.all;
  let looks = 0;
  const looked = Promise.withResolvers<void>();
  const timers: Timers = {
    after(ms, action) {
      if (ms === doubtMs && ++looks === 6) looked.resolve();
      return systemTimers.after(ms === doubtMs || ms === answerMs ? 200 : ms, action);
    },
  };
  const troubles: (string | null)[] = [];
  const [before, log] = [logOn(servers, systemTimers, false), logOn(servers, timers, false, troubles)];
  const { epoch } = await before.acquire(0);
  standby!.freeze();
  const acquired = log.acquire(0);
  await looked.promise;
  const waiting = await primary!.query(
    "select 1 from pg_stat_activity where application_name = 'payments' and wait_event_type in ('IPC', 'Lock')",
  );
  standby!.thaw();
  assert.equal((await acquired).epoch, epoch + 1);
  assert.equal(waiting.length, 1);
  assert.match(String(troubles[0]), /does not answer, or none of its standbys does/);
  assert.deepEqual(troubles.slice(1), [null]);
  await Promise.all([before.close(), log.close()]);
});

test('a read that PostgreSQL refuses is told of, and leaves no connection behind', skip, async () => {
  const servers = (await withStandby)!;
  const [primary] = servers.all;
  const troubles: (string | null)[] = [];
  const pauses: (() => void)[] = [];
  const timers: Timers = {
    after(ms, action) {
      if (ms !== retryMs) return systemTimers.after(ms, action);
      pauses.push(action);
      return () => {};
    },
  };
  const follower = new LogFollower(optionsOn(servers, timers, false, troubles));
  const before = await primary!.connections();
  const read = () => follower.readAfter(new Map([[0, 0]]));
  await read();
  await primary!.query('revoke select on payments.log from payments', 'payments');
  /** It asks anew only after a pause. */
  const readAgain = async () => {
    let isAsked = false;
    const asked = read().finally(() => {
      isAsked = true;
    });
    asked.catch(() => {});
    while (pauses.length === 0) await setImmediate();
    // Whoever does not wait would be done by then.
    for (let time = 0; time < 5; time++) await primary!.connections();
    assert.equal(isAsked, false);
    pauses.shift()!();
    await asked;
  };
  await assert.rejects(read(), /permission denied for table log/);
  for (let time = 0; time < 2; time++) await assert.rejects(readAgain(), /permission denied for table log/);
  const later = await primary!.connections();
  assert(later <= before + 2, `${later} connections`);
  await primary!.query('grant select on payments.log to payments', 'payments');
  await readAgain();
  assert.equal(troubles.length, 2, troubles.join('\n'));
  assert.match(String(troubles[0]), /permission denied for table log/);
  assert.equal(troubles[1], null);
  follower.close();
});

test(
  "what PostgreSQL can't do because it is damaged is told of, and tried again after a while",
  skip,
  async () => {
    const servers = (await withStandby)!;
    const [primary] = servers.all;
    const pauses = Promise.withResolvers<void>();
    let tries = 0;
    const timers: Timers = {
      after(ms, action) {
        if (ms === retryMs && ++tries === 3) pauses.resolve();
        return systemTimers.after(ms, action);
      },
    };
    const troubles: (string | null)[] = [];
    const follower = new LogFollower(optionsOn(servers, timers, false, troubles));
    const log = new PostgresLog({ ...optionsOn(servers, systemTimers, false), partition: 3 });
    await log.acquire(0);
    await log.close();
    await primary!.query(
      `create function damaged() returns trigger language plpgsql as
     $$ begin raise exception 'invalid page' using errcode = 'XX001'; end $$;
     create trigger damaged before update on payments.partitions execute function damaged()`,
      'payments',
    );
    const found = follower.endOf(3);
    await Promise.race([pauses.promise, found]);
    await primary!.query('drop function damaged cascade', 'payments');
    assert.equal((await found).end.sequence, 0);
    assert.equal(troubles.length, 2, troubles.join('\n'));
    assert.match(String(troubles[0]), /invalid page/);
    assert.equal(troubles[1], null);
    follower.close();
  },
);

test('where a log ends is not told by an old primary that has come back', skip, async (context) => {
  const servers = await startServers(context, 2);
  const [old, next, other] = servers.all as [PostgresServer, PostgresServer, PostgresServer];
  const log = logOn(servers, systemTimers, false);
  const { epoch } = await log.acquire(0);
  const batchAt = (sequence: number) => {
    const { bytes } = encodeBatch(turnAt(sequence, 1), tag, epoch);
    return { firstSequence: sequence, timeMs: startMs, end: endOfBatch(bytes), bytes };
  };
  await log.append(epoch, batchAt(1));
  await log.close();
  const flushed = 'select 1 from pg_stat_replication where flush_lsn >= pg_current_wal_flush_lsn()';
  await poll(async () => (await old.query(flushed)).length === 2 || undefined);
  await old.stop('kill');
  await next.promote();
  await other.follow(next);
  const again = logOn(servers, systemTimers, false);
  const taken = await again.acquire(0);
  await again.append(taken.epoch, batchAt(2));
  await again.close();
  await old.start();

  // The new one can't be reached at first.
  const link = await new Link(next.port).open(context);
  link.cut('requests', 'answers');
  const url = `postgresql://payments@127.0.0.1:${old.port},127.0.0.1:${link.port}/payments`;
  const follower = new LogFollower(optionsOn({ url }, systemTimers, false));
  const found = follower.endOf(0);
  await Promise.race([found, wait(1_000)]);
  link.mend();
  const { end, firstSequence } = await found;
  assert.deepEqual([firstSequence, end.sequence], [1, 2]);
  follower.close();
});

test('what is new in a log is told with what it follows there', skip, async () => {
  const servers = (await withStandby)!;
  const options = optionsOn(servers, systemTimers, false);
  const log = new PostgresLog({ ...options, partition: 5 });
  const { epoch } = await log.acquire(0);
  const ends: LogEnd[] = [];
  for (const [sequence, entries] of [
    [1, 2],
    [3, 1],
    [4, 1],
    [5, 1],
  ] as const) {
    const { bytes } = encodeBatch(turnAt(sequence, entries), tag, epoch);
    ends.push(endOfBatch(bytes));
    await log.append(epoch, { firstSequence: sequence, timeMs: startMs, end: endOfBatch(bytes), bytes });
  }
  await log.close();
  const follower = new LogFollower(options);
  const told = async (after: number) => {
    const part = (await follower.readAfter(new Map([[5, after]]))).get(5);
    return part && { ends: part.batches.map(endOfBatch), before: part.before, end: part.end };
  };
  // The newest counts once another one follows it.
  assert.deepEqual(await told(0), { ends: ends.slice(0, 3), before: null, end: 5 });
  assert.deepEqual(await told(1), { ends: ends.slice(1, 3), before: ends[0]!.checksum, end: 5 });
  assert.deepEqual(await told(3), { ends: ends.slice(2, 3), before: ends[1]!.checksum, end: 5 });
  assert.deepEqual(await told(4), { ends: [], before: ends[2]!.checksum, end: 5 });
  assert.equal(await told(5), undefined);
  follower.close();
});

test('where a log begins is told also while its first batch is being appended', skip, async () => {
  const servers = (await withStandby)!;
  const [primary, standby] = servers.all;
  const options = optionsOn(servers, systemTimers, false);
  const [log, follower] = [new PostgresLog({ ...options, partition: 2 }), new LogFollower(options)];
  const { epoch } = await log.acquire(0);
  assert.equal((await follower.endOf(2)).firstSequence, 1);
  const waiting = async (event: string) => {
    const text = `select 1 from pg_stat_activity where wait_event${event}`;
    return (await primary!.query(text)).length > 0 || undefined;
  };
  standby!.freeze();
  const { bytes } = encodeBatch(turnAt(1, 3), tag, epoch);
  const appended = log.append(epoch, { firstSequence: 1, timeMs: startMs, end: endOfBatch(bytes), bytes });
  await poll(() => waiting(" = 'SyncRep'"));
  const found = follower.endOf(2);
  await poll(() => waiting("_type = 'Lock'"));
  standby!.thaw();
  await appended;
  const { end, firstSequence } = await found;
  assert.deepEqual([firstSequence, end.sequence], [1, 3]);
  follower.close();
  await log.close();
});

test(
  'a follower is told what is acknowledged, a portion at a time, and whether there may be more',
  skip,
  async () => {
    const options = optionsOn((await withStandby)!, systemTimers, false);
    const [log, follower] = [new PostgresLog({ ...options, partition: 3 }), new LogFollower(options)];
    const { epoch } = await log.acquire(0);
    const appended: Buffer[] = [];
    for (let sequence = 1; sequence <= 70; sequence++) {
      const { bytes } = encodeBatch(turnAt(sequence, 1), tag, epoch);
      appended.push(bytes);
      await log.append(epoch, { firstSequence: sequence, timeMs: startMs, end: endOfBatch(bytes), bytes });
    }
    const read = (after: number) =>
      follower.readAfter(
        new Map([
          [2, 1_000],
          [3, after],
        ]),
      );
    const portion = (from: number, to: number, hasMore: boolean) => {
      const before = from === 0 ? null : endOfBatch(appended[from - 1]!).checksum;
      return new Map([[3, { batches: appended.slice(from, to), before, end: 70, hasMore }]]);
    };
    assert.deepEqual(await read(0), portion(0, 63, true));
    assert.deepEqual(await read(63), portion(63, 69, false));
    await log.note(epoch, new Map(), 70);
    assert.deepEqual(await read(69), portion(69, 70, false));
    assert.deepEqual(await read(70), new Map());
    follower.close();
    await log.close();
  },
);

test(
  'what the wrong primary acknowledges for a standby that is ahead is not believed',
  skip,
  async (context) => {
    const servers = await startServers(context, 2);
    const log = logOn(servers, systemTimers, false);
    await log.acquire(0);
    await log.close();
    await promoteWrongly(servers);
    const troubles: (string | null)[] = [];
    const next = logOn(servers, systemTimers, false, troubles);
    let isBelieved = false;
    const acquired = next.acquire(0).then(() => {
      isBelieved = true;
    });
    const isOver = () => (isBelieved ? 'it is believed' : troubles.find((each) => each?.includes('hold')));
    assert.match(
      (await poll(isOver)) ?? '',
      /does not hold what it acknowledges: b has received what this server never had, .* promote that one instead/,
    );
    await next.close();
    await assert.rejects(acquired, /the connection is closed/);
  },
);

test('a commit that waited is not acknowledged once no standby is named any more', skip, async () => {
  const servers = (await withStandby)!;
  const [primary, standby] = servers.all as [PostgresServer, PostgresServer];
  // What takes longer than nothing has waited.
  const timers: Timers = {
    after: (ms, action) => systemTimers.after(ms === waitedMs ? 0 : ms, action),
  };
  const log = new PostgresLog({ ...optionsOn(servers, timers, false), partition: 4 });
  const { epoch } = await log.acquire(0);
  standby.freeze();
  const refused = assert.rejects(
    log.confirm(epoch),
    /was not replicated: synchronous_standby_names is empty/,
  );
  const waiting = "select 1 from pg_stat_activity where wait_event = 'SyncRep'";
  await poll(async () => (await primary.query(waiting)).length > 0 || undefined);
  await primary.query("alter system set synchronous_standby_names = ''");
  await primary.query('select pg_reload_conf()');
  await refused;
  standby.thaw();
  await primary.query('alter system reset synchronous_standby_names');
  await primary.query('select pg_reload_conf()');
  await assert.rejects(log.confirm(epoch), /was not replicated/, 'its connection is not used again');
  await log.close();
});

test('what one disk alone has is not acknowledged, and gives no trust', skip, async () => {
  const servers = (await withStandby)!;
  const [primary] = servers.all;
  const options = optionsOn(servers, systemTimers, false);
  const nodes = ['a', 'b'].map(
    (node) =>
      new PostgresLease(options, { node, process: node, release: '1' }, new PartitionTables([options])),
  );
  const [a, b] = nodes as [PostgresLease, PostgresLease];
  const logs = [1, 2, 3].map((partition) => new PostgresLog({ ...options, partition }));
  const epochs = await Promise.all(logs.map(async (log) => (await log.acquire(0)).epoch));
  const epoch = await a.take(null, 'the first node', { trustMs: 10_000, attemptMs: 30_000 });
  assert.equal((await a.beat(epoch!, 7))?.successor, null);
  const seen = await b.look();
  assert.equal(seen?.beat, 7);
  assert.equal(seen?.terms.trustMs, 10_000);
  assert.equal(seen?.terms.attemptMs, 30_000);

  const isNamed = async () => {
    const [row] = await primary!.query<{ names: string }>(
      "select current_setting('synchronous_standby_names') as names",
    );
    return row!.names !== '';
  };
  await primary!.query("alter system set synchronous_standby_names = ''");
  await primary!.query('select pg_reload_conf()');
  while (await isNamed());
  const notReplicated = /was not replicated: synchronous_standby_names is empty/;
  await assert.rejects(a.beat(epoch!, 8), notReplicated);
  await assert.rejects(
    b.take({ ...seen!, beat: seen!.beat + 1 }, 'a was silent', { trustMs: 10_000, attemptMs: 10_000 }),
    notReplicated,
  );
  await assert.rejects(logs[0]!.begin(epochs[0]!, { sequence: 1, checksum: 0 }), notReplicated);
  await assert.rejects(logs[1]!.note(epochs[1]!, new Map(), 0), notReplicated);
  await assert.rejects(logs[2]!.confirm(epochs[2]!), notReplicated);
  for (const each of [a, b, ...logs]) each.close();
  await primary!.query('alter system reset synchronous_standby_names');
  await primary!.query('select pg_reload_conf()');
  while (!(await isNamed()));
});
