// How the dashboard looks in real Chromium: the navigation, forms, the light scheme and the dark one,
// and what a phone has room for.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { viewGroups } from '../../src/dashboard/layout/row.ts';
import { dayChart } from '../../src/dashboard/pages/day-chart.ts';
import { figures } from '../../src/dashboard/pages/home.ts';
import { browserTest, launchBrowser } from '../edge/checkout/browser.ts';
import { withRequestLogs } from '../service.ts';
import { type Dashboard, newMember, signedIn, startDashboard, type Visitor } from './fixture.ts';
import { api, openPayment, paidPayment, typedCard } from './shop.ts';

let dashboard: Dashboard;
let browser: Browser;
let owner: Visitor;

before(async () => {
  [dashboard, browser] = await Promise.all([
    startDashboard(withRequestLogs),
    launchBrowser() as Promise<Browser>,
  ]);
  if (browser !== null) owner = await newMember(dashboard, 'owner');
});
after(async () => {
  await Promise.all([browser?.close(), dashboard?.stop()]);
});

browserTest('the navigation has four groups, and each view its own sign', async () => {
  const { page, context } = await signedIn(browser, dashboard, owner);
  await page.goto(dashboard.address('home'));
  const groups = page.locator('nav.views');
  assert.deepEqual(await groups.locator('p').allTextContents(), [
    'Payments',
    'Customers',
    'Developers',
    'Organization',
  ]);
  const lists = await groups.locator('ul').evaluateAll((all) => all.map((list) => list.childElementCount));
  assert.deepEqual(
    lists,
    Object.values(viewGroups).map((views) => views.length),
  );
  const signs = await groups.locator('a svg').evaluateAll((all) => all.map((sign) => sign.innerHTML));
  assert.equal(signs.length, Object.values(viewGroups).flat().length);
  assert.equal(new Set(signs).size, signs.length);
  await context.close();
});

browserTest('a view of the navigation that a role may not open is left out, with its group', async () => {
  const viewer = await newMember(dashboard, 'viewer');
  const { page, context } = await signedIn(browser, dashboard, viewer);
  await page.goto(dashboard.address('home'));
  const groups = await page.locator('nav.views p').allTextContents();
  assert.ok(groups.includes('Payments') && !groups.includes('Developers'), groups.join());
  await context.close();
});

browserTest('a field is as wide as what it takes, in both schemes, which differ', async () => {
  const backgrounds: string[] = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    const { page, context } = await signedIn(browser, dashboard, owner, { colorScheme });
    await page.goto(dashboard.address('settings'));
    const width = await page.getByLabel('Name', { exact: true }).evaluate((input) => input.clientWidth);
    assert.ok(width > 400 && width <= 480, `${width} px`);
    backgrounds.push(await page.evaluate<string>('getComputedStyle(document.body).backgroundColor'));
    await context.close();
  }
  assert.notEqual(backgrounds[0], backgrounds[1]);
});

browserTest('the sign-in page says whose it is, and at which address it ought to be', async () => {
  const page = await browser.newPage({ locale: 'en' });
  await page.goto(`${dashboard.service.url}/dashboard/sign-in`);
  await page.locator('header.brand svg').waitFor();
  assert.equal(await page.locator('header.brand').innerText(), 'Payments');
  await page.getByText(`begins with ${dashboard.service.url}`).waitFor();
  await page.close();
});

test('each figure of home stands beside that of the period before, and the axis has round ends', () => {
  const day = (card: number, cash: number, succeeded: number, failed: number) => ({
    day: '2026-11-23',
    card_received: card,
    card_succeeded: succeeded,
    card_failed: failed,
    card_unpaid: 0,
    cash_received: cash,
    cash_succeeded: 0,
    cash_failed: 0,
    cash_unpaid: 0,
    refunded: 0,
  });
  const text = (language: 'en' | 'fr') =>
    figures({ language }, [day(90_000, 60_000, 3, 1)], [day(120_000, 0, 1, 1)])
      .markup.replace(/<[^>]+>/g, ' ')
      .replace(/[\s\u00a0\u202f]+/g, ' ');
  assert.match(text('en'), /\+25% · MAD 1,200\.00 in the 1 day before/);
  assert.match(text('en'), /75% .* 50% in the 1 day before/);
  assert.match(text('fr'), /Par carte : 900,00 MAD · En espèces : 600,00 MAD \+25 % · 1 200,00 MAD/);
  const scale = (card: number) =>
    [...dayChart('en', [{ label: '', card, cash: 0 }], 'Money in').markup.matchAll(/<span>([^<]+)</g)].map(
      ([, mark]) => mark,
    );
  assert.deepEqual(scale(1), ['100', '50', '0']);
  assert.deepEqual(scale(20_001), ['500', '250', '0']);
  assert.deepEqual(scale(99_999_999), ['1,000,000', '500,000', '0']);
});

