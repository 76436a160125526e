// Who waits for the outcome of a command that takes longer than its turn, because a payment network or a name server is
// asked first.

import type { Route } from '../contract/route.ts';
import type { Params } from '../contract/validate.ts';
import type { Language } from '../contract/vocabulary.ts';
import type { OperationRequest } from '../domain/record.ts';
import type { LimitHeaders, Scope } from './scope.ts';
import type { ReplyTo } from './turn.ts';

/** The part of a request that outlives its frame, while its answer waits for a network or an address look-up. */
export interface Pending {
  readonly to: ReplyTo;
  readonly route: Route;
  readonly scope: Scope;
  readonly limits: LimitHeaders;
  readonly id: string;
  readonly params: Params;
  readonly request: OperationRequest;
}

/** A hosted page that waits for a payment network. */
export interface WaitingPage {
  readonly to: ReplyTo;
  readonly language: Language;
}
