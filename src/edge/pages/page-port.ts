// What the pages are handed and what they hand back, as plain data: a visit over HTTP, and the state machine behind.

import type { Language } from '../../contract/vocabulary.ts';
import type { InternalParams } from '../../domain/command.ts';
import type { PaymentView } from '../../domain/payment-view.ts';

export interface PageVisit {
  /** Upper case. */
  readonly method: string;
  /** Without the query string. */
  readonly path: string;
  /** Without the question mark. */
  readonly query: string;
  readonly headers: PageRequestHeaders;
  /** The address of the other end of the connection. */
  readonly remoteAddress: string;
}

/** A visit that may go on, with its form. */
export interface PageRequest extends PageVisit {
  /** Wiped once it has been read: it may hold a card number. */
  readonly body: Buffer;
}

/** The headers that the pages look at; '' for one that is absent. */
export interface PageRequestHeaders {
  readonly acceptLanguage: string;
  readonly cookie: string;
  readonly forwardedFor: string;
  readonly secFetchSite: string;
}

export interface PageAnswer {
  readonly status: number;
  /** Lowercase names. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string;
}

/** A payment as its pages show it. */
export type ShownPayment = PaymentView & {
  /** The organization's name. */
  readonly merchant: string;
};

export type PageOperation = 'choose_method' | 'submit_card' | 'answer_challenge' | 'abandon_charge';

/** Behind the pages: reads and commands of the state machine. Rejects when it can't answer now. */
export interface PagePort {
  /** The payment of a checkout session or a charge; null when there is none. */
  view(id: string): Promise<ShownPayment | null>;
  /** Runs a command; `code` is one of the API's error codes. */
  command<O extends PageOperation>(
    operation: O,
    id: string,
    params: InternalParams[O],
    language: Language,
  ): Promise<
    | { readonly ok: true; readonly body: unknown }
    | { readonly ok: false; readonly code: string; readonly message: string }
  >;
}
