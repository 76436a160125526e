// Guesses at credentials: what they leave in memory, whose they count as, and what becomes of one that is right when the password
// is changed before it is found to be.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Incoming } from '../../src/dashboard/layout/row.ts';
import type { OpenRequest } from '../../src/dashboard/people/fields.ts';
import { Passwords, passwordCharactersMax, weaknessOf } from '../../src/dashboard/people/password.ts';
import { People, type PeopleOptions, untried } from '../../src/dashboard/people/people.ts';
import { answerPublicRoute } from '../../src/dashboard/people/public-routes.ts';
import { signInWithCode } from '../../src/dashboard/people/sign-in.ts';
import { waitingMember } from '../../src/dashboard/people/turns.ts';
import type { Session } from '../../src/directory/sessions.ts';
import { directoryIn, folderOfDirectory } from '../directory/directories.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

function heapUsed(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

function newPeople(more: Partial<PeopleOptions> = {}): People {
  return new People({
    ...more,
    secure: false,
    hashCost: 10,
    monotonic: () => 0,
    randomBytes: (size) => Buffer.alloc(size),
    onRefusedSignIn: () => {},
  } as Partial<PeopleOptions> as PeopleOptions);
}

const from = (network: string, site = network) =>
  ({ client: network, visitor: { network, site } }) as Incoming;

test('a password is compared with as much of an e-mail address and a name as an account can have', () => {
  const password = 'violet-harbour-92';
  const weakness = (email: string, name: string) => weaknessOf(password, { email, name });
  assert.equal(weakness('violet@harbour', 'Amina'), 'password_personal');
  assert.equal(weakness('a@b', 'Violet Harbour'), 'password_personal');
  assert.equal(weakness(`${'abc@'.repeat(63)}violet@harbour`, 'Amina'), null);
  assert.equal(weakness('a@b', `${'Amina '.repeat(50)}Violet Harbour`), null);
});

test('a password of the most characters is right, also when each of them takes two units of UTF-16', async () => {
  const passwords = new Passwords(10);
  const somebody = waitingMember({ gone: new AbortController().signal }, 'mem_1');
  for (const character of ['x', '😀']) {
    const password = character.repeat(passwordCharactersMax);
    const stored = await passwords.hash(password, somebody);
    const isRight = (typed: string) => passwords.isRight(typed, stored, somebody);
    assert.equal(await isRight(password), true, character);
    assert.equal(await isRight(password.slice(0, -character.length)), false);
  }
});

test('a guess leaves as little in memory whatever was typed as the account', async () => {
  const people = newPeople();
  const guess = (i: number) => {
    const typed = Buffer.alloc(100_000, 'a').toString('latin1') + i;
    return people.tryGuess(from(`visitor ${i}`), `password ${typed}`, async () => null);
  };
  const before = heapUsed();
  for (let i = 0; i < 500; i++) assert.equal(await guess(i), null);
  const kept = heapUsed() - before;
  assert.ok(kept < 5_000_000, `${kept} bytes are kept of 50 MB`);
  // What was typed counts whole: one with the same beginning is another account.
  assert.equal(await guess(500), null);
});

test('the networks of an IPv6 site count together, too, for four times as many', async () => {
  const people = newPeople();
  const guess = (site: string, i: number) =>
    people.tryGuess(from(`${site}:${i}::/64`, `${site}::/48`), `password ${site} ${i}`, async () => null);
  let tried = 0;
  for (let i = 0; i < 200; i++) if ((await guess('2001:db8:7', i)) === null) tried++;
  // Eighty in a quarter of an hour, and a sixth of it on top.
  assert.equal(tried, 93);
  assert.equal(await guess('2001:db8:8', 0), null);
});

test('a guess that did not get its turn counts for who made it, and not for the account', async () => {
  const people = newPeople();
  for (let i = 0; i < 23; i++) {
    const refused = await people.tryGuess(from('192.0.2.1'), 'password a', async () => untried);
    assert.deepEqual(refused, { waitSeconds: 5 });
  }
  const next = await people.tryGuess(from('192.0.2.1'), 'password b', async () => null);
  assert.deepEqual(next, { waitSeconds: 45 });
  assert.equal(await people.tryGuess(from('192.0.2.2'), 'password a', async () => null), null);
});

const hashOf = (hash: string) => ({ salt: '', hash, cost: { N: 1024, r: 8, p: 1 } });

/**
 * A member with an old password and a session, and people who find each password right and hash each after the victim has reset it
 * and signed in with the new one.
 */
async function resetMeanwhile(t: TestContext) {
  const directory = directoryIn(await folderOfDirectory(), () => 1_793_491_200_000);
  t.after(() => directory.closeStore());
  const { id: org } = (await directory.createOrganization('Souk', [])).organization;
  const sessionLimits = { idleMs: 1_000, absoluteMs: 1_000 };
  const audit = { record: (_by, _action, _params, run) => run() } as PeopleOptions['audit'];
  const people = newPeople({ directory, sessionLimits, audit });
  const { id } = await directory.members.create('amina@souk.ma', 'Amina', hashOf('old'), { [org]: 'owner' });
  const open = () => directory.sessions.open(id, '192.0.2.1', sessionLimits);
  const stolen = await open();
  let own: Session | null = null;
  const reset = async () => {
    await directory.members.change(id, (each) => ({ ...each, password: hashOf('new'), totp: null }));
    await directory.sessions.endAll(id);
    own = (await open()).session;
  };
  people.passwords.isRight = async () => {
    if (own === null) await reset();
    return true;
  };
  people.passwords.hash = async () => {
    if (own === null) await reset();
    return hashOf('stolen');
  };
  const send = async (path: string, fields: Record<string, string>, cookie: string) => {
    const answer = await answerPublicRoute(
      {
        ...from('192.0.2.1'),
        method: 'POST',
        address: `/dashboard${path}`,
        prefix: '',
        language: 'en',
        query: new URLSearchParams(),
        problems: {},
        secFetchSite: '',
        cookie,
        form: new URLSearchParams(fields),
        isRepeated: false,
        gone: new AbortController().signal,
      } as Partial<Incoming> as Incoming,
      people,
    );
    assert.ok(answer?.kind === 'page');
    const headers = new Headers(answer.headers.map(([name, value]): [string, string] => [name, value]));
    return { status: answer.status, location: headers.get('location'), cookie: headers.get('set-cookie') };
  };
  const left = () => ({
    password: directory.members.find(id)?.password?.hash,
    sessions: directory.sessions.of(id).map((session) => session.id),
  });
  return { people, stolen, send, left, own: () => own?.id };
}

test('a sign-in with the old password opens nothing once the password was reset', async (t) => {
  const { people, send, left, own } = await resetMeanwhile(t);
  people.guard.accepts = () => true;
  const answer = await send('/sign-in', { email: 'amina@souk.ma', password: 'old' }, '');
  assert.deepEqual([answer.status, answer.cookie], [303, null]);
  assert.deepEqual(left(), { password: 'new', sessions: [own()] });
});

for (const way of ['the account’s page', 'a link'])
  test(`a new password by ${way} ends the sessions of who knew the old one in its own commit`, async (t) => {
    const { people, stolen, send, left } = await resetMeanwhile(t);
    const { directory } = people;
    people.guard.accepts = () => true;
    people.passwords.isRight = async () => true;
    people.passwords.hash = async () => hashOf('new');
    const reset = await directory.links.create('amina@souk.ma', { kind: 'reset' }, 'operator');
    const { member } = stolen.session;
    const own = await directory.sessions.open(member, '192.0.2.1', { idleMs: 1_000, absoluteMs: 1_000 });
    const after: unknown[] = [];
    directory.store.onChange(() => {
      const sessions = [...directory.store.values<Session>('session/')].map(({ id }) => id);
      after.push({ ...left(), onDisk: sessions, links: [...directory.store.values('link/')].length });
    });
    const fields = { password: 'seven quiet lemons', current: 'old', form_key: own.session.formKey };
    const path = way === 'a link' ? `/invite/${reset.token}` : '/me/password';
    const answer = await send(path, fields, people.cookies.setSession(own.token));
    assert.equal(answer.status, 303);
    const sessions = way === 'a link' ? [] : [own.session.id];
    assert.deepEqual(after, [{ password: 'new', sessions, onDisk: sessions, links: 0 }]);
  });

test('an account is the same one however its address is typed', async (t) => {
  const { people, send } = await resetMeanwhile(t);
  people.guard.accepts = () => true;
  const accounts = new Set<string>();
  people.tryGuess = async (_, account) => {
    accounts.add(account);
    return null;
  };
  for (const email of ['amina@souk.ma', ' Amina@SOUK.ma\t'])
    await send('/sign-in', { email, password: 'old' }, '');
  assert.equal(accounts.size, 1);
});

test('who signs in again has the new session alone', async (t) => {
  const { people, stolen, send, left } = await resetMeanwhile(t);
  people.guard.accepts = () => true;
  people.passwords.isRight = async () => true;
  const before = people.cookies.setSession(stolen.token);
  const answer = await send('/sign-in', { email: 'amina@souk.ma', password: 'old' }, before);
  assert.equal(answer.status, 303);
  const { sessions } = left();
  assert.equal(sessions.length, 1);
  assert.notEqual(sessions[0], stolen.session.id);
});

test('the second step of a sign-in is over after its time', async () => {
  let nowMs = 0;
  const directory = { store: { now: () => nowMs }, members: { find: () => ({ password: null }) } };
  const secrets = { seal: (text: string) => text, open: (text: string) => text };
  const people = newPeople({ directory: directory as never, secrets });
  people.guard.accepts = () => true;
  people.signIn = async () => [];
  people.tryGuess = async () => ({ right: true }) as never;
  const pending = JSON.stringify({ member: 'mem_1', password: '', untilMs: 1_000, next: '/dashboard/home' });
  for (const [atMs, location] of [
    [999, '/dashboard/home'],
    [1_000, '/dashboard/sign-in'],
  ] as const) {
    nowMs = atMs;
    const form = new URLSearchParams({ pending, code: '123456' });
    const request = { ...from('192.0.2.1'), form, prefix: '', query: new URLSearchParams() };
    const answer = await signInWithCode(request as unknown as OpenRequest, people);
    assert.ok(answer.kind === 'page');
    assert.equal(new Map(answer.headers).get('location'), location);
  }
});

test('a closed organization is not among those of its members', () => {
  const findOrganization = (id: string) => ({ id, name: id, status: id === 'org_b' ? 'closed' : 'active' });
  const people = newPeople({ directory: { findOrganization } as never });
  const member = { roles: { org_c: 'owner', org_b: 'owner', org_a: 'viewer' } };
  const shown = people.organizationsOf(member as never).map(({ id }) => id);
  assert.deepEqual(shown, ['org_a', 'org_c']);
});

test('a change with the old password, or of the account, does nothing once the password was reset', async (t) => {
  for (const [path, fields] of [
    ['/me/password', { current: 'old', password: 'seven quiet lemons under the bridge' }],
    ['/me/name', { name: 'Mallory' }],
  ] as const) {
    const { people, stolen, send, left, own } = await resetMeanwhile(t);
    const cookie = people.cookies.setSession(stolen.token);
    // The request came before the reset, and whatever it waits for comes after it.
    if (path === '/me/name')
      people.act = async (...given) => {
        await people.passwords.isRight('', null, {
          kind: 'member',
          who: '',
          gone: new AbortController().signal,
        });
        return given[3]();
      };
    const answer = await send(path, { ...fields, form_key: stolen.session.formKey }, cookie);
    assert.deepEqual([answer.status, answer.location], [303, '/dashboard/sign-in'], path);
    assert.deepEqual(left(), { password: 'new', sessions: [own()] }, path);
    assert.equal(people.directory.members.all()[0]?.name, 'Amina');
  }
});