/** By how many pixels the page is wider than the screen. */
const excess = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
const phone = { viewport: { width: 360, height: 740 } };

browserTest('a phone shows 20 payments in 1,600 px, with the filters folded', async () => {
  for (let i = 0; i < 20; i++)
    await api(dashboard, '/v1/payment_intents', {
      amount: 120_000,
      currency: 'mad',
      description: `Order ${1000 + i}: a carpet from Fez, two lamps and a tray of brass`,
      payment_method_types: ['card', 'cash'],
    });
  for (const language of ['en', 'fr', 'ar']) {
    const { page, context } = await signedIn(browser, dashboard, owner, phone);
    await page.goto(`${dashboard.address('payments')}?lang=${language}`);
    assert.equal(await page.locator('tbody tr').count(), 20);
    const height = await page.evaluate<number>('document.documentElement.scrollHeight');
    assert.ok(height <= 1_600, `${language}: ${height} px`);
    const [status, box] = [page.locator('#status'), page.locator('.fold label')];
    assert.equal(await page.locator('#q').isVisible(), true);
    assert.equal(await status.isVisible(), false);
    await box.click();
    assert.equal(await status.isVisible(), true);
    // Where all that filters is a search, there is nothing to unfold.
    await page.goto(dashboard.address('customers'));
    assert.equal(await page.locator('#email').isVisible(), true);
    assert.equal(await box.isVisible(), false);
    await context.close();
  }
});

browserTest('on a phone a tap anywhere on a row opens it', async () => {
  const { page, context } = await signedIn(browser, dashboard, owner, phone);
  await page.goto(dashboard.address('payments'));
  await page
    .locator('tbody tr')
    .nth(3)
    .click({ position: { x: 300, y: 40 } });
  await page.waitForURL('**/payments/pi_*');
  await context.close();
});

/** What a finger can't hit well. Links in a sentence are as high as their line, and those of a list are as large as their row. */
const smallTargets = `[...document.querySelectorAll('a, button, summary, input:not([type=hidden]), select')]
  .filter((target) => target.checkVisibility({ visibilityProperty: true }))
  .filter((target) => !target.matches('.skip, p a, li p a, dd a, td a, input[type=checkbox], .views-folded details:not([open]) a'))
  .filter((target) => target.getBoundingClientRect().height < 43.5)
  .map((target) => target.outerHTML.slice(0, 200) + target.getBoundingClientRect().height)`;

for (const path of ['home', 'payments', 'customers', 'checkout', 'keys', 'webhooks', 'settings', 'members'])
  browserTest(`on a phone what is tapped on "${path}" is 44 px high`, async () => {
    const { page, context } = await signedIn(browser, dashboard, owner, phone);
    await page.goto(dashboard.address(path));
    assert.deepEqual(await page.evaluate(smallTargets), []);
    await context.close();
  });

browserTest('the audit log says in sentences who did what, with a link to it', async () => {
  const { page, context } = await signedIn(browser, dashboard, owner);
  const charge = await paidPayment(dashboard, { amount: 120_000 });
  await page.goto(dashboard.address(`payments/${charge.payment_intent}`));
  await page.getByLabel('Amount in dirhams').fill('120');
  await page.getByRole('button', { name: 'Refund…' }).click();
  await page.getByRole('button', { name: /^Refund MAD/ }).click();
  await page.getByText('The refund is on its way to the customer.').waitFor();
  for (const [language, said] of [
    ['en', /^The owner refunded MAD\s120\.00: re_/],
    ['fr', /^The owner a remboursé 120,00\sMAD\s: re_/],
    ['ar', /ردّ.*The owner.*120,00/],
  ] as const) {
    await page.goto(`${dashboard.address('audit')}?lang=${language}`);
    assert.match((await page.locator('tbody td').first().textContent())!, said);
  }
  await page.locator('tbody tr').first().getByRole('link', { name: /^re_/ }).click();
  await page.waitForURL(`**/payments/${charge.payment_intent}`);
  await context.close();
});

