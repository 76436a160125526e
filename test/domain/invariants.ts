// What is true of the records after every command, whatever the commands were: the invariants of the state machine
// itself, its events, and the money that came in.

import assert from 'node:assert/strict';
import { type Part, partsOf } from '../../src/domain/day-totals.ts';
import { expectedEvents } from '../../src/domain/expected-events.ts';
import { faultsOf, subjectOf } from '../../src/domain/invariants.ts';
import type { RecordKind, RecordOf, StoredRecord } from '../../src/domain/record.ts';
import type { View } from '../../src/domain/view.ts';

/** Everything there is, by id. */
export type Records = ReadonlyMap<string, StoredRecord>;

export function ofKind<K extends RecordKind>(records: Records, kind: K): RecordOf<K>[] {
  return [...records.values()].filter((record): record is RecordOf<K> => record.kind === kind);
}

const sum = (amounts: readonly number[]): number => amounts.reduce((total, amount) => total + amount, 0);

/** Fails when the records contradict each other, or `arrived` centimes are not all accounted for. */
export function assertInvariants(records: Records, view: View, arrived: number): void {
  const credited = sum(ofKind(records, 'payment_intent').map(({ amount_received }) => amount_received));
  const underReview = sum(ofKind(records, 'review').map(({ amount_received }) => amount_received));
  assert.equal(credited + underReview, arrived, 'money that arrived is credited or under review');
  const faults = [...records.values()].flatMap((record) =>
    faultsOf(record, view).map(({ invariant, what }) => `${record.id}: ${invariant}: ${what}`),
  );
  assert.deepEqual(faults, []);
  const { counted, told } = dayTotals(records);
  assert.deepEqual(told, counted, 'the totals of the days are the sums of what was settled');
}

/** By organization, mode, day and name: what the settled charges and refunds come to, and what the totals of the days say. */
export function dayTotals(records: Records) {
  const [counted, told] = [new Map<string, number>(), new Map<string, number>()];
  const add = (sums: Map<string, number>, [name, value]: Part) =>
    sums.set(name, (sums.get(name) ?? 0) + value);
  for (const record of records.values()) {
    const parts = partsOf(record);
    for (const part of parts.counted) add(counted, part);
    for (const part of parts.told) add(told, part);
  }
  const sorted = (sums: Map<string, number>) => [...sums].sort(([a], [b]) => (a < b ? -1 : 1));
  return { counted: sorted(counted), told: sorted(told) };
}

/** Fails unless the events are those that the records ask for. */
export function assertEvents(records: Records): void {
  const expected = [...records.values()].flatMap(expectedEvents).map(String);
  const found = ofKind(records, 'event').map((event) => String([event.type, subjectOf(event)]));
  assert.deepEqual(found.sort(), expected.sort());
}
