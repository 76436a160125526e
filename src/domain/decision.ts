// A decision is what one command comes to, as plain values. The shard makes the changes durable and
// then releases the answer. The domain knows nothing of threads, disks or HTTP.

import type { Refusal } from '../contract/errors/table.ts';
import type { IdKind } from '../contract/id-prefixes.ts';
import type { Bucket } from '../contract/limits.ts';
import type { Language, PaymentMethodType } from '../contract/vocabulary.ts';
import type { Now } from '../core/clock.ts';
import type { Cause } from './cause.ts';
import type { ApiRequest, Change, NetworkCallRecord, WebhookEndpointRecord } from './record.ts';

/** The organization in this mode, as the directory has it. */
export interface Account {
  readonly id: string;
  readonly name: string;
  readonly created: number;
  /** Methods switched on for the organization that also have a network in this mode. */
  readonly methods: Readonly<Record<PaymentMethodType, boolean>>;
  /** The active rate limits of this mode. */
  readonly limits: Readonly<Record<Bucket, EffectiveLimit>>;
}

interface EffectiveLimit {
  readonly perMinute: number;
  readonly source: 'default' | 'plan' | 'custom';
}

/** Durations and addresses from the configuration. */
export interface Settings {
  /** The address of the service's pages for customers, without a final slash. */
  readonly baseUrl: string;
  readonly cardPageMs: number;
  readonly cashCodeMs: number;
  /** The waits between the attempts of a webhook delivery. */
  readonly webhookRetryMs: readonly number[];
  /**
   * How many attempts of deliveries an organization has in a mode, and of how many of the newest
   * the answers are kept.
   */
  readonly attemptsKeptMax: number;
  readonly answersKeptMax: number;
}

/** What `decide` is given because it is pure: the time, chance, and who asks. */
export interface Context extends Now {
  readonly org: string;
  readonly livemode: boolean;
  readonly account: Account;
  readonly settings: Settings;
  readonly language: Language;
  readonly apiVersion: string;
  /** The API request, or null when the customer or time caused the command. */
  readonly request: ApiRequest | null;
  readonly cause: Cause;
  /** The webhook endpoints of the organization in this mode. */
  readonly endpoints: readonly WebhookEndpointRecord[];
  /**
   * Another change to the endpoints of this organization and mode is waiting for its address check.
   */
  readonly endpointsBusy: boolean;
  /** Whether the address of this command is allowed; null before the check. */
  readonly addressAllowed: boolean | null;
  /** A new id of an object of this kind. */
  readonly newId: (kind: IdKind) => string;
  /** `length` random base-62 characters. */
  readonly randomText: (length: number) => string;
  /** Seals (encrypts) the signing secret of an endpoint. Records hold sealed secrets only. */
  readonly sealSecret: (secret: string, endpoint: string) => string;
  /** A whole random number below `limit` (at most 2^32). */
  readonly randomBelow: (limit: number) => number;
}

/**
 * An answer's body as JSON text. `storedBody` is what replays get instead, because a secret is
 * shown once.
 */
export interface Answer {
  readonly body: string;
  readonly storedBody?: string;
}

/**
 * A decider's outcome: an answer, a result for a command that the shard gave itself, or why there
 * is no answer now. The changes and events are in the draft; a refusal discards the draft.
 */
export type Outcome<Done = Answer> =
  | { readonly refusal: Refusal }
  | Done
  /** The request is answered later, when the outcome of this network call is known. */
  | { readonly waitsFor: NetworkCallRecord }
  /**
   * Nothing is changed. The command runs again when this webhook address was checked, with
   * `context.addressAllowed`.
   */
  | { readonly checksAddress: string }
  /** The changes are applied, but the request that waited for the network call is refused. */
  | { readonly waiterRefused: Refusal };

export interface Decision<Done = Answer> {
  /**
   * Records as they are afterwards, with events and deliveries. No record appears twice. Empty on a
   * refusal.
   */
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
