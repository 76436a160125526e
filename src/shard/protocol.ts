// The messages between a shard and its peers: the edges, the webhook threads and the main thread.
// API requests and their answers are buffers of frames (frames.ts). Deliveries and reports of
// attempts are packed (packed-outbox.ts), and all else is plain objects.

import type { ErrorCode } from '../contract/errors/table.ts';
import type { Bucket } from '../contract/limits.ts';
import type { Language, Mode } from '../contract/vocabulary.ts';
import type { Now } from '../core/clock.ts';
import { type Cause, causes } from '../domain/cause.ts';
import type { AnyCommand } from '../domain/command.ts';
import type { AttemptReport } from '../domain/deliveries.ts';
import type { ExportOptions } from '../domain/export.ts';
import type { NetworkOutcome } from '../domain/network-outcomes.ts';
import type { LinkView } from '../domain/payment-links.ts';
import type { FoundPayments, PaymentSearch } from '../domain/payment-search.ts';
import type { PaymentStory } from '../domain/payment-story.ts';
import type { NetworkCallRecord, WebhookEndpointRecord } from '../domain/record.ts';
import type { NamedCharge, SettledFilter, SettledPage } from '../domain/settled.ts';
import type { EndpointNow, FailingEndpoints } from './endpoint-health.ts';

interface InScope {
  readonly org: string;
  readonly livemode: boolean;
}

/** What is asked of a shard beside API requests. Bodies of answers are JSON text. */
interface InternalRequests {
  readonly command: {
    readonly operation: AnyCommand;
    readonly id: string;
    readonly params: object;
    readonly language: Language;
    readonly cause: Cause;
    /** Of a command that is about no record yet. */
    readonly scope?: InScope;
  };
  readonly view_payment: { readonly id: string };
  /** `LinkView` with what its page shows of the merchant. */
  readonly view_link: { readonly id: string };
  /** Newest first. */
  readonly payment_links: InScope;
  readonly export_page: InScope & {
    readonly route: number;
    readonly query: string;
    readonly cursor: string;
  } & ExportOptions;
  /** The export that this request began is over, whole or not. */
  readonly export_ended: InScope & { readonly requestId: string };
  /**
   * The events after `after`, oldest first: '' means from the start. Null returns no event, and the
   * newest one as the cursor.
   */
  readonly events_after: InScope & { readonly after: string | null; readonly limit: number };
  readonly record: { readonly id: string };
  /** The newest records of an index, or the newest of those whose ids come before `before`. */
  readonly records: {
    readonly index: string;
    readonly limit: number;
    readonly before?: string | undefined;
  };
  readonly search_payments: InScope & { readonly search: PaymentSearch };
  /** The payment of an id or cash code, with refunds before one of them. */
  readonly payment_story: InScope & {
    readonly reference: string;
    readonly refundsBefore?: string | undefined;
  };
  /** The charges with these ids or cash codes; null for one that does not exist. */
  readonly charges_named: InScope & { readonly names: readonly string[] };
  /** A page of what succeeded in a period. `start`: null for the first. */
  readonly settled_page: InScope & { readonly filter: SettledFilter; readonly start: string | null };
  /** What time it is for the shard. */
  readonly now: object;
  /** How deliveries to the endpoints of an organization go. */
  readonly endpoint_health: InScope;
  /** So many are listed. */
  readonly failing_endpoints: { readonly limit: number };
  /** How much of an organization's limits is used now. */
  readonly limit_levels: InScope;
}

/** What the bodies of answers hold, but for `command`, records, and what pages and exports ask. */
export interface Answers {
  readonly payment_links: LinkView[];
  readonly events_after: ListedEvent[];
  readonly search_payments: FoundPayments;
  readonly payment_story: PaymentStory | null;
  readonly charges_named: (NamedCharge | null)[];
  readonly settled_page: SettledPage;
  readonly now: Now;
  readonly endpoint_health: EndpointNow[];
  readonly failing_endpoints: FailingEndpoints;
  readonly limit_levels: LimitLevels;
}

/** A message that is not on the hot path. */
export type InternalRequest = {
  [K in keyof InternalRequests]: { readonly kind: K } & InternalRequests[K];
}[keyof InternalRequests];

export interface LimitLevels {
  /** The requests that can still be sent now, of so many when the bucket is full. */
  readonly buckets: Readonly<Record<Bucket, { readonly remaining: number; readonly capacity: number }>>;
  /** What counts in the daily cap; null in live mode, which has none. */
  readonly today: { readonly requests: number; readonly creations: number } | null;
}

