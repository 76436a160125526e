// Signing up where mails are sent: the address is confirmed first, and nobody is told who has an account.

import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { newSecretsKey, SecretBox } from '../../src/crypto/secret-box.ts';
import { mailSignUp } from '../../src/dashboard/people/sign-up-mail.ts';
import { organizationsPerDayMax } from '../../src/directory/sign-up.ts';
import { MailOutbox, mailsPerDay } from '../../src/mail/outbox.ts';
import { directoryIn, folderOfDirectory } from '../directory/directories.ts';
import { createManualClock } from '../manual-clock.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { type Dashboard, password, startDashboard, type Visited, Visitor } from './fixture.ts';

const path = '/dashboard/sign-up';
const mails = join(temporaryFolder(), 'mails');
let dashboard: Dashboard;
before(async () => {
  dashboard = await startDashboard({
    PAYMENTS_SIGN_UP: 'open',
    PAYMENTS_PAGES_TRUSTED_PROXIES: '127.0.0.1',
    PAYMENTS_MAIL_URL: pathToFileURL(mails).href,
    PAYMENTS_MAIL_FROM: 'pay@souk.ma',
  });
});
after(() => dashboard.stop());

let addresses = 0;
/** Somebody with an address of their own sends a form of a page, with its hidden fields. */
async function send(page: string, fields: Record<string, string>): Promise<[Visited, Visitor]> {
  const visitor = new Visitor(dashboard.service.url);
  const from = { 'x-forwarded-for': `198.51.100.${++addresses}` };
  const shown = (await visitor.get(page, from)).body;
  const hidden = [...shown.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)];
  const all = { ...Object.fromEntries(hidden.map(([, name, value]) => [name!, value!])), ...fields };
  return [await visitor.post(page, all, from), visitor];
}

const ask = async (email: string, organization = 'Atlas') => (await send(path, { email, organization }))[0];

/** The mails to an address. */
function mailsTo(email: string): string[] {
  const texts = existsSync(mails)
    ? readdirSync(mails).map((file) => readFileSync(join(mails, file), 'utf8').replaceAll('\r', ''))
    : [];
  return texts.filter((text) => text.includes(`To: ${email}\n`)).map((text) => text.replaceAll('=\n', ''));
}

async function linkTo(email: string): Promise<string> {
  return dashboard.service.until(
    () => mailsTo(email).map((text) => /\/dashboard\/invite\/\S+/.exec(text)?.[0])[0],
  );
}

async function organizations(): Promise<number> {
  return (await dashboard.service.operate<unknown[]>('org.list', {})).length;
}

test('nothing is made before the link of the mail is used, which works once and asks for the password', async () => {
  const before = await organizations();
  const asked = await ask('Amina@Souk.ma ', 'Win at evil.example');
  assert.equal(asked.status, 200, asked.body);
  assert.match(asked.body, /Check your mailbox/);
  assert.doesNotMatch(asked.body, /sk_test/);
  const link = await linkTo('amina@souk.ma');
  assert.doesNotMatch(
    mailsTo('amina@souk.ma').join(),
    /evil/,
    'strangers are mailed nothing that strangers write',
  );
  const form = await new Visitor(dashboard.service.url).get(link);
  assert.match(form.body, /Win at evil\.example/, 'the page says for what');
  assert.equal(await organizations(), before, 'looking at it makes nothing');
  const [weak] = await send(link, { password: 'short' });
  assert.deepEqual([weak.status, await organizations()], [400, before]);
  const [[made, visitor], [other]] = await Promise.all([send(link, { password }), send(link, { password })]);
  const [won, lost] = made.status === 200 ? [made, other] : [other, made];
  assert.deepEqual([won.status, lost.status >= 400, await organizations()], [200, true, before + 1]);
  const key = /\w*sk_test_\w+/.exec(won.body)![0];
  const body = { amount: 12_000, currency: 'mad' };
  const { status } = await dashboard.service.call('/v1/payment_intents', {
    key,
    idempotencyKey: 'first',
    body,
  });
  assert.equal(status, 200);
  if (won === made) assert.match((await visitor.get('/dashboard')).location, /\/test\/home$/, 'signed in');
  assert.equal((await send(link, { password }))[0].status, 404, 'used up');
  const signedIn = await new Visitor(dashboard.service.url).submit('/dashboard/sign-in', {
    email: 'amina@souk.ma',
    password,
  });
  assert.equal(signedIn.status, 303);
  assert.ok(!dashboard.service.output().includes(link), 'no link in the log');
});

