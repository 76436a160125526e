// Whose tables a database has: those of one service, and of which of its partitions the logs. The
// first start of a service writes this, in the first of its databases last: from then on one that
// is not of the service is refused, also when it is empty.

import type { ServiceIdentity } from '../cluster/node.ts';
import { elementAt } from '../core/assert.ts';
import { JournalDamaged } from '../journal/journal.ts';
import { askAsItIs, askPrimary, type Database } from './database.ts';
import { type PartitionRange, textOf } from './journal-url.ts';
import { type PostgresOptions, type Primary, withPrimary } from './primary.ts';
import { listVersion } from './schema.ts';

/** As a database has it. */
interface StoredService extends ServiceIdentity {
  readonly [column: string]: unknown;
  /** Those whose logs it has; null: all. */
  readonly partitions: string | null;
  /** The ranges of all databases; null: there is one. */
  readonly division: string | null;
}

async function serviceAt(primary: Primary): Promise<StoredService | null> {
  const text = 'select folder, generation, shards, partitions, division from payments.service';
  const [found] = await primary.query<StoredService>({ text });
  return found ?? null;
}

/** The service whose tables PostgreSQL has; null: none has. A text says why that is not known. */
export function serviceIn(options: PostgresOptions): Promise<ServiceIdentity | null | string> {
  return askPrimary(options, serviceAt);
}

/**
 * Rejects with `JournalDamaged` unless the database is that of the service, and with another error
 * while that is not known. `claim` is called at the first start, for each of the others; whatever
 * it rejects with, the start is tried again.
 */
export async function refuseForeign(
  primary: Primary,
  service: ServiceIdentity,
  database: Database,
  claim: (other: Database) => Promise<void>,
): Promise<void> {
  const { folder, generation, shards } = service;
  const wanted: StoredService = { folder, generation, shards, ...rangesOf(database) };
  let found = await serviceAt(primary);
  if (found === null && database.first === null) {
    await refuseSame(primary, database);
    for (const other of database.others) await claim(other);
    await writeService(primary, wanted);
    found = await serviceAt(primary);
  }
  if (found === null && database.first !== null) {
    await requireBegun(database.first);
    found = await serviceAt(primary);
  }
  const refusal = refusalOf(found, wanted);
  if (refusal !== null) throw new JournalDamaged(`${primary.name} ${refusal}`, { isRemote: true });
}

/** The databases of a service that begins are different ones, by whatever names. */
async function refuseSame(primary: Primary, { partitions, others }: Database): Promise<void> {
  const found: NamedDatabase[] = [{ ...primaryOf(primary), partitions }];
  for (const other of others) {
    const each = await withPrimary(other, async (at) => ({ ...primaryOf(at), partitions: other.partitions }));
    if (typeof each === 'string') throw new Error(each);
    const refusal = refusalOfSame(found, each);
    if (refusal !== null) throw new JournalDamaged(refusal, { isRemote: true });
    found.push(each);
  }
}

interface NamedDatabase extends Pick<Primary, 'name' | 'database'> {
  readonly partitions: PartitionRange | null;
}

function primaryOf({ name, database }: Primary): Pick<Primary, 'name' | 'database'> {
  return { name, database };
}

function refusalOfSame(before: readonly NamedDatabase[], named: NamedDatabase): string | null {
  const same = before.find(({ database }) => database === named.database);
  if (same === undefined) return null;
  const [one, other] = [same, named].map(({ partitions }) => partitions && textOf(partitions));
  return `${named.name} has one database that PAYMENTS_JOURNAL_URL names for the partitions ${one} and ${other}: give each range its own`;
}

/**
 * Why a start would refuse databases, of each; null: it would not. `service`: that of the data
 * folder; null: there is none yet, and a start would make one of the first database's service.
 */
