// What a decision is: the outcome of one command, as plain values. The shard makes the changes durable and then
// releases the answer; the domain knows neither threads nor disks nor HTTP.

import type { Refusal } from '../contract/errors/table.ts';
import type { IdKind } from '../contract/id-prefixes.ts';
import type { Bucket } from '../contract/limits.ts';
import type { Language, PaymentMethodType } from '../contract/vocabulary.ts';
import type { Now } from '../core/clock.ts';
import type { ApiRequest, Change, NetworkCallRecord, WebhookEndpointRecord } from './record.ts';

/** What the organization may do in this mode, from the directory. */
export interface Account {
  readonly id: string;
  readonly name: string;
  readonly created: number;
  /** Methods switched on for the organization that also have a network in this mode. */
  readonly methods: Readonly<Record<PaymentMethodType, boolean>>;
  /** The rate limits in force in this mode. */
  readonly limits: Readonly<Record<Bucket, EffectiveLimit>>;
}

export interface EffectiveLimit {
  readonly perMinute: number;
  readonly source: 'default' | 'plan' | 'custom';
}

/** Durations and addresses from the configuration. */
export interface Settings {
  /** Where customers reach the service's pages, without a final slash. */
  readonly baseUrl: string;
  readonly cardPageMs: number;
  readonly cashCodeMs: number;
  /** The waits between the attempts of a webhook delivery. */
  readonly webhookRetryMs: readonly number[];
}

/** Everything that `decide` may not find out by itself: time, chance, who asks. */
export interface Context extends Now {
  readonly org: string;
  readonly livemode: boolean;
  readonly account: Account;
  readonly settings: Settings;
  readonly language: Language;
  readonly apiVersion: string;
  /** The API request, or null when the customer or time caused the command. */
  readonly request: ApiRequest | null;
  /** The webhook endpoints of the organization in this mode. */
  readonly endpoints: readonly WebhookEndpointRecord[];
  /** Another change to the endpoints of this organization and mode waits for its address to be looked up. */
  readonly endpointsBusy: boolean;
  /** The verdict on the address that this command asked to be checked; null before it asked. */
  readonly addressAllowed: boolean | null;
  /** A new id of an object of this kind. */
  readonly newId: (kind: IdKind) => string;
  /** `length` random base-62 characters. */
  readonly randomText: (length: number) => string;
  /** Seals the signing secret of an endpoint of the organization: only what is sealed may be in a record. */
  readonly sealSecret: (secret: string, endpoint: string) => string;
  /** A whole random number below `limit` (at most 2^32). */
  readonly randomBelow: (limit: number) => number;
}

/** An answer's body as JSON text. `keptBody` is kept for replays instead (a secret is shown once). */
export interface Answer {
  readonly body: string;
  readonly keptBody?: string;
}

/**
 * A decider's outcome: what it answers, which is a result for the shard itself where nobody else asked, or why there is
 * no answer now. What it changed and what happened lies in the draft; a refusal throws the draft away.
 */
export type Outcome<Done = Answer> =
  | { readonly refusal: Refusal }
  | Done
  /** The answer is given later, by the outcome of this call to a payment network. */
  | { readonly waitsFor: NetworkCallRecord }
  /** Run the command again with the verdict on this webhook address in `context.addressAllowed`. Nothing is changed. */
  | { readonly checksAddress: string }
  /** The changes are applied, but the request that waited for the network call is refused. */
  | { readonly waiterRefused: Refusal };

export interface Decision<Done = Answer> {
  /** Records as they are afterwards, events and their deliveries among them; no record twice. Empty on a refusal. */
  readonly changes: readonly Change[];
  readonly outcome: Outcome<Done>;
  /** Calls to payment networks to make once the changes are durable. */
  readonly networkCalls: readonly NetworkCallRecord[];
}

export function refused(refusal: Refusal): Outcome {
  return { refusal };
}

/** A success that answers `resource`. */
export function answered(resource: object): Outcome {
  return { body: JSON.stringify(resource) };
}
