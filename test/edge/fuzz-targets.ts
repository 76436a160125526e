// What the fuzz test aims at: the objects of a shop, the pages of its customers, networks that report to it, and the forms that
// are on pages, with their hidden fields.

import assert from 'node:assert/strict';
import { routeTable } from '../../src/contract/routes/table.ts';
import { dashboardRows } from '../../src/dashboard/layout/table.ts';
import type { connectors } from '../../src/networks/connectors.ts';
import { type Dashboard, hiddenFields, invite, newMember, type Visitor } from '../dashboard/fixture.ts';
import { api, openPayment, paidPayment } from '../dashboard/shop.ts';
import { newKey, newOrganization } from '../service.ts';

export const integratorSecret = 'integrators-secret-0123456789';
export const storeKey = 'store-key-0123456789';
export const cmiClient = '600000000';

export interface Reporter {
  readonly network: keyof typeof connectors;
  readonly org: string;
  /** A charge that waits for what the network reports. */
  readonly charge: string | null;
}

/** Two organizations with a network each, which posts to them. */
export async function connectNetworks(dashboard: Dashboard): Promise<Reporter[]> {
  const { service, org } = dashboard;
  const other = await newOrganization(service, 'Cards');
  const settings = {
    http: { settings: { address: 'http://127.0.0.1:9/' }, secrets: { secret: integratorSecret } },
    cmi: {
      settings: { gateway: 'http://127.0.0.1:9/gate', client_id: cmiClient, api_user: 'user' },
      secrets: { store_key: storeKey, api_password: 'password-0123456789' },
    },
  };
  const orgs = [
    { network: 'http', org },
    { network: 'cmi', org: other.id },
  ] as const;
  for (const { network, org } of orgs) {
    await service.operate('org.activate', { org });
    await service.operate('network.set', { org, mode: 'live', network, ...settings[network] });
  }
  await service.operate('org.methods', { org: other.id, mode: 'live', methods: { card: true } });
  const key = await newKey(service, other.id, 'live');
  const { latest_charge } = await openPayment({ ...dashboard, org: other.id, key });
  return [
    { network: 'http', org, charge: null },
    { network: 'cmi', org: other.id, charge: latest_charge },
  ];
}

interface Shop {
  readonly ids: string[];
  readonly pages: string[];
}

/** Ids of objects of every kind, and the customers' pages of some. */
export async function openShop(dashboard: Dashboard): Promise<Shop> {
  const { service, org } = dashboard;
  const intent = await openPayment(dashboard);
  const cash = await openPayment(dashboard, {}, 'cash');
  const charge = await paidPayment(dashboard);
  const customer = await api(dashboard, '/v1/customers', { name: 'Amina' });
  const session = await openSession(dashboard);
  const endpoint = await api(dashboard, '/v1/webhook_endpoints', {
    url: 'http://127.0.0.1:9/',
    enabled_events: ['*'],
  });
  const refund = await api(dashboard, '/v1/refunds', { charge: charge.id });
  // Another amount than was asked for opens a review.
  await api(dashboard, `/v1/test_helpers/charges/${cash.latest_charge}/complete`, { amount: 100 });
  const { data: events } = await api(dashboard, '/v1/events');
  const { data: reviews } = await api(dashboard, '/v1/reviews');
  assert.notEqual(reviews.length, 0);
  await newMember(dashboard, 'viewer');
  const [member] = await service.operate<{ id: string }[]>('member.list', { org });
  const params = { org, mode: 'test', kind: 'secret' };
  const apiKey = await service.operate<{ id: string }>('key.create', params);
  const objects = [intent, cash, charge, customer, session, endpoint, refund, events[0], reviews[0]];
  const ids = [...objects, member!, apiKey].map(({ id }) => id);
  ids.push(intent.latest_charge, cash.latest_charge, org);
  const pages = [`/checkout/${session.id}`];
  for (const id of [intent.latest_charge, cash.latest_charge, charge.id])
    for (const path of ['', '/challenge', '/change', '/paid', '/unpaid'])
      pages.push(`/pay/${id}${path}`, `/voucher/${id}${path}`);
  return { ids, pages };
}

const openSession = (dashboard: Dashboard) =>
  api(dashboard, '/v1/checkout/sessions', {
    amount: 20_000,
    currency: 'mad',
    payment_method_types: ['card', 'cash'],
    success_url: 'https://shop.example/',
  });

/** A form as it stands on a page. */
export interface FoundForm {
  readonly path: string;
  /** Its hidden fields, with the key without which nothing in it is read. */
  readonly kept: Readonly<Record<string, string>>;
  readonly names: readonly string[];
}

