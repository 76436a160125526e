import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Type } from 'typebox';
import { listedMax } from '../../../src/contract/limits.ts';
import { keyStatus } from '../../../src/directory/api-key.ts';
import { withLimitRequest } from '../../../src/directory/limit-requests.ts';
import type { ReviewRecord } from '../../../src/domain/record.ts';
import { defineCommand } from '../../../src/operator/use-cases/command.ts';
import { CommandFailure } from '../../../src/operator/use-cases/failures.ts';
import type { PresentedDelivery } from '../../../src/operator/use-cases/present.ts';
import { goldenRecords } from '../../journal/golden-records.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import {
  type Fixture,
  fixtureChecks,
  fixtureStatus,
  openFixture,
  reviewOf,
  startMs,
  upMetric,
} from '../server/fixture.ts';
import { type Printed, runCommandLine } from './command-line.ts';

let fixture: Fixture;
before(async () => {
  fixture = await openFixture();
});
after(() => fixture.close());

/** The answer of the person at the terminal (null without a terminal), and the questions. */
const terminal = { answer: null as boolean | null, asked: [] as string[] };

/** Runs a command line in this process, on the fixture's server. */
const run = (...args: string[]) =>
  runCommandLine(args, {
    version: '1.2.3',
    confirm: async (question) => {
      if (terminal.answer !== null) terminal.asked.push(question);
      return terminal.answer;
    },
    dataDir: (given) => given ?? fixture.dataDir,
    config: () => [{ key: 'host', variable: 'PAYMENTS_HOST', value: '::1', description: 'host' }],
    serve: async (dataDir) => {
      throw new CommandFailure(`the port is taken (${dataDir})`);
    },
    rollSecretsKey: async () => ({ key: 'k', secrets: 2, file: '/k', kept: '/k.old' }),
    examine: async (dataDir) => [{ name: 'folder', ok: true, detail: `there is none at ${dataDir}` }],
    reshard: async (_, shards) => ({ from: 1, to: shards, records: 20, answers: 10 }),
  });

async function json(...args: string[]): Promise<ReturnType<typeof JSON.parse>> {
  const { code, out, error } = await run(...args, '--json');
  assert.equal(code, 0, error);
  assert.equal(out.indexOf('\n'), out.length - 1, 'one line');
  return JSON.parse(out);
}

test('an argument that nothing would be done with is wrong usage', async () => {
  for (const [line, message] of [
    ['verify --postgresql --from /backup', /give --postgresql, or --from and --archive/],
    ['verify --postgresql --archive /archive', /give --postgresql, or --from and --archive/],
    ['verify --postgresql --identity /key', /--identity is for a backup or an archive/],
    ['verify --postgresql --scratch /tmp', /--scratch is for a backup/],
    ['listen org_1 --forward-to http://127.0.0.1:9 --api-key=', /--api-key is empty/],
    ['trigger payment_intent.created --api-key=', /--api-key is empty/],
    ['wal list --org TYPO', /It must be an id that begins with org_/],
    ['wal search --request evt_1', /It must be an id that begins with req_/],
  ] as const) {
    const { code, out, error } = await run(...line.split(' '));
    assert.deepEqual([code, out], [2, ''], `${line}: ${error}`);
    assert.match(error, message);
  }
});

