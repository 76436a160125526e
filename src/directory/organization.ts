// An organization: whether its keys work, which payment methods it may use, and how many requests
// it may send. These are pure functions; the store is `directory.ts`. An organization is never
// changed in place: each function returns the next value or throws `DirectoryRefusal`. A closed
// organization stays closed.

import type { Bucket } from '../contract/limits.ts';
import {
  type ApiVersion,
  type Language,
  type Mode,
  newestApiVersion,
  type PaymentMethodType,
} from '../contract/vocabulary.ts';
import { hasHidden, withoutHidden } from '../core/shown-text.ts';
import type { BucketOverride, LimitsOverrides } from '../domain/active-limits.ts';
import { noConnectors, type OrganizationConnectors } from '../networks/connectors.ts';
import type { Branding } from './branding.ts';
import type { LimitRequest } from './limit-request.ts';
import { DirectoryRefusal } from './refusal.ts';

type OrganizationStatus = 'active' | 'suspended' | 'closed';

/** Which methods are switched on. */
export type Methods = Readonly<Record<PaymentMethodType, boolean>>;

export interface Organization {
  /** `org_…` */
  readonly id: string;
  readonly name: string;
  readonly status: OrganizationStatus;
  /** Live keys work. */
  readonly liveActivated: boolean;
  /** The version of requests and endpoints that name none. */
  readonly apiVersion: ApiVersion;
  /** Unix seconds. */
  readonly created: number;
  readonly methods: Readonly<Record<Mode, Methods>>;
  readonly limits: Readonly<Record<Mode, LimitsOverrides>>;
  readonly branding: Branding;
  /** The language of the receipts that its customers get by e-mail; null: they get none. */
  readonly receipts: Language | null;
  /** Its requests for higher limits, newest first. */
  readonly limitRequests: readonly LimitRequest[];
  /** The payment networks that its payments go through. */
  readonly connectors: OrganizationConnectors;
}

/** The fields that organizations did not have from the start. */
const laterFields = {
  branding: { colour: null, logo: null },
  receipts: null,
  limitRequests: [],
  connectors: noConnectors,
} satisfies Partial<Organization>;

/** An organization as it was stored, by this version or an earlier one. */
export function storedOrganization(
  stored: Omit<Organization, keyof typeof laterFields> & Partial<Organization>,
): Organization {
  return { ...laterFields, ...stored, name: withoutHidden(stored.name) || stored.id };
}

const noOverrides: LimitsOverrides = {
  buckets: { all: null, writes: null, payment_creation: null, search: null },
  dailyRequests: null,
  dailyPaymentCreations: null,
};

/** A new organization: test mode works at once, live mode is neither activated nor has a method. */
export function newOrganization(id: string, name: string, nowMs: number): Organization {
  return {
    id,
    name: checkedName(name),
    status: 'active',
    liveActivated: false,
    apiVersion: newestApiVersion,
    created: Math.floor(nowMs / 1000),
    methods: { test: { card: true, cash: true }, live: { card: false, cash: false } },
    limits: { test: noOverrides, live: noOverrides },
    ...laterFields,
  };
}

/** Lets the organization's live keys work. */
export function activate(organization: Organization): Organization {
  return { ...unlessClosed(organization), liveActivated: true };
}

/** Stops every key of the organization until it is reinstated. */
export function suspend(organization: Organization): Organization {
  return { ...unlessClosed(organization), status: 'suspended' };
}

/** Ends a suspension. */
export function reinstate(organization: Organization): Organization {
  return { ...unlessClosed(organization), status: 'active' };
}

/** Stops every key of the organization for good. */
export function close(organization: Organization): Organization {
  return { ...organization, status: 'closed' };
}

/** Switches methods on or off in a mode; a method that isn't named stays as it is. */
export function withMethods(organization: Organization, mode: Mode, changed: Partial<Methods>): Organization {
  const methods = { ...organization.methods[mode], ...changed };
  return { ...unlessClosed(organization), methods: { ...organization.methods, [mode]: methods } };
}

/** Gives the organization another name. */
export function withName(organization: Organization, name: string): Organization {
  return { ...unlessClosed(organization), name: checkedName(name) };
}

/** Changes how the organization looks to its customers; what isn't named stays as it is. */
export function withBranding(organization: Organization, changed: Partial<Branding>): Organization {
  return { ...unlessClosed(organization), branding: { ...organization.branding, ...changed } };
}

/** Sends receipts in this language, or none. */
export function withReceipts(organization: Organization, receipts: Language | null): Organization {
  return { ...unlessClosed(organization), receipts };
}

/** Gives a bucket a limit of its own. An end must lie after `nowMs`. */
export function withLimit(
  organization: Organization,
  mode: Mode,
  bucket: Bucket,
  limit: BucketOverride,
  nowMs: number,
): Organization {
  if (limit.untilMs !== null && limit.untilMs <= nowMs) {
    throw new DirectoryRefusal('the end of the limit has passed already: name a later one', 'end_passed');
  }
  const overrides = organization.limits[mode];
  return withOverrides(organization, mode, {
    ...overrides,
    buckets: { ...overrides.buckets, [bucket]: limit },
  });
}

/** Sets the daily cap of test mode. A number that is undefined stays as it is. */
export function withDailyCap(
  organization: Organization,
  mode: Mode,
  cap: { readonly requests?: number | undefined; readonly paymentCreations?: number | undefined },
): Organization {
  if (mode === 'live') throw new DirectoryRefusal('live mode has no daily cap: use --mode test');
  const overrides = organization.limits[mode];
  return withOverrides(organization, mode, {
    ...overrides,
    dailyRequests: cap.requests ?? overrides.dailyRequests,
    dailyPaymentCreations: cap.paymentCreations ?? overrides.dailyPaymentCreations,
  });
}

/** Removes the organization's own limits in a mode, so that the defaults apply. */
export function withoutLimits(organization: Organization, mode: Mode): Organization {
  return withOverrides(organization, mode, noOverrides);
}

function withOverrides(organization: Organization, mode: Mode, overrides: LimitsOverrides): Organization {
  return { ...unlessClosed(organization), limits: { ...organization.limits, [mode]: overrides } };
}

/** The organization itself; throws `DirectoryRefusal` when it is closed. */
export function unlessClosed(organization: Organization): Organization {
  if (organization.status !== 'closed') return organization;
  throw new DirectoryRefusal(`organization ${organization.id} is closed for good: create another one`);
}

export function checkedName(name: string): string {
  const trimmed = name.trim();
  if (trimmed === '' || [...trimmed].length > 255 || hasHidden(trimmed)) {
    throw new DirectoryRefusal(
      'the name must have 1 to 255 characters, all of them visible: no control characters, and no marks of the writing direction',
      'name_invalid',
    );
  }
  return trimmed;
}