/** The forms on a page that are posted. */
async function formsOn(visitor: Visitor, path: string): Promise<FoundForm[]> {
  const { status, location, body } = await visitor.get(path);
  if (status === 303) return formsOn(visitor, pathOf(location));
  const actions = [...body.matchAll(/<form method="post" action="([^"]+)"/g)].map(([, action]) => action!);
  return actions.map((action) => ({
    path: action.replaceAll('&amp;', '&'),
    kept: hiddenFields(body, action),
    names: namesOf(body),
  }));
}

function namesOf(body: string): string[] {
  return [...body.matchAll(/<(?:input|select|textarea|button)[^>]* name="([^"]+)"/g)].map(
    ([, name]) => name!,
  );
}

/** The forms of customers who have not paid yet: the choice, the card, the challenge, and the way back from a voucher. */
export async function customersForms(dashboard: Dashboard, customer: Visitor): Promise<FoundForm[]> {
  const pageOfSession = async () => `/checkout/${(await openSession(dashboard)).id}`;
  const pageOfCard = async () => `/pay/${(await openPayment(dashboard)).latest_charge}`;
  const choice = await formsOn(customer, await pageOfSession());
  const card = await formsOn(customer, await pageOfCard());
  const challenge = await formsAfter(customer, await pageOfCard(), challengedCard);
  const change = await formsAfter(customer, await pageOfSession(), { method: 'cash' });
  return [choice, card, challenge, change].flat();
}

const challengedCard = { number: '4000 0027 6000 3184', expiry: '09/32', cvc: '123' };

/** The forms on the page to which the first form of another one leads. */
async function formsAfter(
  visitor: Visitor,
  page: string,
  fields: Readonly<Record<string, string>>,
): Promise<FoundForm[]> {
  const [form] = await formsOn(visitor, page);
  assert.ok(form, page);
  const { status, location, body } = await visitor.post(form.path, { ...form.kept, ...fields });
  assert.equal(status, 303, body);
  return formsOn(visitor, pathOf(location));
}

const pathOf = (location: string) => location.replace(/^https?:\/\/[^/]+/, '');

/** The forms of people who are not signed in. */
export async function strangersForms(dashboard: Dashboard, stranger: Visitor): Promise<FoundForm[]> {
  const invitation = await invite(dashboard, 'guest@souk.ma', 'viewer');
  return [...(await formsOn(stranger, '/dashboard/sign-in')), ...(await formsOn(stranger, invitation))];
}

/** What is known of the service from looking at all of it. */
export interface Surroundings {
  /** The names of the fields of all forms of the dashboard, also of those about one object. */
  readonly fieldNames: readonly string[];
  /** The ids of objects that there are below a path, by its part before the id. */
  readonly idsBelow: ReadonlyMap<string, readonly string[]>;
}

/** Opens every room of the dashboard and every object of the API with each of these ids. */
export async function lookAround(
  dashboard: Dashboard,
  owner: Visitor,
  ids: readonly string[],
): Promise<Surroundings> {
  const names = new Set<string>();
  const idsBelow = new Map<string, string[]>();
  const note = (path: string, id: string) => {
    const below = idsBelow.get(beforeId(path)) ?? [];
    idsBelow.set(beforeId(path), below.includes(id) ? below : [...below, id]);
  };
  const look = async (path: string, row = path, id: string | null = null) => {
    const page = await owner.get(path);
    assert.ok(page.status < 500, `${path}: ${page.status}`);
    for (const name of namesOf(page.body)) names.add(name);
    if (id !== null && page.status === 200) note(row, id);
  };
  for (const path of ['/dashboard/sign-in', '/dashboard/me/two-step', '/dashboard/confirm']) await look(path);
  const views = dashboardRows.filter(({ method, path }) => method === 'GET' && !path.endsWith('/tail'));
  for (const { path } of views) {
    const room = `/dashboard/${dashboard.org}/test/${path}`;
    if (!path.includes('{')) await look(room);
    else for (const id of ids) await look(withId(room, id), path, id);
  }
  for (const { method, path } of routeTable.filter(({ path }) => path.includes('{'))) {
    if (method !== 'GET') continue;
    for (const id of ids)
      if ((await dashboard.service.call(withId(path, id), { key: dashboard.key })).status === 200)
        note(path, id);
  }
  return { fieldNames: [...names], idsBelow };
}

export const beforeId = (path: string) => path.split('/{')[0]!;
const withId = (path: string, id: string) => path.replace(/\{\w+\}/, id);
