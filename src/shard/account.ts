// An organization as a shard knows it: what decisions and limits depend on. The main thread sends
// it before the first request of the organization can arrive, and after each change.

import type { Language, Mode, PaymentMethodType } from '../contract/vocabulary.ts';
import type { LimitsOverrides } from '../domain/active-limits.ts';

export interface ShardAccount {
  /** `org_…` */
  readonly id: string;
  readonly name: string;
  readonly branding: AccountBranding;
  /** Unix seconds. */
  readonly created: number;
  readonly apiVersion: string;
  readonly methods: Readonly<Record<Mode, Readonly<Record<PaymentMethodType, boolean>>>>;
  readonly limits: Readonly<Record<Mode, LimitsOverrides>>;
}

/** `colour` is `#rrggbb`, and `logoUrl` a path of this service; null: the pages' own. */
export interface AccountBranding {
  readonly colour: string | null;
  readonly logoUrl: string | null;
}

/** The payment methods that have a network. */
export interface AvailableNetworks extends Readonly<Record<PaymentMethodType, boolean>> {
  /** Where a card is typed: on the service's page or on the network's. */
  readonly cardPage: 'own' | 'hosted';
  /**
   * Who takes cash codes, as customers are told, in each language if the name is translated; null
   * when that is not known.
   */
  readonly agents: string | Readonly<Record<Language, string>> | null;
}

/** The networks that an organization has now, in a mode. */
export type Availability = (org: string, mode: Mode) => AvailableNetworks;
