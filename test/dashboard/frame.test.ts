// The dashboard's frame: signing in, links, step-up, the roles against every row, and attacks on sessions and forms.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { dashboardRows } from '../../src/dashboard/layout/table.ts';
import { publicRoutes } from '../../src/dashboard/people/public-routes.ts';
import { mayDo } from '../../src/dashboard/people/roles.ts';
import { roles } from '../../src/directory/members.ts';
import { newOrganization } from '../service.ts';
import {
  type Dashboard,
  hiddenFields,
  invite,
  newMember,
  password,
  startDashboard,
  Visitor,
} from './fixture.ts';
import { api, openPayment } from './shop.ts';

let dashboard: Dashboard;
let owner: Visitor;
before(async () => {
  // A test can come from another address with X-Forwarded-For.
  dashboard = await startDashboard({ PAYMENTS_PAGES_TRUSTED_PROXIES: '127.0.0.1' });
  owner = await newMember(dashboard, 'owner');
});
after(() => dashboard?.stop());

const pathTo = (path: string, mode: 'test' | 'live' = 'test') =>
  new URL(dashboard.address(path, mode)).pathname;
const signIn = '/dashboard/sign-in';

async function signedIn(email: string): Promise<Visitor> {
  const visitor = new Visitor(dashboard.service.url);
  const answer = await visitor.submit(signIn, { email, password });
  assert.equal(answer.status, 303, answer.body);
  return visitor;
}

test('the link of the first start signs in once', async () => {
  const { service } = dashboard;
  const path = /\/dashboard\/invite\/[\w-]+/.exec(service.output())![0];
  const visitor = new Visitor(service.url);
  assert.equal((await visitor.get(path)).status, 200);
  assert.equal((await visitor.submit(path, {})).status, 303);
  const home = await visitor.get((await visitor.get('/dashboard')).location);
  assert.match(home.body, /Sandbox/);
  assert.equal((await new Visitor(service.url).get(path)).status, 404);
});

test('a member joins by an invitation, signs out, and signs in', async () => {
  const member = await newMember(dashboard, 'viewer', 'Amina@Souk.ma');
  assert.equal((await member.get(pathTo('home'))).status, 200);
  const stolen = member.cookie;
  assert.equal((await member.submit(pathTo('home'), {}, '/dashboard/sign-out')).location, signIn);
  assert.equal((await member.get(pathTo('home'))).status, 303);
  // The cookie that somebody kept opens nothing any more.
  const thief = new Visitor(dashboard.service.url);
  assert.equal((await thief.get(pathTo('home'), { cookie: stolen })).status, 303);
  const again = await signedIn('amina@souk.ma');
  assert.equal((await again.get(pathTo('home'))).status, 200);
});

test('an invitation takes strong passwords only, and lets a member of another organization join', async () => {
  const path = await invite(dashboard, 'hind@souk.ma', 'support');
  const visitor = new Visitor(dashboard.service.url);
  for (const [weak, why] of [
    ['short', /too short/],
    ['hind@souk.ma-hind', /your name or e-mail/],
    ['Password123456', /easy to guess/],
    ['azertyuiop1234', /easy to guess/],
    ['aaaaaaaaaaaaaa', /easy to guess/],
  ] as const) {
    const answer = await visitor.submit(path, { name: 'Hind', password: weak });
    assert.equal(answer.status, 400);
    assert.match(answer.body, why, weak);
    assert.ok(!answer.body.includes(`value="${weak}"`), 'a password is not repeated');
  }
  assert.equal((await visitor.submit(path, { name: 'Hind', password })).status, 303);

  const other = await newOrganization(dashboard.service, 'Medina');
  const second = await invite({ ...dashboard, org: other.id }, 'hind@souk.ma', 'viewer');
  const stranger = await new Visitor(dashboard.service.url).get(second);
  assert.match(stranger.body, /If you have an account/);
  assert.equal((await owner.submit(second, {})).status, 400, 'another member can’t use it');
  assert.equal((await visitor.submit(second, {})).status, 303);
  const both = await visitor.get(pathTo('home'));
  assert.match(both.body, /Medina/);
});

