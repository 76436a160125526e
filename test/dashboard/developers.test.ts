// The pages for developers in real Chromium: keys, webhook endpoints with their deliveries and secrets, and events.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import Stripe from 'stripe';
import { browserTest } from '../edge/checkout/browser.ts';
import { newOrganization } from '../service.ts';
import { type Receiver, startReceiver } from '../webhooks/receiver.ts';
import { eventually, webhookEnv } from '../webhooks/service-webhooks.ts';
import { hiddenFields, newMember } from './fixture.ts';
import { type InBrowser, openDashboard } from './in-browser.ts';

/** The status that the receiver answers. */
let answered = 200;

let receiver: Receiver;
let { dashboard, member: developer, page, complaints, close } = {} as InBrowser;
before(async () => {
  receiver = await startReceiver({
    respond: (response) => {
      response.statusCode = answered;
      response.end('<script>alert("no")</script>');
    },
  });
  ({
    dashboard,
    member: developer,
    page,
    complaints,
    close,
  } = await openDashboard('developer', { ...webhookEnv, PAYMENTS_WEBHOOKS_RETRY_SECONDS: '' }));
});
after(() => Promise.all([close?.(), receiver?.close()]));

const open = (path: string) => page.goto(dashboard.address(path));
const click = (name: string | RegExp) => page.getByRole('button', { name, exact: true }).click();
const follow = (name: string | RegExp) => page.getByRole('link', { name, exact: true }).first().click();
const row = (text: string | RegExp) => page.getByRole('row').filter({ hasText: text });
const notice = () => page.getByRole('status').first().textContent();
/** The text that a page offers to copy. */
const copied = (start: string) => page.locator('code', { hasText: new RegExp(`^${start}`) }).first();
const status = async (key: string) => (await dashboard.service.call('/v1/account', { key })).status;

test('in Arabic a title with the end of a key has its dots before it', async () => {
  const keys = await dashboard.service.operate<{ id: string; mode: string; hint: string }[]>('key.list', {
    org: dashboard.org,
  });
  const { id, hint } = keys.find(({ mode }) => mode === 'test')!;
  const { body } = await developer.get(`/dashboard/${dashboard.org}/test/keys/${id}/roll`, {
    'accept-language': 'ar',
  });
  assert.ok(body.includes(`\u2068…${hint}\u2069</h1>`), /<h1>.*<\/h1>/.exec(body)?.[0]);
});

browserTest('a key is made, shown once, rolled with an overlap, and revoked', async () => {
  await open('keys');
  await follow('Create a key');
  await page.getByLabel('Name').fill('The \u202e shop');
  await page.getByLabel('Kind').selectOption('publishable');
  await click('Create a key');
  await page.getByRole('alert').getByText('Give a name of at most 255 characters').waitFor();
  assert.equal(await page.getByLabel('Kind').inputValue(), 'publishable', 'what was chosen stays');
  await page.getByLabel('Name').fill(' The shop & <i>its</i> server ');
  await page.getByLabel('Kind').selectOption('secret');
  // The answer to the first click is on its way when the second one comes.
  const both = Promise.withResolvers<void>();
  await page.route('**/keys/new', async (route) => {
    const response = await route.fetch();
    await both.promise;
    await route.fulfill({ response });
  });
  const { x, y, width, height } = (await page
    .getByRole('button', { name: 'Create a key', exact: true })
    .boundingBox())!;
  const press = () => page.mouse.click(x + width / 2, y + height / 2);
  const sent = page.waitForRequest((request) => request.method() === 'POST');
  await press();
  await sent;
  await press();
  both.resolve();
  const first = (await copied('svc_sk_test_').textContent())!;
  assert.equal(await status(first), 200);
  await page.reload();
  assert.match((await notice())!, /That form was sent before/);
  assert.equal(await page.getByText('svc_sk_test_').count(), 0);

  const line = row(`…${first.slice(-4)}`);
  await eventually(async () => {
    await open('keys');
    return !/Never/.test((await line.textContent())!);
  });
  await line.getByRole('link', { name: 'Roll' }).click();
  await page.getByLabel('The old key works').selectOption({ label: 'for an hour' });
  await click('Roll');
  await page.getByText('The shop & <i>its</i> server', { exact: true }).waitFor();
  const second = (await copied('svc_sk_test_').textContent())!;
  assert.deepEqual([await status(first), await status(second)], [200, 200]);

  await follow('Back to the keys');
  await row(`…${second.slice(-4)}`)
    .getByRole('link', { name: 'Rename' })
    .click();
  await page.getByLabel('Name').fill('The till');
  await click('Save');
  assert.equal(await notice(), 'The name is saved.');
  assert.match((await row(`…${second.slice(-4)}`).textContent())!, /The till/);
  assert.match((await row(`…${first.slice(-4)}`).textContent())!, /The shop & <i>its<\/i> server/);
  await row(`…${second.slice(-4)}`)
    .getByRole('link', { name: 'Revoke' })
    .click();
  await click('Revoke');
  assert.equal(await notice(), 'The key is revoked.');
  assert.deepEqual([await status(first), await status(second)], [200, 401]);
  assert.match((await row(`…${second.slice(-4)}`).textContent())!, /Revoked/);
  assert.deepEqual(complaints, []);
});

