// Customers in real Chromium with scripts switched off, because the pages must work without scripts.

import assert from 'node:assert/strict';
import { after, before, describe } from 'node:test';
import type { BrowserContext, Locator, Page } from 'playwright-core';
import { operationMessages } from '../../../src/contract/messages/operations.ts';
import { type TestCard, testCards } from '../../../src/networks/test-cards.ts';
import { browserTest, launchBrowser } from './browser.ts';
import { createConfirmed, createSession } from './in-process-service.ts';
import { openSite } from './served-pages.ts';

const [browser, site] = await Promise.all([launchBrowser(), openSite()]);
after(() => Promise.all([browser?.close(), site.close()]));

const phone = { width: 360, height: 740 };

/** A new visitor with cookies of its own and without scripts. The browser's errors are added to `complaints`. */
async function visit(options: { locale?: string } = {}) {
  const context = await browser!.newContext({
    javaScriptEnabled: false,
    viewport: phone,
    locale: 'en',
    ...options,
  });
  context.setDefaultTimeout(15_000);
  const page = await context.newPage();
  const complaints: string[] = [];
  const refusedOnPurpose = /status of 4\d\d/;
  page.on('console', (message) => {
    if (message.type() === 'error' && !refusedOnPurpose.test(message.text())) complaints.push(message.text());
  });
  page.on('request', (request) => {
    if (![site.url, site.shopUrl].includes(new URL(request.url()).origin)) complaints.push(request.url());
  });
  return { context, page, complaints };
}

async function typeCard(page: Page, card: Pick<TestCard, 'number' | 'brand'>): Promise<void> {
  await page.getByLabel('Card number').fill(card.number);
  await page.getByLabel('Expiry date').fill('09 / 32');
  await page.getByLabel('Security code').fill(card.brand === 'amex' ? '1234' : '123');
}

/** The card form goes when cash is chosen, without a script. */
async function chooseCash(page: Page): Promise<void> {
  await page.getByLabel('Cash at a payment agent').check();
  assert.equal(await page.locator('#number').isVisible(), false);
  await page.getByRole('button', { name: 'Get the code' }).click();
}

const pay = (page: Page) => page.getByRole('button', { name: /^Pay MAD/ }).click();
const textOf = async (locator: Locator) => ((await locator.textContent()) ?? '').trim();
const heading = (page: Page) => textOf(page.getByRole('heading', { level: 1 }));
const alertOf = (page: Page) => textOf(page.getByRole('alert'));

/** A session whose shop is the one beside the pages, and the customer on its page, whose card form is open. */
async function atCardForm(page: Page) {
  const session = await createSession(site.service, {
    success_url: `${site.shopUrl}/thanks?session={CHECKOUT_SESSION_ID}`,
    cancel_url: `${site.shopUrl}/basket`,
  });
  await page.goto(`${site.url}/checkout/${session.id}`);
  return session;
}

const orderUrl = (session: { id: string }) => `${site.shopUrl}/order?session=${session.id}`;

