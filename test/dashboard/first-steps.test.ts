// The first steps of an organization in live mode in real Chromium, from the activation to the first payment. Each is ticked when
// it is so, whoever has done it.

import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import { browserTest } from '../edge/checkout/browser.ts';
import { ReferenceIntegrator } from '../networks/reference-integrator.ts';
import { webhookEnv } from '../webhooks/service-webhooks.ts';
import { newMember, signedIn } from './fixture.ts';
import { type InBrowser, openDashboard } from './in-browser.ts';

let integrator: ReferenceIntegrator | undefined;

let { dashboard, browser, page, complaints, close } = {} as InBrowser;
before(async () => {
  ({ dashboard, browser, page, complaints, close } = await openDashboard('owner', webhookEnv));
});
after(async () => {
  assert.deepEqual(complaints, []);
  await Promise.all([close?.(), integrator?.stop()]);
});

const names = ['activated', 'network', 'key', 'endpoint', 'payment'] as const;

/** The steps that Home shows as done. */
async function doneSteps(): Promise<string[]> {
  await page.goto(dashboard.address('home', 'live'));
  const items = await page.locator('.steps li').all();
  assert.equal(items.length, names.length);
  const isDone = await Promise.all(items.map(async (item) => /\(Done\)/.test((await item.textContent())!)));
  return names.filter((_, i) => isDone[i]);
}

browserTest('live mode has first steps of its own, each linked and ticked by what is so', async () => {
  const { service, org } = dashboard;
  for (const { id, mode } of await service.operate<{ id: string; mode: string }[]>('key.list', { org }))
    if (mode === 'live') await service.operate('key.revoke', { key: id });
  assert.deepEqual(await doneSteps(), []);
  assert.equal(await page.getByText('Nothing needs your attention.').count(), 0);
  assert.equal(await page.getByText(/test card/).count(), 0);
  const activate = page.getByText(`payments org activate ${org}`);
  await activate.waitFor();
  await page.getByRole('link', { name: /Have your account activated/ }).click();
  await page.waitForURL('**/live/settings');
  await service.operate('org.activate', { org });
  assert.deepEqual(await doneSteps(), ['activated']);
  assert.equal(await activate.count(), 0);

  integrator = await ReferenceIntegrator.start();
  await page.goto(dashboard.address('checkout/new', 'live'));
  await page.getByText('Nobody can pay in this mode yet').waitFor();
  assert.equal(await page.getByLabel('Amount in dirhams').count(), 0, 'no form that can only be refused');
  await page.getByRole('link', { name: 'See what is missing' }).click();
  await page.getByRole('link', { name: /Connect a payment network/ }).click();
  await page.getByLabel('Address of its server').fill(integrator.address);
  await page.getByLabel('Shared secret').fill(integrator.secret);
  await page
    .locator('form', { has: page.getByLabel('Shared secret') })
    .getByRole('button')
    .click();
  await page.getByRole('status').waitFor();
  assert.deepEqual(await doneSteps(), ['activated'], 'a network alone takes no payment');
  await page.getByText(`payments org methods ${org} --mode live --cash on`).waitFor();
  await service.operate('org.methods', { org, mode: 'live', methods: { cash: true } });
  assert.deepEqual(await doneSteps(), ['activated', 'network']);

  await page.getByRole('link', { name: /Create a live secret key/ }).click();
  await page.getByRole('link', { name: 'Create a key' }).click();
  await page.getByRole('button', { name: 'Create a key' }).click();
  const key = (await page.getByText(/^svc_sk_live_/).textContent())!;
  assert.deepEqual(await doneSteps(), ['activated', 'network', 'key']);

  await page.getByRole('link', { name: /Add a webhook endpoint/ }).click();
  await page.waitForURL('**/live/webhooks');
  const call = (path: string, body: object) => service.call(path, { key, idempotencyKey: path, body });
  const endpoint = { url: integrator.address, enabled_events: ['payout.paid'] };
  const made = await call('/v1/webhook_endpoints', endpoint);
  assert.equal(made.status, 200);
  assert.deepEqual(await doneSteps(), ['activated', 'network', 'key', 'endpoint']);

  await page.getByRole('link', { name: /Take your first live payment/ }).click();
  await page.waitForURL('**/live/checkout/new');
  const payment = { amount: 25_000, currency: 'mad', payment_method_types: ['cash'] };
  const { json: intent } = await call('/v1/payment_intents', payment);
  await page.goto(dashboard.address('home', 'live'));
  await page.getByText('4 of 5 done').click();
  assert.deepEqual(await doneSteps(), ['activated', 'network', 'key', 'endpoint'], 'nobody has paid yet');
  const { json: confirmed } = await call(`/v1/payment_intents/${intent.id}/confirm`, {});
  const code = confirmed.next_action.cash_display_details.number;
  const reported = { reference: 'R1', code, amount: 25_000 };
  const response = await integrator.report(`${service.url}/networks/http/${org}/live`, reported);
  assert.equal(response.status, 200);
  await page.goto(dashboard.address('home', 'live'));
  assert.equal(await page.locator('.steps').count(), 0, 'all are done');
  await page.getByText('Nothing needs your attention.').waitFor();
  const { id } = made.json;
  assert.equal((await call(`/v1/webhook_endpoints/${id}`, { disabled: true })).status, 200);
  assert.deepEqual(await doneSteps(), ['activated', 'network', 'key', 'payment'], 'what is so no longer');
});

browserTest('whoever may not open a page reads its step without a link', async () => {
  const viewer = await newMember(dashboard, 'viewer');
  const { context, page: theirs } = await signedIn(browser, dashboard, viewer);
  await theirs.goto(dashboard.address('home', 'live'));
  await theirs.getByText('4 of 5 done').click();
  assert.deepEqual(await theirs.locator('.steps a').allTextContents(), [
    'Have your account activated for live mode',
    'Connect a payment network: CMI for cards, or cash agents',
  ]);
  await theirs.getByText('Create a live secret key for your server').waitFor();
  await context.close();
});
