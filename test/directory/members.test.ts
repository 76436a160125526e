import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { openInvitationsMax } from '../../src/contract/limits.ts';
import { changesAfter } from '../../src/directory/change-log.ts';
import { type Directory, isForeignRow } from '../../src/directory/directory.ts';
import { checkedEmail, type Member, totpOwner, wantsNotices } from '../../src/directory/members.ts';
import { type LinkPurpose, linkDays } from '../../src/directory/sign-in-links.ts';
import { RowStore } from '../../src/disk/row-store.ts';
import { createManualClock } from '../manual-clock.ts';
import { directoryIn, folderOfDirectory, part } from './directories.ts';

const limits = { idleMs: 12 * 3_600_000, absoluteMs: 14 * 86_400_000 };
const minuteMs = 60_000;
const clock = createManualClock(1_793_491_200_000);
let folder: string;
let directory: Directory;

beforeEach(async () => {
  folder = await folderOfDirectory();
  directory = directoryIn(folder, clock.now);
});
afterEach(() => directory.closeStore());

async function reopen(): Promise<void> {
  await directory.closeStore();
  directory = directoryIn(folder, clock.now);
}

/** An organization with an owner. */
async function organization(email = 'owner@souk.ma'): Promise<{ org: string; owner: Member }> {
  const { id: org } = (await directory.createOrganization('Souk', [])).organization;
  return { org, owner: await directory.members.create(email, 'Amina', null, { [org]: 'owner' }) };
}

describe('members', () => {
  test('are found by id and by address in any case, also after a restart; an address has one account', async () => {
    const { org, owner } = await organization();
    await assert.rejects(directory.members.create('owner@souk.ma', 'B', null, {}), /has an account/);
    await reopen();
    assert.deepEqual(directory.members.findByEmail(' Owner@Souk.MA '), owner);
    assert.equal(owner.created, Math.floor(clock.now() / 1_000));
    assert.deepEqual([owner.totp, owner.recoveryCodes, owner.notices], [null, [], null]);
    assert.deepEqual(directory.members.of(org), [owner]);
  });

  test('the last owner stays one; a member without any organization is forgotten', async () => {
    const { org, owner } = await organization();
    await assert.rejects(directory.members.setRole(owner.id, org, 'viewer'), /last owner/);
    await assert.rejects(directory.members.remove(owner.id, org), /last owner/);
    assert.deepEqual(await directory.members.setRole(owner.id, org, 'owner'), owner);
    const second = await directory.members.create('hind@souk.ma', 'Hind', null, { [org]: 'owner' });
    await directory.members.remove(owner.id, org);
    await reopen();
    assert.deepEqual(directory.members.of(org), [second]);
    assert.equal(directory.members.find(owner.id), undefined);
  });

  test('a role in one organization says nothing of the others', async () => {
    const { org, owner } = await organization();
    const { org: other } = await organization('hind@souk.ma');
    assert.deepEqual(directory.members.of(org), [owner]);
    const both = await directory.members.create('b@souk.ma', 'B', null, {
      [org]: 'viewer',
      [other]: 'owner',
    });
    await directory.members.setRole(both.id, org, 'owner');
    assert.deepEqual(directory.members.find(both.id)?.roles, { [org]: 'owner', [other]: 'owner' });
    await directory.members.setRole(both.id, other, 'viewer');
    assert.deepEqual(directory.members.find(both.id)?.roles, { [org]: 'owner', [other]: 'viewer' });
  });

  test('who has no role in an organization gets one by joining it, and by nothing else', async () => {
    const { org, owner } = await organization();
    const { org: other } = await organization('hind@souk.ma');
    const stranger = { code: 'member_missing' };
    await assert.rejects(directory.members.setRole(owner.id, other, 'viewer'), stranger);
    await assert.rejects(directory.members.remove(owner.id, other), stranger);
    const joined = await directory.members.join(owner.id, other, 'viewer');
    assert.deepEqual(joined.roles, { [org]: 'owner', [other]: 'viewer' });
    await assert.rejects(directory.members.join(owner.id, org, 'viewer'), /last owner/);
  });

  test('an owner among others who are none is the last one, and who is none may always go', async () => {
    const { org, owner } = await organization();
    const viewer = await directory.members.create('hind@souk.ma', 'Hind', null, { [org]: 'viewer' });
    await assert.rejects(directory.members.remove(owner.id, org), /last owner/);
    await assert.rejects(directory.members.setRole(owner.id, org, 'viewer'), /last owner/);
    await directory.members.remove(viewer.id, org);
    assert.deepEqual(directory.members.of(org), [owner]);
  });

  test('the address of a member who has gone is free for another one', async () => {
    const { org } = await organization();
    const gone = await directory.members.create('hind@souk.ma', 'Hind', null, { [org]: 'viewer' });
    await directory.members.remove(gone.id, org);
    assert.equal(directory.members.findByEmail('hind@souk.ma'), undefined);
    const next = await directory.members.create('hind@souk.ma', 'Hind', null, { [org]: 'viewer' });
    assert.deepEqual(directory.members.findByEmail('hind@souk.ma'), next);
    assert.notEqual(next.id, gone.id);
  });

  test('a name has no character that is not seen; one that was stored before loses it', async () => {
    const { org, owner } = await organization();
    for (const name of ['Ami\u202ena', '\u2067Amina', 'Ami\u200bna', 'Ami\u0000na'])
      await assert.rejects(directory.members.create('b@souk.ma', name, null, { [org]: 'viewer' }), /visible/);
    for (const name of ['', ' ', 'é'.repeat(101)])
      await assert.rejects(
        directory.members.create('b@souk.ma', name, null, { [org]: 'viewer' }),
        /1 to 100/,
      );
    const long = '😀'.repeat(100);
    const { name } = await directory.members.create('b@souk.ma', ` ${long} `, null, { [org]: 'viewer' });
    assert.equal(name, long);
    await directory.members.restore({ ...owner, name: 'Ami\u202ena\u2069' });
    const { organization: shop } = await directory.createOrganization('Medina', []);
    await directory.restore({ organization: { ...shop, name: '\u202eaniedM' }, keys: [] });
    await reopen();
    assert.equal(directory.members.find(owner.id)?.name, 'Ami na');
    assert.equal(directory.organization(shop.id).name, 'aniedM');
  });

  for (const text of [
    '',
    'a',
    'a@b',
    'a b@c.ma',
    '<a@b.ma>',
    `${'x'.repeat(250)}@b.ma`,
    'a@b.ma@c.ma',
    'a\u202eb@c.ma',
    'a\u200b@b.ma',
  ])
    test(`"${text.slice(0, 20)}" is no address`, () => assert.throws(() => checkedEmail(text), /e-mail/));
});

