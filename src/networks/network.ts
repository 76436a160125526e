// The ports to the payment networks: one for cards, one for cash codes. Every call carries its id,
// and a network has one effect for each id, however often the call is sent, unless it has
// `doubtMs`. The runner makes the calls. The service's card page asks for a token; a network with a
// page of its own is given a form for it. What a network posts to the service is a callback.

import type { Language, Mode } from '../contract/vocabulary.ts';
import { defined } from '../core/assert.ts';
import type { TokenizedCard } from '../domain/charges.ts';
import type { NetworkCall } from '../domain/network-call.ts';
import type { NetworkOutcome } from '../domain/network-outcomes.ts';
import type { AvailableNetworks } from '../shard/account.ts';

/** A card as it was typed, in ASCII digits. It lives in the memory of one `tokenize`. */
export interface TypedCard {
  readonly number: string;
  readonly expMonth: number;
  /** Four digits. */
  readonly expYear: number;
  readonly cvc: string;
}

/** The part of a typed card that is invalid. */
export interface CardProblem {
  readonly problem: 'number' | 'expiry' | 'cvc';
}

/** Makes a token of a typed card, whose number stays inside. Rejects when it can't ask. */
export type Tokenize = (card: TypedCard) => Promise<TokenizedCard | CardProblem>;

/** What a network knows of a call. `unknown`: it never saw the call, which may be sent. */
export type LookedUp = NetworkOutcome | 'unknown';

/** Called with the final outcome that follows an `accepted`. */
export type OutcomeListener = (callId: string, outcome: NetworkOutcome) => void;

/** What a network has posted. */
export interface Callback {
  /** The header with the signature; '' without one. */
  readonly signature: string;
  readonly body: string;
}

