// What is left to people who may do less than before: members who were removed or have another role, those of a suspended
// organization, and those whose sessions an owner has ended. One organization acts against another.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Dashboard, invite, newMember, password, startDashboard, Visitor } from './fixture.ts';

let dashboard: Dashboard;
let owner: Visitor;
before(async () => {
  dashboard = await startDashboard();
  owner = await newMember(dashboard, 'owner');
});
after(() => dashboard.stop());

const pathTo = (path: string) => `/dashboard/${dashboard.org}/test/${path}`;

/** An invitation that a member makes, as a path. */
async function invitationBy(member: Visitor, email: string): Promise<string> {
  const { status, body } = await member.submit(pathTo('members'), { email, role: 'owner' });
  assert.equal(status, 200, body);
  return new URL(/<code[^>]*>(http[^<]+)<\/code>/.exec(body)![1]!).pathname;
}

async function memberId(email: string): Promise<string> {
  type Members = { id: string; email: string }[];
  const members = await dashboard.service.operate<Members>('member.list', { org: dashboard.org });
  return members.find((each) => each.email === email)!.id;
}

async function opens(path: string): Promise<boolean> {
  return (await new Visitor(dashboard.service.url).get(path)).status === 200;
}

describe('who leaves', () => {
  test('does not come back by an invitation made before, and the keys that were seen are listed', async () => {
    const leaving = await newMember(dashboard, 'owner', 'leaving@souk.ma');
    const id = await memberId('leaving@souk.ma');
    const mine = await invitationBy(leaving, 'accomplice@souk.ma');
    const kept = await invitationBy(owner, 'colleague@souk.ma');
    const made = await leaving.submit(pathTo('keys/new'), { kind: 'secret' });
    const text = /svc_sk_test_\w+/.exec(made.body)![0];
    const removed = await owner.submit(pathTo(`members/${id}`), {}, pathTo(`members/${id}/remove`));
    assert.equal(removed.location, `${pathTo(`members/${id}/keys`)}?done=removed`);
    assert.deepEqual([await opens(mine), await opens(kept)], [false, true]);
    const keys = (await owner.get(removed.location)).body;
    assert.match(keys, new RegExp(`…${text.slice(-4)}<`));
    assert.equal(keys.match(/\/test\/keys\/key_\w+\/roll"/g)?.length, 1, 'no key of anybody else');
    assert.equal(keys.match(/\/test\/keys\/key_\w+\/revoke"/g)?.length, 1, 'it can be stopped at once');
    // Another organization's owner learns nothing of them.
    const other = await newMember(
      { ...dashboard, org: await otherOrganization() },
      'owner',
      'rival@medina.ma',
    );
    assert.equal((await other.get(removed.location)).status, 404);
  });

  test('a key that was rolled already, and still works, can be stopped from the list', async () => {
    const { service } = dashboard;
    const leaving = await newMember(dashboard, 'developer', 'roller@souk.ma');
    const id = await memberId('roller@souk.ma');
    const made = await leaving.submit(pathTo('keys/new'), { kind: 'secret' });
    const text = /svc_sk_test_\w+/.exec(made.body)![0];
    await service.operate('key.roll', { key: text, overlapSeconds: 604_800 });
    const { location } = await owner.submit(pathTo(`members/${id}`), {}, pathTo(`members/${id}/remove`));
    const action = /href="([^"]+\/keys\/key_\w+\/\w+)"/.exec((await owner.get(location)).body)![1]!;
    assert.match(action, /\/revoke$/);
    assert.equal((await owner.submit(action, {})).status, 303);
    assert.equal((await service.call('/v1/account', { key: text })).json.error.code, 'api_key_revoked');
  });

  test('an owner who takes a lesser role is led to a page that this role may see', async () => {
    const stepping = await newMember(dashboard, 'owner', 'stepping@souk.ma');
    const id = await memberId('stepping@souk.ma');
    await stepping.submit(pathTo('keys/new'), { kind: 'secret' });
    const { location } = await stepping.submit(
      pathTo(`members/${id}`),
      { role: 'viewer' },
      pathTo(`members/${id}/role`),
    );
    const next = await stepping.get(location);
    assert.equal((await stepping.get(next.location || location)).status, 200, location);
  });

  test('with another role invites nobody any more', async () => {
    const demoted = await newMember(dashboard, 'owner', 'demoted@souk.ma');
    const id = await memberId('demoted@souk.ma');
    const mine = await invitationBy(demoted, 'second@souk.ma');
    await owner.submit(pathTo(`members/${id}`), { role: 'viewer' }, pathTo(`members/${id}/role`));
    assert.equal(await opens(mine), false);
  });
});

async function otherOrganization(): Promise<string> {
  return (await dashboard.service.operate<{ id: string }>('org.create', { name: 'Medina' })).id;
}

test('an owner ends sessions into the own organization only', async () => {
  const org = await otherOrganization();
  const shared = await newMember(dashboard, 'developer', 'shared@souk.ma');
  const medina = { ...dashboard, org };
  await shared.submit(await invite(medina, 'shared@souk.ma', 'viewer'), {});
  const elsewhere = `/dashboard/${org}/test/home`;
  assert.equal((await shared.get(elsewhere)).status, 200);
  const id = await memberId('shared@souk.ma');
  await owner.submit(pathTo(`members/${id}`), {}, pathTo(`members/${id}/end-sessions`));
  assert.equal((await shared.get(elsewhere)).status, 200, 'the other organization is not the owner’s');
  const asked = await shared.get(pathTo('home'));
  assert.match(asked.location, /\/dashboard\/sign-in\?/);
  const page = await shared.get(asked.location);
  assert.equal(page.status, 200);
  await shared.submit(asked.location, { email: 'shared@souk.ma', password }, '/dashboard/sign-in');
  assert.equal((await shared.get(pathTo('home'))).status, 200);
});

test('the page of an invitation does not tell whether the address has an account', async () => {
  const org = await otherOrganization();
  const pageFor = async (email: string) => {
    const { status, body } = await new Visitor(dashboard.service.url).get(
      await invite({ ...dashboard, org }, email, 'viewer'),
    );
    const steady = body
      .replaceAll(email, 'somebody')
      .replace(/name="form_key" value="[^"]+"/, '')
      .replace(/invite(\/|%2F)[\w-]+/g, 'invite');
    return [status, steady];
  };
  assert.deepEqual(await pageFor('owner@souk.ma'), await pageFor('nobody@medina.ma'));
});

test('nor do answers to its form, which try nothing before the name and the password are good', async () => {
  const org = await otherOrganization();
  const answersFor = async (email: string) => {
    const path = await invite({ ...dashboard, org }, email, 'viewer');
    const answers = [];
    const forms: Record<string, string>[] = [
      {},
      { name: 'Somebody', password: 'short' },
      { name: '', password },
    ];
    for (const fields of forms) {
      const { status, body } = await new Visitor(dashboard.service.url).submit(path, fields);
      const steady = body
        .replaceAll(email, 'somebody')
        .replace(/name="form_key" value="[^"]+"/, '')
        .replace(/invite(\/|%2F)[\w-]+/g, 'invite');
      answers.push([status, steady]);
    }
    return answers;
  };
  assert.deepEqual(await answersFor('owner@souk.ma'), await answersFor('nobody@medina.ma'));
});

test('the form of an invitation signs nobody in who has an account, whatever the password', async () => {
  const org = await otherOrganization();
  await newMember(dashboard, 'viewer', 'known@souk.ma');
  const path = await invite({ ...dashboard, org }, 'known@souk.ma', 'owner');
  for (const typed of [password, 'wrong horse battery staple']) {
    const visitor = new Visitor(dashboard.service.url);
    const { status, body } = await visitor.submit(path, { name: 'Thief', password: typed });
    assert.equal(status, 400);
    assert.match(body, /Sign in first/);
    assert.equal((await visitor.get('/dashboard/me')).status, 303, 'nobody is signed in');
  }
  // The invitation is not used up, and is there for the member who signs in.
  const member = new Visitor(dashboard.service.url);
  await member.submit('/dashboard/sign-in', { email: 'known@souk.ma', password });
  assert.equal((await member.submit(path, {})).status, 303);
  assert.equal((await member.get(`/dashboard/${org}/test/members`)).status, 200);
  assert.match((await member.get('/dashboard/me')).body, /value="The viewer"/, 'the name is the account’s');
});

test('members of a suspended organization read, and make nothing', async () => {
  const { service } = dashboard;
  const org = await otherOrganization();
  const medina = { ...dashboard, org };
  const member = await newMember(medina, 'owner', 'owner@medina.ma');
  const open = await invite(medina, 'late@medina.ma', 'viewer');
  const at = (path: string) => `/dashboard/${org}/test/${path}`;
  const endpoint = { url: 'http://127.0.0.1:9/hooks', enabled_events: '*' };
  await service.operate('org.suspend', { org });
  for (const path of ['home', 'payments', 'keys', 'webhooks', 'members', 'settings'])
    assert.equal((await member.get(at(path))).status, 200, path);
  const attempts: [page: string, fields: Record<string, string>, action?: string][] = [
    ['keys/new', { kind: 'secret' }],
    ['members', { email: 'more@medina.ma', role: 'owner' }],
    ['webhooks/new', endpoint],
  ];
  for (const [page, fields] of attempts) {
    const { status, body } = await member.submit(at(page), fields);
    assert.equal(status, 403, page);
    assert.match(body, /suspended/);
  }
  const exported = await member.get(at('payments/export'));
  assert.deepEqual([exported.status, /suspended/.test(exported.body)], [403, true]);
  assert.equal((await service.operate<unknown[]>('key.list', { org })).length, 4);
  assert.equal((await new Visitor(service.url).get(open)).status, 404, 'nobody joins meanwhile');
  await service.operate('org.reinstate', { org });
  assert.equal((await member.submit(at('keys/new'), { kind: 'secret' })).status, 200);
});

test('an operator lists and takes back invitations', async () => {
  const { service, org } = dashboard;
  const path = await invite(dashboard, 'guest@souk.ma', 'viewer');
  type Invitations = { id: string; email: string; made_by: string }[];
  const listed = await service.operate<Invitations>('member.invitations', { org });
  const guest = listed.find(({ email }) => email === 'guest@souk.ma')!;
  assert.equal(guest.made_by, 'operator');
  await assert.rejects(
    service.operate('member.revoke-invitation', { org: await otherOrganization(), id: guest.id }),
  );
  await service.operate('member.revoke-invitation', { org, id: guest.id });
  assert.equal(await opens(path), false);
});