test('an address with an account gets the same answer, and a mail that says so', async () => {
  const { service, org } = dashboard;
  const email = 'known@souk.ma';
  const { link } = await service.operate<{ link: string }>('member.invite', { org, email, role: 'viewer' });
  await send(new URL(link).pathname, { name: 'K', password });
  const before = await organizations();
  const [known, unknown] = [await ask(email), await ask('fresh@souk.ma')];
  const masked = ({ status, body }: Visited) =>
    [status, body.replaceAll(/known@souk\.ma|fresh@souk\.ma/g, '')] as const;
  assert.deepEqual(masked(known), masked(unknown));
  await service.until(() => mailsTo(email).find((text) => text.includes('which has one already')));
  assert.ok(
    !mailsTo(email)
      .join()
      .includes(`${path.replace('sign-up', 'invite')}/`) || mailsTo(email).length > 1,
  );
  assert.equal(await organizations(), before);
});

const wrong: [string, Record<string, string>, RegExp][] = [
  ['no name', { organization: ' ' }, /name of your shop/],
  ['no address', { email: 'nobody' }, /Enter an e-mail address/],
  ['an address with a line end', { email: 'a@b.ma\r\nBcc: c@d.ma' }, /Enter an e-mail address/],
];
for (const [name, fields, says] of wrong) {
  test(`${name}: nothing is mailed, and the form says why`, async () => {
    const [refused] = await send(path, { organization: 'Atlas', email: 'sara@atlas.ma', ...fields });
    assert.equal(refused.status, 400);
    assert.match(refused.body, says);
  });
}

async function newDirectory() {
  const clock = createManualClock(1_793_491_200_000);
  const directory = directoryIn(await folderOfDirectory(), clock.now);
  const mail = new MailOutbox(directory.store, new SecretBox([newSecretsKey()]));
  const options = { directory, baseUrl: 'https://pay.ma', mail, language: 'fr' as const };
  const ask = (email: string) => mailSignUp(options, { organization: 'Atlas', email });
  return { clock, directory, mail, ask };
}

test('an address gets two mails in a day, known or not, and the last link goes on working', async () => {
  const { clock, directory, mail, ask } = await newDirectory();
  const { organization } = await directory.createOrganization('Souk', []);
  await directory.members.create('known@souk.ma', 'K', null, { [organization.id]: 'owner' });
  for (const email of ['known@souk.ma', 'fresh@souk.ma']) for (let i = 0; i < 5; i++) await ask(email);
  const to = (email: string) => mail.waiting().filter((each) => each.to === email);
  assert.deepEqual([to('known@souk.ma').length, to('fresh@souk.ma').length], [2, 2]);
  const open = to('fresh@souk.ma').filter(({ link }) => directory.links.isOpen(link!));
  assert.equal(open.length, 1, 'each link takes the place of the one before');
  clock.advance(86_400_000);
  assert.ok(!directory.links.isOpen(open[0]!.link!), 'it ends after a day');
  await directory.closeStore();
});

test('a crowd that signs up has so many mails in a day, and leaves those of others alone', async () => {
  const { directory, mail, ask } = await newDirectory();
  for (let i = 0; i < mailsPerDay.sign_up.all + 3; i++) await ask(`c${i}@crowd.ma`);
  assert.equal(mail.waiting().length, mailsPerDay.sign_up.all);
  const { organization } = await directory.createOrganization('Souk', []);
  const about = { org: organization.id, isNewcomer: false, kind: 'link', link: 'd', expiresMs: 0 } as const;
  assert.ok(mail.plan([{ to: 'c0@crowd.ma', subject: '', text: '' }], about) !== null);
  assert.equal(directory.links.invitationsOf(organization.id).length, 0);
  await directory.closeStore();
});

test('when nobody can sign up, nobody is mailed', async () => {
  const { directory, mail, ask } = await newDirectory();
  for (let i = 0; i < organizationsPerDayMax; i++) await directory.createOrganization(`Shop ${i}`, []);
  await assert.rejects(ask('sara@atlas.ma'), { code: 'too_many_sign_ups' });
  assert.equal(mail.waiting().length, 0);
  await directory.closeStore();
});