browserTest('request logs tell how long each took, and break no word on a desktop', async () => {
  const { page, context } = await signedIn(browser, dashboard, owner);
  await api(dashboard, '/v1/payment_intents', {
    amount: 120_000,
    currency: 'mad',
    payment_method_types: ['card'],
  });
  await page.goto(dashboard.address('requests'));
  const line = page.locator('tbody tr').first();
  assert.match((await line.textContent())!, /\d ms/);
  const height = await line.evaluate((row) => row.getBoundingClientRect().height);
  assert.ok(height < 40, `${height} px: a row takes one line`);
  assert.equal(await page.evaluate(excess), 0);
  await page.setViewportSize({ width: 800, height: 800 });
  const onTablet = await line.evaluate((row) => row.getBoundingClientRect().height);
  assert.ok(onTablet < 60, `${onTablet} px: on a tablet it takes two`);
  await context.close();
});

/** The words of tables that are broken into lines, but for long ones. */
const brokenWords = `(() => {
  const found = [];
  const texts = document.createTreeWalker(document.querySelector('main tbody'), NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  while (texts.nextNode())
    for (const { 0: word, index } of texts.currentNode.data.matchAll(/(?<!\\S)[^\\s/-]{2,19}(?!\\S)/g)) {
      range.setStart(texts.currentNode, index);
      range.setEnd(texts.currentNode, index + word.length);
      if (new Set(Array.from(range.getClientRects(), ({ top }) => Math.round(top))).size > 1) found.push(word);
    }
  return found;
})()`;

const longOrder = 'Order 1042: a carpet from Fez, two lamps and a tray of brass, sent to Essaouira';

browserTest('tables fit the screen on a tablet, and on a desktop at 200 %', async () => {
  await api(dashboard, '/v1/webhook_endpoints', {
    url: 'https://93.184.216.34/hooks/orders-of-the-shop-in-the-old-town/paid-and-refunded',
    enabled_events: ['*'],
  });
  const email = 'bookkeeping+orders@the-shop-in-the-old-town.example.ma';
  await newMember(dashboard, 'viewer', email);
  await api(dashboard, '/v1/customers', { email, name: 'Amina El Fassi', phone: '+212600000000' });
  await typedCard(dashboard, { amount: 99_999_999, description: longOrder });
  await openPayment(dashboard, { amount: 99_999_999 }, 'cash');
  const { page, context } = await signedIn(browser, dashboard, owner, { locale: 'fr' });
  for (const width of [640, 768, 960, 1024, 1280]) {
    await page.setViewportSize({ width, height: 800 });
    for (const path of [
      'payments',
      'cash',
      'customers',
      'webhooks',
      'events',
      'requests',
      'members',
      'keys',
    ]) {
      await page.goto(dashboard.address(path));
      assert.equal(await page.evaluate(excess), 0, `${path} at ${width} px`);
      assert.deepEqual(await page.evaluate(brokenWords), [], `${path} at ${width} px`);
    }
  }
  await page.goto(dashboard.address('payments'));
  const card = page.getByText('•••• 4242').first();
  assert.ok((await card.boundingBox())!.height < 30, 'a card is not broken into lines');
  await context.close();
});

/** How many pixels of the first characters of the cell with a text are beyond its left edge. */
const hiddenStart = (text: string) => `(() => {
  const cells = [...document.querySelectorAll('tbody td:first-child')];
  const cell = cells.find(({ textContent }) => textContent.includes(${JSON.stringify(text)}));
  const range = document.createRange();
  const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
  range.setStart(texts.nextNode(), 0);
  range.setEnd(texts.currentNode, 5);
  return cell.getBoundingClientRect().left - range.getBoundingClientRect().left;
})()`;

browserTest('on a phone an Arabic list shows the beginning of what is written in Latin letters', async () => {
  await api(dashboard, '/v1/payment_intents', { amount: 120_000, currency: 'mad', description: longOrder });
  const { page, context } = await signedIn(browser, dashboard, owner, { ...phone, locale: 'ar' });
  for (const path of ['payments', 'requests']) {
    await page.goto(dashboard.address(path));
    const text = path === 'payments' ? longOrder : 'POST /v1/payment_intents/';
    const hidden = await page.evaluate<number>(hiddenStart(text));
    assert.ok(hidden <= 0, `${path}: the beginning is ${hidden} px outside`);
  }
  await context.close();
});
