// Turns outcomes into answers: a frame with the rate-limit headers for an API request, or a message for others.

import { errorNumbers, messageOf, type Refusal, refuse, statusOf } from '../contract/errors/table.ts';
import type { Outcome } from '../domain/decision.ts';
import type { StoredResponse } from '../journal/journal.ts';
import { type AnswerFrame, answerFlags } from './frames.ts';
import type { InternalAnswer } from './protocol.ts';
import type { LimitHeaders } from './scope.ts';
import type { ShardState } from './shard-state.ts';
import type { ReplyTo, Turn } from './turn.ts';
import type { MessageWaiter, RequestWaiter, Waiter } from './waiter.ts';

/** Answers `waiter` with the outcome when the turn is durable. */
export function answer(state: ShardState, turn: Turn, waiter: Waiter, outcome: Outcome): void {
  if (waiter.kind === 'message') {
    answerMessage(turn, waiter, outcome);
    return;
  }
  const refusal = refusalOf(outcome);
  if (refusal !== null) answerRefusal(state, turn, waiter, refusal);
  else if ('body' in outcome) answerBody(turn, waiter, outcome.body);
}

/** The refusal of the waiter; null when the outcome is an answer. */
export function refusalOf(outcome: Outcome): Refusal | null {
  if ('refusal' in outcome) return outcome.refusal;
  return 'waiterRefused' in outcome ? outcome.waiterRefused : null;
}

function answerMessage(turn: Turn, { to, language }: MessageWaiter, outcome: Outcome): void {
  turn.reply(to, messageAnswer(outcome, language));
}

export function messageAnswer(outcome: Outcome, language: MessageWaiter['language']): InternalAnswer {
  if ('body' in outcome) return { ok: true, body: outcome.body };
  const refusal = refusalOf(outcome) ?? refuse('api_error');
  return { ok: false, code: refusal.code, message: messageOf(refusal, language) };
}

export function answerBody(turn: Turn, waiter: RequestWaiter, body: string, flags = 0): void {
  const fields = { status: 200, flags, errorNumber: 0, retryAfterSeconds: 0, originalRequest: '' };
  putFrame(turn, waiter, fields, body);
}

export function answerRefusal(state: ShardState, turn: Turn, waiter: RequestWaiter, refusal: Refusal): void {
  const status = statusOf(refusal);
  const errorNumber = errorNumbers.get(refusal.code)!;
  const retryAfterSeconds = refusal.retryAfterSeconds ?? 0;
  const body = state.errorBody(refusal, waiter.request);
  putFrame(turn, waiter, { status, flags: 0, errorNumber, retryAfterSeconds, originalRequest: '' }, body);
}

/** Replays the stored response of an idempotency key. */
export function replay(turn: Turn, waiter: RequestWaiter, { status, requestId, body }: StoredResponse): void {
  const flags = answerFlags.replayed;
  const fields = { status, flags, errorNumber: 0, retryAfterSeconds: 0, originalRequest: requestId };
  putFrame(turn, waiter, fields, body);
}

const withdrawnFields = {
  status: 0,
  flags: answerFlags.withdrawn,
  errorNumber: 0,
  limit: 0,
  remaining: 0,
  resetSeconds: 0,
  retryAfterSeconds: 0,
  originalRequest: '',
};

/** Tells the sender of a request that was withdrawn that it did not run. */
export function answerWithdrawn(turn: Turn, { peer, correlation }: ReplyTo): void {
  turn.answersTo(peer).put({ correlation, ...withdrawnFields }, '');
}

type AnswerFields = Omit<AnswerFrame, keyof LimitHeaders | 'correlation' | 'body'>;

/** The rate-limit headers, which every answer has. */
function putFrame(
  turn: Turn,
  { to, limits }: RequestWaiter,
  fields: AnswerFields,
  body: string | Uint8Array,
): void {
  turn.answersTo(to.peer).put(
    {
      correlation: to.correlation,
      status: fields.status,
      flags: fields.flags,
      errorNumber: fields.errorNumber,
      limit: limits.limit,
      remaining: limits.remaining,
      resetSeconds: limits.resetSeconds,
      retryAfterSeconds: fields.retryAfterSeconds,
      originalRequest: fields.originalRequest,
    },
    body,
  );
}