/** The answer to a callback. */
export interface Reply {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

/** What became of what a callback reports. */
export type Received =
  | 'credited'
  /** The money was credited before, by the same report. */
  | 'repeated'
  | 'review'
  /** Nothing is stored: too much that opened reviews was reported of this charge before. */
  | 'too_many'
  /** The decline is stored, or comes after the charge was decided. */
  | 'declined'
  /** There is no such charge. */
  | 'unknown'
  /** Nothing is stored: the network should send it again. */
  | 'later';

/** What a genuine callback says. */
export interface Report {
  /** The payment that it is about: the cash code, or the id of the charge, which is by card. */
  readonly about: { readonly cashNumber: string } | { readonly charge: string };
  readonly says:
    | Extract<NetworkOutcome, { result: 'paid' }>
    /** `mayTryAgain`: the customer may try another card on the network's page. */
    | (Extract<NetworkOutcome, { result: 'declined' }> & { readonly mayTryAgain: boolean });
  /** The answer, to be given when what is received is durable. */
  reply(received: Received, charge: string | null): Reply;
}

/** What became of a callback. */
export const callbackOutcomes = [
  'credited',
  'repeated',
  'review',
  'too_many',
  'declined',
  'unknown',
  'later',
  /** It is not genuine, or makes no sense. */
  'refused',
  /** The organization does not use the network now. */
  'not_connected',
] as const satisfies readonly (Received | 'refused' | 'not_connected')[];
export type CallbackOutcome = (typeof callbackOutcomes)[number];

/** What is known of a callback when it is answered. */
export interface TakenCallback {
  readonly reply: Reply;
  readonly outcome: CallbackOutcome;
  /**
   * The organization's network signed it, and it told something new, or the shard can't take it just
   * now.
   */
  readonly isNew: boolean;
}

/** When a call rejects it may have had an effect or not; `lookup` tells which. */
interface Network {
  /**
   * For `await_card_payment` it is what became of the network's page: `paid`, `declined`,
   * `accepted` while the customer can pay, and `failed` when the customer can do so no longer. For
   * the calls that capture or release money that is held: `done` when that is so, `unknown` when
   * the money is still held, `failed` when it can't be done any more.
   */
  lookup(call: NetworkCall): Promise<LookedUp>;
  /** Verifies a callback, or returns the answer to a false one. Absent: there are none. */
  readCallback?(callback: Callback): Report | Reply;
  /** Where calls go: those to one host share a bound. Absent: they stay in this process. */
  readonly host?: string;
  /**
   * A call that is sent twice may have two effects. After one that was not answered, `unknown` is
   * believed if it is still the answer this many milliseconds later.
   */
  readonly doubtMs?: number;
  /** Asks the network whether it can be used. Rejects with why not. Absent: nothing to ask. */
  check?(): Promise<void>;
}

/** A payment that its customer pays on the network's own page. */
export interface HostedPayment {
  readonly org: string;
  readonly livemode: boolean;
  readonly paymentIntent: string;
  /** The id of the charge. */
  readonly charge: string;
  /** Centimes. */
  readonly amount: number;
  readonly currency: string;
  readonly language: Language;
  /** Until when it can be paid, Unix milliseconds. */
  readonly expiresAtMs: number;
  readonly customer: { readonly name: string | null; readonly email: string | null };
  readonly description: string | null;
  /** Where the browser goes after a payment, and after none. What it brings is not believed. */
  readonly paidUrl: string;
  readonly unpaidUrl: string;
  /** Where the network posts what became of the payment. */
  readonly callbackUrl: string;
}

/** How a browser gets to the network's page: a form to post, or a link without fields. */
export interface PageStart {
  readonly url: string;
  readonly fields: readonly (readonly [name: string, value: string])[] | null;
}

/**
 * Cards are typed either on the service's page, which needs `tokenize` and `authorize`, or on the
 * network's own page, which needs `startPage`. What is absent, the network can't do.
 */
export interface CardNetwork extends Network {
  readonly tokenize?: Tokenize;
  /** Lets the customer pay. `awaited`: the network can be asked what became of its page. */
  openPage(call: NetworkCall): Promise<NetworkOutcome>;
  /** Charges the card behind `token`. */
  authorize?(call: NetworkCall, token: string): Promise<NetworkOutcome>;
  /** It may be asked for any number of times for one charge, which is paid once. */
  startPage?(payment: HostedPayment): PageStart | Promise<PageStart>;
  /** Takes the money of `call.charge` that the network only holds. */
  capture?(call: NetworkCall): Promise<NetworkOutcome>;
  /** Gives up the money of `call.charge` that the network only holds. */
  release?(call: NetworkCall): Promise<NetworkOutcome>;
  /** Refunds `call.amount` of what was paid for `call.charge`. */
  refund(call: NetworkCall): Promise<NetworkOutcome>;
}

/** The charge of a call that is about one. */
export function chargeOf({ id, charge }: NetworkCall): string {
  return defined(charge, `the call ${id} names no charge`);
}

/** Until when the charge of a call can be paid on the network's own page, Unix milliseconds. */
export function chargeEndOf({ id, chargeEndsAtMs }: NetworkCall): number {
  return defined(chargeEndsAtMs, `the charge of the call ${id} has no end`);
}

/** A card network whose cards are typed on the service's page. */
export type TypedCardNetwork = CardNetwork & Required<Pick<CardNetwork, 'tokenize' | 'authorize'>>;

export interface CashNetwork extends Network {
  /** Makes `cash.number` payable at the agents until `cash.expiresAtMs`. */
  issue(call: NetworkCall, cash: CashCode): Promise<NetworkOutcome>;
  /** Makes it no longer payable. */
  cancel(call: NetworkCall, cash: CashCode): Promise<NetworkOutcome>;
}

export type CashCode = NonNullable<NetworkCall['cash']>;

/** The networks of an organization in a mode. Null: no payments by that method. */
export interface ModeNetworks {
  readonly card: CardNetwork | null;
  readonly cash: CashNetwork | null;
}

/** Networks that tell the outcomes of the calls that they have accepted. */
export interface TellingNetworks extends ModeNetworks {
  onOutcome(listener: OutcomeListener): void;
}

/** The networks of all organizations, as they are configured now. */
export interface Networks {
  of(org: string, mode: Mode): ModeNetworks;
  /** The networks of the methods that go through `connector`, and post to its address. */
  posting(org: string, mode: Mode, connector: string): ModeNetworks;
  /** The path to which the card network posts. */
  callbackPath(org: string, mode: Mode): string;
  /** What there is, without making it. */
  available(org: string, mode: Mode): AvailableNetworks;
  /** Outcomes that are told without being asked for. */
  onOutcome(listener: OutcomeListener): void;
}