describe('a customer pays by card', () => {
  let visitor: Awaited<ReturnType<typeof visit>>;
  before(async () => {
    visitor = await visit();
  });
  after(() => visitor.context.close());

  for (const card of testCards) {
    browserTest(`${card.number}: ${card.text.en}`, async () => {
      const { page, complaints } = visitor;
      const session = await atCardForm(page);
      await typeCard(page, card);
      await pay(page);
      if (card.challenge) await page.getByRole('button', { name: 'Confirm the payment' }).click();
      if (card.lingers) {
        assert.equal(await heading(page), 'Your payment is being processed');
        await site.service.timers.advance(30_000);
        await page.getByRole('link', { name: 'Check again' }).click();
      }
      if (card.decline === null) {
        await page.waitForURL(orderUrl(session));
        assert.equal(await page.getByText('Thank you').count(), 1);
      } else {
        await page.waitForURL((url) => url.pathname === `/checkout/${session.id}`);
        const reason = operationMessages[`card_declined.${card.decline}`].en;
        assert.ok((await alertOf(page)).includes(reason));
        assert.equal(await page.locator(':focus').getAttribute('id'), 'number');
      }
      assert.deepEqual(complaints, []);
    });
  }

  browserTest('a refused challenge is a decline; another card then pays', async () => {
    const { context, page } = await visit();
    const session = await atCardForm(page);
    await typeCard(page, testCards.find(({ challenge }) => challenge)!);
    await pay(page);
    await page.getByRole('button', { name: 'Refuse the payment' }).click();
    assert.match(await alertOf(page), /does not allow this payment/);
    await typeCard(page, testCards[0]!);
    await page.getByLabel('Security code').press('Enter');
    await page.waitForURL(orderUrl(session));
    await page.goto(`${site.url}/checkout/${session.id}`);
    assert.equal(await heading(page), 'Payment complete');
    await page.getByRole('link', { name: 'Return to' }).click();
    await page.waitForURL(orderUrl(session));
    await context.close();
  });

  browserTest('wrong fields are marked, and the first of them is in focus', async () => {
    const { context, page } = await visit();
    await atCardForm(page);
    await page.getByLabel('Card number').fill('4111 1111 1111 1112');
    await page.getByLabel('Expiry date').fill('99');
    await pay(page);
    assert.match(await alertOf(page), /^You have not paid yet\s+Check the fields marked below\.$/);
    assert.equal(await page.locator(':focus').getAttribute('id'), 'number');
    for (const [field, kept] of [
      ['#number', ''],
      ['#expiry', '99'],
      ['#cvc', ''],
    ] as const) {
      assert.equal(await page.locator(field).inputValue(), kept);
      assert.equal(await page.locator(field).getAttribute('aria-invalid'), 'true');
    }
    await context.close();
  });

  browserTest('who thinks again goes back to the choice, and pays another way', async () => {
    const { context, page, complaints } = await visit();
    const session = await atCardForm(page);
    await typeCard(page, testCards.find(({ challenge }) => challenge)!);
    await pay(page);
    await page.getByRole('button', { name: 'Choose another way' }).click();
    await page.waitForURL(`${site.url}/checkout/${session.id}`);
    assert.equal(await page.getByRole('alert').count(), 0);
    await chooseCash(page);
    await page.emulateMedia({ media: 'print' });
    assert.equal(await page.getByRole('button').count(), 0, 'nothing to press on paper');
    await page.emulateMedia({ media: 'screen' });
    await page.getByRole('button', { name: 'Choose another way' }).click();
    await typeCard(page, testCards[0]!);
    await pay(page);
    await page.waitForURL(orderUrl(session));
    assert.deepEqual(complaints, []);
    await context.close();
  });

  browserTest('who gives up goes back to the basket', async () => {
    const { context, page } = await visit();
    await atCardForm(page);
    await page.getByRole('link', { name: 'Cancel and return' }).click();
    await page.waitForURL(`${site.shopUrl}/basket`);
    await context.close();
  });
});

browserTest('an impatient customer pays once and sees how the payment goes', async (t) => {
  const slow = await openSite({ latencyMs: 500 });
  t.after(() => slow.close());
  const { context, page } = await visit();
  const { service } = slow;
  const session = await createSession(service, { success_url: `${slow.shopUrl}/thanks?session=1` });
  await page.goto(`${slow.url}/checkout/${session.id}`);
  await typeCard(page, testCards[0]!);
  const button = (await page.getByRole('button', { name: /^Pay MAD/ }).boundingBox())!;
  const posts: string[] = [];
  page.on('request', (request) => void (request.method() === 'POST' && posts.push(request.url())));
  const press = (clickCount: number) => page.mouse.click(button.x + 20, button.y + 20, { clickCount });
  await press(1);
  // A browser that sends a form again drops the first request: it has to have arrived. Its answer waits for the network.
  while (!service.state.get('payment_intent', session.payment_intent)!.network_call)
    await new Promise(setImmediate);
  await press(2);
  await page.getByRole('heading', { name: 'One moment, please' }).waitFor();
  await service.timers.advance(500);
  while (service.authorizations.length === 0) await new Promise(setImmediate);
  await page.getByRole('link', { name: 'Check again' }).click();
  await page.getByRole('heading', { name: 'Your payment is being processed' }).waitFor();
  await service.timers.advance(500);
  await page.getByRole('link', { name: 'Check again' }).click();
  await page.waitForURL(`${slow.shopUrl}/order?session=1`);
  assert.ok(posts.length >= 2, 'the browser sent the form more than once');
  assert.equal(service.authorizations.length, 1);
  await context.close();
});