export async function refusalsOfStart(
  databases: readonly Database[],
  service: ServiceIdentity | null,
): Promise<readonly (string | null)[]> {
  const found = await Promise.all(
    databases.map((database) =>
      askAsItIs(database, async (primary) => ({
        ...primaryOf(primary),
        partitions: database.partitions,
        service: await serviceAsItIs(primary),
      })),
    ),
  );
  const answered = found.filter((each) => typeof each !== 'string');
  const begun = typeof found[0] === 'object' ? found[0].service : null;
  const own = service ?? begun;
  return found.map((each, i) => {
    if (typeof each === 'string') return each;
    const same = refusalOfSame(answered.slice(0, answered.indexOf(each)), each);
    if (same !== null || own === null) return same;
    const wanted = { ...own, ...rangesOf(elementAt(databases, i)) };
    const refusal = each.service === null && begun === null ? null : refusalOf(each.service, wanted);
    return refusal && `${each.name} ${refusal}`;
  });
}

async function serviceAsItIs(primary: Primary): Promise<StoredService | null> {
  const tables = await primary.query({ text: "select where to_regclass('payments.service') is not null" });
  if (tables.length === 0) return null;
  const [found] = await primary.query<StoredService>({ text: 'select * from payments.service' });
  return found === undefined
    ? null
    : { ...found, partitions: found.partitions ?? null, division: found.division ?? null };
}

/**
 * Until the first database knows of a service, none has begun, and may claim a database that is
 * empty still. Rejects with an error then, so that it is tried again.
 */
async function requireBegun(first: PostgresOptions): Promise<void> {
  const found = await serviceIn(first);
  if (typeof found === 'string') throw new Error(found);
  if (found === null)
    throw new Error('the first database of PAYMENTS_JOURNAL_URL does not say yet whose service it has');
}

async function writeService(primary: Primary, wanted: StoredService): Promise<void> {
  const { folder, generation, shards, partitions, division } = wanted;
  // An older release would begin logs here that other databases have. What ends between the two
  // statements is begun again.
  if (division !== null)
    await primary.query({
      text: 'update payments.version set oldest = greatest(oldest, $1::integer)',
      values: [listVersion],
    });
  await primary.query({
    text: `insert into payments.service (folder, generation, shards, partitions, division)
           values ($1, $2, $3, $4, $5) on conflict do nothing`,
    values: [folder, generation, shards, partitions, division],
  });
}

/**
 * Why a database can't be the one of the other partitions of a service that begins; null: it can.
 * Writes what the first start wrote there once more, so that an answer says that it will last.
 */
export async function refusalOfClaim(primary: Primary): Promise<{ readonly refusal: string | null }> {
  const rows = await primary.query({
    text: `update payments.service set folder = folder
           returning exists (select from payments.partitions) as has_logs`,
  });
  const hasLogs = rows.some(({ has_logs }) => has_logs === true);
  const refusal = `${primary.name} has logs, and the first database of PAYMENTS_JOURNAL_URL knows of no service`;
  return { refusal: hasLogs ? refusal : null };
}

/** Why a database is not what a list of them names it for; null: it is, or it has no service. */
export async function refusalOfListed(
  primary: Primary,
  listed: Pick<Database, 'partitions' | 'division'>,
): Promise<string | null> {
  const found = await serviceAt(primary);
  const refusal = found && refusalOf(found, { ...found, ...rangesOf(listed) });
  return refusal && `${primary.name} ${refusal}`;
}

function rangesOf({ partitions, division }: Pick<Database, 'partitions' | 'division'>) {
  return { division, partitions: partitions && textOf(partitions) };
}

/** Why a database is not the right one for a service; null: it is. */
function refusalOf(found: StoredService | null, wanted: StoredService): string | null {
  const remedy =
    'Give PAYMENTS_JOURNAL_URL the right database, or use the data folder that belongs to this one';
  if (found === null) return `has no log, and this service has one elsewhere. ${remedy}`;
  if (describe(found) !== describe(wanted))
    return `has the log of another data folder: of ${describe(found)}, and this one is ${describe(wanted)}. ${remedy}`;
  const [there, here] = [found, wanted].map(whose);
  if (there === here) return null;
  return (
    `has the logs of ${there}, and PAYMENTS_JOURNAL_URL names it for ${here}: give that the ranges that it had, and ` +
    'move the logs as docs/operations.md says under "Several databases"'
  );
}

function describe({ folder, generation, shards }: ServiceIdentity): string {
  return `${folder} (generation ${generation}, ${shards} shards)`;
}

function whose({ partitions, division }: StoredService): string {
  return division === null ? 'all partitions' : `the partitions ${partitions} of the division ${division}`;
}