test('a directory that is closed has all that it was given, and takes nothing more', async () => {
  const { org, owner } = await organization();
  const given = directory.members.create('b@souk.ma', 'B', null, { [org]: 'viewer' });
  const closed = directory.closeStore();
  const { id } = await given;
  await closed;
  await assert.rejects(directory.members.setRole(owner.id, org, 'owner'));
  directory = directoryIn(folder, clock.now);
  assert.equal(directory.members.find(id)?.email, 'b@souk.ma');
});

test('owners get notices unless they choose otherwise, and others when they choose so', () => {
  for (const [wanted, role, expected] of [
    [null, 'owner', true],
    [null, 'viewer', false],
    [true, 'viewer', true],
    [false, 'owner', false],
  ] as const) {
    const notices = wanted === null ? null : ({ wanted } as NonNullable<Member['notices']>);
    assert.equal(wantsNotices({ notices }, role), expected);
  }
});

test('who is not there is told so, by any name', async () => {
  const { org, owner } = await organization();
  for (const name of ['mem_none', 'nobody@souk.ma', ''])
    assert.throws(() => directory.members.member(name), { code: 'member_missing' });
  assert.equal(directory.members.member('OWNER@souk.ma'), directory.members.member(owner.id));
  await assert.rejects(directory.members.remove(owner.id, 'org_other'), { code: 'member_missing' });
  await assert.rejects(directory.members.remove('mem_none', org), { code: 'member_missing' });
});

test('the secret of an app is sealed for what it was sealed for before', () => {
  assert.deepEqual(totpOwner('mem_1'), { id: 'mem_1', org: 'totp' });
});

test('members are listed by their age, those of one second by their ids', async () => {
  const { org } = await organization('m0@souk.ma');
  for (const number of [1, 2, 3, 4])
    await directory.members.create(`m${number}@souk.ma`, 'M', null, { [org]: 'viewer' });
  clock.advance(-5_000);
  const oldest = await directory.members.create('m5@souk.ma', 'M', null, { [org]: 'viewer' });
  clock.advance(5_000);
  const all = directory.members.of(org);
  assert.equal(all[0]!.id, oldest.id);
  const ids = all.slice(1).map(({ id }) => id);
  assert.deepEqual(ids, ids.toSorted());
  assert.equal(ids.length, 5);
  const { owner } = await organization('m6@souk.ma');
  const everybody = directory.members.all();
  assert.deepEqual([everybody.length, everybody[0]!.id], [7, oldest.id]);
  assert.ok(
    everybody.some(({ id }) => id === owner.id),
    'of whatever organization',
  );
});

