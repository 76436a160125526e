// The messages between a shard and its peers: the edges, the webhook thread and the main thread. Requests of the API and
// their answers are buffers of frames (see frames.ts); everything else (pages, exports, operators, webhooks) is a plain
// object.

import type { ErrorCode } from '../contract/errors/table.ts';
import type { Language, Mode } from '../contract/vocabulary.ts';
import type { Cause } from '../domain/cause.ts';
import type { AnyCommand } from '../domain/command.ts';
import type { AttemptReport } from '../domain/deliveries.ts';
import type { PaymentSearch } from '../domain/payment-search.ts';
import type { NetworkCallRecord, WebhookEndpointRecord } from '../domain/record.ts';
import type { SettledFilter } from '../domain/settled.ts';

/** A message that is not on the hot path. */
export type InternalRequest =
  | {
      readonly kind: 'command';
      readonly operation: AnyCommand;
      readonly id: string;
      readonly params: object;
      readonly language: Language;
      readonly cause: Cause;
    }
  | { readonly kind: 'view_payment'; readonly id: string }
  | {
      readonly kind: 'export_page';
      readonly route: number;
      readonly org: string;
      readonly livemode: boolean;
      readonly query: string;
      readonly cursor: string;
    }
  /** The export that this request began is over, whole or not. */
  | {
      readonly kind: 'export_ended';
      readonly org: string;
      readonly livemode: boolean;
      readonly requestId: string;
    }
  /**
   * The events of an organization in one mode after `after`, oldest first, as a JSON list. '' means from the start. Null returns no
   * event, and the newest one as the cursor.
   */
  | {
      readonly kind: 'events_after';
      readonly org: string;
      readonly livemode: boolean;
      readonly after: string | null;
      readonly limit: number;
    }
  /** One record, as JSON text. */
  | { readonly kind: 'record'; readonly id: string }
  /** The newest records of an index, or the newest of those whose ids come before `before`, as a JSON list. */
  | {
      readonly kind: 'records';
      readonly index: string;
      readonly limit: number;
      readonly before?: string | undefined;
    }
  /** The payments that a search finds: `FoundPayments` as JSON text. */
  | {
      readonly kind: 'search_payments';
      readonly org: string;
      readonly livemode: boolean;
      readonly search: PaymentSearch;
    }
  /** All that is known of the payment that this id or cash code belongs to: `PaymentStory` as JSON text, or null. */
  | {
      readonly kind: 'payment_story';
      readonly org: string;
      readonly livemode: boolean;
      readonly reference: string;
      /** The refunds that come before this one are told, and not the newest. */
      readonly refundsBefore?: string | undefined;
    }
  /** The charges with these ids or cash codes: `NamedCharge` or null for each, as a JSON list. */
  | {
      readonly kind: 'charges_named';
      readonly org: string;
      readonly livemode: boolean;
      readonly names: readonly string[];
    }
  /** A page of the charges or refunds that succeeded in a period: `SettledPage` as JSON text. `start`: null for the first. */
  | {
      readonly kind: 'settled_page';
      readonly org: string;
      readonly livemode: boolean;
      readonly filter: SettledFilter;
      readonly start: string | null;
    }
  /** How much of an organization's limits is used now: `LimitLevels` as JSON text. */
  | { readonly kind: 'limit_levels'; readonly org: string; readonly livemode: boolean };

/**
 * What a payment network has posted for an organization. The shard's thread verifies it and gives the shard a command. The
 * body of the answer is the reply as JSON text.
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

/** Asks for the calls to payment networks that have no final outcome yet. The body of the answer is `OpenCall[]` as JSON text. */
export interface OpenCallsRequest {
  readonly kind: 'open_network_calls';
  /** Null: those of all organizations whose outcome a network owes. While a customer is on a network's page, it does not. */
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
 * A customer goes to the card network's own page. The shard's thread asks the network, with the organization's credentials. The
 * body of the answer is the `PageStart` as JSON text.
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

/** From the webhook thread: attempts that were made, to be recorded. Repeated until they are acknowledged. */
export interface OutboxMessage {
  /** The thread is connected anew: this shard leases all waiting deliveries again. */
  readonly open: boolean;
  readonly reports: readonly EndpointReport[];
}

export interface EndpointReport extends AttemptReport {
  readonly endpoint: string;
}

/** To the webhook thread. */
export interface OutboxBatch {
  readonly endpoints: readonly EndpointChange[];
  /** The endpoints are all that this shard has: the first batch after the thread was connected. */
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
  /** Nobody waits any longer for the requests with these correlations: what was not taken yet is answered as withdrawn. */
  | { readonly withdrawn: readonly number[] }
  | { readonly correlation: number; readonly request: InternalRequest }
  | { readonly outbox: OutboxMessage };
/** To the thread of a shard, which makes the calls to payment networks and takes what they post. */
export type ToShardThread = ToShard | NetworksMessage;
export interface NetworksMessage {
  readonly correlation: number;
  readonly request: CallbackRequest | OpenCallsRequest | StartPageRequest;
}
export type FromShard =
  | ArrayBuffer
  /** For how long the disk has kept the oldest commit waiting, in milliseconds; null when it does so no longer. */
  | { readonly stalledMs: number | null }
  | { readonly correlation: number; readonly answer: InternalAnswer }
  | { readonly outbox: OutboxBatch };
