// What every answer to a request must say, known from when the shard has executed the request, and compared with the frame that
// arrives at the edge. Whatever shard answers, and after however many starts.

import { isDeepStrictEqual } from 'node:util';
import {
  type ErrorCode,
  errorBody,
  errorNumbers,
  type Refusal,
  refuse,
  statusOf,
  unavailable,
} from '../../../src/contract/errors/table.ts';
import type { Params } from '../../../src/contract/routes/parsed-params.ts';
import type { Language } from '../../../src/contract/vocabulary.ts';
import { addressUnresolved } from '../../../src/domain/webhook-endpoints.ts';
import { type AnswerFrame, answerFlags } from '../../../src/shard/frames.ts';
import type { LimitHeaders } from '../../../src/shard/scope.ts';
import type { World } from '../world/world.ts';

/** What a request comes to: an outcome, or what stops it. What is late stops it unless its key is known. */
export type End =
  | { readonly body: string; readonly stored: string | null }
  | { readonly refused: Refusal; readonly isLate: boolean }
  | { readonly fault: Refusal | null; readonly isLate: boolean };

export interface Expected {
  readonly language: Language;
  readonly baseUrl: string;
  readonly limits: LimitHeaders;
  /** The idempotency key with the scope that it belongs to; null without one. */
  readonly key: string | null;
  /** Another request with the key waits for a network or a name server. */
  readonly isRunning: boolean;
  /** The operation, the id in the path, and the query. */
  readonly address: string;
  /** With their defaults. */
  readonly params: Params;
  /** None while it runs; several when what was decided was not durable, and was decided once more. */
  readonly ends: End[];
}

export class Answers {
  readonly #world: World;
  /** By the id of the request. */
  readonly #expected = new Map<string, Expected>();

  constructor(world: World) {
    this.#world = world;
  }

  expect(requestId: string, expected: Expected): void {
    this.#expected.set(requestId, expected);
  }

  keyOf(requestId: string): string | null {
    return this.#expected.get(requestId)?.key ?? null;
  }

  /** The outcome of what a request has asked for is decided. */
  ended(requestId: string, end: End): void {
    this.#expected.get(requestId)?.ends.push(end);
  }

  /** A request was executed; `fault`: what is wrong with what its limits and its day count by then. */
  counted(requestId: string, fault: string | null): void {
    const { judge, isDamaged } = this.#world;
    const what = () => `${requestId}: ${fault}`;
    if (!isDamaged) judge.check('an answer says what the limits leave', fault === null, what);
  }

  arrived(requestId: string, answer: AnswerFrame): void {
    const expected = this.#expected.get(requestId);
    const { judge, isDamaged } = this.#world;
    if (isDamaged || expected === undefined || (answer.flags & answerFlags.withdrawn) !== 0) return;
    const { limit, remaining, resetSeconds } = answer;
    const limits = { limit, remaining, resetSeconds };
    judge.check(
      'an answer says what the limits leave',
      isDeepStrictEqual(limits, expected.limits),
      () => `${requestId} is told ${JSON.stringify(limits)} and not ${JSON.stringify(expected.limits)}`,
    );
    const fault = this.#faultOf(requestId, expected, answer);
    judge.check('an answer says what became of its request', fault === null, () => `${requestId}: ${fault}`);
  }

  /** What is wrong with an answer; null: nothing. */
  #faultOf(requestId: string, expected: Expected, answer: AnswerFrame): string | null {
    if ((answer.flags & answerFlags.replayed) !== 0) return this.#faultOfReplay(expected, answer);
    if (answer.originalRequest !== '') return `it names ${answer.originalRequest} and is no replay`;
    const said = saidBy(answer);
    const { ends } = expected;
    if (ends.length === 0) {
      const isLookedUp = /^(?:create|update)_webhook_endpoint /.test(expected.address);
      if (!isLookedUp) return `it is answered ${said.text}, and should not run, or not be answered yet`;
      // The disk may have become full while its address was looked up.
      const refusals = [addressUnresolved, unavailable];
      return this.#best(refusals, (refusal) => differs(said, refusalOf(requestId, expected, refusal)));
    }
    return this.#best(ends, (end) => {
      if ('body' in end) return differs(said, { ...success, text: end.body });
      const refusal = 'refused' in end ? end.refused : end.fault;
      const fault = refusal && differs(said, refusalOf(requestId, expected, refusal));
      if (refusal !== null && (fault === null || !end.isLate)) return fault;
      return this.#faultOfKnownKey(requestId, expected, said, fault);
    });
  }

  /** The first of the faults; null when one of the ends has none. */
  #best<T>(ends: readonly T[], faultOf: (end: T) => string | null): string | null {
    const faults = ends.map(faultOf);
    return faults.includes(null) ? null : (faults[0] as string);
  }

  /** A refusal that a known key gives, where it should say something else without that. */
  #faultOfKnownKey(requestId: string, expected: Expected, said: Said, fault: string | null): string | null {
    const others = this.#othersWith(expected);
    const known: ErrorCode[] = expected.isRunning ? ['idempotency_in_progress'] : [];
    if (others.some((other) => !isSame(other, expected))) known.push('idempotency_key_reused');
    const isKnown = known.some(
      (code) => differs(said, refusalOf(requestId, expected, refuse(code))) === null,
    );
    return isKnown ? null : (fault ?? `it is answered ${said.text}`);
  }

  /** Other requests with the same key. */
  #othersWith(expected: Expected): Expected[] {
    if (expected.key === null) return [];
    return [...this.#expected.values()].filter((other) => other !== expected && other.key === expected.key);
  }

  #faultOfReplay(expected: Expected, answer: AnswerFrame): string | null {
    const { originalRequest } = answer;
    const first = this.#expected.get(originalRequest);
    if (first === undefined || first.key !== expected.key || !isSame(first, expected))
      return `it replays ${originalRequest}, which was another request`;
    const said = saidBy(answer);
    return this.#best(first.ends, (end) => {
      if ('fault' in end) return `it replays ${originalRequest}, which did not run`;
      if ('body' in end) return differs(said, { ...success, text: end.stored ?? end.body });
      return differs(said, { ...refusalOf(originalRequest, first, end.refused), errorNumber: 0 });
    });
  }
}

/** What an answer says of what became of its request. */
type Said = Pick<AnswerFrame, 'status' | 'errorNumber' | 'retryAfterSeconds'> & { readonly text: string };

function saidBy({ status, errorNumber, retryAfterSeconds, body }: AnswerFrame): Said {
  return { status, errorNumber, retryAfterSeconds, text: body.toString('utf8') };
}

const success = { status: 200, errorNumber: 0, retryAfterSeconds: 0 };

function refusalOf(requestId: string, { language, baseUrl }: Expected, refusal: Refusal) {
  return {
    status: statusOf(refusal),
    errorNumber: errorNumbers.get(refusal.code),
    retryAfterSeconds: refusal.retryAfterSeconds ?? 0,
    text: errorBody(refusal, { language, requestId, baseUrl }),
  };
}

function differs(said: object, wanted: object): string | null {
  return isDeepStrictEqual(said, wanted)
    ? null
    : `it is answered ${JSON.stringify(said)} and not ${JSON.stringify(wanted)}`;
}

/** Whether nothing that both have sent differs: what one of them has left out may be its default. */
function isSame(a: Expected, b: Expected): boolean {
  const names = Object.keys(a.params).filter((name) => name in b.params);
  return a.address === b.address && names.every((name) => isDeepStrictEqual(a.params[name], b.params[name]));
}