describe('sessions', () => {
  test('end when they are not used, and in any case after their time; using them is written once a minute', async () => {
    const { owner } = await organization();
    const { token } = await directory.sessions.open(owner.id, '192.0.2.1', limits);
    for (let used = 0; used < 29; used++) {
      clock.advance(limits.idleMs - minuteMs);
      const isOver = (used + 1) * (limits.idleMs - minuteMs) >= limits.absoluteMs;
      assert.equal(directory.sessions.find(token, limits) === null, isOver, `${used}`);
      // Waits until the use is written.
      await directory.sessions.end(owner.id, 'none');
    }
    const idle = await directory.sessions.open(owner.id, '192.0.2.1', limits);
    clock.advance(limits.idleMs);
    assert.equal(directory.sessions.find(idle.token, limits), null);
  });

  test('a use is written once a minute, and a look is none', async () => {
    const { owner } = await organization();
    const { token } = await directory.sessions.open(owner.id, '192.0.2.1', limits);
    const usedMs = async () => {
      await directory.sessions.endAll('nobody');
      return directory.sessions.of(owner.id)[0]!.usedMs;
    };
    const openedMs = clock.now();
    clock.advance(minuteMs - 1);
    assert.notEqual(directory.sessions.find(token, limits), null);
    assert.equal(await usedMs(), openedMs);
    clock.advance(1);
    assert.notEqual(directory.sessions.find(token, limits, false), null);
    assert.equal(await usedMs(), openedMs);
    directory.sessions.find(token, limits);
    assert.equal(await usedMs(), openedMs + minuteMs);
  });

  test('those into one organization are ended and counted, but for one', async () => {
    const { org, owner } = await organization();
    const open = async () => (await directory.sessions.open(owner.id, '192.0.2.1', limits)).session.id;
    const [kept] = [await open(), await open(), await open()];
    assert.equal(await directory.sessions.endAllIn(owner.id, org, kept!), 2);
    assert.deepEqual(
      directory.sessions.into(owner.id, org).map(({ id }) => id),
      [kept],
    );
    assert.equal(directory.sessions.of(owner.id).length, 3, 'they go on elsewhere');
    assert.equal(await directory.sessions.endAllIn(owner.id, org, null), 1);
    assert.equal(await directory.sessions.endAll(owner.id), 3);
  });

  test('one that is open ends the others of its member, and one that has ended ends none', async () => {
    const { owner } = await organization();
    const { owner: other } = await organization('hind@souk.ma');
    const open = async (member: string) =>
      (await directory.sessions.open(member, '192.0.2.1', limits)).session;
    const [first, second, foreign] = [await open(owner.id), await open(owner.id), await open(other.id)];
    await directory.sessions.endOthers(second);
    await directory.sessions.endOthers(first);
    const ids = [owner, other].map(({ id }) => directory.sessions.of(id).map((session) => session.id));
    assert.deepEqual(ids, [[second.id], [foreign.id]]);
  });

  test('another token is needed once the password was given again, and none works after the end', async () => {
    const { owner } = await organization();
    const { session, token } = await directory.sessions.open(owner.id, '192.0.2.1', limits);
    clock.advance(minuteMs);
    const confirmed = (await directory.sessions.confirm(session))!;
    assert.equal(directory.sessions.find(token, limits), null);
    assert.equal(directory.sessions.find(confirmed, limits)?.confirmedMs, clock.now());
    await reopen();
    const found = directory.sessions.find(confirmed, limits)!;
    assert.equal(found.id, session.id);
    await directory.sessions.end(owner.id, session.id);
    assert.equal(directory.sessions.find(confirmed, limits), null);
    assert.equal(await directory.sessions.confirm(found), null, 'one that has ended does not come back');
  });

  test('those of a member are listed from the newest, and the oldest of too many end', async () => {
    const { owner } = await organization();
    const opened: string[] = [];
    for (let number = 0; number < 40; number++) {
      clock.advance(1_000);
      opened.push((await directory.sessions.open(owner.id, '192.0.2.1', limits)).session.id);
    }
    const ids = directory.sessions.of(owner.id).map(({ id }) => id);
    assert.ok(ids.length > 1 && ids.length < 40);
    assert.deepEqual(ids, opened.toReversed().slice(0, ids.length));
    assert.equal(Buffer.from(directory.sessions.of(owner.id)[0]!.formKey, 'base64url').length, 16);
    assert.match(ids[0]!, /^ses_[0-9a-f]{24}$/);
  });

  test('a use that is written while the session ends does not bring it back', async () => {
    const { owner } = await organization();
    const { token } = await directory.sessions.open(owner.id, '192.0.2.1', limits);
    clock.advance(2 * minuteMs);
    const ended = directory.sessions.endAll(owner.id);
    assert.notEqual(directory.sessions.find(token, limits), null);
    await ended;
    await directory.sessions.endAll('nobody');
    assert.equal(directory.sessions.find(token, limits), null);
    assert.deepEqual(directory.sessions.of(owner.id), []);
  });
});

