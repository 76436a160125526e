// A waiter is answered with the outcome of a command: an API request, or the message of a page, an operator or the runner of
// network calls. The command may take longer than its turn, when a payment network or a name server is asked first.

import type { Language } from '../contract/vocabulary.ts';
import type { ApiRequest } from '../domain/record.ts';
import type { LimitHeaders } from './scope.ts';
import type { ReplyTo } from './turn.ts';

/** The part of an API request that its answer needs. */
export interface RequestWaiter {
  readonly kind: 'request';
  readonly to: ReplyTo;
  readonly limits: LimitHeaders;
  readonly request: ApiRequest;
}

export interface MessageWaiter {
  readonly kind: 'message';
  readonly to: ReplyTo;
  readonly language: Language;
}

export type Waiter = RequestWaiter | MessageWaiter;
