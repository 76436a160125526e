// A service whose logs lie in several databases: each is taken for what it was when the service began, and an earlier holder of
// the lease takes nothing back, whichever database has forgotten who came after it.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { systemTimers } from '../../src/core/scheduler.ts';
import { readCluster } from '../../src/postgresql/cluster-state.ts';
import type { Database } from '../../src/postgresql/database.ts';
import { type PartitionRange, parseJournalUrl, textOf } from '../../src/postgresql/journal-url.ts';
import { PostgresLease } from '../../src/postgresql/lease-table.ts';
import type { OwnerOptions } from '../../src/postgresql/owner-connection.ts';
import { PostgresLog } from '../../src/postgresql/partition-log.ts';
import { PartitionTables } from '../../src/postgresql/partition-table.ts';
import { findPrimary, type Primary, withPrimary } from '../../src/postgresql/primary.ts';
import { migrate } from '../../src/postgresql/schema.ts';
import { refusalsOfStart } from '../../src/postgresql/service-table.ts';
import { retriedAtOnce } from './retries.ts';
import { leftOut, startServers } from './servers.ts';

const skip = { skip: leftOut, timeout: 60_000 };
const started = leftOut === false ? startServers({ after }, 0) : null;
const terms = { trustMs: 2_000, attemptMs: 30_000 };
const retryMs = 200;
let made = 0;

/** Empty databases of one server, and who owns what in them. */
async function bench(...ranges: readonly PartitionRange[]) {
  const server = (await started)!.all[0]!;
  const names = ranges.map(() => `payments_${++made}`);
  for (const name of names) await server.query(`create database ${name} owner payments`);
  const databaseNamed = (name: string, partitions: PartitionRange | null): Database => {
    const address = parseJournalUrl(`postgresql://payments@127.0.0.1:${server.port}/${name}`);
    assert(typeof address !== 'string');
    const division = partitions === null ? null : ranges.map(textOf).join(' ');
    return {
      address,
      password: null,
      ca: null,
      timers: systemTimers,
      partitions,
      division,
      first: null,
      others: [],
    };
  };
  const service = { folder: 'f', generation: 0, shards: ranges.at(-1)!.last + 1 };
  /** The owners in each of these databases, of a node with that lease. */
  const ownersIn = (
    databases: readonly Database[],
    lease: number | null = null,
    node: string | null = 'a',
  ): OwnerOptions[] => {
    const [first, ...rest] = databases;
    const others = rest.map((database) => ({ ...database, first: first! }));
    return [{ ...first!, others }, ...others].map((database) => ({
      ...{ ...database, service, lease, node },
      ...{ isSingle: true, onTrouble() {} },
    }));
  };
  const databases = names.map((name, i) => databaseNamed(name, ranges[i]!));
  return { server, names, databases, databaseNamed, ownersIn };
}

const twoRanges = [
  { first: 0, last: 1 },
  { first: 2, last: 3 },
] as const;

function leaseOf(owners: readonly OwnerOptions[], node: string) {
  const tables = new PartitionTables(owners);
  const identity = { node, process: `process ${node}`, release: '1' };
  return { tables, lease: new PostgresLease(owners[0]!, identity, tables) };
}

const logOf = (owner: OwnerOptions, partition: number) => new PostgresLog({ ...owner, partition });

test('the first start says of each database whose it is, and of which partitions', skip, async () => {
  const { server, names, databases, databaseNamed, ownersIn } = await bench(...twoRanges);
  const owners = ownersIn(databases);
  const log = logOf(owners[0]!, 0);
  await log.acquire(0);
  const rows = await Promise.all(
    names.map((name) =>
      server.query('select folder, shards, partitions, division from payments.service', name),
    ),
  );
  assert.deepEqual(rows, [
    [{ folder: 'f', shards: 4, partitions: '0-1', division: '0-1 2-3' }],
    [{ folder: 'f', shards: 4, partitions: '2-3', division: '0-1 2-3' }],
  ]);
  const [empty] = (await bench({ first: 0, last: 0 })).names as [string];
  const refused = async (wrong: readonly OwnerOptions[], partition: number, reason: RegExp) => {
    const owner = wrong.find(({ partitions }) => partitions === null || partition <= partitions.last)!;
    await assert.rejects(logOf(owner, partition).acquire(0), reason);
  };
  // Another database in the place of the second, which would begin with empty logs.
  const replaced = ownersIn([databases[0]!, databaseNamed(empty, twoRanges[1])]);
  await refused(replaced, 2, /has no log, and this service has one elsewhere/);
  const exchanged = ownersIn([
    databaseNamed(names[1]!, twoRanges[0]),
    databaseNamed(names[0]!, twoRanges[1]),
  ]);
  await refused(
    exchanged,
    0,
    /has the logs of the partitions 2-3 of the division 0-1 2-3, and PAYMENTS_JOURNAL_URL names it for the partitions 0-1/,
  );
  await refused(exchanged, 2, /has the logs of the partitions 0-1 .* for the partitions 2-3/);
  await refused(ownersIn([databaseNamed(names[0]!, null)]), 0, /names it for all partitions/);
  await log.close();
});

