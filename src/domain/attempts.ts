// The attempts of deliveries, within what an organization may have of them in a mode. The first
// attempt of a delivery, if it succeeded, is told by the delivery itself; every other one is a
// record. Answers are kept of the last failed attempts of a delivery. Attempts have serial numbers,
// so that the oldest ones beyond the quota are found without counting: of these the answers go
// first, and then the attempts.

import { answersPerDeliveryMax } from '../contract/limits.ts';
import { pieceSize } from '../core/piece-size.ts';
import type { Draft } from './draft.ts';
import { recordsOf } from './find.ts';
import { attemptSerialIndex, scopeOf, timeKey } from './indexes.ts';
import type { AttemptRecord, AttemptResult, DeliveryRecord } from './record.ts';
import type { View } from './view.ts';

/** Attempts are trimmed to the quota each time that their serial number is a multiple of this. */
export const attemptsPerTrim = pieceSize(64);

/** What the first attempt of a delivery was like, if it succeeded. */
export function firstSuccess(delivery: DeliveryRecord): AttemptResult | null {
  const { first_at_ms: at_ms, first_duration_ms: duration_ms, first_status: status } = delivery;
  if (at_ms === null || duration_ms === null) return null;
  return { at_ms, duration_ms, status, failure: null, answer: null };
}

/** Whether an attempt is told by its delivery, and has no record. */
export function isFirstSuccess(number: number, { failure }: Pick<AttemptResult, 'failure'>): boolean {
  return number === 0 && failure === null;
}

/**
 * What a delivery says about an attempt that was just made, which is written as a record if it must
 * be one.
 */
export function addAttempt(
  draft: Draft,
  delivery: DeliveryRecord,
  {
    number,
    serial,
    result,
  }: { readonly number: number; readonly serial: number; readonly result: AttemptResult },
): Partial<DeliveryRecord> {
  const { at_ms, duration_ms, status, failure } = result;
  if (isFirstSuccess(number, result))
    return { first_at_ms: at_ms, first_duration_ms: duration_ms, first_status: status };
  const { context } = draft;
  const answer = failure === null ? null : result.answer;
  const { id } = draft.put<AttemptRecord>({
    kind: 'attempt',
    id: context.newId('attempt'),
    org: delivery.org,
    livemode: delivery.livemode,
    created: Math.floor(context.nowMs / 1000),
    delivery: delivery.id,
    serial,
    ...result,
    answer,
  });
  if (answer === null || answer === '') return {};
  const answered = [...delivery.answered, id];
  const kept = answered.slice(-answersPerDeliveryMax);
  for (const old of answered.slice(0, -answersPerDeliveryMax)) dropAnswer(draft, draft.get('attempt', old));
  return { answered: kept };
}

function dropAnswer(draft: Draft, attempt: AttemptRecord | undefined): void {
  if (attempt?.answer) draft.put<AttemptRecord>({ ...attempt, answer: null });
}

/** The serial number of the newest attempt in a scope; 0 when there is none. */
export function newestSerial(view: Pick<View, 'scan'>, scope: string): number {
  for (const newest of recordsOf(view, 'attempt', attemptSerialIndex(scope), { descending: true }))
    return newest.serial ?? 0;
  return 0;
}

/**
 * Drops the answers of some attempts, and some attempts, that the one with this serial number has
 * put beyond the quota.
 */
export function trimAttempts(
  draft: Draft,
  { serial }: { readonly serial: number },
): { readonly result: null } {
  const { answersKeptMax, attemptsKeptMax } = draft.context.settings;
  for (const attempt of lastBeyond(draft, serial - answersKeptMax)) dropAnswer(draft, attempt);
  for (const attempt of lastBeyond(draft, serial - attemptsKeptMax))
    draft.remove({ ...attempt, answer: null });
  return { result: null };
}

/** The attempts up to a serial number that the trim before left. */
function lastBeyond({ view, context: { org, livemode } }: Draft, serial: number): Iterable<AttemptRecord> {
  if (serial < 1) return [];
  const after = timeKey(Math.max(0, serial - attemptsPerTrim + 1));
  const range = { after, before: timeKey(serial + 1), descending: false };
  return recordsOf(view, 'attempt', attemptSerialIndex(scopeOf(org, livemode)), range);
}