describe('org', () => {
  test('create prints the keys of both modes', async () => {
    const created = await json('org', 'create', '--name', 'Souk');
    assert.deepEqual(Object.keys(created), ['id', 'name', 'keys']);
    assert.equal(created.name, 'Souk');
    assert.deepEqual(Object.keys(created.keys), ['test', 'live']);
    for (const mode of ['test', 'live']) {
      assert.deepEqual(Object.keys(created.keys[mode]), ['secret', 'publishable']);
      assert.match(created.keys[mode].secret, new RegExp(`^svc_sk_${mode}_[0-9A-Za-z]{32,}$`));
      assert.match(created.keys[mode].publishable, new RegExp(`^svc_pk_${mode}_[0-9A-Za-z]{32,}$`));
    }
    const shown = await json('org', 'show', created.id);
    assert.equal(shown.created, '2026-11-01T10:00:00.000Z');
    assert.ok(
      (await json('org', 'list')).some((organization: { id: string }) => organization.id === created.id),
    );
  });

  test('changes are in force when the command returns', async () => {
    const { id } = await json('org', 'create', '--name', 'Changes');
    const status = () => fixture.directory.organization(id).status;
    assert.equal((await json('org', 'activate', id)).live_activated, true);
    await run('org', 'suspend', id);
    assert.equal(status(), 'suspended');
    await run('org', 'reinstate', id);
    assert.equal(status(), 'active');
    await run('org', 'methods', id, '--mode', 'live', '--card', 'on');
    await run('org', 'methods', id, '--mode', 'test', '--cash', 'off');
    const methods = { test: { card: true, cash: false }, live: { card: true, cash: false } };
    assert.deepEqual(fixture.directory.organization(id).methods, methods);
    assert.equal((await json('org', 'close', id, '--yes')).status, 'closed');
    const refused = await run('org', 'reinstate', id);
    assert.deepEqual([refused.code, refused.out], [1, '']);
    assert.match(refused.error, /^payments: organization org_\w+ is closed for good.*\n$/);
  });

  test('close asks; without a terminal it takes --yes', async () => {
    const { id } = await json('org', 'create', '--name', 'Closing');
    const status = () => fixture.directory.organization(id).status;
    const refused = await run('org', 'close', id);
    assert.deepEqual([refused.code, refused.out, status()], [1, '', 'active']);
    assert.match(refused.error, /^payments: closing cannot be undone: confirm it with --yes\n$/);
    terminal.answer = false;
    assert.match((await run('org', 'close', id)).error, /was not closed\n$/);
    assert.equal(status(), 'active');
    terminal.answer = true;
    assert.equal((await run('org', 'close', id)).code, 0);
    terminal.answer = null;
    assert.equal(status(), 'closed');
    assert.equal(terminal.asked.length, 2);
    assert.match(terminal.asked[0]!, /^Close Closing \(org_\w+\)\? /);
  });

  test('a method counts as on only where it has a network, and activating says what live mode lacks', async () => {
    const { id } = await json('org', 'create', '--name', 'Live');
    await run('org', 'methods', id, '--mode', 'live', '--card', 'on');
    const shown = await json('org', 'show', id);
    assert.deepEqual(shown.methods, { test: { card: true, cash: true }, live: { card: false, cash: false } });
    assert.deepEqual(shown.without_network, { test: [], live: ['card'] });
    assert.doesNotMatch((await run('org', 'show', id)).out, /no payment can be taken in live mode/);
    const { out } = await run('org', 'activate', id);
    assert.match(out, /^live methods +none \(switched on, without a network: card\)$/m);
    assert.match(out, /no payment can be taken in live mode/);
    assert.match((await run('org', 'show', id)).out, /no payment can be taken in live mode/);
  });

  test('who removes a network is told which calls are open, and what waits is listed with its last error', async () => {
    const { id } = await json('org', 'create', '--name', 'Calls');
    const file = join(fixture.dataDir, 'agents.secret');
    writeFileSync(file, 'secret-of-the-agents');
    const network = ['--mode', 'live', '--network', 'http'];
    const settings = ['--address', 'https://agents.example/', '--secret-file', file];
    const set = await run('network', 'set', id, ...network, ...settings);
    assert.equal(set.code, 0, set.error);
    assert.doesNotMatch(set.out, /payments network calls/);
    const record = {
      ...goldenRecords.network_call,
      org: id,
      action: 'issue_cash_code',
      accepted: false,
    } as const;
    fixture.openCalls.push({ record: { ...record, livemode: true }, lastError: 'connection\nrefused' });
    const { out } = await run('network', 'calls');
    assert.match(out, /live +http +issue_cash_code +sent +pi_\w+ +ch_\w+ +\S+ +connection.refused$/m);
    const removed = await run('network', 'remove', id, ...network);
    assert.match(removed.out, /^live +cash +none +1$[\s\S]*While there is none, they wait/m);
    fixture.openCalls.pop();
  });

  test('human output is aligned', async () => {
    const { id } = await json('org', 'create', '--name', 'قهوة');
    const { out } = await run('org', 'list');
    const [heading, ...rows] = out.trimEnd().split('\n');
    assert.match(heading!, /^ID +NAME +STATUS +LIVE +CREATED$/);
    const row = rows.find((line) => line.startsWith(id))!;
    assert.equal([...row].join('').indexOf('active'), heading!.indexOf('STATUS'));
    assert.match((await run('org', 'show', id)).out, /^id +org_\w+\nname +قهوة\nstatus +active\n/);
  });
});