test('a database that is named twice is refused before anything is written', skip, async () => {
  const { server, names, databases, databaseNamed, ownersIn } = await bench(...twoRanges);
  const twice = ownersIn([databases[0]!, databaseNamed(names[0]!, twoRanges[1])]);
  const named = /has one database that PAYMENTS_JOURNAL_URL names for the partitions 0-1 and 2-3/;
  await assert.rejects(logOf(twice[0]!, 0).acquire(0), named);
  assert.deepEqual(await server.query('select from payments.service', names[0]!), []);
  const log = logOf(ownersIn(databases)[0]!, 0);
  assert.equal((await log.acquire(0)).epoch, 1);
  await log.close();
});

test('that a start would refuse a database is known before, of each', skip, async () => {
  const { server, names, databases, databaseNamed, ownersIn } = await bench(...twoRanges);
  const [first, second] = databases as [Database, Database];
  const owners = ownersIn(databases);
  const { service } = owners[0]!;
  const refusals = async (given: readonly Database[], whose: OwnerOptions['service'] | null = service) =>
    (await refusalsOfStart(given, whose)).map(
      (refusal) => refusal && /names for|another data folder|has the logs of|has no log/.exec(refusal)?.[0],
    );
  assert.deepEqual(await refusals(databases), [null, null], 'nothing is there yet');
  assert.deepEqual(
    await server.query('select from pg_namespace where nspname = $$payments$$', names[0]!),
    [],
  );
  const sameTwice = [first, databaseNamed(names[0]!, twoRanges[1])];
  assert.deepEqual(await refusals(sameTwice), [null, 'names for']);
  const log = logOf(owners[0]!, 0);
  await log.acquire(0);
  await log.close();
  const [empty] = (await bench({ first: 0, last: 0 })).names as [string];
  for (const [why, given, whose, expected] of [
    ['those of the folder', databases, service, [null, null]],
    ['those of the service that a new folder joins', databases, null, [null, null]],
    [
      'of another folder',
      databases,
      { ...service, folder: 'g' },
      ['another data folder', 'another data folder'],
    ],
    ['an empty one', [first, databaseNamed(empty, twoRanges[1])], service, [null, 'has no log']],
    ['a list that names the first twice', sameTwice, service, [null, 'names for']],
    [
      'exchanged',
      [databaseNamed(names[1]!, twoRanges[0]), databaseNamed(names[0]!, twoRanges[1])],
      service,
      ['has the logs of', 'has the logs of'],
    ],
  ] as const)
    assert.deepEqual(await refusals(given, whose), expected, why);
  await server.query('alter table payments.service drop column partitions, drop column division', names[1]!);
  assert.deepEqual(await refusals([first, second]), [null, 'has the logs of'], 'of an older release');
});

test('a database that nobody has claimed yet is waited for until the service has begun', skip, async () => {
  const { databases, ownersIn } = await bench(...twoRanges);
  const [first, second] = ownersIn(databases) as [OwnerOptions, OwnerOptions];
  const waits = Promise.withResolvers<string>();
  const onTrouble = (trouble: string | null) => trouble !== null && waits.resolve(trouble);
  const other = logOf({ ...second, onTrouble }, 2);
  const acquired = other.acquire(0);
  assert.match(
    String(await Promise.race([waits.promise, acquired])),
    /does not say yet whose service it has/,
  );
  const log = logOf(first, 0);
  await log.acquire(0);
  assert.equal((await acquired).epoch, 1);
  for (const each of [log, other]) await each.close();
});

test('releases that know one database alone are kept out before a service begins', skip, async () => {
  const { server, names, databases, ownersIn } = await bench(...twoRanges);
  for (const [i, database] of databases.entries()) {
    await withPrimary(database, ({ client }) => migrate(client));
    await server.query(
      `create function refuse() returns trigger language plpgsql as $$ begin raise 'refused'; end $$;
       create trigger refuse before update on payments.version for each row execute function refuse()`,
      names[i]!,
    );
  }
  const refused = Promise.withResolvers<void>();
  const onTrouble = (trouble: string | null) => {
    if (trouble?.includes('refused')) refused.resolve();
  };
  const log = logOf({ ...ownersIn(databases)[0]!, onTrouble }, 0);
  const acquired = log.acquire(0);
  await refused.promise;
  for (const name of names) await server.query('drop trigger refuse on payments.version', name);
  await acquired;
  for (const name of names)
    assert.deepEqual(await server.query('select oldest from payments.version', name), [{ oldest: 10 }]);
  await log.close();
});

