// A dead endpoint, in real Chromium: it looks dead in the list, on its page, on Home and in the navigation, and to operators; what
// failed so far is found; and while it is disabled nothing is offered that can't be done.

import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import { browserTest } from '../edge/checkout/browser.ts';
import { type Receiver, startReceiver } from '../webhooks/receiver.ts';
import { eventually, webhookEnv } from '../webhooks/service-webhooks.ts';
import { type InBrowser, openDashboard } from './in-browser.ts';

let status = 500;

let receiver: Receiver;
let { dashboard, page, close } = {} as InBrowser;
before(async () => {
  receiver = await startReceiver({
    respond: (response) => {
      response.statusCode = status;
      response.end('sorry');
    },
  });
  ({ dashboard, page, close } = await openDashboard('developer', {
    ...webhookEnv,
    PAYMENTS_WEBHOOKS_RETRY_SECONDS: '3600',
  }));
});
after(() => Promise.all([close?.(), receiver?.close()]));

const main = () => page.locator('main').innerText();

async function pay(count: number): Promise<void> {
  const { service, key } = dashboard;
  const seen = receiver.requests.length;
  for (let i = 0; i < count; i++) {
    const body = { amount: 12_000, currency: 'mad' };
    const idempotencyKey = `pay-${seen}-${i}`;
    assert.equal((await service.call('/v1/payment_intents', { key, idempotencyKey, body })).status, 200);
  }
  await eventually(() => receiver.requests.length >= seen + count);
}

browserTest('an endpoint that fails looks like it, everywhere', async () => {
  const { service, key, org } = dashboard;
  const body = { url: `${receiver.origin}/hooks`, enabled_events: ['payment_intent.created'] };
  const { id } = (await service.call('/v1/webhook_endpoints', { key, body })).json;
  await pay(4);
  const navigation = page.locator('nav.views');
  await eventually(async () => {
    await page.goto(dashboard.address('webhooks'));
    // The navigation is asked for beside the page, so it may be a moment older.
    return /4 of 4/.test(await main()) && (await navigation.getByText('needs attention').count()) > 0;
  });
  const listed = await main();
  assert.match(listed, /Failing since .+\s+Next attempt .+/);
  assert.match(listed, /\b500\b/);
  if (process.env.SCREENSHOTS) await page.screenshot({ path: `${process.env.SCREENSHOTS}/failing-list.png` });

  await page.goto(dashboard.address('home'));
  assert.match(await main(), /Deliveries to .+\/hooks have failed since/);

  await page.goto(dashboard.address(`webhooks/${id}`));
  await page.getByRole('img', { name: 'Attempts of the last 24 hours, by the hour' }).waitFor();
  if (process.env.SCREENSHOTS)
    await page.screenshot({ path: `${process.env.SCREENSHOTS}/failing.png`, fullPage: true });
  await page.getByRole('link', { name: 'Show failed ones only' }).click();
  await page.getByRole('heading', { name: 'Failed so far, to be tried again' }).waitFor();
  assert.equal(await page.getByRole('link', { name: 'payment_intent.created' }).count(), 4);

  const [told] = await service.operate<Record<string, unknown>[]>('webhooks.list', { org });
  assert.deepEqual([told!.last_status, told!.attempts_24h, told!.failed_24h], [500, 4, 4]);
  assert.ok(typeof told!.failing_since === 'string' && typeof told!.next_attempt === 'string');

  await page.getByRole('link', { name: 'payment_intent.created' }).first().click();
  await page.getByRole('button', { name: 'Resend' }).waitFor();
  assert.match(await main(), /Next attempt/);
  const delivery = page.url();
  await service.call(`/v1/webhook_endpoints/${id}`, { key, body: { disabled: true } });
  await page.goto(delivery);
  assert.equal(await page.getByRole('button', { name: 'Resend' }).count(), 0);
  assert.match(await main(), /Nothing can be sent again while the endpoint is disabled/);
  assert.doesNotMatch(await main(), /Next attempt/);
  assert.equal(
    await navigation.getByText('needs attention').count(),
    0,
    'a disabled endpoint needs no attention',
  );

  await service.call(`/v1/webhook_endpoints/${id}`, { key, body: { disabled: false } });
  status = 200;
  await pay(1);
  await eventually(async () => {
    await page.goto(dashboard.address('webhooks'));
    return /4 of 5/.test(await main()) && (await navigation.getByText('needs attention').count()) === 0;
  });
  assert.match(await main(), /Enabled/);
});