let endpoint = '';
const createIntent = () =>
  dashboard.service.call('/v1/payment_intents', {
    key: dashboard.key,
    idempotencyKey: crypto.randomUUID(),
    body: { amount: 100, currency: 'mad' },
  });

browserTest(
  'an endpoint is added, changed, disabled and enabled; its secret is shown and rolled',
  async () => {
    await open('webhooks');
    await follow('Add an endpoint');
    await page.getByLabel('Address').fill('ftp://shop.example');
    await page.getByLabel('All events').check();
    await click('Save');
    assert.match((await page.getByRole('alert').textContent())!, /this webhook address is not allowed/i);
    assert.equal(await page.getByLabel('Address').inputValue(), 'ftp://shop.example');
    await page.getByLabel('Address').fill(`${receiver.origin}/hooks`);
    await click('Save');
    assert.equal(await notice(), 'The endpoint is added.');
    endpoint = new URL(page.url()).pathname.split('/').at(-1)!;

    await follow('Edit');
    await page.getByLabel('All events').uncheck();
    await page.getByLabel('payment_intent.created').check();
    await click('Save');
    assert.equal(await notice(), 'The change is saved.');
    await click('Disable');
    assert.match((await page.locator('dl').first().textContent())!, /Disabled/);
    await click('Enable');

    await follow('Show the signing secret');
    const first = (await copied('svc_whsec_').textContent())!;
    await page.getByLabel('The old secret signs').selectOption({ label: 'for a day' });
    await click('Roll the signing secret');
    const secrets = await page.locator('code', { hasText: /^svc_whsec_/ }).allTextContents();
    assert.equal(secrets.length, 2);
    assert.equal(secrets[1], first);
    await follow('Back to the endpoint');
    await click('Send');
    const { body, headers } = await eventually(() => receiver.requests.at(-1));
    for (const secret of secrets) {
      new Stripe('sk').webhooks.constructEvent(body, headers['x-service-signature'] as string, secret);
    }
    assert.deepEqual(complaints, []);
  },
);

browserTest('failed deliveries are listed with their attempts, and resent: one, and then all', async () => {
  answered = 500;
  for (let i = 0; i < 3; i++) await createIntent();
  const failed = async () => {
    await page.goto(`${dashboard.address(`webhooks/${endpoint}`)}?failed=1`);
    return page.getByRole('link', { name: 'payment_intent.created' }).count();
  };
  await eventually(async () => (await failed()) === 3);
  const viewer = await newMember(dashboard, 'viewer');
  const home = new URL(dashboard.address('home')).pathname;
  assert.ok((await developer.get(home)).body.includes(`${receiver.origin}/hooks`));
  const { body } = await viewer.get(home);
  assert.match(body, /Webhook endpoints to which deliveries have failed: 1/);
  assert.ok(!body.includes(receiver.origin), 'an address may hold a token');
  await follow('payment_intent.created');
  const attempt = row('500');
  assert.match((await attempt.textContent())!, /\d+ ms.*answered 500.*<script>alert\("no"\)<\/script>/s);
  for (const count of [2, 3]) {
    await click('Resend');
    assert.equal(await notice(), 'It is being sent.');
    await eventually(async () => {
      await page.reload();
      return (await row('answered 500').count()) === count;
    });
  }
  assert.equal(await row('not kept').count(), 1, 'the answers of the last two are kept');
  assert.equal(await page.getByText('of the last two failed attempts').count(), 1);
  answered = 200;
  await click('Resend');
  assert.equal(await notice(), 'It is being sent.');
  await eventually(async () => {
    await page.reload();
    return (await row(/^.*200.*Delivered–$/s).count()) === 1;
  });
  assert.doesNotMatch((await page.locator('dl').first().textContent())!, /Next attempt/);
  assert.equal(await failed(), 2);
  await open('webhooks');
  assert.match((await row('/hooks').textContent())!, /Some failed/);
  await follow('Some failed');
  await click('Resend all failed');
  assert.match((await notice())!, /being sent again/);
  assert.equal(await page.getByRole('button', { name: 'Resend all failed' }).count(), 0);
  assert.equal(await page.getByText('Failed deliveries can be resent again from').count(), 1);
  await eventually(async () => (await failed()) === 0);
  assert.deepEqual(complaints, []);
});

