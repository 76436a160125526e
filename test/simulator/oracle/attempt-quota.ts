// What the attempts of an organization in one mode may take: so many answers of its receivers are kept a minute, and of attempts, and
// of their answers, the newest.

import { answersPerMinuteMax } from '../../../src/contract/limits.ts';
import { createBucket, spendFromAll, type TokenBucket } from '../../../src/core/token-bucket.ts';
import { attemptsPerTrim } from '../../../src/domain/attempts.ts';
import type { Settings } from '../../../src/domain/decision.ts';
import { scopeOf } from '../../../src/domain/indexes.ts';
import type { AttemptResult, RecordOf } from '../../../src/domain/record.ts';

type Attempt = RecordOf<'attempt'>;
type Scoped = Pick<Attempt, 'org' | 'livemode'>;

export class AttemptQuota {
  /** By scope, since it had the first answer that is kept. */
  readonly #buckets = new Map<string, TokenBucket>();

  /** What is to be kept of the answer to an attempt that becomes a record. */
  answerOf({ org, livemode }: Scoped, { failure, answer }: AttemptResult, serviceMs: number): string | null {
    if (failure === null || !answer) return failure && answer;
    const scope = scopeOf(org, livemode);
    const bucket = this.#buckets.get(scope) ?? createBucket(answersPerMinuteMax, serviceMs);
    this.#buckets.set(scope, bucket);
    return spendFromAll([bucket], serviceMs) === null ? answer : null;
  }
}

/** Which attempt is kept beyond the quota, or its answer, once another one is recorded; undefined: none. */
export function keptBeyond(
  newest: Attempt,
  attempts: Iterable<Attempt>,
  { attemptsKeptMax, answersKeptMax }: Pick<Settings, 'attemptsKeptMax' | 'answersKeptMax'>,
): Attempt | undefined {
  const oldest = (keptMax: number) => (newest.serial ?? 0) - keptMax - attemptsPerTrim + 1;
  return [...attempts].find(
    ({ org, livemode, serial, answer }) =>
      org === newest.org &&
      livemode === newest.livemode &&
      (serial ?? Infinity) <= oldest(answer ? answersKeptMax : attemptsKeptMax),
  );
}