test('a session that must not be opened any more is not written', async () => {
  const opening = directory.sessions.open('mem_1', '192.0.2.1', limits, () => false);
  await assert.rejects(opening, { code: 'session_over' });
  assert.deepEqual(directory.sessions.of('mem_1'), []);
});

describe('links', () => {
  test('work once, for some days, and the newest of a kind alone', async () => {
    const purpose = { kind: 'invitation', org: 'org_1', role: 'viewer' } as const;
    const older = await directory.links.create('a@souk.ma', purpose, 'operator');
    const { link, token } = await directory.links.create('A@souk.ma', purpose, 'operator');
    assert.equal(directory.links.find(older.token), null);
    assert.equal(directory.links.find(token)?.email, 'a@souk.ma');
    assert.deepEqual(await Promise.all([directory.links.use(link), directory.links.use(link)]), [
      true,
      false,
    ]);
    assert.equal(directory.links.find(token), null);
    const late = await directory.links.create('a@souk.ma', purpose, 'operator');
    clock.advance(linkDays * 86_400_000);
    assert.equal(directory.links.find(late.token), null);
    assert.deepEqual(directory.links.invitationsOf('org_1'), []);
    const { link: newest } = await directory.links.create('b@souk.ma', purpose, 'operator');
    assert.deepEqual([...directory.store.values('link/')], [newest], 'those that are over are removed');
  });

  test('are written with what is made of them', async () => {
    const purpose = { kind: 'sign_up', organization: 'Souk' } as const;
    const written: unknown[] = [];
    const made = await directory.links.create('a@souk.ma', purpose, 'operator', undefined, (link, token) => ({
      rows: new Map(),
      onWritten: () => written.push({ link, token }),
    }));
    assert.deepEqual(written, [made]);
  });
});

test('an invitation that is taken back opens nothing, and only its organization takes it back', async () => {
  const purpose = { kind: 'invitation', org: 'org_1', role: 'viewer' } as const;
  const { links } = directory;
  const first = await links.create('a@souk.ma', purpose, 'operator');
  clock.advance(1_000);
  const second = await links.create('b@souk.ma', purpose, 'operator');
  assert.deepEqual(
    links.invitationsOf('org_1').map(({ id }) => id),
    [first.link.id, second.link.id],
  );
  await assert.rejects(links.revoke('org_2', first.link.id), { code: 'link_missing' });
  assert.ok(links.isOpen(first.link.digest));
  await links.revoke('org_1', first.link.id);
  await assert.rejects(links.revoke('org_1', first.link.id), { code: 'link_missing' });
  assert.deepEqual([links.isOpen(first.link.digest), links.find(first.token)], [false, null]);
  assert.ok(links.isOpen(second.link.digest));
  clock.advance(linkDays * 86_400_000 - 1);
  assert.ok(links.isOpen(second.link.digest));
  clock.advance(1);
  assert.equal(links.isOpen(second.link.digest), false);
  await links.create('c@souk.ma', purpose, 'operator');
  const endings = [links.endingInvitations('org_1'), links.endingInvitations('org_1', () => false)];
  assert.deepEqual(
    endings.map(({ rows }) => rows.length),
    [1, 0],
  );
});