browserTest(
  'events are listed by type and day; one is shown as it is sent, with its deliveries',
  async () => {
    await open('events');
    await page.getByLabel('Type').selectOption('payment_intent.created');
    await page.getByLabel('From').fill('2020-01-01');
    await click(/Filter/);
    assert.equal(await row('pi_').count(), 3);
    await page.getByLabel('To', { exact: true }).fill('2020-01-01');
    await click(/Filter/);
    assert.equal(await page.getByText('There is no event here.').count(), 1);
    await page.getByLabel('To', { exact: true }).fill('');
    await click(/Filter/);
    await follow('payment_intent.created');
    assert.match((await page.locator('pre').textContent())!, /"object": "event"/);
    await row('Delivered').getByRole('link').click();
    assert.equal(await page.getByRole('heading', { level: 1 }).textContent(), 'Delivery');
    assert.equal(await page.getByText('Sample', { exact: true }).count(), 0, 'this one happened');
    assert.deepEqual(complaints, []);
  },
);

browserTest('a sample is marked in the list, on its page, at its delivery and by the API', async () => {
  await open(`webhooks/${endpoint}`);
  await page.getByLabel('Type').selectOption('review.opened');
  await click('Send');
  await page.getByRole('status').first().waitFor();
  const marks = (type: string) => row(type).getByText('Sample', { exact: true }).count();
  assert.equal(await marks('review.opened'), 1, 'among the deliveries of its endpoint');
  assert.equal(await marks('payment_intent.created'), 0);
  await open('events');
  assert.equal(await row('review.opened').getByText('Sample', { exact: true }).count(), 1);
  assert.equal(await row('payment_intent.created').getByText('Sample', { exact: true }).count(), 0);
  await follow('review.opened');
  await page.getByText('A sample, made up to try your server with: nothing happened.').waitFor();
  assert.match((await page.locator('pre').textContent())!, /"livemode": false,\s+"sample": true,/);
  await row('review.opened').getByRole('link').click();
  await page.getByText('Sample', { exact: true }).waitFor();
  const { json } = await dashboard.service.call('/v1/events?type=review.opened', { key: dashboard.key });
  assert.deepEqual([json.data[0].livemode, json.data[0].sample], [false, true]);
  assert.deepEqual(complaints, []);
});

browserTest('an endpoint that is deleted keeps its deliveries', async () => {
  await open(`webhooks/${endpoint}`);
  await follow('Delete');
  await click('Delete');
  assert.equal(await notice(), 'The endpoint is deleted.');
  await open(`webhooks/${endpoint}`);
  assert.match((await page.locator('dl').first().textContent())!, /Deleted/);
  assert.notEqual(await row('Delivered').count(), 0);
  assert.equal(await page.getByRole('button', { name: 'Resend all failed' }).count(), 0);
});

test('nothing of another organization, nor of the other mode, is shown or changed', async () => {
  const other = await newOrganization(dashboard.service, 'Other');
  const call = (path: string, body: object) =>
    dashboard.service.call(path, { key: other.key, idempotencyKey: crypto.randomUUID(), body });
  const { json: theirs } = await call('/v1/webhook_endpoints', {
    url: `${receiver.origin}/other`,
    enabled_events: ['*'],
  });
  await call('/v1/payment_intents', { amount: 100, currency: 'mad' });
  const [event] = (await dashboard.service.call('/v1/events', { key: other.key })).json.data;
  const [delivery] = await dashboard.service.operate<{ id: string }[]>('webhooks.deliveries', {
    endpoint: theirs.id,
    failedOnly: false,
  });
  const [key] = await dashboard.service.operate<{ id: string }[]>('key.list', { org: other.id });
  const { json: own } = await dashboard.service.call('/v1/webhook_endpoints', {
    key: dashboard.key,
    body: { url: `${receiver.origin}/own`, enabled_events: ['*'] },
  });
  const path = (view: string, mode: 'test' | 'live' = 'test') =>
    new URL(dashboard.address(view, mode)).pathname;
  const pages = [
    path(`webhooks/${theirs.id}`),
    path(`webhooks/${theirs.id}/secret`),
    path(`webhooks/deliveries/${delivery!.id}`),
    path(`events/${event.id}`),
    path(`keys/${key!.id}/roll`),
    path(`webhooks/${own.id}`, 'live'),
    path(`webhooks/${own.id}/secret`, 'live'),
  ];
  for (const each of pages) assert.equal((await developer.get(each)).status, 404, each);
  // The hidden fields of a form of one's own fit every form.
  const changes = [
    `webhooks/${theirs.id}/disable`,
    `webhooks/${theirs.id}/delete`,
    `webhooks/${theirs.id}/secret`,
    `webhooks/${theirs.id}/sample`,
    `webhooks/${theirs.id}/resend-failed`,
    `webhooks/deliveries/${delivery!.id}/resend`,
    `keys/${key!.id}/roll`,
    `keys/${key!.id}/revoke`,
    `keys/${key!.id}/name`,
  ];
  const form = hiddenFields((await developer.get(path('keys/new'))).body, path('keys/new'));
  for (const each of changes) {
    const { status } = await developer.post(path(each), { ...form, overlap: '0', type: 'charge.failed' });
    assert.equal(status, 404, each);
  }
  const [listed] = await dashboard.service.operate<{ status: string }[]>('webhooks.list', { org: other.id });
  assert.equal(listed!.status, 'enabled');
});
