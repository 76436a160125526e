// Signing up: an organization with its owner and its first keys, where the configuration lets anybody; how often, and from where.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { organizationsPerDayMax, signUp } from '../../src/directory/sign-up.ts';
import { directoryIn, folderOfDirectory } from '../directory/directories.ts';
import { browserTest, launchBrowser } from '../edge/checkout/browser.ts';
import { type Dashboard, password, startDashboard, type Visited, Visitor } from './fixture.ts';

const path = '/dashboard/sign-up';
let dashboard: Dashboard;
let browser: Browser | null;
before(async () => {
  const env = { PAYMENTS_SIGN_UP: 'open', PAYMENTS_PAGES_TRUSTED_PROXIES: '127.0.0.1' };
  dashboard = await startDashboard(env);
  browser = await launchBrowser();
});
after(async () => {
  await browser?.close();
  await dashboard.stop();
});

let addresses = 0;
/** Somebody with an address of their own. */
function somebody(address = `198.51.100.${++addresses}`) {
  const visitor = new Visitor(dashboard.service.url);
  const from = { 'x-forwarded-for': address };
  const send = async (fields: Record<string, string>): Promise<Visited> => {
    const page = await visitor.get(path, from);
    const hidden = [...page.body.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)];
    const sent = { organization: 'Atlas', email: 'sara@atlas.ma', password, ...fields };
    return visitor.post(
      path,
      { ...Object.fromEntries(hidden.map(([, name, value]) => [name!, value!])), ...sent },
      from,
    );
  };
  return { visitor, send };
}

const keyIn = ({ body }: Visited) => /\w*sk_test_\w+/.exec(body)?.[0] ?? '';

test('a stranger signs up: the keys are shown once and work in test mode, live mode waits, the password signs in', async () => {
  const { visitor, send } = somebody();
  const made = await send({ email: 'Amina@Souk.ma ', organization: 'Café <b>Amina</b>' });
  assert.equal(made.status, 200, made.body);
  assert.match(made.body, /Café &lt;b&gt;Amina&lt;\/b&gt;: all is ready/);
  const key = keyIn(made);
  const { service } = dashboard;
  const body = { amount: 12_000, currency: 'mad' };
  const paid = await service.call('/v1/payment_intents', { key, idempotencyKey: 'first', body });
  assert.equal(paid.status, 200);
  assert.doesNotMatch(made.body, /sk_live/);

  const home = await visitor.get('/dashboard');
  assert.match(home.location, /^\/dashboard\/org_\w+\/test\/home$/, 'and is signed in');
  assert.doesNotMatch((await visitor.get(home.location.replace('home', 'keys'))).body, new RegExp(key));
  const again = new Visitor(service.url);
  const signedIn = await again.submit('/dashboard/sign-in', { email: 'amina@souk.ma', password });
  assert.equal(signedIn.status, 303);
  assert.ok((await visitor.get(path)).status === 303, 'who is signed in needs no account');
});

const wrong: [string, Record<string, string>, RegExp][] = [
  ['no name', { organization: ' ' }, /name of your shop/],
  ['an invisible name', { organization: 'a\u202eb' }, /name of your shop/],
  ['no address', { email: 'nobody' }, /Enter an e-mail address/],
  ['a weak password', { password: 'short' }, /too short/],
];
for (const [name, fields, says] of wrong) {
  test(`${name}: nothing is made, and the form says why`, async () => {
    const { send, visitor } = somebody();
    const refused = await send(fields);
    assert.equal(refused.status, 400);
    assert.match(refused.body, says);
    assert.match((await visitor.get('/dashboard')).location, /sign-in/);
  });
}

test('an address that has an account makes no second one; of two at the same time one is made', async () => {
  const both = await Promise.all([1, 2].map(() => somebody().send({ email: 'twice@atlas.ma' })));
  assert.deepEqual(both.map(({ status }) => status).sort(), [200, 400]);
  const third = await somebody().send({ email: 'twice@atlas.ma' });
  assert.deepEqual([third.status, keyIn(third)], [400, '']);
  assert.match(third.body, /account with this address already/);
});

test('an address of the network signs up five times an hour, others go on', async () => {
  const statuses: number[] = [];
  for (let i = 0; i < 7; i++) {
    const made = await somebody('203.0.113.7').send({ email: `crowd-${i}@atlas.ma` });
    statuses.push(made.status);
  }
  assert.deepEqual(statuses.slice(0, 5), [200, 200, 200, 200, 200]);
  assert.equal(statuses.at(-1), 429);
  assert.equal((await somebody().send({ email: 'other@atlas.ma' })).status, 200);
});

test('a form of another site makes nothing', async () => {
  const { visitor } = somebody();
  const fields = { organization: 'Atlas', email: 'forged@atlas.ma', password };
  assert.equal((await visitor.post(path, fields)).status, 403);
});

test('in a day there are only so many', async () => {
  const directory = directoryIn(await folderOfDirectory(), Date.now);
  const hash = { salt: '', hash: '', cost: { N: 1, r: 1, p: 1 } };
  const make = (i: number) =>
    signUp(directory, { organization: 'Atlas', email: `a${i}@atlas.ma`, password: hash });
  for (let i = 0; i < organizationsPerDayMax; i++) await make(i);
  await assert.rejects(make(-1), { code: 'too_many_sign_ups' });
  await directory.closeStore();
});

test('two who sign up with an address at the same time leave one organization', async () => {
  const directory = directoryIn(await folderOfDirectory(), Date.now);
  const password = { salt: '', hash: '', cost: { N: 1, r: 1, p: 1 } };
  const make = () => signUp(directory, { organization: 'Atlas', email: 'a@atlas.ma', password });
  const both = await Promise.allSettled([make(), make()]);
  assert.deepEqual(both.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
  assert.equal(directory.organizations().length, 1);
  assert.equal(directory.members.all().length, 1);
  await directory.closeStore();
});

test('closed, there is no such page, and the sign-in page does not lead to it', async (t) => {
  const closed = await startDashboard();
  t.after(() => closed.stop());
  const visitor = new Visitor(closed.service.url);
  assert.equal((await visitor.get(path)).status, 404);
  assert.equal((await visitor.post(path, { email: 'a@b.ma' })).status, 404);
  assert.doesNotMatch((await visitor.get('/dashboard/sign-in')).body, /sign-up/);
});

browserTest('without scripts, in French: from the sign-in page to the first keys', async () => {
  const context = await browser!.newContext({ locale: 'fr', javaScriptEnabled: false });
  context.setDefaultTimeout(15_000);
  const page = await context.newPage();
  await page.goto(`${dashboard.service.url}/dashboard/sign-in?lang=fr`);
  await page.getByRole('link', { name: 'Créer un compte' }).click();
  await page.getByLabel('Nom de votre boutique').fill('Riad Zitoun');
  await page.getByLabel(/e-mail/).fill('riad@zitoun.ma');
  await page.getByLabel(/mot de passe/i).fill(password);
  await page.getByRole('button', { name: 'Créer un compte' }).click();
  assert.equal(await page.getByRole('heading', { level: 1 }).textContent(), 'Riad Zitoun : tout est prêt');
  assert.match((await page.textContent('main'))!, /sk_test_\w+/);
  if (process.env.SCREENSHOTS) await page.screenshot({ path: `${process.env.SCREENSHOTS}/signed-up.png` });
  await page.getByRole('link', { name: 'Ouvrir le tableau de bord' }).click();
  assert.match(page.url(), /\/test\/home$/);
  await context.close();
});
