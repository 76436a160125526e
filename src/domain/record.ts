// Records are the state of the service: one plain object for each payment intent, charge and so on.
// A change is a whole record as it is afterwards, never a delta; the write-ahead log and the
// checkpoint store records. A record is never changed in place: the next value is a new object.
//
// Times are Unix milliseconds (`_ms`) where the service compares them and Unix seconds (`created`)
// where they are only shown. Amounts are centimes. `null` stands for "has no value"; a field is
// never left out.

import type {
  ApiVersion,
  CancellationReason,
  ClosedReason,
  Currency,
  DeclineCode,
  EnabledEvent,
  EventType,
  FailureCode,
  PaymentMethodType,
  RefundReason,
} from '../contract/vocabulary.ts';
import type { Cause } from './cause.ts';
import type { Deadline } from './deadline.ts';

interface Common {
  readonly id: string;
  /** The organization, `org_…`. */
  readonly org: string;
  readonly livemode: boolean;
  /** Unix seconds. */
  readonly created: number;
  /** The record was removed. */
  readonly removed?: true;
}

export type Metadata = Readonly<Record<string, string>>;

export interface LastPaymentError {
  readonly type: 'card_error' | 'invalid_request_error' | 'api_error';
  readonly code: FailureCode;
  readonly decline_code: DeclineCode | null;
  readonly message: string;
  readonly charge: string;
}

export interface PaymentIntentRecord extends Common {
  readonly kind: 'payment_intent';
  readonly amount: number;
  readonly amount_received: number;
  readonly currency: Currency;
  readonly status: 'requires_payment_method' | 'requires_action' | 'processing' | 'succeeded' | 'canceled';
  readonly payment_method_types: readonly PaymentMethodType[];
  readonly latest_charge: string | null;
  readonly customer: string | null;
  readonly description: string | null;
  readonly metadata: Metadata;
  readonly last_payment_error: LastPaymentError | null;
  readonly return_url: string | null;
  readonly canceled_at: number | null;
  readonly cancellation_reason: CancellationReason | null;
  readonly checkout_session: string | null;
  /**
   * The network call that is under way for this intent. While there is one, other changes are
   * refused.
   */
  readonly network_call: string | null;
}

export interface CardDetails {
  readonly brand: string;
  readonly last4: string;
  /** Null when the network does not tell. */
  readonly exp_month: number | null;
  readonly exp_year: number | null;
}

/**
 * A network's report of money: its own reference for it, and whether the charge succeeded by it.
 */
export interface Receipt {
  readonly reference: string;
  /** Hundredths of the currency: the charge's if it was credited. */
  readonly amount: number;
  readonly credited: boolean;
}

export interface ChargeRecord extends Common, Deadline {
  readonly kind: 'charge';
  readonly amount: number;
  readonly amount_refunded: number;
  /** Centimes held by pending refunds: no longer refundable, not yet refunded. */
  readonly amount_refund_pending: number;
  readonly currency: Currency;
  readonly status: 'pending' | 'succeeded' | 'failed';
  readonly method: PaymentMethodType;
  readonly payment_intent: string;
  readonly failure_code: FailureCode | null;
  readonly failure_message: string | null;
  readonly decline_code: DeclineCode | null;
  /** Known once the customer has typed a card. */
  readonly card: CardDetails | null;
  /** The code a customer shows to the agent, 12 digits. Cash only. */
  readonly cash_number: string | null;
  readonly cash_agent: string | null;
  /** The money that networks have reported for this charge, each report once. */
  readonly receipts: readonly Receipt[];
  /**
   * The network's name for a typed card that waits for the customer to pass a challenge (3-D
   * Secure).
   */
  readonly challenge_token: string | null;
  /** The network call that charges the card; null before a card is sent to the network. */
  readonly authorization: string | null;
  /** When it succeeded or failed; null while it is pending. */
  readonly settled_at_ms: number | null;
  readonly metadata: Metadata;
}

export interface CheckoutSessionRecord extends Common, Deadline {
  readonly kind: 'checkout_session';
  readonly amount: number;
  readonly currency: Currency;
  readonly payment_method_types: readonly PaymentMethodType[];
  readonly payment_intent: string;
  readonly status: 'open' | 'complete' | 'expired';
  readonly success_url: string;
  readonly cancel_url: string | null;
  readonly customer: string | null;
  readonly client_reference_id: string | null;
  readonly description: string | null;
  readonly locale: 'en' | 'fr' | 'ar' | null;
  readonly metadata: Metadata;
}

/**
 * An order that customers can pay by one link. A checkout session is made behind it when it is
 * opened.
 */
