// How long PostgreSQL keeps the log: each day is a table, which is made ahead, and dropped as a
// whole when it is older than any retry of a request and every mirror has it. Days are of UTC. And
// how long the directory knows what was removed from it.

import type { Client } from 'pg';

const daysAhead = 3;
/** Idempotency keys are known for 24 hours: a mirror that is made anew needs a day and an hour. */
const daysKept = 2;

const tableOf = (day: string) => `payments.log_${day.replaceAll('-', '')}`;

/** Today and the next days, as far as they have no tables. */
export async function missingDays(client: Client): Promise<{ day: string; next: string }[]> {
  const { rows } = await client.query<{ day: string; next: string }>(
    `select day::text, (day + 1)::text as next from (
       select (now() at time zone 'utc')::date + ahead as day from generate_series(0, $1::integer) as ahead) as days
     where to_regclass('payments.log_' || to_char(day, 'YYYYMMDD')) is null`,
    [daysAhead],
  );
  return rows;
}

/** Makes the tables of the next days, and drops those that nobody needs. */
export async function keepDays(client: Client): Promise<void> {
  for (const { day, next } of await missingDays(client))
    await client.query(
      `create table ${tableOf(day)} partition of payments.log for values from ('${day}') to ('${next}')`,
    );
  const { rows: old } = await client.query<{ name: string }>(
    `select relname as name from pg_class join pg_namespace on pg_namespace.oid = relnamespace
     where nspname = 'payments' and relname ~ '^log_[0-9]{8}$'
       and to_date(substr(relname, 5), 'YYYYMMDD') < (now() at time zone 'utc')::date - $1::integer`,
    [daysKept],
  );
  for (const { name } of old) {
    const { rows: needed } = await client.query(
      `select 1 from payments.${name} as kept join payments.partitions using (partition)
       where kept.last_sequence > partitions.mirrored limit 1`,
    );
    if (needed.length === 0) await client.query(`drop table payments.${name}`);
  }
}

/** A machine that was away for longer reads all of the directory. */
const removedRowsKept = '30 days';

export async function forgetRemovedRows(client: Client): Promise<void> {
  await client.query(`delete from payments.directory_writes where at < now() - interval '${removedRowsKept}'
    and sequence < (select max(sequence) from payments.directory_writes)`);
  await client.query(`delete from payments.directory where content is null
    and sequence < (select min(sequence) from payments.directory_writes)`);
}