test('an earlier holder of the lease takes back nothing in any database', skip, async () => {
  const { databases, ownersIn } = await bench(...twoRanges);
  const [a, b] = ['a', 'b'].map((node) => leaseOf(ownersIn(databases, null, node), node));
  const first = await a!.lease.take(null, 'the first node', terms);
  const ofA = ownersIn(databases, first, 'a');
  const logs = [0, 2].map((partition) => logOf(ofA[partition / 2]!, partition));
  for (const log of logs) await log.acquire(0);
  const second = await b!.lease.take(await b!.lease.look(), 'a was silent', terms);
  assert.deepEqual([first, second], [1, 2]);
  const ofB = ownersIn(databases, second, 'b');
  for (const partition of [0, 2]) {
    const taken = logOf(ofB[partition / 2]!, partition);
    assert.equal((await taken.acquire(0)).epoch, 2);
    const { timers, tried } = retriedAtOnce(retryMs, 2);
    const troubles: (string | null)[] = [];
    const onTrouble = (trouble: string | null) => void troubles.push(trouble);
    const late = logOf({ ...ofA[partition / 2]!, timers, onTrouble }, partition);
    const acquired = assert.rejects(late.acquire(0), /the connection is closed/);
    await tried;
    assert.match(String(troubles[0]), /another node has taken the lease of epoch 1/);
    await late.close();
    await acquired;
    await taken.close();
  }
  await b!.tables.look();
  assert.deepEqual(
    b!.tables.partitions.map(({ partition, node }) => [partition, node]),
    [
      [0, 'b'],
      [2, 'b'],
    ],
  );
});

test(
  'a lease that the first database has forgotten is given only above what the others have noted',
  skip,
  async () => {
    const { server, names, databases, ownersIn } = await bench(...twoRanges);
    const { lease, tables } = leaseOf(ownersIn(databases), 'a');
    await lease.take(null, 'the first node', terms);
    for (let epoch = 2; epoch < 5; epoch++)
      await lease.take(await lease.look(), 'the answer was lost', terms);
    const log = logOf(ownersIn(databases, 4)[1]!, 2);
    await log.acquire(0);
    // As when a standby is promoted that lacks what came since.
    await server.query('update payments.lease set epoch = 1', names[0]!);
    await tables.look();
    assert.equal(tables.notedEpoch, 4);
    assert.equal(await lease.take(await lease.look(), 'the answer was lost', terms), 5);
    await server.query('truncate payments.lease, payments.takeovers', names[0]!);
    assert.equal(await lease.take(null, 'the first node', terms), 5);
    await log.close();
    lease.close();
    tables.close();
  },
);

test('a command takes what nodes have left, and a node takes it after that', skip, async () => {
  const { databases, ownersIn } = await bench(...twoRanges);
  const { lease, tables } = leaseOf(ownersIn(databases), 'a');
  const acquire = async (epoch: number | null) => {
    for (const [i, owner] of ownersIn(databases, epoch).entries()) {
      const log = logOf(owner, 2 * i);
      await log.acquire(0);
      await log.close();
    }
  };
  const epoch = await lease.take(null, 'the first node', terms);
  await acquire(epoch);
  await lease.release(epoch!, 0);
  await acquire(null);
  await acquire(await lease.take(await lease.look(), 'a has stopped', terms));
  lease.close();
  tables.close();
});

test('a command that meets a node takes nothing from it for good', skip, async () => {
  const { databases, ownersIn } = await bench(...twoRanges);
  const { lease, tables } = leaseOf(ownersIn(databases), 'a');
  const epoch = await lease.take(null, 'the first node', terms);
  const held = logOf(ownersIn(databases, epoch)[1]!, 2);
  await held.acquire(0);
  // The first database says that a node has the lease, of its own logs and of the others'.
  for (const [i, owner] of ownersIn(databases).entries()) {
    const { timers, tried } = retriedAtOnce(retryMs, 2);
    const troubles: (string | null)[] = [];
    const onTrouble = (trouble: string | null) => void troubles.push(trouble);
    const refused = logOf({ ...owner, timers, onTrouble }, 2 * i);
    const acquired = assert.rejects(refused.acquire(0), /the connection is closed/);
    await tried;
    assert.match(
      String(troubles[0]),
      /nodes share the service .*: set PAYMENTS_CLUSTER_NODE, or stop them all/,
    );
    await refused.close();
    await acquired;
  }
  // One that was let in before the node came comes behind it.
  await lease.release(epoch!, 0);
  const command = logOf(ownersIn(databases)[1]!, 2);
  await command.acquire(0);
  const next = await lease.take(await lease.look(), 'a has stopped', terms);
  const again = logOf(ownersIn(databases, next)[1]!, 2);
  await again.acquire(0);
  const noted = databases[1]!.address.database;
  const server = (await started)!.all[0]!;
  await server.query('update payments.lease set released = true', noted);
  assert.ok((await again.acquire(0)).epoch > 0);
  for (const log of [held, command, again]) await log.close();
  lease.close();
  tables.close();
});