describe('member', () => {
  test('invite prints a link once; list, role and remove name members by id or address', async () => {
    const { id: org } = await json('org', 'create', '--name', 'Members');
    const invited = await run('member', 'invite', org, '--email', 'Amina@souk.ma', '--role', 'owner');
    assert.match(invited.out, /^link +https:\/\/pay\.example\.ma\/dashboard\/invite\/[\w-]{32}$/m);
    assert.match(invited.out, /will not be shown again/);
    const { members } = fixture.directory;
    const amina = await members.create('amina@souk.ma', 'Amina', null, { [org]: 'owner' });
    const hind = await members.create('hind@souk.ma', 'Hind', null, { [org]: 'developer' });
    const made = await fixture.directory.createKey(org, 'test', 'secret', hind.id);
    const again = await run('member', 'invite', org, '--email', 'hind@souk.ma', '--role', 'owner');
    assert.match(again.error, /member of the organization already/);
    assert.equal((await json('member', 'role', org, 'hind@souk.ma', '--role', 'support')).role, 'support');
    const listed = await json('member', 'list', org);
    const roles = Object.fromEntries(listed.map(({ id, role }: { id: string; role: string }) => [id, role]));
    assert.deepEqual(roles, { [amina.id]: 'owner', [hind.id]: 'support' });
    assert.match((await run('member', 'remove', org, amina.id)).error, /last owner/);
    const { out } = await run('member', 'remove', org, hind.id);
    assert.match(out, /Removed hind@souk\.ma/);
    assert.match(out, new RegExp(`payments key roll ${made.key.id} --overlap`));
    assert.match(out, new RegExp(`payments key revoke ${made.key.id}$`, 'm'), 'it can be stopped at once');
    assert.match(
      (await run('member', 'role', org, 'hind@souk.ma', '--role', 'owner')).error,
      /no such member/,
    );
  });

  test('end-sessions and reset', async () => {
    const { id: org } = await json('org', 'create', '--name', 'Sessions');
    const { id } = await fixture.directory.members.create('s@souk.ma', 'S', null, { [org]: 'owner' });
    const limits = { idleMs: 1_000, absoluteMs: 1_000 };
    await fixture.directory.sessions.open(id, '192.0.2.1', limits);
    assert.equal((await json('member', 'end-sessions', 's@souk.ma')).ended, 1);
    const { link } = await json('member', 'reset', id);
    assert.equal(fixture.directory.links.find(link.split('/').at(-1))?.kind, 'reset');
    assert.equal((await run('member', 'invite', org, '--email', 'x@souk.ma', '--role', 'boss')).code, 2);
    await run('member', 'invite', org, '--email', 'x@souk.ma', '--role', 'viewer');
    const [invitation] = await json('member', 'invitations', 'list', org);
    assert.deepEqual([invitation.email, invitation.made_by], ['x@souk.ma', 'operator']);
    assert.match((await run('member', 'invitations', 'revoke', org, invitation.id)).out, /Revoked lnk_/);
    assert.deepEqual(await json('member', 'invitations', 'list', org), []);
  });
});

describe('key', () => {
  test('create, list, roll by text, revoke by id', async () => {
    const { id, keys } = await json('org', 'create', '--name', 'Keys');
    const made = await json('key', 'create', id, '--mode', 'live', '--kind', 'publishable');
    assert.match(made.key, /^svc_pk_live_/);
    assert.equal(made.organization, id);

    const rolled = await json('key', 'roll', keys.test.secret, '--overlap', '60');
    assert.match(rolled.key, /^svc_sk_test_/);
    assert.notEqual(rolled.key, keys.test.secret);
    assert.equal(rolled.replaces.expires, '2026-11-01T10:01:00.000Z');
    assert.equal(rolled.replaces.rolled_to, rolled.id);

    assert.equal((await json('key', 'revoke', made.id)).status, 'revoked');
    assert.equal(keyStatus(fixture.directory.key(made.key), startMs), 'revoked');

    const listed = await json('key', 'list', id);
    assert.equal(listed.length, 6);
    assert.ok(!JSON.stringify(listed).includes('digest'));
    assert.ok(listed.every((key: { hint: string }) => key.hint.length === 4));
  });

  test('a key is never printed back', async () => {
    const { keys } = await json('org', 'create', '--name', 'Quiet');
    const outcomes = [
      await run('key', 'revoke', keys.test.secret),
      await run('key', 'roll', keys.test.secret, '--overlap', '0'),
      await run('key', 'revoke', 'svc_sk_test_unknown'),
      await run('key', 'revoke', keys.test.secret, keys.live.secret),
    ];
    assert.deepEqual(
      outcomes.map(({ code }) => code),
      [0, 1, 1, 2],
    );
    for (const { out, error } of outcomes) assert.doesNotMatch(out + error, /svc_/);
  });

  test('human output shows a new key once', async () => {
    const { id } = await json('org', 'create', '--name', 'People');
    const { out } = await run('key', 'create', id, '--mode', 'test', '--kind', 'secret');
    assert.match(out, /^key +svc_sk_test_\w+$/m);
    assert.match(out, /will not be shown again/);
    const { out: rolled } = await run('key', 'roll', /svc_\w+/.exec(out)![0], '--overlap', '0');
    assert.match(rolled, /^replaces +key_\w+, which has expired$/m);
    assert.doesNotMatch((await run('key', 'list', id)).out, /svc_/);
  });

  test('a key has a name, which its successor keeps and which can be changed', async () => {
    const { id } = await json('org', 'create', '--name', 'Named');
    const create = ['key', 'create', id, '--mode', 'test', '--kind', 'secret'];
    const { id: first } = await json(...create, '--name', ' The till ');
    const rolled = await json('key', 'roll', first, '--overlap', '60');
    assert.deepEqual([rolled.name, rolled.replaces.name], ['The till', 'The till']);
    const named = await run('key', 'name', rolled.id, 'The shop');
    assert.match(named.out, /^key_\w+, the test secret key that ends in \w{4} is called The shop\.$/m);
    assert.equal((await json('key', 'name', first, '')).name, null);
    assert.match((await run('key', 'list', id)).out, /^key_\w+ +The shop +test +secret/m);
    for (const name of ['x'.repeat(256), 'a\u202eb'])
      assert.match((await run(...create, '--name', name)).error, /the name must have 1 to 255 characters/);
  });
});