export interface PaymentLinkRecord extends Common {
  readonly kind: 'payment_link';
  readonly amount: number;
  readonly currency: Currency;
  readonly payment_method_types: readonly PaymentMethodType[];
  readonly description: string | null;
  readonly client_reference_id: string | null;
  readonly success_url: string;
  /** Only one payment can be made with it. */
  readonly single_use: boolean;
  readonly paused: boolean;
  /**
   * When it ends, in wall time, and the same moment in service time; both null when it has no end.
   */
  readonly ends_at_ms: number | null;
  readonly deadline_ms: number | null;
  /** The newest session behind it; null before it was opened. */
  readonly session: string | null;
  /** The sessions that were made behind it in an hour of service time, counted since the epoch. */
  readonly made_in_hour: { readonly hour: number; readonly sessions: number } | null;
  /** The key of the form that made it, so that a double click makes one. */
  readonly made_with: string;
}

export interface CustomerRecord extends Common {
  readonly kind: 'customer';
  readonly email: string | null;
  readonly name: string | null;
  readonly phone: string | null;
  readonly description: string | null;
  readonly metadata: Metadata;
  /** A deleted customer answers only that it was deleted; its personal data is gone. */
  readonly deleted: boolean;
}

export interface RefundRecord extends Common {
  readonly kind: 'refund';
  readonly amount: number;
  readonly currency: Currency;
  readonly charge: string;
  readonly payment_intent: string;
  readonly reason: RefundReason | null;
  readonly status: 'pending' | 'succeeded' | 'failed';
  readonly failure_reason: string | null;
  /** When it succeeded or failed; null while it is pending. */
  readonly settled_at_ms: number | null;
  readonly metadata: Metadata;
}

export interface ReviewRecord extends Common {
  readonly kind: 'review';
  readonly payment_intent: string;
  readonly charge: string;
  readonly open: boolean;
  readonly reason: 'amount_mismatch' | 'late_payment';
  readonly amount_expected: number;
  /** Hundredths of its currency, which may be another one than the charge's. */
  readonly amount_received: number;
  readonly currency_received: string;
  readonly closed_reason: ClosedReason | null;
}

/**
 * What an organization took in one mode on one day, and what it paid back. Amounts are centimes,
 * the others are counts.
 */
export interface DayTotalRecord extends Common {
  readonly kind: 'day_total';
  /** `YYYY-MM-DD` in Africa/Casablanca: the day on which the charges and refunds were settled. */
  readonly day: string;
  readonly card_received: number;
  readonly card_succeeded: number;
  /** Charges that the network declined or refused. */
  readonly card_failed: number;
  /** Charges that ended before the customer had paid. */
  readonly card_unpaid: number;
  readonly cash_received: number;
  readonly cash_succeeded: number;
  readonly cash_failed: number;
  readonly cash_unpaid: number;
  readonly refunded: number;
  readonly refunds: number;
}

export interface EventRecord extends Common {
  readonly kind: 'event';
  readonly type: EventType;
  readonly api_version: string;
  /** The object as it was when the event happened, as JSON text. It never changes. */
  readonly object_json: string;
  /** The API request that caused the event; null when the customer's own payment, or time, did. */
  readonly request_id: string | null;
  readonly idempotency_key: string | null;
  /** Who or what gave the command that made the event; null in one that version 0.1.0 wrote. */
  readonly by: Cause['by'] | null;
  /**
   * The id of the member or the name of the operator who asked for it, also where the outcome is
   * the network's.
   */
  readonly by_name: string | null;
  /** Made up, to try a receiver with; false also in one that an older version wrote. */
  readonly sample: boolean;
}

export interface WebhookEndpointRecord extends Common {
  readonly kind: 'webhook_endpoint';
  readonly url: string;
  readonly enabled_events: readonly EnabledEvent[];
  /** A deleted endpoint keeps its id, so that its deliveries can be listed, and nothing else. */
  readonly status: 'enabled' | 'disabled' | 'deleted';
  /** The endpoint is deleted, and some of its deliveries are still pending. */
  readonly draining: boolean;
  readonly metadata: Metadata;
  readonly api_version: ApiVersion;
  /**
   * The active signing secrets, sealed, newest first. A rolled secret stays until its overlap
   * ends (null: no end). Only the webhook threads, which sign, and `show-secret` open them.
   */
  readonly secrets: readonly { readonly sealed: string; readonly expires_at_ms: number | null }[];
  /**
   * What was left, at this service time, of what may be sent by hand (see core/token-bucket.ts);
   * null: all of it.
   */
  readonly by_hand: { readonly units: number; readonly updated_at_ms: number } | null;
  /** When all failed deliveries were last sent again, in service time; null: never. */
  readonly failed_resent_at_ms: number | null;
}

