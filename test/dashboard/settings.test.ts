// The pages for limits and settings, and the audit log, in real Chromium.

import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import { browserTest } from '../edge/checkout/browser.ts';
import { hiddenFields, newMember } from './fixture.ts';
import { type InBrowser, openDashboard } from './in-browser.ts';

let { dashboard, member: owner, page, complaints, close } = {} as InBrowser;
before(async () => {
  ({ dashboard, member: owner, page, complaints, close } = await openDashboard('owner'));
});
after(() => close?.());

const open = (path: string, mode: 'test' | 'live' = 'test') => page.goto(dashboard.address(path, mode));
const click = (name: string) => page.getByRole('button', { name, exact: true }).click();
const row = (text: string | RegExp) => page.getByRole('row').filter({ hasText: text });
const alertText = () => page.getByRole('alert').textContent();
const notice = () => page.getByRole('status').first().textContent();

browserTest('a higher limit is asked for, approved by an operator, and in force at once', async () => {
  const { service, org } = dashboard;
  await service.operate('limits.reset', { org, mode: 'test' });
  await service.operate('limits.reset', { org, mode: 'live' });
  await open('limits');
  const line = row(/^Payment creation ?Test/);
  assert.match((await line.textContent())!, /60.*0 of 70.*Global default/s);
  // A request comes back in a second at the default limit, and in a minute here: the page has time to show that it was used.
  const creations = { org, mode: 'test', bucket: 'payment_creation' };
  await service.operate('limits.set', { ...creations, perMinute: 1, source: 'custom', untilMs: null });
  const call = { idempotencyKey: 'one', body: { amount: 100, currency: 'mad' } };
  assert.equal((await service.call('/v1/payment_intents', { key: dashboard.key, ...call })).status, 200);
  await page.reload();
  assert.match((await line.textContent())!, /1 of 1/);
  await service.operate('limits.reset', { org, mode: 'test' });
  await page.reload();

  await page.getByRole('link', { name: 'Request a higher limit' }).click();
  await page.getByLabel('Requests', { exact: true }).selectOption('Payment creation');
  await page.getByLabel('Mode').selectOption('Both');
  await page.getByLabel('Requests a minute').fill('100');
  await page.getByLabel('Last day').fill('2020-01-01');
  await page.getByLabel('Reason').fill('Black <b>Friday</b>');
  await click('Send the request');
  assert.match((await alertText())!, /That day is over/);
  await page.getByLabel('Last day').fill('');
  await click('Send the request');
  assert.match((await alertText())!, /more than the current limit of each of these modes/);
  await page.getByLabel('Requests a minute').fill('600');
  await click('Send the request');
  assert.match((await notice())!, /The request is sent/);
  assert.match((await row('Black <b>Friday</b>').textContent())!, /600 a minute.*owner@souk\.ma.*Open/s);

  const [asked] = await service.operate<{ id: string; by: string }[]>('limits.requests', { org });
  assert.equal(asked!.by, 'owner@souk.ma');
  const path = new URL(dashboard.address('limits/request')).pathname;
  const wish = { bucket: 'search', mode: 'live', value: '9000', until: '', reason: 'A sale' };
  const fields = { ...hiddenFields((await owner.get(path)).body, path), ...wish };
  const clicks = await Promise.all([1, 2].map(() => owner.post(path, fields)));
  assert.deepEqual(
    clicks.map(({ status }) => status),
    [303, 303],
    'a double click asks once',
  );
  const decision = { request: asked!.id, perMinute: 240, note: 'Until we see more' };
  await service.operate('limits.approve', decision);
  await page.reload();
  assert.match((await row('Black').textContent())!, /Approved.*240 a minute.*Until we see more/s);
  assert.match((await line.textContent())!, /240.*of 280.*Custom/s);
  const { limits } = (await service.call('/v1/account', { key: dashboard.key })).json;
  assert.deepEqual(limits.payment_creation, { per_minute: 240, burst: 40, source: 'custom' });
  assert.deepEqual(complaints, []);
});

