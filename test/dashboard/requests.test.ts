// The pages for request logs in real Chromium: the list with its filters, one request, and the list that stays up to date; and
// what ends a stream.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { browserTest } from '../edge/checkout/browser.ts';
import { newOrganization, withRequestLogs } from '../service.ts';
import { newMember, signedIn, type Visitor } from './fixture.ts';
import { openDashboard } from './in-browser.ts';

const card = '4242424242424242';
const markup = '<img src=x onerror=alert(1)>';

const {
  dashboard,
  browser,
  member: developer,
  page,
  complaints,
  close,
} = await openDashboard('developer', withRequestLogs);
after(close);

let count = 0;
const create = (body: object = {}, idempotencyKey = `order-${count++}`) =>
  dashboard.service.call('/v1/payment_intents', {
    key: dashboard.key,
    idempotencyKey,
    body: { amount: 12_000, currency: 'mad', ...body },
  });
const idOf = ({ headers }: { readonly headers: Headers }) => headers.get('request-id')!;
const open = (path: string) => page.goto(dashboard.address(path));
const row = (text: string | RegExp) => page.getByRole('row').filter({ hasText: text });
const value = (name: string) => page.locator('dl > div').filter({ hasText: name }).locator('dd').first();

browserTest('requests are listed, filtered, and shown with their answers', async () => {
  await open('requests');
  await page.getByText('No request yet').waitFor();
  const created = await create({ description: 'Tea' }, 'tea-1');
  const replayed = await create({ description: 'Tea' }, 'tea-1');
  const refused = await create({ description: card });
  assert.equal(refused.status, 400);
  // The list is still that of the empty page, and brings them by itself.
  await row('parameter_invalid').waitFor();

  await page.getByLabel('Status').selectOption('4xx');
  await page.getByRole('button', { name: 'Filter' }).click();
  await row('parameter_invalid').waitFor();
  assert.equal(await page.getByRole('row').count(), 2);
  await open('requests');
  await page.getByLabel('Request, object or idempotency key').fill('tea-1');
  await page.getByRole('button', { name: 'Filter' }).click();
  await row('replayed').waitFor();
  assert.equal(await page.getByRole('row').count(), 3);

  await row('replayed').getByRole('link').click();
  assert.match(page.url(), new RegExp(`requests/${idOf(replayed)}$`));
  await page.getByRole('link', { name: idOf(created) }).click();
  assert.equal(await value('Status').textContent(), '200');
  assert.equal(await value('Object').textContent(), created.json.id);
  assert.match((await page.locator('main').textContent())!, /"description": "Tea"/);

  // A request's id leads to it.
  await open('requests');
  await page.getByLabel('Request, object or idempotency key').fill(idOf(refused));
  await page.getByRole('button', { name: 'Filter' }).click();
  await page.getByText('What looked like a secret or a card number was left out.').waitFor();
  assert.ok(!(await page.content()).includes(card));
  assert.deepEqual(complaints, []);
});

browserTest('the list stays up to date until it is paused, with what clients wrote as text', async () => {
  await open(`requests?q=${encodeURIComponent(markup)}`);
  await page.getByText('No request matches').waitFor();
  const live = page.getByRole('button', { name: 'Live' });
  assert.equal(await live.getAttribute('aria-pressed'), 'true');
  await create({}, markup);
  await row(markup).waitFor();
  assert.equal(await page.locator('main img').count(), 0);
  await row(markup).getByRole('link').focus();
  await create({}, markup);
  await row('replayed').waitFor();
  assert.equal(await page.evaluate('document.activeElement.tagName'), 'A');
  await live.click();
  assert.equal(await live.getAttribute('aria-pressed'), 'false');
  await open('requests');
  await row(markup).first().getByRole('link').click();
  assert.equal(await value('Idempotency key').textContent(), markup);
  assert.equal(await page.locator('main img').count(), 0);
  assert.deepEqual(complaints, []);
});

browserTest('a link that is pressed while the list changes is followed when it is released', async () => {
  const created = await create({}, 'pressed-1');
  await open('requests');
  const link = row('pressed-1').getByRole('link').first();
  const { x, y, width, height } = (await link.boundingBox())!;
  const beside = await page.context().newPage();
  await beside.goto(dashboard.address('requests'));
  await beside.getByText('pressed-1').waitFor();

  await page.mouse.move(x + width / 2, y + height / 2);
  await page.mouse.down();
  await create({}, 'pressed-2');
  await beside.getByText('pressed-2').waitFor();
  await page.mouse.up();
  await page.waitForURL(`**/requests/${idOf(created)}`);
  await beside.close();
});

browserTest(
  'a request and its events lead to each other, and the list of events stays up to date',
  async () => {
    const created = await create();
    await open('events?type=payment_intent.created');
    await page.getByRole('button', { name: 'Live' }).waitFor();
    const before = await page.getByRole('row').count();
    const next = await create();
    await row(next.json.id).waitFor();
    assert.equal(await page.getByRole('row').count(), before + 1);
    await row(created.json.id).getByRole('link').click();
    await page.getByRole('link', { name: idOf(created) }).click();
    await page.getByRole('heading', { name: 'Events that it caused' }).waitFor();
    await page.getByRole('link', { name: 'payment_intent.created' }).click();
    await page.getByText(created.json.id).first().waitFor();
    assert.deepEqual(complaints, []);
  },
);