export interface AttemptResult {
  readonly at_ms: number;
  readonly duration_ms: number;
  /** HTTP status, or null when no answer came. */
  readonly status: number | null;
  /** Why the attempt failed, null on success. */
  readonly failure: string | null;
  /** The beginning of the answer, as text; null when it is not kept. */
  readonly answer: string | null;
}

export interface DeliveryRecord extends Common {
  readonly kind: 'delivery';
  readonly endpoint: string;
  readonly event: string;
  readonly event_type: string;
  readonly status: 'pending' | 'succeeded' | 'failed' | 'ended';
  /** When the next attempt is due; null when none is. */
  readonly due_at_ms: number | null;
  /** When it ended, from which retention counts; null while it is pending. */
  readonly ended_at_ms: number | null;
  /** Attempts made in all. */
  readonly attempt_count: number;
  /**
   * Attempts made since the delivery was created or last resent: the position in the retry
   * schedule.
   */
  readonly tries: number;
  /**
   * When the very first attempt was made, what it took and its HTTP status, if it succeeded: it has
   * no record of its own.
   */
  readonly first_at_ms: number | null;
  readonly first_duration_ms: number | null;
  readonly first_status: number | null;
  /** The attempts of which the answers are kept, oldest first. */
  readonly answered: readonly string[];
}

/**
 * One attempt of a delivery. It is a record of its own, so that a retry does not write the earlier
 * answers again.
 */
export interface AttemptRecord extends Common, AttemptResult {
  readonly kind: 'attempt';
  readonly delivery: string;
  /**
   * Numbers the attempts of the organization in this mode, from 1; null in one that version 0.1.0
   * wrote.
   */
  readonly serial: number | null;
}

/**
 * A call to a payment network: written before the call is made, removed when its final outcome is
 * applied.
 */
export interface NetworkCallRecord extends Common {
  readonly kind: 'network_call';
  readonly action:
    | 'open_card_page'
    | 'issue_cash_code'
    | 'cancel_cash_code'
    | 'authorize_card'
    /** The customer pays on the network's own page. */
    | 'await_card_payment'
    /** The network holds the money of a charge until it is told to take it or to give it up. */
    | 'capture_charge'
    | 'release_charge'
    | 'refund_charge';
  readonly payment_intent: string;
  /**
   * Null while the network opens a card page or issues a cash code, because there is no charge yet.
   */
  readonly charge: string | null;
  readonly refund: string | null;
  /** The network's own name for a card that was typed (never the number). */
  readonly card_token: string | null;
  /** The code to issue. Cash only. */
  readonly cash_number: string | null;
  /**
   * Where the card page sends the customer afterwards; becomes the intent's once the charge is
   * open.
   */
  readonly return_url: string | null;
  /** The network has taken the order; the final outcome follows by notification. */
  readonly accepted: boolean;
  /**
   * The API request that caused the call, which the events name. It has digests if it waits for the
   * outcome, so that its response can be stored for its idempotency key.
   */
  readonly request: ApiRequest | null;
}

/**
 * The values that absent parameters stood for at the time of the request, by name (see
 * resolved-defaults.ts).
 */
export type ResolvedDefaults = Readonly<Record<string, string | number>>;

export interface ApiRequest {
  readonly request_id: string;
  readonly idempotency_key: string | null;
  /** Digest of organization, mode and key; digest of the request: 16 bytes each. */
  readonly key_digest: Uint8Array | null;
  readonly fingerprint: Uint8Array | null;
  /** The defaults in the fingerprint that depended on the state; null when there are none. */
  readonly resolved_defaults: ResolvedDefaults | null;
  readonly language: 'en' | 'fr' | 'ar';
  readonly api_version: string;
  /** The id of the member who made it in the dashboard; null when it came with a key. */
  readonly member: string | null;
}

export type StoredRecord =
  | PaymentIntentRecord
  | ChargeRecord
  | CheckoutSessionRecord
  | PaymentLinkRecord
  | CustomerRecord
  | RefundRecord
  | ReviewRecord
  | DayTotalRecord
  | EventRecord
  | WebhookEndpointRecord
  | DeliveryRecord
  | AttemptRecord
  | NetworkCallRecord;

export type RecordKind = StoredRecord['kind'];
export type RecordOf<K extends RecordKind> = Extract<StoredRecord, { kind: K }>;

/** A change: the whole record as it is afterwards. */
export type Change = StoredRecord;