describe('limits', () => {
  test('set, show and reset', async () => {
    const { id } = await json('org', 'create', '--name', 'Limits');
    const fresh = await json('limits', 'show', id);
    assert.deepEqual(fresh.limits.live.all, { per_minute: 1200, burst: 200, source: 'default', until: null });
    assert.deepEqual(fresh.test_daily, { requests: 10_000, payment_creations: 1_000 });

    const bucket = [
      'limits',
      'set',
      id,
      '--mode',
      'live',
      '--bucket',
      'payment_creation',
      '--per-minute',
      '600',
    ];
    const set = await json(...bucket, '--source', 'plan', '--until', '2026-12-01');
    const expected = { per_minute: 600, burst: 100, source: 'plan', until: '2026-12-01T00:00:00.000Z' };
    assert.deepEqual(set.limits.live.payment_creation, expected);
    assert.equal((await json(...bucket)).limits.live.payment_creation.source, 'custom');

    const daily = ['limits', 'set', id, '--mode', 'test', '--daily-requests', '50'];
    assert.deepEqual((await json(...daily)).test_daily, { requests: 50, payment_creations: 1_000 });
    const { out } = await run('limits', 'show', id);
    assert.match(out, /^live +payment_creation +600 +100 +custom +-$/m);
    assert.match(out, /^test mode, a day: 50 requests, 1000 payment creations$/m);

    await run('limits', 'reset', id, '--mode', 'test');
    assert.deepEqual((await json('limits', 'reset', id, '--mode', 'live')).limits, fresh.limits);
    const past = await run(...bucket, '--until', '2026-10-01T00:00:00+01:00');
    assert.deepEqual([past.code, past.error.split(':')[1]], [1, ' the end of the limit has passed already']);
  });

  test('requests for higher limits are listed, approved with another value, and denied', async () => {
    const { id } = await json('org', 'create', '--name', 'Asking');
    const wish = { perMinute: 3_000, untilMs: null, reason: 'A sale\non Friday' };
    for (const [request, mode] of [
      ['lrq_1', 'live'],
      ['lrq_2', 'test'],
    ] as const) {
      await fixture.directory.changeOrganization(id, (organization, nowMs) =>
        withLimitRequest(organization, { ...wish, bucket: 'all', mode }, { id: request, by: 'amina' }, nowMs),
      );
    }
    const { out } = await run('limits', 'requests', id);
    assert.match(out, /^lrq_1 +org_\w+ +all +live +3000 +- +open +amina +.* A sale on Friday$/m);
    assert.equal((await json('limits', 'requests')).length, 2);

    const until = '2026-12-01T00:00:00.000Z';
    const approval = ['limits', 'approve', 'lrq_1', '--value', '2000', '--until', until, '--note', 'For now'];
    const approved = await json(...approval);
    assert.deepEqual([approved.state, approved.granted], ['approved', { per_minute: 2_000, until }]);
    const { limits } = await json('limits', 'show', id);
    assert.deepEqual(limits.live.all, { per_minute: 2_000, burst: 333, source: 'custom', until });
    assert.match((await run(...approval)).error, /request lrq_1 was approved already\n$/);
    const denied = await run('limits', 'deny', 'lrq_2', '--reason', 'Test mode has enough');
    assert.match(denied.out, /^Denied lrq_2: the limit of org_\w+ is as it was\.\n$/);
    assert.match((await run('limits', 'deny', 'lrq_3', '--reason', 'x')).error, /there is no such request/);
  });
});