test(
  'what has logs already is not claimed for a service that begins, and an older release is refused',
  skip,
  async () => {
    const { server, names, databases, databaseNamed, ownersIn } = await bench(...twoRanges);
    for (const [i, owner] of ownersIn(databases).entries()) {
      const log = logOf(owner, 2 * i);
      await log.acquire(0);
      await log.close();
    }
    for (const name of names)
      assert.deepEqual(await server.query('select version, oldest from payments.version', name), [
        { version: 10, oldest: 10 },
      ]);
    // The first database is lost, and an empty one is in its place.
    const [empty] = (await bench({ first: 0, last: 0 })).names as [string];
    const { timers, tried } = retriedAtOnce(retryMs, 2);
    const troubles: (string | null)[] = [];
    const [first] = ownersIn([databaseNamed(empty, twoRanges[0]), databases[1]!]);
    const onTrouble = (trouble: string | null) => void troubles.push(trouble);
    const log = logOf({ ...first!, timers, onTrouble }, 0);
    const acquired = assert.rejects(log.acquire(0), /the connection is closed/);
    await tried;
    assert.match(
      String(troubles[0]),
      / has logs, and the first database of PAYMENTS_JOURNAL_URL knows of no service/,
    );
    await log.close();
    await acquired;
  },
);

test(
  'a holder that did not believe itself any more gives up a lease that may have been forgotten',
  skip,
  async () => {
    const { server, names, databases, ownersIn } = await bench(...twoRanges);
    const owners = ownersIn(databases);
    const { lease, tables } = leaseOf(owners, 'a');
    await lease.take(null, 'the first node', terms);
    const log = logOf(ownersIn(databases, 1)[1]!, 2);
    await log.acquire(0);
    await tables.look();
    assert.deepEqual([await lease.isForgotten(1, false), await lease.isForgotten(1, true)], [false, false]);
    await server.query('update payments.lease set epoch = 2', names[1]!);
    assert.deepEqual([await lease.isForgotten(1, false), await lease.isForgotten(1, true)], [false, true]);
    // It was seen by now.
    assert.equal(await lease.isForgotten(1, false), true);
    await log.close();
    lease.close();
    tables.close();
  },
);

/** Fails a question that is asked before the one before it is answered. */
function askedInTurn(primary: Primary): Primary {
  const query = primary.query.bind(primary);
  let isAsked = false;
  primary.query = async (config) => {
    assert(!isAsked, `it was asked something else meanwhile: ${config.text}`);
    isAsked = true;
    try {
      return await query(config);
    } finally {
      isAsked = false;
    }
  };
  return primary;
}

test('operators are told of a database that can not be asked, and of the others', skip, async () => {
  const { server, names, databases, ownersIn } = await bench(...twoRanges);
  const owners = ownersIn(databases);
  const log = logOf(owners[0]!, 0);
  await log.acquire(0);
  const primaries = await Promise.all(databases.map(findPrimary));
  const [first, second] = primaries;
  assert(typeof first !== 'string' && typeof second !== 'string');
  const listed = { partitions: twoRanges[1], division: databases[1]!.division };
  const others = [{ ...listed, primary: askedInTurn(second!) }];
  const found = await readCluster(first!, others);
  assert.deepEqual(
    [found.partitions, found.other_databases.map(({ partitions, trouble }) => [partitions, trouble])],
    [4, [['2-3', null]]],
  );
  await server.query('drop schema payments cascade', names[1]!);
  const broken = await readCluster(first!, others);
  assert.match(String(broken.other_databases[0]?.trouble), /relation "payments\.\w+" does not exist/);
  const gone = await readCluster(first!, [{ ...listed, primary: 'nobody listens' }]);
  assert.deepEqual(gone.other_databases, [
    { partitions: '2-3', trouble: 'nobody listens', postgresql: null },
  ]);
  for (const primary of primaries) if (typeof primary !== 'string') primary.close();
  await log.close();
});
