// The page of an invitation in each language, and a service in production that can't send mails: what it says at its start, and
// how people get their links and keys all the same.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { newSecretsKey } from '../../src/crypto/secret-box.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { type Dashboard, invite, newMember, password, startDashboard, Visitor } from './fixture.ts';

let dashboard: Dashboard;
before(async () => {
  const keyFile = join(temporaryFolder(), 'secrets-key');
  writeFileSync(keyFile, newSecretsKey(), { mode: 0o600 });
  dashboard = await startDashboard({
    NODE_ENV: 'production',
    PAYMENTS_SECRETS_KEY_FILE: keyFile,
    PAYMENTS_BASE_URL: 'https://pay.souk.ma',
    PAYMENTS_SIGN_UP: 'open',
  });
});
after(() => dashboard.stop());

/** The page as a visitor sees it who has chosen a language. */
async function shownIn(language: string, path: string) {
  const visitor = new Visitor(dashboard.service.url);
  await visitor.get(`${path}?lang=${language}`);
  return visitor.get(path);
}

/** What the page shows, without its tags. */
const textOf = (body: string) =>
  body
    .replaceAll(/<(script|style)\b.*?<\/\1>/gs, '')
    .replaceAll(/<[^>]+>/g, ' ')
    // Marks that keep names in another script together.
    .replaceAll(/[\u2068\u2069]/g, '')
    .replaceAll(/\s+/g, ' ');

test('an invitation says who is invited to what, and in which role, in each language', async () => {
  const path = await invite(dashboard, 'hind@souk.ma', 'support');
  for (const [language, direction, texts] of [
    [
      'en',
      'ltr',
      ['Join Souk', 'You were invited as hind@souk.ma. Your role will be: Support.', 'sign in first:'],
    ],
    ['fr', 'ltr', ['Rejoindre Souk', 'Vous êtes invité en tant que hind@souk.ma.', 'connectez-vous d’abord']],
    ['ar', 'rtl', ['الانضمام إلى Souk', 'hind@souk.ma', 'فسجّل الدخول أولًا']],
  ] as const) {
    const { status, body } = await shownIn(language, path);
    assert.equal(status, 200, body);
    assert.match(body, new RegExp(`<html lang="${language}" dir="${direction}"`));
    for (const text of texts) assert.ok(textOf(body).includes(text), `${text} in ${textOf(body)}`);
  }
  const weak = await new Visitor(dashboard.service.url).submit(path, { name: 'Hind', password: 'short' });
  assert.equal(weak.status, 400);
  const used = new Visitor(dashboard.service.url);
  assert.equal((await used.submit(path, { name: 'Hind', password })).status, 303);
  for (const [language, text] of [
    ['en', 'This link has expired or was used'],
    ['fr', 'Ce lien n’est plus valable'],
    ['ar', 'هذا الرابط لم يعد صالحًا'],
  ] as const) {
    const { status, body } = await shownIn(language, path);
    assert.deepEqual([status, textOf(body).includes(text)], [404, true], textOf(body));
  }
});

test('in production without SMTP the start says that no mails are sent, and no page promises one', async () => {
  const { service, org } = dashboard;
  assert.match(service.output(), /no mails are sent, because PAYMENTS_MAIL_URL is not set/);
  const checks = await service.operate<{ name: string }[]>('doctor', {});
  assert.ok(
    checks.every(({ name }) => name !== 'mail'),
    'what is not wanted is not wrong',
  );
  assert.equal((await service.operate<{ mails: unknown }>('status', {})).mails, null);

  const owner = await newMember(dashboard, 'owner');
  const members = `/dashboard/${org}/test/members`;
  const { body } = await owner.submit(members, { email: 'new@souk.ma', role: 'viewer' });
  assert.match(textOf(body), /Give this link to new@souk\.ma alone\./);
  assert.match(body, /https:\/\/pay\.souk\.ma\/dashboard\/invite\/[\w-]+/);
  assert.doesNotMatch(textOf(body), /by e-mail/);

  const signUp = '/dashboard/sign-up';
  const visitor = new Visitor(service.url);
  const form = await visitor.get(signUp);
  assert.match(form.body, /type="password"/, 'the password is chosen at once');
  const made = await visitor.submit(signUp, { organization: 'Atlas', email: 'amina@atlas.ma', password });
  assert.equal(made.status, 200, textOf(made.body));
  assert.match(made.body, /svc_sk_test_\w+/);
  assert.doesNotMatch(textOf(made.body), /mailbox/);
  const signIn = await new Visitor(service.url).get('/dashboard/sign-in');
  assert.match(textOf(signIn.body), /payments member reset/, 'who lost a password is told whom to ask');
});