/** A PNG of one pixel. */
const pixel = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

browserTest('name, colour and logo are changed, and the pages get them', async () => {
  const { service } = dashboard;
  await open('settings');
  await page.getByLabel('Name', { exact: true }).fill(' ');
  await click('Save');
  assert.match((await alertText())!, /1 to 255 characters/);
  await page.getByLabel('Name', { exact: true }).fill('Souk & Fils');
  await page.getByLabel('Use this colour').check();
  await page.getByLabel('Colour', { exact: true }).fill('#0a6e4f');
  await click('Save');
  assert.equal(await notice(), 'The change is saved.');
  assert.equal(await page.getByLabel('Colour', { exact: true }).inputValue(), '#0a6e4f');

  const upload = async (name: string, buffer: Buffer) => {
    await page.getByLabel('Logo', { exact: true }).setInputFiles({ name, mimeType: 'image/png', buffer });
    await click('Upload the logo');
  };
  await upload('logo.png', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>1</script></svg>'));
  assert.match((await alertText())!, /Choose a PNG, JPEG or WebP file/);
  await upload('logo.png', Buffer.concat([pixel], 64 * 1024 + 1));
  assert.match((await alertText())!, /more than 64 KiB/);
  await upload('logo.png', pixel);
  const image = page.getByRole('img', { name: 'Logo of Souk & Fils' });
  assert.equal(await image.evaluate((img) => (img as unknown as { naturalWidth: number }).naturalWidth), 1);
  const src = (await image.getAttribute('src'))!;
  const served = await fetch(service.url + src);
  assert.deepEqual(Buffer.from(await served.arrayBuffer()), pixel);
  assert.equal(served.headers.get('content-type'), 'image/png');
  assert.match(served.headers.get('cache-control')!, /immutable/);

  // The page where a customer pays shows them.
  const session = await service.call('/v1/checkout/sessions', {
    key: dashboard.key,
    idempotencyKey: 'branded',
    body: { amount: 10_000, currency: 'mad', success_url: 'https://souk.example/thanks' },
  });
  await page.goto(session.json.url);
  const shown = page.locator('img.logo');
  assert.equal(await shown.evaluate((img) => (img as unknown as { naturalWidth: number }).naturalWidth), 1);
  assert.match((await page.locator('main').textContent())!, /Souk & Fils/);
  assert.match(await page.content(), /#0a6e4f/);
  await open('settings');

  await click('Remove the logo');
  assert.equal(await page.getByText('There is no logo yet.').count(), 1);
  assert.equal((await fetch(service.url + src)).status, 404);
  assert.deepEqual(complaints, []);
});

browserTest(
  'networks for cash and cards are connected for live mode, their secrets are not shown, and they are disconnected',
  async () => {
    const { org, service } = dashboard;
    const secret = 'a-secret-that-nobody-sees';
    await open('settings', 'live');
    assert.equal(await page.getByText('No network is connected').count(), 1);
    const agents = page.locator('form', { has: page.getByLabel('Shared secret') });
    const connect = async (form: typeof agents, fields: Readonly<Record<string, string>>) => {
      for (const [label, value] of Object.entries(fields))
        await form.getByLabel(label, { exact: true }).fill(value);
      await form.getByRole('button', { name: 'Connect' }).click();
    };
    const address = 'Address of its server';
    await connect(agents, { [address]: 'http://127.0.0.1/operations', 'Shared secret': 'short' });
    assert.match((await alertText())!, /public https address.*at least 16 characters/s);
    await agents.getByLabel('Payments', { exact: true }).selectOption('Cash and cards');
    await connect(agents, { [address]: 'https://93.184.216.34/operations', 'Shared secret': secret });
    assert.equal(await notice(), 'The change is saved.');
    assert.match((await page.getByRole('main').textContent())!, new RegExp(`/networks/http/${org}/live`));
    const shown = await service
      .operate<{ mode: string; method: string; settings: object }[]>('network.show', { org })
      .then((all) => all.filter(({ mode }) => mode === 'live'));
    assert.deepEqual(
      shown.map(({ method }) => method),
      ['card', 'cash'],
    );
    assert.deepEqual(shown[0]!.settings, { address: 'https://93.184.216.34/operations' });
    const viewer = await newMember(dashboard, 'viewer');
    const seen = await viewer.get(new URL(dashboard.address('settings', 'live')).pathname);
    assert.deepEqual([seen.status, seen.body.includes('93.184.216.34')], [200, false]);
    await open('audit', 'live');
    assert.match(
      (await row('network.set').first().textContent())!,
      /The owner connected a payment network.*Done/s,
    );
    for (const text of [await page.content(), service.output()]) assert(!text.includes(secret));
    await open('settings', 'live');
    assert(!(await page.content()).includes(secret));

    const cards = page.locator('form', { has: page.getByLabel('Store key') });
    const above = (await cards.getByLabel('Password of the API user').boundingBox())!;
    const { y } = (await cards.getByRole('button', { name: 'Connect' }).boundingBox())!;
    assert.ok(y - above.y - above.height >= 16, 'the button stands apart from the last field');
    const cmi = { 'Address of the gateway': 'https://93.184.216.34', 'Client ID': '600000001' };
    await connect(cards, { ...cmi, 'API user': 'shop_api' });
    assert.match((await alertText())!, /Store key: fill this in.*Password of the API user: fill this in/s);
    assert.equal(await cards.getByLabel('Client ID').inputValue(), '600000001');
    await connect(cards, { 'Store key': secret, 'Password of the API user': secret });
    assert.equal(await notice(), 'The change is saved.');
    const main = (await page.getByRole('main').textContent())!;
    assert.match(main, new RegExp(`600000001.*stored, not shown.*/networks/cmi/${org}/live`, 's'));
    const all = await service.operate<{ mode: string; network: string }[]>('network.show', { org });
    const live = all.filter(({ mode }) => mode === 'live').map(({ network }) => network);
    assert.deepEqual(live, ['cmi', 'http']);
    for (const text of [await page.content(), service.output()]) assert(!text.includes(secret));

    for (const count of [2, 1]) {
      assert.equal(await page.getByRole('button', { name: 'Disconnect' }).count(), count);
      await page.getByRole('button', { name: 'Disconnect' }).first().click();
      await notice();
    }
    assert.equal(await page.getByText('No network is connected').count(), 1);
    assert.deepEqual(complaints, []);
  },
);

browserTest(
  'the audit log has what members did and what operators did for the organization alone',
  async () => {
    const { service } = dashboard;
    await service.operate('org.create', { name: 'Somebody else' });
    await open('audit');
    const asking = row(/limits\.request[^s]/);
    assert.match((await asking.first().textContent())!, /The owner asked for a higher limit.*Done/s);
    assert.match(
      (await asking.last().textContent())!,
      /Not done: The owner asked for a higher limit.*Refused/s,
    );
    assert.match((await row('limits.approve').textContent())!, /Operator of the service.*lrq_.*Done/s);
    assert.doesNotMatch((await row('limits.approve').textContent())!, /Until we see more/);
    assert.equal(await row('org.create').count(), 1, 'its own');
    await page.getByLabel('Who').selectOption({ label: 'owner@souk.ma' });
    await page.getByLabel('Action').selectOption('org.settings');
    await page.getByRole('button', { name: /Filter/ }).click();
    const actions = await page.locator('tbody tr').allTextContents();
    assert.equal(actions.length, 6);
    assert.ok(actions.every((text) => /The owner changed the settings of the organization/s.test(text)));
    assert.deepEqual(complaints, []);
  },
);