test('a wrong password, an unknown address and an empty form get the same answer', async () => {
  const answers = [];
  for (const fields of [
    { email: 'owner@souk.ma', password: 'wrong horse battery staple' },
    { email: 'nobody@souk.ma', password },
    { email: '', password: '' },
  ]) {
    const { status, body } = await new Visitor(dashboard.service.url).submit(signIn, fields);
    answers.push([status, body.replace(/value="[^"]*"/g, '')]);
  }
  assert.equal(answers[0]![0], 400);
  assert.deepEqual(answers[1], answers[0]);
  assert.deepEqual(answers[2], answers[0]);
});

test('after too many wrong passwords the right one is refused, too, for a while', async () => {
  await newMember(dashboard, 'viewer', 'guessed@souk.ma');
  let refused = 0;
  for (let i = 0; i < 30 && refused === 0; i++) {
    const { status } = await new Visitor(dashboard.service.url).submit(signIn, {
      email: 'guessed@souk.ma',
      password: `wrong ${i}`,
    });
    if (status === 429) refused = i;
  }
  assert.ok(refused >= 10 && refused < 30, `${refused}`);
  const right = await new Visitor(dashboard.service.url).submit(signIn, {
    email: 'guessed@souk.ma',
    password,
  });
  assert.equal(right.status, 429);
  assert.match(right.body, /Too many attempts/);
  // The other tests come from this address, too, so they use sessions that are open.
});

/** Signs in with a wrong password from an address, `count` times. Returns the last status. */
async function guessFrom(addressOf: (i: number) => string, email: string, count: number): Promise<number> {
  const visitor = new Visitor(dashboard.service.url);
  const fields = hiddenFields((await visitor.get(signIn)).body, signIn);
  let status = 0;
  for (let i = 0; i < count; i++) {
    const headers = { 'x-forwarded-for': addressOf(i) };
    ({ status } = await visitor.post(signIn, { ...fields, email, password: `wrong ${i}` }, headers));
  }
  return status;
}

test('the addresses of an IPv6 network count together, and one that has to wait keeps no account waiting', async () => {
  const addressOf = (i: number) => `2001:db8:1:2::${(i + 1).toString(16)}`;
  assert.equal(await guessFrom(addressOf, 'nobody-there@souk.ma', 30), 429);
  await newMember(dashboard, 'viewer', 'untouched@souk.ma');
  assert.equal(await guessFrom(addressOf, 'untouched@souk.ma', 30), 429);
  assert.equal(await guessFrom(() => '2001:db8:1:3::1', 'untouched@souk.ma', 1), 400);
});

test('a stranger’s wrong passwords don’t keep a member with a session from giving the password', async () => {
  const member = await newMember(dashboard, 'viewer', 'disturbed@souk.ma');
  assert.equal(await guessFrom(() => '198.51.100.1', 'disturbed@souk.ma', 30), 429);
  const give = async (page: string, action: string, fields: Readonly<Record<string, string>>) => {
    const key = hiddenFields((await member.get(page)).body, action);
    return member.post(action, { ...key, ...fields }, { 'x-forwarded-for': '198.51.100.2' });
  };
  const confirm = '/dashboard/confirm';
  assert.equal((await give(confirm, confirm, { password })).status, 303);
  const change = { current: password, password: 'seven quiet lemons under the bridge' };
  assert.equal((await give('/dashboard/me', '/dashboard/me/password', change)).status, 303);
});

describe('roles', () => {
  const members = new Map<string, Visitor>();
  before(async () => {
    for (const role of roles)
      members.set(role, role === 'owner' ? owner : await newMember(dashboard, role, `${role}-2@souk.ma`));
  });

  for (const row of dashboardRows) {
    test(`${row.method} ${row.path}: ${roles.filter((role) => mayDo(role, row.permission)).join(', ')}`, async () => {
      const path = pathTo(row.path.replace('{id}', 'x_1'));
      for (const role of roles) {
        const visitor = members.get(role)!;
        // A form without its key is refused, so nothing is done; a role that may not is refused before.
        const { status, body } =
          row.method === 'GET' ? await visitor.get(path) : await visitor.post(path, {});
        const isForbidden = status === 403 && body.includes('<h1>Not allowed</h1>');
        assert.equal(isForbidden, !mayDo(role, row.permission), `${role}: ${status}`);
        if (row.method === 'POST' && mayDo(role, row.permission))
          assert.match(body, /This form is out of date/);
      }
    });
  }

  test('a stranger is led to the sign-in by every row, and a member of another organization finds nothing', async () => {
    const stranger = new Visitor(dashboard.service.url);
    const { id: org } = await newOrganization(dashboard.service, 'Kasbah');
    const foreigner = await newMember({ ...dashboard, org }, 'owner', 'foreigner@kasbah.ma');
    for (const row of dashboardRows) {
      const path = pathTo(row.path.replace('{id}', 'x_1'));
      const visit = (visitor: Visitor) => (row.method === 'GET' ? visitor.get(path) : visitor.post(path, {}));
      const turnedAway = await visit(stranger);
      assert.equal(turnedAway.status, 303, path);
      assert.ok(turnedAway.location.startsWith(signIn), path);
      assert.equal((await visit(foreigner)).status, 404, path);
    }
  });
});

test('the account’s own forms need the session and its key', async () => {
  for (const { method, path, own } of publicRoutes) {
    if (own === undefined) continue;
    const address = `/dashboard${path}`;
    const stranger = new Visitor(dashboard.service.url);
    const turnedAway = await (method === 'GET' ? stranger.get(address) : stranger.post(address, {}));
    assert.ok(turnedAway.location.startsWith(signIn), address);
    if (method === 'POST') assert.equal((await owner.post(address, {})).status, 403, address);
  }
});

test('a language link on the answer to any form leads to a page', async () => {
  const forms = [
    ...dashboardRows.map(({ method, path }) => ({ method, path: pathTo(path.replace('{id}', 'x_1')) })),
    ...publicRoutes.map(({ method, path }) => ({ method, path: `/dashboard${path}` })),
  ];
  const pages = forms.filter(({ method }) => method === 'GET').map(({ path }) => path);
  for (const { method, path } of forms) {
    if (method === 'GET' || pages.includes(path)) continue;
    const changed = await owner.get(`${path}?lang=en`);
    assert.deepEqual([changed.status, changed.location], [303, path]);
    const { status, location } = await owner.get(path);
    assert.equal(status, 303, path);
    assert.ok(pages.includes(location), `${path}: ${location}`);
  }
});

test('an address that ends early, or with a slash, leads to the page that is meant', async () => {
  const [{ org }, home] = [dashboard, pathTo('home')];
  const live = await newOrganization(dashboard.service, 'Dar');
  const member = await newMember({ ...dashboard, org: live.id }, 'viewer', 'visitor@dar.ma');
  await dashboard.service.operate('org.activate', { org: live.id });
  const answers = [
    [owner, '/dashboard/?days=7', '/dashboard?days=7'],
    [owner, `${home}/`, home],
    [owner, `/dashboard/${org}`, home],
    [owner, `/dashboard/${live.id}`, 404],
    [member, `/dashboard/${live.id}`, `/dashboard/${live.id}/live/home`],
    [new Visitor(dashboard.service.url), '/docs/', '/docs'],
    [new Visitor(dashboard.service.url), '/docs/quick-start/?lang=fr', '/docs/quick-start?lang=fr'],
    [
      new Visitor(dashboard.service.url),
      '/docs/search/?q=caf%C3%A9+%26&lang=fr',
      '/docs/search?q=caf%C3%A9+%26&lang=fr',
    ],
    [new Visitor(dashboard.service.url), '/docs/nothing/', 404],
  ] as const;
  for (const [visitor, address, expected] of answers) {
    const { status, location } = await visitor.get(address);
    assert.equal(status === 303 ? location : status, expected, address);
  }
  assert.match((await member.get('/dashboard/me')).body, /<a href="\/dashboard">Dashboard<\/a>/);
});

test('an address that does not take a method says which it takes', async () => {
  for (const [method, path, allowed] of [
    ['PUT', '/dashboard/sign-in', 'GET, HEAD, POST'],
    ['PUT', pathTo('members'), 'GET, HEAD, POST'],
    ['PUT', pathTo('home'), 'GET, HEAD'],
    ['DELETE', '/dashboard/me', 'GET, HEAD'],
    ['PUT', '/logos/nothing', 'GET, HEAD'],
    ['POST', '/dashboard/me', 'GET, HEAD'],
    ['POST', pathTo('home'), 'GET, HEAD'],
  ] as const) {
    const { cookie } = owner;
    const answer = await fetch(dashboard.service.url + path, { method, headers: { cookie } });
    await answer.text();
    assert.deepEqual([answer.status, answer.headers.get('allow')], [405, allowed], `${method} ${path}`);
  }
});

describe('attacks', () => {
  test('a session that was planted before the sign-in is not the one after it', async () => {
    const victim = new Visitor(dashboard.service.url);
    const planted = 'A'.repeat(43);
    victim.cookies.set('payments-session', planted);
    const path = await invite(dashboard, 'fixed@souk.ma', 'viewer');
    await victim.submit(path, { name: 'Fixed', password });
    assert.notEqual(victim.cookies.get('payments-session'), planted);
    const attacker = new Visitor(dashboard.service.url);
    assert.equal(
      (await attacker.get('/dashboard/me', { cookie: `payments-session=${planted}` })).status,
      303,
    );
  });

  test('a form of another member, of another site, and without a key does nothing', async () => {
    const attacker = await newMember(dashboard, 'viewer', 'attacker@souk.ma');
    const action = '/dashboard/me/name';
    const foreign = hiddenFields((await attacker.get('/dashboard/me')).body, action);
    const own = hiddenFields((await owner.get('/dashboard/me')).body, action);
    const name = 'Taken over';
    assert.equal((await owner.post(action, { name })).status, 403);
    assert.equal((await owner.post(action, { ...foreign, name })).status, 403);
    const crossSite = await owner.post(action, { ...own, name }, { 'sec-fetch-site': 'cross-site' });
    assert.equal(crossSite.status, 403);
    // Nor does one with what no field of our forms holds: the call that it leads to is written to the request logs.
    for (const odd of ['x\nmem_1', 'k'.repeat(201), 'k'.repeat(70_000), 'clé'])
      assert.equal((await owner.post(action, { ...own, name, idempotency_key: odd })).status, 403);
    assert.equal((await owner.post(action, { ...own, name: 'n'.repeat(70_000) })).status, 403);
    assert.doesNotMatch((await owner.get('/dashboard/me')).body, /Taken over/);
    const accepted = await owner.post(
      action,
      { ...own, name: 'The owner' },
      { 'sec-fetch-site': 'same-origin' },
    );
    assert.equal(accepted.status, 303);
  });

  test('a sign-in goes on to the dashboard only', async () => {
    for (const next of [
      'https://evil.example',
      '//evil.example',
      '/\\evil.example',
      '/dashboard//evil.example',
      '/dashboard/../v1',
      '/checkout/x',
      'javascript:alert(1)',
    ]) {
      const { body } = await new Visitor(dashboard.service.url).get(
        `${signIn}?next=${encodeURIComponent(next)}`,
      );
      assert.equal(hiddenFields(body, signIn).next, '/dashboard', next);
    }
    const path = pathTo('home');
    const { location } = await new Visitor(dashboard.service.url).get(path);
    const { body } = await new Visitor(dashboard.service.url).get(location);
    assert.equal(hiddenFields(body, signIn).next, path);
  });

  test('a form that comes after the session has ended leads to the sign-in, and on to its page', async () => {
    const { location } = await new Visitor(dashboard.service.url).post(pathTo('cash'), { amount: '150' });
    assert.equal(location, `${signIn}?next=${encodeURIComponent(pathTo('cash'))}`);
    const own = await new Visitor(dashboard.service.url).post('/dashboard/sign-out', {});
    assert.equal(own.location, signIn);
  });

  test('an address that claims that something was done, but nothing that we say, says nothing', async () => {
    const { id: payment } = await openPayment(dashboard);
    const { id: session } = await api(dashboard, '/v1/checkout/sessions', {
      amount: 20_000,
      currency: 'mad',
      success_url: 'https://shop.example/thanks',
    });
    const paths = [
      'webhooks',
      'keys',
      'limits',
      'settings',
      'members',
      `payments/${payment}`,
      `checkout/${session}`,
    ];
    for (const page of ['/dashboard/me', ...paths.map((path) => pathTo(path))])
      for (const done of ['constructor', '__proto__', 'nothing']) {
        const { status, body } = await owner.get(`${page}?done=${done}`);
        assert.equal(status, 200, `${page} ${done}`);
        assert.doesNotMatch(body, /role="status"/, page);
      }
  });

  test('markup in names stays text', async () => {
    const markup = '<script>alert(1)</script>"\'><img src=x onerror=alert(2)>';
    const { id } = await newOrganization(dashboard.service, markup);
    const member = new Visitor(dashboard.service.url);
    const path = await invite({ ...dashboard, org: id }, 'markup@souk.ma', 'owner');
    await member.submit(path, { name: markup, password });
    for (const page of [
      `/dashboard/${id}/test/home`,
      `/dashboard/${id}/test/members`,
      '/dashboard/me',
      path,
    ]) {
      const { body } = await member.get(page);
      assert.doesNotMatch(body, /<script>alert|<img src=x/, page);
    }
  });

  test('no name turns what stands around it on a page', async () => {
    const turning = 'Ami\u202ena\u2069';
    await assert.rejects(dashboard.service.operate('org.create', { name: turning }), /visible/);
    const saved = await owner.submit(pathTo('settings'), { name: turning, colour: '#0a6e4f' });
    assert.equal(saved.status, 400);
    assert.match(saved.body, /without invisible ones/);
    const joining = new Visitor(dashboard.service.url);
    const path = await invite(dashboard, 'turning@souk.ma', 'viewer');
    assert.equal((await joining.submit(path, { name: turning, password })).status, 400);
    // The API takes what merchants write about their customers.
    const { id, name } = await api(dashboard, '/v1/customers', { name: turning });
    assert.equal(name, turning);
    for (const page of ['customers', `customers/${id}`]) {
      const { body } = await owner.get(pathTo(page));
      assert.match(body, /dir="auto">Amina<\/a>|<bdi>Amina<\/bdi>|Amina<\/h1>/, page);
      assert.doesNotMatch(body, /[\u202a-\u202e\u2066-\u2069]/, page);
    }
  });

  test('the session of a member who was removed opens nothing of the organization', async () => {
    const leaver = await newMember(dashboard, 'developer', 'leaver@souk.ma');
    assert.equal((await leaver.get(pathTo('home'))).status, 200);
    await dashboard.service.operate('member.remove', { org: dashboard.org, member: 'leaver@souk.ma' });
    assert.equal((await leaver.get(pathTo('home'))).status, 303);
  });

  test('the last owner can’t be removed or made something else', async () => {
    const { id } = await newOrganization(dashboard.service, 'Riad');
    await newMember({ ...dashboard, org: id }, 'owner', 'only@riad.ma');
    const change = { org: id, member: 'only@riad.ma' };
    await assert.rejects(dashboard.service.operate('member.remove', change), /last owner/);
    await assert.rejects(
      dashboard.service.operate('member.role', { ...change, role: 'viewer' }),
      /last owner/,
    );
  });
});

test('pages are not stored, not framed, and load from the service alone', async () => {
  for (const page of [signIn, pathTo('home'), '/dashboard/me']) {
    const { headers, body } = await owner.get(page);
    assert.equal(headers.get('cache-control'), 'no-store', page);
    const policy = headers.get('content-security-policy')!;
    assert.doesNotMatch(policy, /unsafe|\*|https?:/, page);
    assert.match(policy, /frame-ancestors 'none'/);
    assert.doesNotMatch(body, /<script>|<script [^>]*>[^<]| style="| on\w+="/, page);
    assert.ok(Buffer.byteLength(body) < 100_000);
  }
});

test('the owner and operators change members; the audit record has who it was, and no secret', async () => {
  const { service, org } = dashboard;
  const page = pathTo('members');
  const invited = await owner.submit(page, { email: 'new@souk.ma', role: 'support' });
  assert.equal(invited.status, 200, invited.body);
  const token = /\/dashboard\/invite\/([\w-]+)/.exec(invited.body)![1]!;
  const member = new Visitor(service.url);
  await member.submit(`/dashboard/invite/${token}`, { name: 'New', password });
  const list = await service.operate<{ id: string; email: string; role: string }[]>('member.list', { org });
  const { id } = list.find(({ email }) => email === 'new@souk.ma')!;
  const changed = await owner.submit(
    pathTo(`members/${id}`),
    { role: 'developer' },
    pathTo(`members/${id}/role`),
  );
  assert.equal(changed.status, 303, changed.body);
  assert.equal((await member.get(pathTo('members'))).status, 403, 'developers see no members');
  await owner.submit(pathTo(`members/${id}`), {}, pathTo(`members/${id}/remove`));
  assert.equal((await member.get(pathTo('home'))).status, 303);
  const audit = await owner.get(`${pathTo('audit')}?action=member.join`);
  assert.match(audit.body, / joined\b/, 'owners see who has joined');
  const rows = readFileSync(join(service.dataDir, 'audit', 'operators.ndjson'), 'utf8');
  const done = rows
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
    .filter(({ outcome, by }) => outcome === 'done' && by?.organization === org);
  assert.ok(
    ['member.invite', 'member.role', 'member.remove'].every((action) =>
      done.some((row) => row.action === action),
    ),
  );
  assert.ok(done.every(({ by }) => by.member.startsWith('mem_')));
  for (const secret of [token, password])
    assert.ok(!rows.includes(secret) && !service.output().includes(secret));
});