test('cards go through CMI once its settings are whole; its secrets are sealed and not shown', async () => {
  const { id } = await json('org', 'create', '--name', 'Cards');
  const folder = temporaryFolder();
  const [key, password] = ['store-key', 'password'].map((name) => join(folder, name)) as [string, string];
  writeFileSync(key, 'K-5ecret\n');
  writeFileSync(password, 'P-5ecret\n');
  const set = (...settings: string[]) =>
    run('network', 'set', id, '--mode', 'live', '--network', 'cmi', ...settings);
  const needed = ['--client-id', '600000001', '--store-key-file', key];
  const gateway = ['--gateway', 'https://payment.cmi.example'];
  const refusals: readonly (readonly [settings: string[], error: RegExp])[] = [
    [needed, /cmi needs gateway/],
    [[...gateway, '--client-id', '600000001'], /cmi needs store_key/],
    [['--gateway', 'http://payment.cmi.example', ...needed], /gateway can't be used: must use https/],
    [[...gateway, ...needed, '--api-user', 'shop_api'], /cmi needs api_password when api_user is given/],
    [
      [...gateway, ...needed, '--api-password-file', password],
      /cmi needs api_user when api_password is given/,
    ],
    [[...gateway, ...needed, '--address', 'https://a.example'], /--address is an option of http/],
  ];
  for (const [settings, error] of refusals) {
    const refused = await set(...settings);
    assert.notEqual(refused.code, 0);
    assert.match(refused.error, error);
  }
  assert.deepEqual((await json('org', 'show', id)).without_network.live, []);
  const withUser = await set(
    ...gateway,
    ...needed,
    '--api-user',
    'shop_api',
    '--api-password-file',
    password,
  );
  assert.match(
    withUser.out,
    /live +card +cmi +0 +gateway=\S+ client_id=600000001 api_user=shop_api store_key=\(sealed\) api_password=\(sealed\)/,
  );
  const said = [withUser.out, JSON.stringify(await json('network', 'show', id))];
  assert(!said.some((text) => text.includes('5ecret')));
  await run('org', 'methods', id, '--mode', 'live', '--card', 'on');
  assert.equal((await json('org', 'show', id)).methods.live.card, true);
});

test('review list and close', async () => {
  const { id } = await json('org', 'create', '--name', 'Reviews');
  assert.match((await run('review', 'list', id)).out, /^ID +MODE +.*\n$/, 'the headings alone');
  fixture.reviews.set('prv_1', reviewOf(id, 'prv_1'));
  assert.match(
    (await run('review', 'list', id)).out,
    /^prv_1 +test +open +amount_mismatch +100\.00 +99\.50 MAD +pi_1/m,
  );
  assert.equal((await json('review', 'close', 'prv_1', '--as', 'refunded')).closed_reason, 'refunded');
  assert.deepEqual(await json('review', 'list', id), []);
  assert.equal((await json('review', 'list', id, '--all', '--mode', 'test')).length, 1);
  assert.deepEqual(await json('review', 'list', id, '--all', '--mode', 'live'), []);
  assert.equal((await run('review', 'close', 'prv_1', '--as', 'approved')).code, 1);
  assert.equal((await run('review', 'list', 'org_unknown')).code, 1);
});

test('open reviews are found behind any number of closed ones, both modes in order of creation', async () => {
  const { id } = await json('org', 'create', '--name', 'Many reviews');
  const put = (number: number, more: Partial<ReviewRecord>) => {
    const review = reviewOf(id, `prv_m${String(number).padStart(4, '0')}`);
    fixture.reviews.set(review.id, { ...review, ...more });
  };
  put(0, { livemode: true });
  put(1, {});
  for (let number = 2; number < 2 + listedMax; number++)
    put(number, { open: false, closed_reason: 'approved' });
  put(2 + listedMax, { livemode: true });
  const listed = await json('review', 'list', id);
  assert.deepEqual(
    listed.map((review: { id: string }) => review.id),
    ['prv_m1002', 'prv_m0001', 'prv_m0000'],
  );
  assert.match((await run('review', 'list', id, '--all')).out, /there may be older ones\.\n$/);
});

test('config is the server’s, or without one what a start would use', async () => {
  assert.match((await run('config')).out, /^port +1234 +PAYMENTS_PORT$/m);
  const folder = temporaryFolder();
  assert.match((await run('config', '--data-dir', folder)).out, /^host +::1 +PAYMENTS_HOST$/m);
});

test('former names go on working, with a line that says the present one', async () => {
  const { dataDir } = fixture;
  const present = await run('network', 'calls', '--data-dir', dataDir);
  const former = await run('networks', `--data=${dataDir}`);
  assert.deepEqual([former.code, former.out], [0, present.out]);
  assert.equal(
    former.error,
    'payments: "--data" is called "--data-dir" now\npayments: "networks" is called "network calls" now\n',
  );
  const json = await run('--json', '--data-dir', dataDir, 'networks');
  assert.equal(json.error, '{"warning":{"message":"\\"networks\\" is called \\"network calls\\" now"}}\n');
  assert.deepEqual(JSON.parse(json.out), JSON.parse((await run('network', 'calls', '--json')).out));
  const search = await run('log', 'search', '--data', dataDir);
  assert.match(search.error, /"log" is called "wal" now\npayments: say what to search for/);
});

test('metrics', async () => {
  assert.equal((await run('metrics')).out, '# TYPE up gauge\nup 1\n');
  assert.deepEqual(JSON.parse((await run('metrics', '--json')).out), [upMetric]);
});

test('doctor shows what was checked, and exits with 1 when something is wrong', async () => {
  const well = await run('doctor');
  assert.deepEqual([well.code, well.out], [0, 'CHECK   STATE  DETAIL\nshards  ok     1 of 1 serve\n']);
  fixtureChecks.push({ name: 'disk', ok: false, detail: '9 MiB free; make room' });
  const ill = await run('doctor');
  fixtureChecks.pop();
  assert.deepEqual([ill.code, ill.error], [1, 'payments: something is wrong: disk\n']);
  assert.match(ill.out, /^disk +WRONG +9 MiB free; make room$/m);
});

test('doctor without a service looks at the machine and the folder; only with --stopped all can be well', async () => {
  const folder = temporaryFolder();
  const down = await run('doctor', '--data-dir', folder);
  assert.deepEqual([down.code, down.error], [1, 'payments: something is wrong: service\n']);
  assert.match(down.out, /^service +WRONG +no server runs on .*: start it with "payments serve"/m);
  assert.match(down.out, /^folder +ok +there is none at /m);
  const stopped = await run('doctor', '--stopped', '--data-dir', folder);
  assert.deepEqual([stopped.code, stopped.error], [0, '']);
  assert.doesNotMatch(stopped.out, /^service/m);
});

const failingEndpoint = {
  id: 'we_1',
  organization: 'org_1',
  mode: 'live',
  url: 'https://shop.ma/hooks',
  status: 'enabled',
  enabled_events: ['payment_intent.created'],
  api_version: '2026-11-01',
  created: '2026-10-01T10:00:00.000Z',
  failing_since: '2026-11-01T10:00:00.123Z',
  next_attempt: '2026-11-01T12:00:00.000Z',
  last_status: 503,
  attempts_24h: 9,
  failed_24h: 7,
  median_ms: 50,
} as const;

test('status is one screen, and exits with 1 when a shard does not serve', async () => {
  const well = await run('status');
  assert.equal(well.code, 0);
  assert.equal(
    well.out,
    `service    1.2.3 on Node 22.1.0, process 4321, http://127.0.0.1:8080
up         1 d 2 h, since 2026-11-01T10:00:00Z
folder     /d, 00000000000000000000000000000000, generation 0, 5.0 GiB free
memory     300 MiB resident
edges      1, with 3 of 7000 connections
requests   40 a second, 3.2 ms each; 1300 in all, 2 of them 5xx
webhooks   4 waiting, the oldest due for 1 min 1 s; 2 in flight, 0 a second; endpoints that fail: 0
mails      3 waiting, the oldest for 1 min 15 s; given up since the start: 2
processor  edge-0 13 %, shard-0 50 %

SHARD  STATE   LOG   CHECKPOINT  BEHIND  LOG ON DISK  CHECKPOINT ON DISK  MEMORY              QUEUED  WRITES/S  COMMIT  RESTARTS  SCRUBBED
0      serves  1200  1000        200     3.0 MiB      700 B               2.0 KiB of 128 MiB  0       12        1.3 ms  0         42 %, last 2026-10-30
`,
  );
  const { shards, webhooks } = fixtureStatus;
  fixtureStatus.webhooks = { ...webhooks, endpoints_failing: 12, failing: [failingEndpoint] };
  const failing = await run('status');
  fixtureStatus.webhooks = webhooks;
  assert.equal(
    failing.out.split('\n\n').slice(2).join('\n\n'),
    `FAILING ENDPOINT  ORGANIZATION  MODE  SINCE                 NEXT TRY              LAST  FAILED OF 24 H  URL
we_1              org_1         live  2026-11-01T10:00:00Z  2026-11-01T12:00:00Z  503   7 of 9          https://shop.ma/hooks

and 11 more
`,
  );
  const away = { log_sequence: null, checkpoint_sequence: null, resident_bytes: null, queued: null };
  fixtureStatus.shards = [
    { ...shards[0]!, read_only: true },
    { ...shards[0]!, ...away, shard: 1, serves: false, commit_mean_ms: null },
    { ...shards[0]!, shard: 2, oldest_commit_seconds: 7.2 },
  ];
  const ill = await run('status');
  assert.deepEqual([ill.code, ill.error], [1, 'payments: not serving: shard 1\n']);
  assert.match(ill.out, /^0 +READ-ONLY +1200/m);
  assert.match(ill.out, /^2 +STALLED for 7 s +1200/m);
  assert.match(ill.out, /^1 +DOWN +- +- +- +3.0 MiB +700 B +- +- +12 +- +0 +42 %, last 2026-10-30$/m);
  assert.equal((await run('status', '--json')).code, 1);
  fixtureStatus.shards = shards;
  assert.deepEqual(await json('status'), fixtureStatus);
});

test('serve passes the data folder on, and a failure is one line', async () => {
  const { code, error } = await run('--data-dir', '/d', 'serve');
  assert.deepEqual([code, error], [1, 'payments: the port is taken (/d)\n']);
});

describe('usage', () => {
  const wrong: [args: string, error: RegExp][] = [
    ['', /^Usage: payments/],
    ['org', /^Usage: payments org/],
    ['frob', /unknown command 'frob'/],
    ['org lst', /^payments: unknown command 'lst' \(Did you mean list\?\)\n$/],
    ['org create', /required option '--name <name>'/],
    ['org show', /missing required argument 'ORG'/],
    ['org show a b', /too many arguments/],
    ['org list --nope', /unknown option '--nope'/],
    ['org methods o --card on', /required option '--mode <mode>'/],
    ['org methods o --mode test', /give --card or --cash/],
    ['org methods o --mode test --card yes', /Allowed choices are on, off/],
    ['key create o --mode test --kind private', /Allowed choices are secret, publishable/],
    ['key roll k', /required option '--overlap <seconds>'/],
    ['key roll k --overlap -1', /whole number from 0/],
    ['key roll k --overlap 1e3', /whole number from 0/],
    ['limits set o --mode test', /either --bucket and --per-minute, or the --daily- options/],
    ['limits set o --mode test --bucket all', /needed together/],
    ['limits set o --mode test --per-minute 5', /needed together/],
    ['limits set o --mode test --bucket all --per-minute 5 --daily-requests 5', /either/],
    ['limits set o --mode live --daily-requests 5', /no daily cap/],
    ['limits set o --mode test --bucket all --per-minute 0', /whole number from 1/],
    ['limits set o --mode test --bucket all --per-minute 5 --until tomorrow', /must be a date/],
    ['limits set o --mode test --bucket all --per-minute 5 --until 2026-12-31T10:00', /must be a date/],
    ['limits set o --mode test --bucket all --per-minute 5 --until 2026-13-01', /must be a date/],
    ['limits set o --mode test --bucket all --per-minute 5 --until 2027-02-31', /must be a date/],
    ['limits set o --mode test --bucket all --per-minute 5 --until 2027-02-29T10:00:00Z', /must be a date/],
    ['review close r --as ignored', /Allowed choices are approved, refunded/],
  ];
  for (const [args, expected] of wrong) {
    test(`payments ${args}`, async () => {
      const { code, out, error } = await run(...args.split(' ').filter(Boolean));
      assert.match(error, expected);
      assert.deepEqual([code, out], [2, '']);
    });
  }

  test('with --json what goes wrong is JSON, whatever it is', async () => {
    const errors: [args: string[], code: number, kind: string, message: RegExp][] = [
      [[], 2, 'usage', /^name a command: /],
      [['org'], 2, 'usage', /^name a command: /],
      [['org', 'lst'], 2, 'usage', /^unknown command 'lst' \(Did you mean list\?\)$/],
      [['org', 'show'], 2, 'usage', /^missing required argument 'ORG'$/],
      [['org', 'methods', 'o', '--mode', 'test'], 2, 'usage', /^give --card or --cash/],
      [['org', 'show', 'org_unknown'], 1, 'refused', /^there is no such organization$/],
      [['org', 'list', '--data-dir', '/nowhere'], 1, 'failed', /^no server runs on/],
      [['serve'], 1, 'failed', /^the port is taken/],
    ];
    for (const [args, code, kind, message] of errors) {
      const outcome = await run(...args, '--json');
      assert.deepEqual([outcome.code, outcome.out], [code, ''], args.join(' '));
      assert.equal(outcome.error.indexOf('\n'), outcome.error.length - 1, 'one line');
      const { error } = JSON.parse(outcome.error);
      assert.equal(error.kind, kind);
      assert.match(error.message, message);
    }
  });

  test('every error has one prefix', async () => {
    for (const args of ['org lst', 'org show', 'org list --nope', 'org show org_unknown', 'serve']) {
      assert.match((await run(...args.split(' '))).error, /^payments: [^\n]*\n$/);
    }
  });

  const commands =
    'serve|config|metrics|doctor|org create|org list|org show|org activate|org suspend|org reinstate|org close|org methods|' +
    'key create|key list|key roll|key revoke|limits show|limits set|limits reset|limits requests|limits approve|limits deny|review list|review close';
  for (const command of commands.split('|')) {
    test(`payments ${command} --help`, async () => {
      const { code, out, error } = await run(...command.split(' '), '--help');
      assert.deepEqual([code, error], [0, '']);
      assert.ok(out.startsWith(`Usage: payments ${command} `), out);
      assert.match(out, /--json/);
    });
  }

  test('--version', async () => assert.equal((await run('--version')).out, '1.2.3\n'));
});

describe('as a process', () => {
  const entry = fileURLToPath(new URL('../../../src/main/payments.ts', import.meta.url));
  const execute = (env: Record<string, string>, ...args: string[]) =>
    new Promise<Printed>((resolve) => {
      execFile(process.execPath, [entry, ...args], { env }, (failure, out, error) => {
        resolve({ code: Number(failure?.code ?? 0), out, error });
      });
    });

  test('finds the server through PAYMENTS_DATA_DIR, and through --data-dir', async () => {
    const created = await execute(
      { PAYMENTS_DATA_DIR: fixture.dataDir },
      'org',
      'create',
      '--name',
      'A',
      '--json',
    );
    assert.deepEqual([created.code, created.error], [0, '']);
    const { id } = JSON.parse(created.out);
    const shown = await execute({}, '--data-dir', fixture.dataDir, 'org', 'show', id);
    assert.match(shown.out, /^name +A$/m);
  });

  const failures: [env: Record<string, string>, args: string[], code: number, error: RegExp][] = [
    [
      { PAYMENTS_DATA_DIR: '/nowhere' },
      ['org', 'list'],
      1,
      /no server runs on \/nowhere\/operator\.sock: start it/,
    ],
    [{ PAYMENTS_PROT: '1' }, ['org', 'list'], 1, /PAYMENTS_PROT is not a known variable/],
    [{ PAYMENTS_PORT: 'x' }, ['serve'], 1, /PAYMENTS_PORT is "x"/],
    [{}, ['org', 'show'], 2, /missing required argument/],
  ];
  for (const [env, args, code, error] of failures) {
    test(`${JSON.stringify(env)} ${args.join(' ')}`, async () => {
      const outcome = await execute(env, ...args);
      assert.match(outcome.error, error);
      assert.equal(outcome.error.trimEnd().split('\n').length, 1, 'one line');
      assert.deepEqual([outcome.code, outcome.out], [code, '']);
    });
  }
});

describe('webhooks deliveries', () => {
  const deliveriesParams = { endpoint: Type.String(), failedOnly: Type.Boolean() };
  const delivery: PresentedDelivery = {
    id: 'whd_1',
    endpoint: 'we_1',
    event: 'evt_1',
    type: 'payment_intent.created',
    status: 'succeeded',
    attempts: 1,
    next_attempt: null,
    created: '2026-11-01T10:00:00.000Z',
  };
  for (const [count, says] of [
    [listedMax - 1, false],
    [listedMax, true],
  ] as const) {
    test(`of ${count} it ${says ? 'says' : 'does not say'} that there may be more`, async () => {
      const list = Array.from({ length: count }, () => delivery);
      const answer = defineCommand(deliveriesParams, async () => list);
      const full = await openFixture({ 'webhooks.deliveries': answer });
      const { out } = await run('webhooks', 'deliveries', 'we_1', '--data-dir', full.dataDir);
      await full.close();
      assert.equal(
        out.trimEnd().split('\n')[count],
        'whd_1  payment_intent.created  succeeded  1         -             evt_1  2026-11-01T10:00:00Z',
      );
      assert.equal(/there may be older ones/.test(out), says);
    });
  }
});