browserTest('without scripts a link loads the list again', async () => {
  const visit = await signedIn(browser!, dashboard, developer, { javaScriptEnabled: false });
  await visit.page.goto(dashboard.address('requests'));
  const created = await create({}, 'quiet-1');
  await dashboard.service.until(async () => {
    const { body } = await developer.get(new URL(dashboard.address(`requests/${idOf(created)}`)).pathname);
    return body.includes('quiet-1') || undefined;
  });
  await visit.page.getByRole('link', { name: 'Refresh' }).click();
  await visit.page.getByRole('row').filter({ hasText: 'quiet-1' }).waitFor();
  assert.equal(await visit.page.getByRole('button', { name: 'Live' }).isVisible(), false);
  await visit.context.close();
});

/** Opens the stream of the list; reads it to its end. */
async function openTail(visitor: Visitor) {
  const response = await fetch(dashboard.address('requests/tail'), {
    headers: { cookie: visitor.cookie },
    redirect: 'manual',
  });
  return { response, text: response.text() };
}

test('a stream ends with its session, and each member has a few at a time', async () => {
  const visitor = await newMember(dashboard, 'developer', 'second@souk.ma');
  const tails = [];
  for (let i = 0; i < 4; i++) tails.push(await openTail(visitor));
  for (const { response } of tails) assert.equal(response.headers.get('content-type'), 'text/event-stream');
  assert.equal((await openTail(visitor)).response.status, 429);
  assert.equal((await openTail(developer)).response.status, 200);
  const signedOut = await visitor.submit(
    new URL(dashboard.address('home')).pathname,
    {},
    '/dashboard/sign-out',
  );
  assert.equal(signedOut.status, 303);
  // News make the stream look whether it may go on.
  await create({}, 'after-the-end');
  for (const { text } of tails) assert.ok(!(await text).includes('after-the-end'));
});

test('sixteen members of one organization with four streams each leave some to the others', async (context) => {
  const { id: org } = await newOrganization(dashboard.service, 'Crowd');
  const crowd = {
    ...dashboard,
    org,
    address: (path: string) => `${dashboard.service.url}/dashboard/${org}/test/${path}`,
  };
  const members = [];
  for (let i = 0; i < 16; i++) members.push(await newMember(crowd, 'developer', `crowd-${i}@souk.ma`));
  const leave = new AbortController();
  const open = async (of: typeof dashboard, path: string, visitor: Visitor) => {
    const headers = { cookie: visitor.cookie };
    const response = await fetch(of.address(path), { headers, redirect: 'manual', signal: leave.signal });
    return response.status;
  };
  const statuses = [];
  for (const member of members)
    for (let i = 0; i < 4; i++) statuses.push(await open(crowd, 'requests/tail', member));
  const admitted = statuses.filter((status) => status === 200).length;
  const other = await newMember(dashboard, 'developer', 'beside@souk.ma');
  const beside = await open(dashboard, 'requests/tail', other);
  leave.abort();
  context.diagnostic(`${admitted} of 64 streams of the crowd; the other organization's: ${beside}`);
  assert.equal(beside, 200);
  assert.equal(admitted, 16);
  assert.equal(statuses.at(-1), 429);
});

test('who may not see request logs gets no stream, and no other organization or mode is in it', async () => {
  const viewer = await newMember(dashboard, 'viewer');
  assert.equal((await openTail(viewer)).response.status, 403);
  const created = await create({}, 'of-test-mode');
  const path = (mode: 'test' | 'live') =>
    new URL(dashboard.address(`requests/${idOf(created)}`, mode)).pathname;
  await dashboard.service.until(async () => (await developer.get(path('test'))).status === 200 || undefined);
  assert.equal((await developer.get(path('live'))).status, 404);
  assert.equal((await viewer.get(path('test'))).status, 403);
});

test('a request is found by its id as soon as it was answered', async () => {
  const id = idOf(await create());
  const path = `/dashboard/${dashboard.org}/test/requests/${id}`;
  const { status, body } = await developer.get(path);
  assert.equal(status, 200, body);
  const older = id.replace(/^req_......../, 'req_00000000');
  assert.equal((await developer.get(path.replace(id, older))).status, 404);
});

test('a filter that makes no sense is told, and left out', async () => {
  const id = idOf(await create({}, 'odd-filters'));
  const told = async (path: string) => {
    const { pathname, search } = new URL(dashboard.address(path));
    const { status, body } = await developer.get(pathname + search);
    assert.equal(status, 200);
    const problems = /Choose one from the list|Give the day as YYYY-MM-DD|This day is before the first one/g;
    return { body, problems: [...new Set(body.match(problems))] };
  };
  await dashboard.service.until(async () => (await told('requests')).body.includes(id) || undefined);
  for (const [query, problem] of [
    ['status=700', 'Choose one from the list'],
    ['from=2026-13-01', 'Give the day as YYYY-MM-DD'],
    ['to=tomorrow', 'Give the day as YYYY-MM-DD'],
    ['from=2026-03-02&to=2026-03-01', 'This day is before the first one'],
  ]) {
    const { body, problems } = await told(`requests?${query}`);
    assert.deepEqual(problems, [problem], query);
    assert.ok(body.includes(id), query);
  }
  for (const fine of ['', '?status=418', '?from=2026-03-02&to=2026-03-02'])
    assert.deepEqual((await told(`requests${fine}`)).problems, [], fine);
  const reversed = await told('events?from=2026-03-02&to=2026-03-01');
  assert.deepEqual(reversed.problems, ['This day is before the first one']);
});
