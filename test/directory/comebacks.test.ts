// What somebody tries who was just removed, has another role or is signed out by an owner, while a request of theirs is under way.

import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { openInvitationsMax } from '../../src/contract/limits.ts';
import { keyStatus } from '../../src/directory/api-key.ts';
import type { Directory } from '../../src/directory/directory.ts';
import type { Member } from '../../src/directory/members.ts';
import { mayEnter } from '../../src/directory/sessions.ts';
import type { OperatorCommand } from '../../src/operator/use-cases/command.ts';
import { operatorCommands } from '../../src/operator/use-cases/commands.ts';
import { changeRole, inviteMember, removeMember } from '../../src/operator/use-cases/member-commands.ts';
import type { OperatorServices } from '../../src/operator/use-cases/services.ts';
import { createManualClock } from '../manual-clock.ts';
import { directoryIn, folderOfDirectory } from './directories.ts';

const limits = { idleMs: 12 * 3_600_000, absoluteMs: 14 * 86_400_000 };
const clock = createManualClock(1_793_491_200_000);
let directory: Directory;
let org: string;
let owner: Member;
let leaving: Member;

beforeEach(async () => {
  directory = directoryIn(await folderOfDirectory(), clock.now);
  org = (await directory.createOrganization('Souk', [])).organization.id;
  owner = await directory.members.create('owner@souk.ma', 'Amina', null, { [org]: 'owner' });
  leaving = await directory.members.create('leaving@souk.ma', 'Hind', null, { [org]: 'owner' });
});
afterEach(() => directory.closeStore());

const services = () => ({ directory, baseUrl: 'https://pay.example', language: 'en', mail: null }) as const;

/** Runs a command as an operator does. */
const run = (name: 'member.reset' | 'org.suspend' | 'org.close', params: object) => {
  const command = operatorCommands[name] as OperatorCommand;
  const given: Partial<OperatorServices> = { ...services(), author: { by: 'operator', name: 'root' } };
  return command.run(params, given as OperatorServices, AbortSignal.abort()) as Promise<unknown>;
};

/** Invites somebody as a member does, or an operator (null), whose permission was checked before. */
const invite = (by: Member | null, email: string) => {
  const author =
    by === null ? ({ by: 'operator', name: 'root' } as const) : ({ by: 'member', name: by.id } as const);
  return inviteMember({ ...services(), author }, org, email, 'owner');
};
const open = () => directory.links.invitationsOf(org).map(({ email }) => email);

test('an invitation that was asked for before its maker was removed, or is no owner any more, is not made', async () => {
  await removeMember(directory, org, leaving.id);
  await assert.rejects(invite(leaving, 'accomplice@souk.ma'), { code: 'member_missing' });
  const second = await directory.members.create('second@souk.ma', 'Ali', null, { [org]: 'owner' });
  const demoting = changeRole(directory, org, second.id, 'viewer');
  await assert.rejects(invite(second, 'accomplice@souk.ma'), { code: 'member_missing' });
  await demoting;
  assert.deepEqual(open(), []);
});

test('a key that was asked for before its maker was removed, or may make none any more, is not made', async () => {
  const { key: rolledOne } = await directory.createKey(org, 'test', 'secret', leaving.id);
  const removing = removeMember(directory, org, leaving.id);
  const refused = { code: 'member_missing' };
  await assert.rejects(directory.createKey(org, 'live', 'secret', leaving.id), refused);
  await assert.rejects(directory.rollKey(rolledOne.id, 3_600, leaving.id), refused);
  assert.deepEqual(
    (await removing).keys.map(({ id }) => id),
    [rolledOne.id],
    'the answer names all that the person knows',
  );
  const developer = await directory.members.create('dev@souk.ma', 'Ali', null, { [org]: 'developer' });
  await directory.createKey(org, 'test', 'secret', developer.id);
  const demoting = changeRole(directory, org, developer.id, 'support');
  await assert.rejects(directory.createKey(org, 'live', 'secret', developer.id), refused);
  await demoting;
  await directory.createKey(org, 'live', 'secret', 'operator');
  assert.equal(directory.keysOf(org).length, 3);
});

/** What is open on the disk right behind each commit, which is all that a process leaves when it ends there. */
function openAfterEachCommit(): string[][] {
  const open: string[][] = [];
  directory.store.onChange(() => {
    const { store } = directory;
    const links = [...store.values<{ email: string; kind: string }>('link/')];
    const sessions = [...store.values<{ member: string }>('session/')];
    open.push([
      ...links.map(({ kind, email }) => `${kind} ${email}`),
      ...sessions.map(({ member }) => member),
    ]);
  });
  return open;
}

