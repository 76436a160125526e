// The messages between a shard and its peers: the edges, the webhook threads and the main thread.
// API requests and their answers are buffers of frames (frames.ts). Deliveries and reports of
// attempts are packed (packed-outbox.ts), and all else is plain objects.

import type { ErrorCode } from '../contract/errors/table.ts';
import type { Language, Mode } from '../contract/vocabulary.ts';
import { type Cause, causes } from '../domain/cause.ts';
import type { AnyCommand } from '../domain/command.ts';
import type { AttemptReport } from '../domain/deliveries.ts';
import type { ExportOptions } from '../domain/export.ts';
import type { NetworkOutcome } from '../domain/network-outcomes.ts';
import type { PaymentSearch } from '../domain/payment-search.ts';
import type { NetworkCallRecord, WebhookEndpointRecord } from '../domain/record.ts';
import type { SettledFilter } from '../domain/settled.ts';

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
  /** A list of `LinkView`, newest first. */
  readonly payment_links: InScope;
  readonly export_page: InScope & {
    readonly route: number;
    readonly query: string;
    readonly cursor: string;
  } & ExportOptions;
  /** The export that this request began is over, whole or not. */
  readonly export_ended: InScope & { readonly requestId: string };
  /**
   * The events after `after`, oldest first, as `ListedEvent`: '' means from the start. Null returns
   * no event, and the newest one as the cursor.
   */
  readonly events_after: InScope & { readonly after: string | null; readonly limit: number };
  readonly record: { readonly id: string };
  /** The newest records of an index, or the newest of those whose ids come before `before`. */
  readonly records: {
    readonly index: string;
    readonly limit: number;
    readonly before?: string | undefined;
  };
  /** `FoundPayments`. */
  readonly search_payments: InScope & { readonly search: PaymentSearch };
  /**
   * The payment of an id or cash code: `PaymentStory`, or null, with refunds before one of them.
   */
  readonly payment_story: InScope & {
    readonly reference: string;
    readonly refundsBefore?: string | undefined;
  };
  /** The charges with these ids or cash codes: a list of `NamedCharge` or null for each. */
  readonly charges_named: InScope & { readonly names: readonly string[] };
  /** A page of what succeeded in a period: `SettledPage`. `start`: null for the first. */
  readonly settled_page: InScope & { readonly filter: SettledFilter; readonly start: string | null };
  /** What time it is for the shard: `Now`. */
  readonly now: object;
  /** How deliveries to the endpoints of an organization go: a list of `EndpointNow`. */
  readonly endpoint_health: InScope;
  /** `FailingEndpoints`, of which so many are listed. */
  readonly failing_endpoints: { readonly limit: number };
  /** How much of an organization's limits is used now: `LimitLevels`. */
  readonly limit_levels: InScope;
}

/** A message that is not on the hot path. */
export type InternalRequest = {
  [K in keyof InternalRequests]: { readonly kind: K } & InternalRequests[K];
}[keyof InternalRequests];

export interface ListedEvent {
  readonly id: string;
  readonly type: string;
  /** The event as JSON text, whose bytes are signed. */
  readonly body: string;
}

/** The command that applies the outcome of a call to a payment network. */
export function outcomeCommand(call: string, outcome: NetworkOutcome) {
  const operation = 'apply_network_outcome';
  const given = { operation, id: call, params: { call, outcome }, cause: causes.network } as const;
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
  readonly request: CallbackRequest | OpenCallsRequest | StartPageRequest;
}
export type FromShard =
  | ArrayBuffer
  /** For how long the disk has kept a commit waiting; null when it does so no longer. */
  | { readonly stalledMs: number | null }
  | { readonly correlation: number; readonly answer: InternalAnswer }
  | { readonly outbox: OutboxBatch };
