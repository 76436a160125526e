// The ports to the payment networks: one for cards, one for cash codes. Every call carries its id, and a network has one
// effect for each id, however often the call is sent, so a call that is made again can't charge twice. The runner makes
// the calls; the card page asks for a token. What a network posts to the service is a callback.

import type { Mode, PaymentMethodType } from '../contract/vocabulary.ts';
import type { NetworkCall } from '../domain/network-call.ts';
import type { NetworkOutcome } from '../domain/network-outcomes.ts';
import type { ReportedMoney } from '../domain/received-money.ts';
import type { CardDetails } from '../domain/record.ts';

/** A card as the customer typed it, ASCII digits only. It lives in the memory of one call to `tokenize`. */
export interface TypedCard {
  readonly number: string;
  readonly expMonth: number;
  /** Four digits. */
  readonly expYear: number;
  readonly cvc: string;
}

/** What the service stores of a card: the network's token for it, and what may be shown of it. */
export interface TokenizedCard {
  readonly token: string;
  readonly card: CardDetails;
  /** The card's bank wants the customer to pass a challenge first (3-D Secure). */
  readonly challenge: boolean;
}

/** The part of a typed card that is invalid. */
export interface CardProblem {
  readonly problem: 'number' | 'expiry' | 'cvc';
}

/** Turns a typed card into a token. The number never leaves this function. Rejects when the network can't be asked. */
export type Tokenize = (card: TypedCard) => Promise<TokenizedCard | CardProblem>;

/** What a network knows of a call. `unknown` means that the network never saw it, so it may be sent. */
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

/** What became of the money that a callback reports. */
export type Received =
  | 'credited'
  | 'review'
  /** There is no such charge. */
  | 'unknown'
  /** Nothing is stored: the network should send it again. */
  | 'later';

/** A genuine callback. */
export interface Report {
  /** The cash code that was paid. */
  readonly cashNumber: string;
  readonly money: ReportedMoney;
  /** The answer, to be given when what is received is durable. */
  reply(received: Received, charge: string | null): Reply;
}

/** What is known of a callback when it is answered. */
export interface TakenCallback {
  readonly reply: Reply;
  /** The organization's network has posted it. */
  readonly isGenuine: boolean;
}

/** When a call rejects it may have had an effect or not; `lookup` tells which. */
interface Network {
  lookup(call: NetworkCall): Promise<LookedUp>;
  /** Verifies a callback. Returns the answer to one that is not genuine. Absent: the network posts none. */
  readCallback?(callback: Callback): Report | Reply;
  /** Asks the network whether it can be used. Rejects with an error that says why not. Absent: there is nothing to ask. */
  check?(): Promise<void>;
}

export interface CardNetwork extends Network {
  readonly tokenize: Tokenize;
  /** Lets the customer pay on the card page. */
  openPage(call: NetworkCall): Promise<NetworkOutcome>;
  /** Charges the card behind `token`. */
  authorize(call: NetworkCall, token: string): Promise<NetworkOutcome>;
  /** Refunds `call.amount` of what `call.authorization` charged. */
  refund(call: NetworkCall): Promise<NetworkOutcome>;
}

export interface CashNetwork extends Network {
  /** The names of the agents that take its codes, as customers know them. */
  readonly agents: readonly string[];
  /** Makes `cash.number` payable at the agents until `cash.expiresAtMs`. */
  issue(call: NetworkCall, cash: CashCode): Promise<NetworkOutcome>;
  /** Makes it no longer payable. */
  cancel(call: NetworkCall, cash: CashCode): Promise<NetworkOutcome>;
}

export type CashCode = NonNullable<NetworkCall['cash']>;

/** The networks of an organization in a mode. Without a network (null) there are no payments of its method. */
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
  /** The methods for which there is a network, without making it. */
  available(org: string, mode: Mode): Readonly<Record<PaymentMethodType, boolean>>;
  /** Outcomes that are told without being asked for. */
  onOutcome(listener: OutcomeListener): void;
}
