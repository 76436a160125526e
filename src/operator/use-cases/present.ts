// Organizations, keys and reviews as operators' commands answer them, which `--json` prints: in snake_case like the
// API, with times in ISO 8601, and without the digests of keys.

import { type Mode, modeOf, type PaymentMethodType, paymentMethodTypes } from '../../contract/vocabulary.ts';
import { type ApiKey, type KeyKind, type KeyStatus, keyStatus } from '../../directory/api-key.ts';
import type { Methods, Organization, OrganizationStatus } from '../../directory/organization.ts';
import type { Cause } from '../../domain/cause.ts';
import type { ReviewRecord } from '../../domain/record.ts';
import { availableIn } from '../../networks/connectors.ts';
import { isoTime } from './iso-time.ts';
import type { OperatorServices } from './services.ts';

export interface PresentedOrganization {
  readonly id: string;
  readonly name: string;
  readonly status: OrganizationStatus;
  readonly live_activated: boolean;
  readonly api_version: string;
  readonly created: string;
  /** Methods that are switched on and have a network. */
  readonly methods: Readonly<Record<Mode, Methods>>;
  /** Methods that are switched on and have no network, so they can't be used. */
  readonly without_network: Readonly<Record<Mode, readonly PaymentMethodType[]>>;
}

export function presentOrganization(organization: Organization): PresentedOrganization {
  const { id, name, status, liveActivated, apiVersion, created, methods } = organization;
  const shown = { id, name, status, live_activated: liveActivated, api_version: apiVersion };
  const available = (mode: Mode) => availableIn(organization.connectors, mode);
  const working = (mode: Mode): Methods => ({
    card: methods[mode].card && available(mode).card,
    cash: methods[mode].cash && available(mode).cash,
  });
  const withoutNetwork = (mode: Mode) =>
    paymentMethodTypes.filter((method) => methods[mode][method] && !available(mode)[method]);
  return {
    ...shown,
    created: isoTime(created * 1000),
    methods: { test: working('test'), live: working('live') },
    without_network: { test: withoutNetwork('test'), live: withoutNetwork('live') },
  };
}

/** Who makes a key or a link, as the directory notes it. */
export function makerOf(author: Cause): string {
  return author.by === 'member' && author.name !== null ? author.name : 'operator';
}

export interface PresentedKey {
  readonly id: string;
  readonly organization: string;
  readonly mode: Mode;
  readonly kind: KeyKind;
  /** The key's last four characters. */
  readonly hint: string;
  readonly status: KeyStatus;
  readonly created: string;
  /** A key that is used all the time is noted once a minute. */
  readonly last_used: string | null;
  readonly expires: string | null;
  readonly revoked: string | null;
  readonly rolled_to: string | null;
  /** A member's id, or `operator`; null in one of version 0.1.0. */
  readonly made_by: string | null;
}

export function presentKey(
  key: ApiKey,
  { directory, now }: Pick<OperatorServices, 'directory' | 'now'>,
): PresentedKey {
  return {
    id: key.id,
    organization: key.org,
    mode: key.mode,
    kind: key.kind,
    hint: key.hint,
    status: keyStatus(key, now()),
    created: isoTime(key.created * 1000),
    last_used: isoTime(directory.keyUses.lastMs(key.id)),
    expires: isoTime(key.expiresAtMs),
    revoked: isoTime(key.revokedAtMs),
    rolled_to: key.rolledTo,
    made_by: key.madeBy,
  };
}

export interface PresentedReview {
  readonly id: string;
  readonly organization: string;
  readonly mode: Mode;
  readonly created: string;
  readonly open: boolean;
  readonly reason: ReviewRecord['reason'];
  readonly payment_intent: string;
  readonly charge: string;
  readonly amount_expected: number;
  readonly amount_received: number;
  readonly closed_reason: ReviewRecord['closed_reason'];
}

export function presentReview(review: ReviewRecord): PresentedReview {
  return {
    id: review.id,
    organization: review.org,
    mode: modeOf(review.livemode),
    created: isoTime(review.created * 1000),
    open: review.open,
    reason: review.reason,
    payment_intent: review.payment_intent,
    charge: review.charge,
    amount_expected: review.amount_expected,
    amount_received: review.amount_received,
    closed_reason: review.closed_reason,
  };
}
