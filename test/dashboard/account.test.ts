// The member's own account: two-step sign-in with an authenticator app and recovery codes, a new password, sessions, and the
// password again before what needs it.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Secret, TOTP } from 'otpauth';
import { type Dashboard, hiddenFields, newMember, password, startDashboard, Visitor } from './fixture.ts';

let dashboard: Dashboard;
let member: Visitor;
before(async () => {
  dashboard = await startDashboard();
  member = await newMember(dashboard, 'owner');
});
after(() => dashboard?.stop());

const me = '/dashboard/me';
const signIn = '/dashboard/sign-in';
const email = 'owner@souk.ma';

/** The code that an app shows now, or some steps of 30 seconds later. */
function codeOf(secret: string, steps = 0): string {
  return new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: Date.now() + steps * 30_000 });
}

/** The first step of a sign-in. */
async function withPassword(secret = password) {
  const visitor = new Visitor(dashboard.service.url);
  const answer = await visitor.submit(signIn, { email, password: secret });
  const pending = hiddenFields(answer.body, `${signIn}/code`);
  return { visitor, answer, code: (code: string) => visitor.post(`${signIn}/code`, { ...pending, code }) };
}

/** As Arabic keyboards write digits. */
const inArabic = (code: string) => code.replace(/\d/g, (digit) => String.fromCharCode(0x660 + Number(digit)));

let secret = '';
let recovery: string[] = [];

test('an authenticator app is turned on with a code of it, and recovery codes are shown once', async () => {
  const page = await member.get(`${me}/two-step`);
  secret = /data-copy="([A-Z2-7]{32})"/.exec(page.body)![1]!;
  const fields = hiddenFields(page.body, `${me}/two-step`);
  const wrong = await member.post(`${me}/two-step`, { ...fields, code: '000000' });
  assert.equal(wrong.status, 400);
  assert.ok(wrong.body.includes(secret), 'the same secret is shown again');
  const right = await member.post(`${me}/two-step`, { ...fields, code: inArabic(codeOf(secret, -1)) });
  assert.equal(right.status, 200, right.body);
  recovery = right.body.match(/\b[0-9a-f]{4}(-[0-9a-f]{4}){3}\b/g)!;
  assert.equal(recovery.length, 10);
  assert.ok(!dashboard.service.output().includes(secret));
});

test('a sign-in then needs a code, which works once', async () => {
  const first = await withPassword();
  assert.match(first.answer.body, /Enter the code/);
  assert.equal((await first.visitor.get(me)).status, 303, 'the password alone opens nothing');
  assert.equal((await first.code('123456')).status, 400);
  const code = codeOf(secret);
  assert.equal((await first.code(code)).status, 303);
  assert.equal((await first.visitor.get(me)).status, 200);
  const second = await withPassword();
  assert.equal((await second.code(code)).status, 400, 'the code was used');
  assert.equal((await second.code(inArabic(codeOf(secret, 1)))).status, 303);
});

test('a recovery code signs in once, also without its hyphens', async () => {
  const [code = ''] = recovery;
  const first = await withPassword();
  assert.equal((await first.code(code.replaceAll('-', '').toUpperCase())).status, 303);
  const second = await withPassword();
  assert.equal((await second.code(code)).status, 400);
  assert.match((await first.visitor.get(me)).body, /Recovery codes left: 9/);
});

test('a form between the steps that was changed or belongs to another browser does nothing', async () => {
  const { answer } = await withPassword();
  const pending = hiddenFields(answer.body, `${signIn}/code`);
  const code = codeOf(secret, 1);
  const other = new Visitor(dashboard.service.url);
  assert.equal((await other.post(`${signIn}/code`, { ...pending, code })).status, 403);
  const { visitor } = await withPassword();
  const own = hiddenFields((await visitor.submit(signIn, { email, password })).body, `${signIn}/code`);
  const changed = await visitor.post(`${signIn}/code`, { ...own, pending: `${own.pending}x`, code });
  assert.equal(changed.location, signIn);
});

test('a new password needs the old one, and ends all other sessions', async () => {
  const fresh = 'seven quiet lemons under the bridge';
  const other = await withPassword();
  await other.code(recovery[1]!);
  assert.equal((await other.visitor.get(me)).status, 200);
  const action = `${me}/password`;
  const refused = await member.submit(me, { current: 'not it', password: fresh }, action);
  assert.match(refused.body, /The password is wrong/);
  const before = member.cookie;
  assert.equal((await member.submit(me, { current: password, password: fresh }, action)).status, 303);
  assert.equal((await other.visitor.get(me)).status, 303);
  assert.notEqual(member.cookie, before, 'the session has another token');
  assert.equal((await new Visitor(dashboard.service.url).get(me, { cookie: before })).status, 303);
  assert.equal((await withPassword()).answer.status, 400);
  assert.match((await withPassword(fresh)).answer.body, /Enter the code/);
});

test('an operator’s link chooses a new password, and forgets the app and the sessions', async () => {
  const { service, org } = dashboard;
  const { link } = await service.operate<{ link: string }>('member.reset', { member: email });
  const visitor = new Visitor(service.url);
  const path = new URL(link).pathname;
  assert.equal((await visitor.submit(path, { password: 'another quiet lemon in the bridge' })).status, 303);
  assert.equal((await visitor.get(me)).status, 200);
  assert.equal((await member.get(me)).status, 303);
  const [listed] = await service.operate<{ two_step: boolean }[]>('member.list', { org });
  assert.equal(listed!.two_step, false);
  await service.operate('member.end-sessions', { member: email });
  assert.equal((await visitor.get(me)).status, 303);
});

test('the owner of the first start is asked for a password, and comes back with it', async () => {
  const { service } = dashboard;
  const owner = new Visitor(service.url);
  const entered = await owner.submit(/\/dashboard\/invite\/[\w-]+/.exec(service.output())![0], {});
  const { location: home } = await owner.get(entered.location);
  assert.match((await owner.get(home)).body, /no password yet.+href="\/dashboard\/me">Choose a password/s);
  const saved = await owner.submit('/dashboard/me', { password }, '/dashboard/me/password');
  assert.equal(saved.status, 303);
  assert.doesNotMatch((await owner.get(home)).body, /no password yet/);
  const again = new Visitor(service.url);
  assert.match((await again.get('/dashboard/sign-in')).body, /payments member reset/);
  const signedIn = await again.submit('/dashboard/sign-in', { email: 'owner@example.com', password });
  assert.equal(signedIn.status, 303);
});
