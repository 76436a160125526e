// Addresses within the dashboard. All are made here, with the prefix that a proxy removes.

import { type IdKind, kindOfId } from '../../contract/id-prefixes.ts';
import type { Organization } from '../../directory/organization.ts';
import type { MemberRequest, PageRequest, ViewRequest } from './row.ts';

type Query = Readonly<Record<string, string>>;

/** An address of this service. Empty values of the query are left out. */
export function link({ prefix }: Pick<PageRequest, 'prefix'>, path: string, query: Query = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== '');
  const text = new URLSearchParams(given).toString();
  return prefix + path + (text === '' ? '' : `?${text}`);
}

/** Home of an organization, in live mode once that is activated. */
export function homeLink(
  request: Pick<PageRequest, 'prefix'>,
  { id, liveActivated }: Pick<Organization, 'id' | 'liveActivated'>,
): string {
  return link(request, `/dashboard/${id}/${liveActivated ? 'live' : 'test'}/home`);
}

/** An address of the request's organization and mode: `viewLink(request, 'payments/pi_…')`. */
export function viewLink(request: ViewRequest, path: string, query: Query = {}): string {
  const { organization, mode } = request;
  return link(request, `/dashboard/${organization.id}/${mode}/${path}`, query);
}

/** Where the pages of objects lie, by their kinds. */
const placesOfKinds: Partial<Record<IdKind, string>> = {
  payment_intent: 'payments',
  customer: 'customers',
  checkout_session: 'checkout',
  review: 'reviews',
  webhook_endpoint: 'webhooks',
  delivery: 'webhooks/deliveries',
  event: 'events',
};

/** The path of an object's page below an organization and mode; null for one that has none. */
export function pageOfObject(id: string): string | null {
  const kind = kindOfId(id);
  const place = kind && placesOfKinds[kind];
  return place === undefined ? null : `${place}/${id}`;
}

/** An address of the service for a path that begins with `/`; else one as `viewLink` makes it. */
export function hrefOf(request: MemberRequest | ViewRequest, path: string): string {
  return 'mode' in request && !path.startsWith('/') ? viewLink(request, path) : link(request, path);
}

/** The address to go on to after a sign-in: only one of the dashboard, whatever the form says. */
export function nextAddress(text: string | null): string {
  const isOwn = text !== null && /^\/dashboard(\/[\w./-]*)?(\?[\w=&%.+*-]*)?$/.test(text);
  return isOwn && !text.includes('//') && !text.includes('..') ? text : '/dashboard';
}
