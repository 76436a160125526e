// Every page of the dashboard in every language in real Chromium, on a phone and on a desktop, light and dark: axe finds no fault,
// nothing is wider than the screen, and the browser blocks and logs nothing. The pages are the rows of the table, so a new row
// needs an id here if its path has one.

import assert from 'node:assert/strict';
import { after, before, describe } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { languages } from '../../src/contract/vocabulary.ts';
import { dashboardRows } from '../../src/dashboard/layout/table.ts';
import { publicRoutes } from '../../src/dashboard/people/public-routes.ts';
import { axe, lookAt } from '../edge/checkout/axe.ts';
import { browserTest, launchBrowser } from '../edge/checkout/browser.ts';
import { withRequestLogs } from '../service.ts';
import { webhookEnv } from '../webhooks/service-webhooks.ts';
import { type Dashboard, invite, newMember, signedIn, startDashboard, type Visitor } from './fixture.ts';
import { api, openPayment, paidPayment } from './shop.ts';

const pageBytesMax = 100_000;
const phone = { width: 320, height: 640 };
const desk = { width: 1280, height: 800 };

let browser: Browser | null;
let dashboard: Dashboard;
let page: Page;
let complaints: string[];
/** An id for each row whose path has one, by the start of the path. */
let ids: Readonly<Record<string, string>>;
let invitation: string;

before(async () => {
  browser = await launchBrowser();
  if (browser === null) return;
  dashboard = await startDashboard({ ...withRequestLogs, ...webhookEnv, PAYMENTS_SIGN_UP: 'open' });
  const owner = await newMember(dashboard, 'owner');
  ({ page, complaints } = await signedIn(browser, dashboard, owner));
  await page.addInitScript(axe);
  ids = await makeObjects(owner);
  invitation = await invite(dashboard, 'invited@souk.ma', 'viewer');
});
after(async () => {
  await browser?.close();
  await dashboard?.stop();
});

/** Something for every page to show. */
async function makeObjects(owner: Visitor): Promise<Record<string, string>> {
  const { service, org, key } = dashboard;
  const endpoint = await api(dashboard, '/v1/webhook_endpoints', {
    url: 'http://127.0.0.1:9/hooks',
    enabled_events: ['*'],
  });
  const customer = await api(dashboard, '/v1/customers', { email: 'amina@example.ma', name: 'Amina' });
  const charge = await paidPayment(dashboard, {
    customer: customer.id,
    description: 'Two carpets & a <lamp>',
  });
  await openPayment(dashboard, { customer: customer.id }, 'cash');
  const urls = { success_url: 'https://souk.ma/ok', cancel_url: 'https://souk.ma/basket' };
  const session = await api(dashboard, '/v1/checkout/sessions', { amount: 30_000, currency: 'mad', ...urls });
  const review = await reviewed();
  const { headers } = await service.call('/v1/payment_intents', { key });
  const [member] = await service.operate<{ id: string }[]>('member.list', { org });
  const keys = await service.operate<{ id: string; mode: string }[]>('key.list', { org });
  const events = await api(dashboard, '/v1/events');
  const deliveries = { endpoint: endpoint.id, failedOnly: false };
  const [delivery] = await service.operate<{ id: string }[]>('webhooks.deliveries', deliveries);
  return {
    payments: charge.payment_intent,
    customers: customer.id,
    checkout: session.id,
    'checkout/links': await newLink(owner),
    reviews: review,
    keys: keys.find(({ mode }) => mode === 'test')!.id,
    webhooks: endpoint.id,
    'webhooks/deliveries': delivery!.id,
    events: events.data[0].id,
    requests: headers.get('request-id')!,
    members: member!.id,
  };
}

async function newLink(owner: Visitor): Promise<string> {
  const path = `/dashboard/${dashboard.org}/test/checkout/new`;
  const made = await owner.submit(path, { amount: '350', method: 'card', description: 'Lamp & <shade>' });
  return new URL(made.location, dashboard.service.url).pathname.split('/').at(-1)!;
}

/** A cash payment of another amount, which opens a review. */
async function reviewed(): Promise<string> {
  const { latest_charge: charge } = await openPayment(dashboard, {}, 'cash');
  await api(dashboard, `/v1/test_helpers/charges/${charge}/complete`, { amount: 19_000 });
  const { service, org } = dashboard;
  const [review] = await service.operate<{ id: string }[]>('review.list', {
    org,
    mode: 'test',
    openOnly: true,
  });
  return review!.id;
}

function pathOf(row: string): string {
  const start = Object.keys(ids)
    .filter((each) => row.startsWith(`${each}/{id}`))
    .at(-1);
  assert.ok(!row.includes('{id}') || start !== undefined, `give an id for ${row}`);
  const query = row === 'payments/{id}/refund' ? '?amount=' : '';
  return start === undefined ? row : row.replace('{id}', ids[start]!) + query;
}

/** Looks at a page in every language on a phone, and once on a desktop. */
async function assertAccessible(address: string, statuses: readonly number[] = [200]): Promise<void> {
  for (const [i, language] of languages.entries()) {
    await page.setViewportSize(phone);
    await page.emulateMedia({ colorScheme: i % 2 === 0 ? 'light' : 'dark' });
    const [path, query = ''] = address.split('?');
    const separator = query === '' ? '?' : `?${query}&`;
    const response = await page.goto(`${path}${separator}lang=${language}`);
    assert.ok(statuses.includes(response!.status()), `${address}: ${response!.status()}`);
    assert.ok((await response!.body()).length < pageBytesMax);
    assert.equal(await assertNoFault(`${language} on a phone`), language);
  }
  await page.setViewportSize(desk);
  await page.emulateMedia({ colorScheme: 'dark' });
  await assertNoFault('on a desktop');
  assert.deepEqual(complaints, []);
}

/** Gives the language that the page says it is in. */
async function assertNoFault(where: string): Promise<string> {
  const { faults, overflow, language } = await lookAt(page);
  assert.deepEqual(faults, [], where);
  assert.ok(overflow <= 0, `${where}: ${overflow} px too wide`);
  return language;
}

/** A request is in the logs a second after it was answered, and no code is looked for without one. */
const maybeMissing = ['requests/{id}', 'cash/find'];
/** Rows that answer a file or a stream. */
const noPages = ['payments/export', 'events/tail', 'requests/tail'];

describe('every page is accessible in every language and size', () => {
  for (const { method, path } of dashboardRows) {
    if (method !== 'GET' || noPages.includes(path)) continue;
    const statuses = maybeMissing.includes(path) ? [200, 404] : [200];
    browserTest(path, () => assertAccessible(dashboard.address(pathOf(path)), statuses));
  }
  for (const { method, path } of publicRoutes) {
    if (method !== 'GET' || path === '' || path === '/sign-in' || path === '/sign-up') continue;
    const address = () =>
      `${dashboard.service.url}${path === '/invite/{token}' ? invitation : `/dashboard${path}`}`;
    browserTest(`/dashboard${path}`, () => assertAccessible(address()));
  }
  browserTest('/dashboard/sign-in, and a page that is not there', async () => {
    await assertAccessible(dashboard.address('nothing'), [404]);
    await page.context().clearCookies();
    for (const path of ['sign-in', 'sign-up'])
      await assertAccessible(`${dashboard.service.url}/dashboard/${path}`);
  });
});
