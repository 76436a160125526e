// The ports to who moves the money: one for the card network, one for cash codes. Every call carries the id of the
// operation that asks for it, and a network makes one effect of an operation however often it is sent: a call that is
// made again can't charge twice. The runner makes the calls; the card page asks for a token.

import type { Mode } from '../contract/vocabulary.ts';
import type { NetworkCall } from '../domain/network-call.ts';
import type { NetworkOutcome } from '../domain/operations.ts';
import type { CardDetails } from '../domain/record.ts';

/** A card as the customer typed it, ASCII digits only. It lives in the memory of one call to `tokenize`. */
export interface TypedCard {
  readonly number: string;
  readonly expMonth: number;
  /** Four digits. */
  readonly expYear: number;
  readonly cvc: string;
}

/** What may be kept of a card: the network's own name for it, and what may be shown of it. */
export interface TokenizedCard {
  readonly token: string;
  readonly card: CardDetails;
  /** The card's bank wants the customer to pass a challenge first (3-D Secure). */
  readonly challenge: boolean;
}

/** The part of a typed card that can't be right. */
export interface CardProblem {
  readonly problem: 'number' | 'expiry' | 'cvc';
}

/** Turns a typed card into a token. The number never leaves this function; it throws when the network can't be asked. */
export type Tokenize = (card: TypedCard) => Promise<TokenizedCard | CardProblem>;

/** What a network knows of an operation; `unknown`: it never saw it, so it may be sent. */
export type LookedUp = NetworkOutcome | 'unknown';

/** Hears of an outcome that follows an `accepted`. */
export type OutcomeListener = (operationId: string, outcome: NetworkOutcome) => void;

/** A call that rejects leaves it open whether it had an effect: `lookup` tells. */
interface Network {
  lookup(operationId: string): Promise<LookedUp>;
  onOutcome(listener: OutcomeListener): void;
}

export interface CardNetwork extends Network {
  readonly tokenize: Tokenize;
  /** Lets the customer pay on the card page. */
  openPage(call: NetworkCall): Promise<NetworkOutcome>;
  /** Charges the card behind `token`. */
  authorize(call: NetworkCall, token: string): Promise<NetworkOutcome>;
  /** Gives `call.amount` of what `call.authorization` charged back. */
  refund(call: NetworkCall): Promise<NetworkOutcome>;
}

export interface CashNetwork extends Network {
  /** Makes `cash.number` payable at the agents until `cash.expiresAtMs`. */
  issue(call: NetworkCall, cash: NonNullable<NetworkCall['cash']>): Promise<NetworkOutcome>;
}

/** The networks of a mode; null where there is none, and so no such payments. */
export interface ModeNetworks {
  readonly card: CardNetwork | null;
  readonly cash: CashNetwork | null;
}

export type Networks = Readonly<Record<Mode, ModeNetworks>>;