test('a link to a new password works for an hour, until a newer one or another password', async () => {
  const reset = () => directory.links.create('a@souk.ma', { kind: 'reset' }, 'operator');
  const invitation = { kind: 'invitation', org: 'org_1', role: 'viewer' } as const;
  const invited = await directory.links.create('a@souk.ma', invitation, 'operator');
  const first = await reset();
  const second = await reset();
  assert.equal(directory.links.find(first.token), null);
  assert.ok(directory.links.isOpen(invited.link.digest), 'it is for something else');
  clock.advance(3_599_999);
  assert.notEqual(directory.links.find(second.token), null);
  clock.advance(1);
  assert.equal(directory.links.find(second.token), null);
  const third = await reset();
  const ofAnother = await directory.links.create('b@souk.ma', { kind: 'reset' }, 'operator');
  const { owner } = await organization('a@souk.ma');
  const endings = () => [directory.links.endingOwn('a@souk.ma')];
  await directory.members.change(owner.id, (member) => member, endings);
  assert.equal(directory.links.find(third.token), null);
  assert.notEqual(directory.links.find(ofAnother.token), null);
  assert.ok(directory.links.isOpen(invited.link.digest));
});

test('a link takes the place of one for the same, and each kind has its time', async () => {
  const { links } = directory;
  const hourMs = 3_600_000;
  const role = 'viewer';
  const purposes: readonly (readonly [purpose: LinkPurpose, lifetimeMs: number])[] = [
    [{ kind: 'reset' }, hourMs],
    [{ kind: 'sign_up', organization: 'Souk' }, 24 * hourMs],
    [{ kind: 'sign_in' }, 168 * hourMs],
    [{ kind: 'invitation', org: 'org_1', role }, 168 * hourMs],
    [{ kind: 'invitation', org: 'org_2', role }, 168 * hourMs],
  ];
  const make = async (email: string, purpose: LinkPurpose) =>
    (await links.create(email, purpose, 'operator')).link.digest;
  const openOf = (digests: readonly string[]) => digests.map((digest) => links.isOpen(digest));
  const all = purposes.map(() => true);
  const mine: string[] = [];
  for (const [purpose] of purposes) mine.push(await make('a@souk.ma', purpose));
  const others: string[] = [];
  for (const [at, [purpose]] of purposes.entries()) {
    others.push(await make('b@souk.ma', purpose));
    assert.deepEqual(openOf(mine), all);
    const older = mine.splice(at, 1, await make('a@souk.ma', purpose));
    assert.deepEqual([openOf(older), openOf(mine)], [[false], all], purpose.kind);
  }
  let nowMs = 0;
  for (const [, ms] of purposes) {
    clock.advance(ms - nowMs - 1);
    const open = purposes.map(([, each]) => each >= ms);
    assert.deepEqual([openOf(mine), openOf(others)], [open, open], `a moment before ${ms} ms`);
    clock.advance(1);
    const left = purposes.map(([, each]) => each > ms);
    assert.deepEqual([openOf(mine), openOf(others)], [left, left], `after ${ms} ms`);
    nowMs = ms;
  }
});

test('an organization has at most a hundred open invitations, and uses up nothing of others', async () => {
  const invite = (org: string, number: number) => {
    const purpose = { kind: 'invitation', org, role: 'viewer' } as const;
    return directory.links.create(`guest-${number}@souk.ma`, purpose, 'mem_1');
  };
  for (let number = 0; number < openInvitationsMax; number++) await invite('org_1', number);
  await assert.rejects(invite('org_1', openInvitationsMax), { code: 'too_many_links' });
  await invite('org_1', 0);
  await invite('org_2', openInvitationsMax);
  await directory.links.create('owner@souk.ma', { kind: 'reset' }, 'operator');
  const [seventh] = directory.links.invitationsOf('org_1').filter(({ email }) => email === 'guest-7@souk.ma');
  await directory.links.revoke('org_1', seventh!.id);
  await invite('org_1', openInvitationsMax);
});

test('tokens are not on disk, and neither the log of changes nor a restore has sessions and links', async () => {
  const { owner } = await organization();
  const { token } = await directory.sessions.open(owner.id, '192.0.2.1', limits);
  const link = await directory.links.create('a@souk.ma', { kind: 'reset' }, 'operator');
  await directory.closeStore();
  const bytes = readFileSync(join(folder, 'data.mdb'));
  for (const secret of [token, link.token]) assert.equal(bytes.includes(secret), false);
  const store = new RowStore(folder, part);
  const logged = [...changesAfter(store, 0)].flatMap(({ rows }) => rows.map(([row]) => row));
  const rows = [...store.rowsFrom('', '')].map(([row]) => row);
  await store.close();
  const isToken = (row: string) => row.startsWith('session/') || row.startsWith('link/');
  assert.equal(rows.filter(isToken).length, 2);
  assert.ok(rows.filter(isToken).every(isForeignRow));
  assert.ok(logged.includes(owner.id));
  assert.deepEqual(logged.filter(isToken), []);
  directory = directoryIn(folder, clock.now);
});
