// Turns the outcomes of commands and queries into answers: a frame with the rate-limit headers for
// an API request, or a message for a page, an operator or the runner of network calls.

import {
  errorBody,
  errorNumbers,
  messageOf,
  type Refusal,
  refuse,
  statusOf,
} from '../contract/errors/table.ts';
import type { Language } from '../contract/vocabulary.ts';
import { defined } from '../core/assert.ts';
import type { Answer, Outcome, Settings } from '../domain/decision.ts';
import type { ApiRequest } from '../domain/record.ts';
import type { StoredResponse } from '../journal/journal.ts';
import type { CommitBatch, ReplyTo } from './commit-batch.ts';
import { answerFlags } from './frames.ts';
import type { InternalAnswer } from './protocol.ts';
import type { LimitHeaders } from './scope.ts';

/** The part of an API request that its answer needs. */
export interface RequestWaiter {
  readonly kind: 'request';
  readonly to: ReplyTo;
  readonly limits: LimitHeaders;
  readonly request: ApiRequest;
}

interface MessageWaiter {
  readonly kind: 'message';
  readonly to: ReplyTo;
  readonly language: Language;
}

/** Who is answered, by a later commit batch if a network or a name server is asked first. */
export type Waiter = RequestWaiter | MessageWaiter;

/** The outcome of any command: those that the shard gives to itself have a result. */
export type AnyOutcome = Outcome<Answer | { readonly result: unknown }>;

/** Answers `waiter` with the outcome when the batch is durable. */
export function answer(batch: CommitBatch, settings: Settings, waiter: Waiter, outcome: AnyOutcome): void {
  if (waiter.kind === 'message') {
    batch.reply(waiter.to, messageAnswer(outcome, waiter.language));
    return;
  }
  const refusal = refusalOf(outcome);
  if (refusal !== null) answerRefusal(batch, settings, waiter, refusal);
  else if ('body' in outcome) answerBody(batch, waiter, outcome.body);
}

/** The refusal of the waiter; null when the outcome is an answer. */
export function refusalOf(outcome: AnyOutcome): Refusal | null {
  if ('refusal' in outcome) return outcome.refusal;
  return 'waiterRefused' in outcome ? outcome.waiterRefused : null;
}

export function messageAnswer(outcome: AnyOutcome, language: Language): InternalAnswer {
  if ('body' in outcome) return { ok: true, body: outcome.body };
  const refusal = refusalOf(outcome) ?? refuse('api_error');
  return { ok: false, code: refusal.code, message: messageOf(refusal, language) };
}

export function errorBodyOf(
  { baseUrl }: Settings,
  refusal: Refusal,
  { language, request_id: requestId }: ApiRequest,
): string {
  return errorBody(refusal, { language, requestId, baseUrl });
}

const noLimits: LimitHeaders = { limit: 0, remaining: 0, resetSeconds: 0 };
const success = { status: 200, flags: 0, errorNumber: 0, retryAfterSeconds: 0, originalRequest: '' };
const withdrawn = { ...success, status: 0, flags: answerFlags.withdrawn };

export function answerBody(batch: CommitBatch, { to, limits }: RequestWaiter, body: string, flags = 0): void {
  batch.answersTo(to.peer).put(to.correlation, limits, flags === 0 ? success : { ...success, flags }, body);
}

export function answerRefusal(
  batch: CommitBatch,
  settings: Settings,
  { to, limits, request }: RequestWaiter,
  refusal: Refusal,
): void {
  const status = statusOf(refusal);
  const errorNumber = defined(errorNumbers.get(refusal.code), 'every error has a number');
  const retryAfterSeconds = refusal.retryAfterSeconds ?? 0;
  const fields = { status, flags: 0, errorNumber, retryAfterSeconds, originalRequest: '' };
  const body = errorBodyOf(settings, refusal, request);
  batch.answersTo(to.peer).put(to.correlation, limits, fields, body);
}

export function replay(batch: CommitBatch, { to, limits }: RequestWaiter, stored: StoredResponse): void {
  const { status, requestId: originalRequest, body } = stored;
  const flags = answerFlags.replayed;
  const fields = { status, flags, errorNumber: 0, retryAfterSeconds: 0, originalRequest };
  batch.answersTo(to.peer).put(to.correlation, limits, fields, body);
}

/** Tells the sender of a withdrawn request that it did not run. */
export function answerWithdrawn(batch: CommitBatch, to: ReplyTo): void {
  batch.answersTo(to.peer).put(to.correlation, noLimits, withdrawn, '');
}