test('who is removed has no session and no invitation from the commit on which removes them', async () => {
  await invite(leaving, 'accomplice@souk.ma');
  await invite(owner, 'guest@souk.ma');
  await directory.links.create('leaving@souk.ma', { kind: 'reset' }, 'operator');
  await directory.sessions.open(leaving.id, '192.0.2.1', limits);
  await directory.sessions.open(owner.id, '192.0.2.1', limits);
  const after = openAfterEachCommit();
  await removeMember(directory, org, leaving.id);
  const left = ['invitation guest@souk.ma', owner.id];
  assert.deepEqual(after, [left]);
  assert.deepEqual(open(), ['guest@souk.ma']);
  assert.deepEqual([directory.sessions.of(leaving.id), directory.sessions.of(owner.id).length], [[], 1]);
});

test('who is no owner any more has invited nobody from the commit on which says so', async () => {
  await invite(leaving, 'accomplice@souk.ma');
  const after = openAfterEachCommit();
  await changeRole(directory, org, leaving.id, 'developer');
  assert.deepEqual([after, open()], [[[]], []]);
});

test('who is removed from one of two organizations while the role there is changed stays removed', async () => {
  const other = (await directory.createOrganization('Riad', [])).organization.id;
  await directory.members.join(leaving.id, other, 'viewer');
  const removing = removeMember(directory, org, leaving.id);
  await assert.rejects(changeRole(directory, org, leaving.id, 'owner'), { code: 'member_missing' });
  await removing;
  assert.deepEqual(directory.members.find(leaving.id)?.roles, { [other]: 'viewer' });
});

test('a link to a new password that was asked for before its member was removed is not made', async () => {
  const removing = removeMember(directory, org, leaving.id);
  await assert.rejects(run('member.reset', { member: leaving.id }), { code: 'member_missing' });
  await removing;
  assert.deepEqual([...directory.store.values('link/')], []);
});

for (const command of ['org.suspend', 'org.close'] as const)
  test(`nobody is invited from the commit of ${command} on`, async () => {
    await invite(owner, 'guest@souk.ma');
    const other = (await directory.createOrganization('Riad', [])).organization.id;
    await directory.links.create('b@riad.ma', { kind: 'invitation', org: other, role: 'viewer' }, 'operator');
    const after = openAfterEachCommit();
    await run(command, { org });
    assert.deepEqual([after, open()], [[['invitation b@riad.ma']], []]);
  });

test('a key that is named while it is revoked, or rolled, is no other key than that', async () => {
  const { key: revoked } = await directory.createKey(org, 'live', 'secret', owner.id);
  const { key: rolled } = await directory.createKey(org, 'live', 'secret', owner.id);
  const changing = [directory.revokeKey(revoked.id), directory.rollKey(rolled.id, 0, owner.id)];
  const named = await Promise.all([revoked, rolled].map(({ id }) => directory.nameKey(id, 'the shop')));
  await Promise.all(changing);
  assert.deepEqual(
    named.map((key) => [key.name, keyStatus(key, clock.now())]),
    [
      ['the shop', 'revoked'],
      ['the shop', 'expired'],
    ],
  );
  assert.deepEqual([directory.key(revoked.id), directory.key(rolled.id)], named);
});

test('nobody is left with an invitation into the organization that they have joined meanwhile', async () => {
  const joining = directory.members.create('guest@souk.ma', 'Guest', null, { [org]: 'viewer' });
  await assert.rejects(invite(leaving, 'guest@souk.ma'), { code: 'member_exists' });
  await joining;
  assert.deepEqual(open(), []);
});

test('another role ends what is open for the address, which may give the role before', async () => {
  await directory.links.create('leaving@souk.ma', { kind: 'invitation', org, role: 'owner' }, owner.id);
  await changeRole(directory, org, leaving.id, 'viewer');
  assert.deepEqual(open(), []);
});

test('an organization that a member has kept out of for a session stays closed to it when the password is given again', async () => {
  const { session, token } = await directory.sessions.open(leaving.id, '192.0.2.1', limits);
  assert.equal(mayEnter(directory.sessions.find(token, limits)!, org), true);
  // The password is being tried while the owner ends the sessions.
  await directory.sessions.endAllIn(leaving.id, org, null);
  const confirmed = await directory.sessions.confirm(session);
  assert.equal(mayEnter(directory.sessions.find(confirmed!, limits)!, org), false);
});

test('a session stays kept out of one organization when another one keeps it out, too', async () => {
  const other = (await directory.createOrganization('Riad', [])).organization.id;
  const { token } = await directory.sessions.open(leaving.id, '192.0.2.1', limits);
  await directory.sessions.endAllIn(leaving.id, org, null);
  await directory.sessions.endAllIn(leaving.id, other, null);
  const session = directory.sessions.find(token, limits)!;
  assert.deepEqual([mayEnter(session, org), mayEnter(session, other)], [false, false]);
});

test('members who use up all invitations keep no operator from inviting', async () => {
  for (let i = 0; i < openInvitationsMax; i++) await invite(leaving, `guest-${i}@souk.ma`);
  await assert.rejects(invite(owner, 'one-more@souk.ma'), { code: 'too_many_links' });
  await invite(null, 'from-operator@souk.ma');
  await invite(leaving, 'guest-0@souk.ma');
  await assert.rejects(invite(owner, 'one-more@souk.ma'), { code: 'too_many_links' });
});
