// Payment links in real Chromium: made with an end and a use, paid by customers with and without scripts, paused, opened again and
// removed; and attacked by strangers.

import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import { sessionsPerLinkVisitorHourMax } from '../../src/contract/limits.ts';
import { moroccoTimeText } from '../../src/core/morocco-day.ts';
import { capacityOf } from '../../src/core/token-bucket.ts';
import { browserTest } from '../edge/checkout/browser.ts';
import { Customer, goodCard } from '../journeys/customer.ts';
import { newOrganization } from '../service.ts';
import { hiddenFields, newMember, screenshot, Visitor } from './fixture.ts';
import { type InBrowser, openDashboard } from './in-browser.ts';
import { api } from './shop.ts';

let { dashboard, browser, member: owner, page, complaints, close } = {} as InBrowser;
before(async () => {
  ({ dashboard, browser, member: owner, page, complaints, close } = await openDashboard('owner'));
});
after(async () => {
  assert.deepEqual(complaints, []);
  await close?.();
});

/** Makes a link on the page; its address. */
async function makeLink(name: string, choices: { use: string; lasts: string }): Promise<string> {
  await page.goto(dashboard.address('checkout/new'));
  await page.getByLabel('Amount in dirhams').fill('350');
  await page.getByLabel('What it is for').fill(name);
  await page.getByLabel('Can be paid').selectOption(choices.use);
  await page.getByLabel('Ends', { exact: true }).selectOption(choices.lasts);
  await page.getByRole('button', { name: 'Make a payment link' }).dblclick();
  await page.getByText('The link is ready.').waitFor();
  return page.getByText(`${dashboard.service.url}/link/pl_`).innerText();
}

const sessions = async (): Promise<{ id: string; status: string }[]> =>
  (await api(dashboard, '/v1/checkout/sessions?limit=100')).data;

browserTest(
  'a link that lasts is made, paid by two customers, paused, opened again and removed',
  async () => {
    const url = await makeLink('Carpet', { use: 'Any number of times', lasts: 'Never' });
    await page.getByRole('img', { name: 'The address as a QR code' }).waitFor();
    await screenshot(page, 'link');
    const linkPage = page.url();
    const before = (await sessions()).length;
    for (const javaScriptEnabled of [true, false]) {
      const context = await browser.newContext({ locale: 'fr', javaScriptEnabled });
      const customer = await context.newPage();
      await customer.goto(url);
      await customer.getByText('Carpet').waitFor();
      if (javaScriptEnabled) await screenshot(customer, 'link-customer');
      assert.equal((await sessions()).length, before + (javaScriptEnabled ? 0 : 1), 'looking makes nothing');
      await customer.getByRole('button', { name: 'Payer 350,00 MAD' }).click();
      await customer.waitForURL('**/checkout/cs_*');
      const address = customer.url();
      await customer.goto(url);
      await customer.getByRole('button', { name: 'Payer 350,00 MAD' }).click();
      await customer.waitForURL(address);
      assert.equal(
        (await sessions()).length,
        before + (javaScriptEnabled ? 1 : 2),
        'one browser, one session',
      );
      await context.close();
    }
    const customer = new Customer();
    await customer.open(url);
    await customer.send({});
    await customer.send(goodCard);
    await page.getByRole('link', { name: 'Payments with this link' }).click();
    await page.getByRole('cell', { name: 'Paid', exact: true }).waitFor();
    await page.goto(linkPage);
    await page.getByRole('button', { name: 'Pause the link' }).click();
    await page.getByText('The link is paused.').waitFor();
    await page.locator('.heading').getByText('Paused', { exact: true }).waitFor();
    assert.match((await new Customer().open(url)).html, /This link is paused/);
    await screenshot(page, 'link-paused');
    await page.getByRole('button', { name: 'Open the link again' }).click();
    await page.getByText('Customers can pay with the link again.').waitFor();
    assert.equal((await new Customer().open(url)).status, 200);
    await page.goto(dashboard.address('checkout'));
    await screenshot(page, 'links');
    await page.locator('section', { hasText: 'Payment links' }).getByRole('link', { name: 'Carpet' }).click();
    await page.getByRole('button', { name: 'Remove the link' }).click();
    await page.waitForURL('**/checkout');
    assert.equal((await new Customer().open(url)).status, 404);
  },
);

