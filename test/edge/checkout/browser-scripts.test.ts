// The scripts of the pages in real Chromium: what they add for customers whose browsers run them.

import assert from 'node:assert/strict';
import { after } from 'node:test';
import type { BrowserContextOptions } from 'playwright-core';
import { browserTest, launchBrowser } from './browser.ts';
import { createSession } from './in-process-service.ts';
import { openSite } from './served-pages.ts';

const [browser, site] = await Promise.all([launchBrowser(), openSite()]);
after(() => Promise.all([browser?.close(), site.close()]));

/** A customer on the page of a new session. The browser's errors are added to `complaints`. */
async function visit(options: BrowserContextOptions = {}) {
  const session = await createSession(site.service, { success_url: `${site.shopUrl}/thanks?session=1` });
  const context = await browser!.newContext({ locale: 'en', ...options });
  context.setDefaultTimeout(15_000);
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => void (message.type() === 'error' && complaints.push(message.text())));
  page.on('pageerror', (error) => complaints.push(error.message));
  const posts: string[] = [];
  page.on('request', (request) => void (request.method() === 'POST' && posts.push(request.postData() ?? '')));
  await page.goto(`${site.url}/checkout/${session.id}`);
  return { session, context, page, complaints, posts };
}

browserTest(
  'a card is grouped, its brand is marked, and its date gets a slash while it is typed',
  async () => {
    const { context, page, complaints } = await visit();
    const [number, expiry, cvc] = ['#number', '#expiry', '#cvc'].map((id) => page.locator(id));
    const brands = () =>
      page
        .locator('.brand:visible')
        .evaluateAll((marks) => marks.map((mark) => mark.getAttribute('data-brand')));
    assert.equal((await brands()).length, 3);
    for (const [typed, shown, brand] of [
      ['4242424242424242', '4242 4242 4242 4242', 'visa'],
      ['378282246310005', '3782 822463 10005', 'amex'],
      ['5555-5555x5555', '5555 5555 5555', 'mastercard'],
      ['٤٢٤٢٤٢', '4242 42', 'visa'],
    ] as const) {
      await number!.fill('');
      await number!.pressSequentially(typed);
      assert.equal(await number!.inputValue(), shown);
      assert.deepEqual(await brands(), [brand]);
    }
    await number!.press('Home');
    await number!.press('ArrowRight');
    await number!.pressSequentially('9');
    assert.equal(await number!.inputValue(), '4924 242');
    await number!.pressSequentially('8');
    assert.equal(await number!.inputValue(), '4982 4242', 'the caret stays where it was');
    for (const [typed, shown] of [
      ['0932', '09 / 32'],
      ['932', '09 / 32'],
      ['9/32', '09 / 32'],
      ['12/2034', '12 / 2034'],
      ['٠٩٣٢', '09 / 32'],
    ] as const) {
      await expiry!.fill('');
      await expiry!.pressSequentially(typed);
      assert.equal(await expiry!.inputValue(), shown, typed);
    }
    for (let i = 0; i < 4; i++) await expiry!.press('Backspace');
    assert.equal(await expiry!.inputValue(), '09 ', 'what is deleted does not come back');
    await cvc!.pressSequentially('12a34 5');
    assert.equal(await cvc!.inputValue(), '1234');
    assert.deepEqual(complaints, []);
    await context.close();
  },
);

browserTest('a wrong field says so when it is left, and a form with one is not sent', async () => {
  const { context, page, posts } = await visit();
  const wrong = (id: string) => page.locator(`#${id}-wrong`).textContent();
  await page.locator('#number').pressSequentially('4242424242424241');
  assert.equal(await wrong('number'), '', 'nothing is said while it is typed');
  await page.locator('#expiry').pressSequentially('0121');
  assert.match((await wrong('number'))!, /A digit of this number is wrong or missing/);
  await page.locator('#number').press('End');
  await page.locator('#number').press('Backspace');
  await page.locator('#number').pressSequentially('2');
  assert.equal(await wrong('number'), '', 'it is right as soon as it is corrected');
  await page.getByRole('button', { name: /^Pay MAD/ }).click();
  assert.match((await wrong('expiry'))!, /still valid/);
  assert.match((await wrong('cvc'))!, /security code/);
  assert.equal(await page.locator(':focus').getAttribute('id'), 'expiry');
  assert.deepEqual(posts, []);
  await page.getByLabel('Cash at a payment agent').check();
  await page.getByRole('button', { name: 'Get the code' }).click();
  await page.getByRole('heading', { name: 'Pay in cash' }).waitFor();
  assert.equal(posts.length, 1, 'cash needs no card');
  await context.close();
});

