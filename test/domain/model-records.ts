// The types of the model of payments: plain objects that it changes in place, and the expected outcome of a command.

export interface Payment {
  readonly id: string;
  readonly amount: number;
  readonly methods: readonly string[];
  readonly session: Session | null;
  status: 'requires_payment_method' | 'requires_action' | 'processing' | 'succeeded' | 'canceled';
  /** A payment network is being asked. */
  busy: boolean;
  received: number;
  latest: string | null;
}

export interface Session {
  readonly id: string;
  status: 'open' | 'complete' | 'expired';
  endsMs: number;
  /** When the service checks it, which is later than its end while a payment is under way. */
  dueMs: number;
}

export interface Charge {
  readonly id: string;
  readonly payment: Payment;
  readonly method: 'card' | 'cash';
  readonly number: string | null;
  status: 'pending' | 'succeeded' | 'failed';
  challenged: boolean;
  /** A card was typed, or declined by a helper. */
  tried: boolean;
  readonly endsMs: number;
  /** When the service checks it, which is later than its end during a network call. */
  dueMs: number;
  refunded: number;
  held: number;
}

export interface Refund {
  readonly id: string;
  readonly charge: Charge;
  readonly amount: number;
  status: 'pending' | 'succeeded' | 'failed';
}

export interface Call {
  readonly id: string;
  readonly action: string;
  readonly startedMs: number;
  readonly payment: Payment;
  readonly charge: string | null;
  readonly number: string | null;
  readonly refund: string | null;
  over: boolean;
}

/** What a command must come to. */
export interface Expected {
  readonly code: string;
  readonly events: readonly string[];
}

/** The ids that a command made, which the model can't know. */
export interface Made {
  readonly payment: string;
  readonly session: string;
  readonly refund: string;
  readonly charge: string;
  readonly call:
    | {
        readonly id: string;
        readonly startedMs: number;
        readonly charge: string | null;
        readonly number: string | null;
      }
    | undefined;
}

export interface Params {
  readonly [name: string]: unknown;
}