browserTest('the end of a link can be any day and time, as clocks in Morocco show it', async () => {
  const dayMs = 24 * 3_600_000;
  const shown = (ms: number) => {
    const [date, time] = moroccoTimeText(ms).split(' ') as [string, string];
    return `${date.split('/').reverse().join('-')}T${time}`;
  };
  const now = Date.now();
  await page.goto(dashboard.address('checkout/new'));
  await page.getByLabel('Amount in dirhams').fill('350');
  await page.getByLabel('What it is for').fill('Until then');
  for (const [ends, problem] of [
    [now + 10 * 60_000, 'Choose a time that is at least half an hour from now.'],
    [now - dayMs, 'Choose a time that is at least half an hour from now.'],
    [now + 400 * dayMs, 'Choose a day within a year from now.'],
  ] as const) {
    await page.getByLabel('Or ends at').fill(shown(ends));
    await page.getByRole('button', { name: 'Make a payment link' }).click();
    await page.getByText(problem).first().waitFor();
    assert.equal(await page.getByLabel('Or ends at').inputValue(), shown(ends), 'what was typed stays');
  }
  await screenshot(page, 'link-end-refused');
  const ends = Math.floor((now + 45 * dayMs) / 60_000) * 60_000;
  await page.getByLabel('Or ends at').fill(shown(ends));
  await page.getByRole('button', { name: 'Make a payment link' }).click();
  await page.getByText('The link is ready.').waitFor();
  // The end is reckoned from when the form was read, so it may be some milliseconds late.
  const told = await page.locator('dd time').last().getAttribute('datetime');
  assert.ok(Math.abs(Date.parse(told!) - ends) < 60_000, told!);
  const path = `/dashboard/${dashboard.org}/test/checkout/new`;
  const fields = hiddenFields((await owner.get(path)).body, path);
  const sent = { ...fields, amount: '350', method: 'card', ends_at: 'tomorrow' };
  const { status, body } = await owner.post(path, sent);
  assert.deepEqual([status, body.includes('Enter a day and a time')], [400, true]);
});

browserTest('a link for one payment is paid once, in each language', async () => {
  const url = await makeLink('Lamp', { use: 'Once', lasts: 'After a year' });
  const [first, second] = [new Customer(), new Customer()];
  await first.open(url);
  const { at } = await first.send({});
  await second.open(url);
  assert.equal((await second.send({})).at, at, 'both are led to the one session');
  await first.send(goodCard);
  for (const [language, words] of [
    ['en', 'Already paid'],
    ['fr', 'Déjà payé'],
    ['ar', 'تم الدفع من قبل'],
  ] as const) {
    const shown = await new Customer().open(`${url}?lang=${language}`);
    assert.deepEqual([shown.status, shown.html.includes(words)], [410, true], language);
  }
});

browserTest('a thousand openings by a stranger make a bounded number of sessions', async () => {
  const url = await makeLink('Rug', { use: 'Any number of times', lasts: 'After an hour' });
  const before = (await sessions()).length;
  for (let i = 0; i < 1_000; i += 50)
    await Promise.all(Array.from({ length: 50 }, () => fetch(url).then((answer) => answer.body?.cancel())));
  assert.equal((await sessions()).length, before, 'looking makes nothing');
  const path = new URL(url).pathname;
  const most = capacityOf(sessionsPerLinkVisitorHourMax);
  const statuses: number[] = [];
  for (let i = 0; i < 60; i++) {
    // Each has no cookies, and sends the form that it was given.
    const stranger = new Visitor(dashboard.service.url);
    const { body } = await stranger.get(path);
    statuses.push((await stranger.post(path, hiddenFields(body, path))).status);
  }
  assert.equal(statuses.filter((status) => status === 303).length, most);
  assert.equal(statuses.at(-1), 429);
  assert.equal((await sessions()).length, before + most);
  // A form of another site, or of another link, opens nothing.
  const stranger = new Visitor(dashboard.service.url);
  await stranger.get(path);
  assert.equal((await stranger.post(path, { form_key: 'x' })).status, 403);
  assert.equal((await stranger.get('/link/pl_000')).status, 404);
});

browserTest('the links of an organization are its own, and some roles only see them', async () => {
  const url = await makeLink('Vase', { use: 'Once', lasts: 'After a day' });
  const id = new URL(url).pathname.split('/').at(-1)!;
  const { id: other } = await newOrganization(dashboard.service, 'Rival');
  const rival = await newMember({ ...dashboard, org: other }, 'owner', 'rival@other.ma');
  const at = `/dashboard/${other}/test/checkout`;
  assert.equal((await rival.get(`${at}/links/${id}`)).status, 404);
  const fields = hiddenFields((await rival.get(`${at}/new`)).body, `${at}/new`);
  for (const action of ['pause', 'remove'])
    await rival.post(`${at}/links/${id}/${action}`, { ...fields, paused: 'yes' });
  assert.equal((await new Customer().open(url)).status, 200, 'nothing has changed');
  const live = `/dashboard/${dashboard.org}/live/checkout/links/${id}`;
  assert.equal((await owner.get(live)).status, 404, 'nor is it one of the other mode');
  const viewer = await newMember(dashboard, 'viewer');
  const shown = await viewer.get(`/dashboard/${dashboard.org}/test/checkout/links/${id}`);
  assert.deepEqual([shown.status, /\/remove"/.test(shown.body)], [200, false]);
});