browserTest('Pay can be pressed once while the form is sent, and a decline keeps the date', async () => {
  const { context, page, posts } = await visit();
  await page.locator('#number').fill('4000 0000 0000 9995');
  await page.locator('#expiry').fill('09 / 32');
  await page.locator('#cvc').fill('123');
  await page.evaluate(`document.querySelector('form.card').addEventListener('submit', ({ target }) => {
    const button = target.querySelector('button');
    setTimeout(() => { sessionStorage.sending = [button.disabled, getComputedStyle(button, '::before').animationName, button.textContent].join(' '); });
  })`);
  await page.getByRole('button', { name: /^Pay MAD/ }).click();
  await page.getByRole('alert').waitFor();
  assert.match((await page.getByRole('alert').textContent())!, /insufficient funds/);
  assert.deepEqual(
    [await page.locator('#number').inputValue(), await page.locator('#expiry').inputValue()],
    ['', '09 / 32'],
  );
  assert.equal(await page.evaluate('sessionStorage.sending'), 'true turn Paying…');
  assert.equal(posts.length, 1);
  await page.locator('#number').fill('4242424242424242');
  await page.locator('#cvc').fill('123');
  await page.locator('#cvc').press('Enter');
  await page.waitForURL(`${site.shopUrl}/order?session=1`);
  await context.close();
});

browserTest(
  'a cash code is copied, and its page turns into the receipt when the agent has the money',
  async () => {
    const permissions = ['clipboard-read', 'clipboard-write'];
    const { context, page, complaints } = await visit({ permissions });
    await page.clock.install();
    await page.getByLabel('Cash at a payment agent').check();
    await page.getByRole('button', { name: 'Get the code' }).click();
    const number = (await page.locator('.code bdi').textContent())!.replaceAll(' ', '');
    await page.getByRole('button', { name: 'Copy the code' }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    assert.equal(await page.evaluate('navigator.clipboard.readText()'), number);
    await page.evaluate('window.print = () => { document.title = "printed"; }');
    await page.getByRole('button', { name: 'Print' }).click();
    assert.equal(await page.title(), 'printed');
    await page.clock.runFor(15_000);
    assert.equal(await page.title(), 'printed', 'the page stays as long as nothing has changed');
    await site.service.create('pay_cash', { number, amount: 25_000 });
    await page.clock.runFor(15_000);
    await page.getByRole('heading', { name: 'Payment complete' }).waitFor();
    assert.equal(await page.getByText('Cash at a payment agent').count(), 1);
    assert.deepEqual(complaints, []);
    await context.close();
  },
);

browserTest('fields beside each other stand on one line, whichever of their hints takes two', async () => {
  for (const [language, width] of [
    ['fr', 1280],
    ['ar', 360],
    ['en', 360],
  ] as const) {
    const { context, page, session } = await visit({ viewport: { width, height: 800 } });
    await page.goto(`${site.url}/checkout/${session.id}?lang=${language}`);
    const places = () =>
      page
        .locator('#expiry, #cvc')
        .evaluateAll((inputs) => inputs.map((each) => each.getBoundingClientRect().y));
    const [expiry, cvc] = await places();
    assert.equal(expiry, cvc, `${language} ${width}`);
    await page.locator('#number').fill('4242');
    await page.locator('form button').first().click();
    const [wrongExpiry, wrongCvc] = await places();
    assert.equal(wrongExpiry, wrongCvc, `${language} ${width}, with faults`);
    await context.close();
  }
});

browserTest('each slip in a card number is named', async () => {
  const { context, page } = await visit();
  for (const [number, said] of [
    ['', /^Enter the card number\.$/],
    ['4242 4242 42', /too short/],
    ['4242 4242 4242 4243', /wrong or missing/],
  ] as const) {
    await page.locator('#number').fill(number);
    await page.getByRole('button', { name: /^Pay MAD/ }).click();
    assert.match((await page.locator('#number-wrong').textContent())!, said);
  }
  await context.close();
});
