// The pages Home, Customers, Checkout and Reviews in real Chromium.

import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import type { Request as PageRequest } from 'playwright-core';
import { browserTest } from '../edge/checkout/browser.ts';
import { Customer } from '../journeys/customer.ts';
import { type InBrowser, openDashboard } from './in-browser.ts';
import { api, openPayment, paidPayment } from './shop.ts';

let { dashboard, page, complaints, close } = {} as InBrowser;
before(async () => {
  ({ dashboard, page, complaints, close } = await openDashboard('owner'));
});
after(async () => {
  assert.deepEqual(complaints, []);
  await close?.();
});

browserTest('a new organization is led to its first payment link, which is made and opened', async () => {
  await page.goto(dashboard.address('home'));
  await page.getByRole('heading', { name: 'First steps' }).waitFor();
  await page.getByRole('link', { name: /Make a payment link/ }).click();
  await page.getByLabel('Amount in dirhams').fill('nothing');
  await page.getByLabel('By card').uncheck();
  await page.getByLabel('In cash').uncheck();
  const make = page.getByRole('button', { name: 'Make a payment link' });
  await make.click();
  const alert = page.getByRole('alert');
  await alert.getByText('Give the amount in dirhams').waitFor();
  await alert.getByText('Choose at least one way to pay.').waitFor();
  await page.getByLabel('By card').check();
  await page.getByLabel('Amount in dirhams').fill('0.50');
  await make.click();
  await alert.getByText('The smallest amount is MAD 1.00.').waitFor();
  await page.getByLabel('Amount in dirhams').fill('350');
  await page.getByLabel('What it is for').fill('A lamp & <i>shade</i>');
  await page.getByLabel('Your reference').fill('order-12');
  let posts = 0;
  const count = (request: PageRequest) => void (request.method() === 'POST' && posts++);
  page.on('request', count);
  await make.dblclick();
  await page.getByText('The link is ready.').waitFor();
  page.off('request', count);
  assert.equal(posts, 1);
  await page.getByRole('img', { name: 'The address as a QR code' }).waitFor();
  const url = await page.getByText(`${dashboard.service.url}/link/pl_`).innerText();
  assert.equal((await fetch(url)).status, 200);
  assert.deepEqual((await api(dashboard, '/v1/checkout/sessions')).data, [], 'nobody has opened it');
  const customer = new Customer();
  await customer.open(url);
  await customer.send({});
  const { data } = await api(dashboard, '/v1/checkout/sessions');
  assert.deepEqual(
    [data[0].amount, data[0].description, data[0].client_reference_id, data[0].payment_method_types],
    [35_000, 'A lamp & <i>shade</i>', 'order-12', ['card']],
  );
  assert.equal(data[0].success_url, `${dashboard.service.url}/checkout/{CHECKOUT_SESSION_ID}`);
  await page.goto(dashboard.address('checkout'));
  assert.equal(await page.getByRole('link', { name: 'A lamp & <i>shade</i>' }).count(), 2);
  const links = page.locator('section', { hasText: 'Payment links' });
  await links.getByRole('link', { name: 'A lamp & <i>shade</i>' }).click();
  await page.locator('.heading').getByText('Active', { exact: true }).waitFor();
});

browserTest('home shows the money of the day by method, and what needs somebody', async () => {
  await paidPayment(dashboard, { amount: 120_000 });
  await paidPayment(dashboard, { amount: 45_000 }, 'cash');
  const declined = await openPayment(dashboard);
  await api(dashboard, `/v1/test_helpers/charges/${declined.latest_charge}/fail`, {});
  const { latest_charge: open } = await openPayment(dashboard);
  await api(dashboard, `/v1/test_helpers/charges/${open}/complete`, { amount: 19_000 });
  await page.goto(dashboard.address('home'));
  const figures = (await page.locator('.figures').textContent())!;
  assert.match(figures, /Money inMAD\s1,650\.00By card: MAD\s1,200\.00 · In cash: MAD\s450\.00/);
  assert.match(figures, /MAD\s0\.00 in the 30 days before/);
  assert.deepEqual(await page.locator('.scale span').allTextContents(), ['2,000', '1,000', '0']);
  assert.equal(await page.locator('section', { hasText: 'Latest payments' }).locator('tbody tr').count(), 5);
  assert.match(figures, /Success rate66\.7%2 of 3 attempts/);
  await page.getByRole('img', { name: 'Money in by day, by card and in cash' }).waitFor();
  await page.getByText('As a table').click();
  const rows = await page.locator('details table tbody tr').allInnerTexts();
  assert.equal(rows.length, 1);
  assert.match(rows[0]!, /MAD\s1,200\.00\s+MAD\s450\.00\s+MAD\s0\.00/);
  await page.getByRole('link', { name: '7 days' }).click();
  await page.waitForURL('**/home?days=7');
  assert.equal(await page.locator('svg.chart g').count(), 7);
  await page.getByRole('link', { name: 'Open reviews: 1' }).click();
  await page.waitForURL('**/reviews');
});

browserTest('a review says what was expected and what arrived, and is closed once', async () => {
  await page.goto(dashboard.address('reviews'));
  await page.getByRole('link', { name: 'Another amount' }).click();
  const details = (await page.locator('section').first().textContent())!;
  assert.match(details, /ExpectedMAD\s200\.00ReceivedMAD\s190\.00DifferenceMAD\s10\.00 too little/);
  const url = page.url();
  await page.getByRole('button', { name: 'We give the money back' }).dblclick();
  await page.getByText('The review is closed.').waitFor();
  const id = url.split('/').at(-1);
  const review = await api(dashboard, `/v1/reviews/${id}`);
  assert.deepEqual([review.open, review.closed_reason], [false, 'refunded']);
  await page.goto(dashboard.address('reviews'));
  await page.getByText('Nothing to look at').waitFor();
  await page.getByLabel('Show').selectOption('All');
  await page.getByRole('button', { name: 'Filter' }).click();
  await page.getByText('The money goes back').waitFor();
});

browserTest('customers are listed page by page, found by e-mail, and shown with their payments', async () => {
  const made: string[] = [];
  for (let i = 0; i < 23; i++)
    made.unshift((await api(dashboard, '/v1/customers', { email: `c${i}@example.ma` })).id);
  await openPayment(dashboard, { customer: made[0], description: 'A gift' });
  await page.goto(dashboard.address('customers'));
  assert.equal(await page.locator('main table.lines tbody tr').count(), 20);
  await page.getByRole('link', { name: 'Older' }).click();
  await page.getByRole('link', { name: 'c0@example.ma' }).waitFor();
  assert.equal(await page.locator('main table.lines tbody tr').count(), 3);
  await page.getByRole('link', { name: 'Newer' }).click();
  await page.getByRole('link', { name: 'c22@example.ma' }).waitFor();
  await page.getByLabel('E-mail address').fill('c22@example.ma');
  await page.getByRole('button', { name: 'Filter' }).click();
  await page.getByRole('link', { name: 'c22@example.ma' }).click();
  await page.getByRole('heading', { name: 'c22@example.ma' }).waitFor();
  await page.getByRole('link', { name: 'A gift' }).click();
  await page.getByRole('heading', { name: 'MAD 200.00' }).waitFor();
});