browserTest('a form on another site does nothing', async () => {
  const { context, page } = await visit();
  const session = await atCardForm(page);
  const target = page.url();
  await page.goto(`${site.shopUrl}/`);
  await page.setContent(`<form method="post" action="${target}"><input name="form_key" value="x">
    <input name="number" value="4242424242424242"><input name="expiry" value="0932"><input name="cvc" value="123">
    <button>Win a prize</button></form>`);
  const answered = page.waitForResponse(target);
  await page.getByRole('button').click();
  assert.equal((await answered).status(), 403);
  assert.equal(await heading(page), 'This form is out of date');
  await page.getByRole('link', { name: 'Open the page again' }).click();
  await page.waitForURL(target);
  await typeCard(page, testCards[0]!);
  await pay(page);
  await page.waitForURL(orderUrl(session));
  await context.close();
});

describe('a customer pays in cash', () => {
  browserTest('with a voucher on the screen, on paper, and paid at the agent', async () => {
    const { context, page, complaints } = await visit();
    const session = await createSession(site.service, { success_url: `${site.shopUrl}/thanks?session=1` });
    await page.goto(`${site.url}/checkout/${session.id}`);
    await chooseCash(page);
    const number = (await textOf(page.locator('.code bdi'))).replaceAll(' ', '');
    assert.match(number, /^\d{12}$/);
    const qr = page.getByRole('img', { name: 'QR code' });
    const banner = page.getByText('Test mode: this page is a simulation');
    const languages = page.getByRole('navigation');
    for (const [media, links] of [
      ['screen', true],
      ['print', false],
    ] as const) {
      await page.emulateMedia({ media });
      assert.deepEqual(
        [await qr.isVisible(), await banner.isVisible(), await languages.isVisible()],
        [true, true, links],
      );
    }
    await page.emulateMedia({ media: 'screen' });
    await site.service.create('pay_cash', { number, amount: 25_000 });
    await page.reload();
    assert.equal(await heading(page), 'Payment complete');
    await page.getByRole('link', { name: 'Return to' }).click();
    await page.waitForURL(`${site.shopUrl}/order?session=1`);
    assert.deepEqual(complaints, []);
    await context.close();
  });

  browserTest('an expired session says so', async () => {
    const { context, page } = await visit();
    const session = await createSession(site.service);
    await site.service.create('expire_checkout_session', {}, session.id);
    const response = await page.goto(`${site.url}/checkout/${session.id}`);
    assert.equal(response!.status(), 410);
    assert.equal(await heading(page), 'This payment page has expired');
    await context.close();
  });
});

describe('a customer who reads Arabic', () => {
  let context: BrowserContext;
  after(() => context?.close());

  browserTest('gets the pages from right to left, can change the language and keeps it', async () => {
    const visitor = await visit({ locale: 'ar-MA' });
    context = visitor.context;
    const { page } = visitor;
    const { charge } = await createConfirmed(site.service, 'card', { return_url: `${site.shopUrl}/back` });
    await page.goto(`${site.url}/pay/${charge}`);
    const direction = () => page.evaluate('getComputedStyle(document.documentElement).direction');
    assert.equal(await heading(page), 'الدفع بالبطاقة');
    assert.equal(await direction(), 'rtl');
    const [label, field] = [page.locator('label[for=expiry]'), page.locator('label[for=cvc]')];
    assert.ok(
      (await label.boundingBox())!.x > (await field.boundingBox())!.x,
      'the first column is on the right',
    );
    await page.locator('#number').fill('١٢٣٤');
    await page.getByRole('button', { name: 'ادفع' }).click();
    assert.match(await alertOf(page), /^لم تدفع بعد/);
    await page.getByRole('link', { name: 'Français' }).click();
    assert.equal(await heading(page), 'Payer par carte');
    assert.equal(await direction(), 'ltr');
    await page.locator('#number').fill('٤٢٤٢٤٢٤٢٤٢٤٢٤٢٤٢');
    await page.locator('#expiry').fill('٠٩/٣٢');
    await page.locator('#cvc').fill('١٢٣');
    await page.getByRole('button', { name: /^Payer/ }).click();
    await page.waitForURL(`${site.shopUrl}/back`);
  });
});