export interface ListedEvent {
  readonly id: string;
  readonly type: string;
  /** The event as JSON text, whose bytes are signed. */
  readonly body: string;
}

/** The command that applies the outcome of a call to a payment network. */
export function outcomeCommand(call: string, outcome: NetworkOutcome, cause = causes.network) {
  const operation = 'apply_network_outcome';
  const given = { operation, id: call, params: { call, outcome }, cause } as const;
  return { kind: 'command', language: 'en', ...given } as const;
}

/**
 * What a payment network has posted for an organization. The shard's thread verifies it and gives
 * the shard a command. The body of the answer is the reply.
 */
export interface CallbackRequest {
  readonly kind: 'network_callback';
  readonly org: string;
  readonly mode: Mode;
  /** Whose address was posted to. */
  readonly connector: string;
  readonly signature: string;
  readonly body: string;
}

/** Asks for the calls to payment networks without a final outcome. The answer is `OpenCall[]`. */
export interface OpenCallsRequest {
  readonly kind: 'open_network_calls';
  /** Null: of all, those whose outcome a network owes, not while a customer is on its page. */
  readonly org: string | null;
  /** The newest, so many at most. */
  readonly limit: number;
}

export interface OpenCall {
  readonly record: NetworkCallRecord;
  /** What went wrong when it was last made or asked about; null when nothing did. */
  readonly lastError: string | null;
}

/**
 * An operator settles a call of which its network can't tell. The shard's thread knows whether the
 * call is in other hands at this moment. The answer is `NotSettled | null`.
 */
export interface SettleCallRequest {
  readonly kind: 'settle_network_call';
  /** The call. */
  readonly id: string;
  readonly outcome: NetworkOutcome;
  readonly cause: Cause;
}

/**
 * A customer goes to the card network's own page. The shard's thread asks the network, with the
 * organization's credentials. The answer is the `PageStart`.
 */
export interface StartPageRequest {
  readonly kind: 'start_page';
  /** The charge. */
  readonly id: string;
  readonly language: Language;
  /** Where the customer comes back to after a payment, and after none. */
  readonly paidUrl: string;
  readonly unpaidUrl: string;
}

export type InternalAnswer =
  | { readonly ok: true; readonly body: string; readonly cursor?: string | null }
  | { readonly ok: false; readonly code: ErrorCode; readonly message: string };

/** From a webhook thread: attempts to record, repeated until they are acknowledged. */
export interface OutboxMessage {
  /** The number of the thread. */
  readonly thread: number;
  /** The thread is connected anew: this shard leases it all waiting deliveries again. */
  readonly open: boolean;
  readonly reports: readonly EndpointReport[];
}

export interface EndpointReport extends AttemptReport {
  readonly endpoint: string;
}

/** To a webhook thread. */
export interface OutboxBatch {
  readonly endpoints: readonly EndpointChange[];
  /** The endpoints are all of the thread: the first batch after it was connected. */
  readonly complete: boolean;
  readonly deliveries: readonly DueDelivery[];
  /** The attempts that are recorded now. */
  readonly recorded: readonly Pick<EndpointReport, 'endpoint' | 'delivery' | 'number'>[];
}

/** An endpoint as it is now; `state` null when it was deleted. */
export interface EndpointChange {
  readonly id: string;
  readonly state:
    | (Pick<WebhookEndpointRecord, 'org' | 'url' | 'secrets'> & { readonly enabled: boolean })
    | null;
}

/** A delivery whose next attempt is due. */
export interface DueDelivery {
  readonly id: string;
  readonly endpoint: string;
  /** Which attempt of the delivery it will be, from 0. */
  readonly number: number;
  /** It goes before the others of its endpoint. */
  readonly first: boolean;
  /** The event as JSON text. */
  readonly body: string;
}

export type ToShard =
  | ArrayBuffer
  /** Nobody waits for these requests: what was not taken yet is answered as withdrawn. */
  | { readonly withdrawn: readonly number[] }
  | { readonly correlation: number; readonly request: InternalRequest }
  | { readonly outbox: OutboxMessage };
/** To a shard's thread, which makes the calls to payment networks and takes what they post. */
export type ToShardThread = ToShard | NetworksMessage;
export interface NetworksMessage {
  readonly correlation: number;
  readonly request: CallbackRequest | OpenCallsRequest | SettleCallRequest | StartPageRequest;
}
export type FromShard =
  | ArrayBuffer
  /** For how long the disk has kept a commit waiting; null when it does so no longer. */
  | { readonly stalledMs: number | null }
  | { readonly correlation: number; readonly answer: InternalAnswer }
  | { readonly outbox: OutboxBatch };
