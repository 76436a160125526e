// What must hold whenever a shard has recovered: its memory is what the disk replays to, its indexes are those of its
// records, the records agree with each other, and nothing that a client knows for certain is gone.

import { isDeepStrictEqual } from 'node:util';
import { idsIn, indexNameOf, indexRowsOf } from '../../../src/domain/indexes.ts';
import { faultsOf } from '../../../src/domain/invariants.ts';
import type { StoredRecord } from '../../../src/domain/record.ts';
import type { Shard } from '../../../src/shard/shard.ts';
import type { World } from './world.ts';

type Records = ReadonlyMap<string, StoredRecord>;

/** `isHere` says of an organization whether the shard owns it. */
export function auditRecovery(
  world: World,
  shard: Shard,
  records: Records,
  isHere: (org: string) => boolean,
): void {
  if (!world.fitsTogether) return;
  world.happened.add('recovered');
  auditMemory(world, shard, records);
  auditIndexes(world, shard, records);
  auditRecords(world, shard, records);
  if (!world.isForgetful) auditFacts(world, records, isHere);
}

function auditMemory({ judge }: World, { state }: Shard, records: Records): void {
  for (const record of records.values()) {
    const found = state.records.get(record.kind, record.id);
    judge.check(
      'memory is what the disk replays to',
      isDeepStrictEqual(found, record),
      () => `${record.id} is ${JSON.stringify(found)} and was written as ${JSON.stringify(record)}`,
    );
  }
}

/** Every row has its record and every record its rows, in memory and on disk together. */
export function auditIndexes({ judge }: World, { state }: Shard, records: Records): void {
  const wanted = new Map<string, Set<string>>();
  for (const record of records.values()) {
    for (const row of indexRowsOf(record)) {
      const { sortKey } = row;
      const index = indexNameOf(row);
      const rows = wanted.get(index);
      if (rows === undefined) wanted.set(index, new Set([sortKey]));
      else rows.add(sortKey);
    }
  }
  for (const [index, rows] of wanted) {
    const ids = [...rows].sort().map((sortKey) => idsIn(index)(sortKey));
    let found: string[];
    try {
      found = [...state.records.scan(index, { descending: false })].map(({ id }) => id);
    } catch (error) {
      judge.check('indexes equal records', false, () => (error as Error).message);
      continue;
    }
    judge.check(
      'indexes equal records',
      isDeepStrictEqual(found, ids),
      () => `the index ${index} shows ${found.join(' ')} and its records are ${ids.join(' ')}`,
    );
  }
  // What a record has left must be gone from the lists that it was in.
  for (const index of ['due', 'operation', 'endpoint', 'over']) {
    const found = state.records.count(index);
    judge.check(
      'indexes equal records',
      found === (wanted.get(index)?.size ?? 0),
      () => `the index ${index} has ${found} rows, and ${wanted.get(index)?.size ?? 0} records belong there`,
    );
  }
}

/** What `payments verify` looks at, too: no record contradicts another one. */
export function auditRecords({ judge }: World, { state }: Shard, records: Records): void {
  for (const record of records.values()) {
    const faults = faultsOf(record, state.records);
    judge.check(
      'records agree with each other',
      faults.length === 0,
      () => `${record.id} ${faults[0]!.what}`,
    );
  }
}

const kinds: Readonly<Record<string, StoredRecord['kind']>> = { 'checkout.session': 'checkout_session' };

function auditFacts({ judge, facts }: World, records: Records, isHere: (org: string) => boolean): void {
  for (const fact of facts.all.values()) {
    if (!isHere(fact.org)) continue;
    const record = records.get(fact.id) as (StoredRecord & { status?: string }) | undefined;
    const kind = kinds[fact.object] ?? fact.object;
    judge.check(
      'nothing acknowledged is lost',
      record?.kind === kind,
      () => `${fact.id} is gone after a recovery`,
    );
    if (record === undefined || fact.end === null) continue;
    const isDeleted = fact.end.status === 'deleted';
    const holds = isDeleted
      ? record.status === 'deleted' || (record.kind === 'customer' && record.deleted)
      : record.status === fact.end.status;
    judge.check(
      'nothing acknowledged is lost',
      holds,
      () => `${fact.id} was ${fact.end!.status} and is ${record.status} after a recovery`,
    );
  }
}
