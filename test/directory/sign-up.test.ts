// Who signs up owns an organization with keys of test mode, and not too many do.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Directory } from '../../src/directory/directory.ts';
import { newOrganization, type Organization } from '../../src/directory/organization.ts';
import { DirectoryRefusal } from '../../src/directory/refusal.ts';
import { organizationsPerDayMax, refuseMany, signUp } from '../../src/directory/sign-up.ts';
import { directoryIn, folderOfDirectory } from './directories.ts';

const nowMs = 1_793_491_200_000;
const dayMs = 86_400_000;
const password = { salt: 'cw==', hash: 'aA==', cost: { N: 1, r: 1, p: 1 } };

test('an organization, its owner and its keys are made at once', async (context) => {
  const directory = directoryIn(await folderOfDirectory(), () => nowMs);
  context.after(() => directory.closeStore());
  const given = { organization: 'Souk', email: ' Amina@Souk.MA ', password };
  const { organization, owner, keys } = await signUp(directory, given);
  assert.deepEqual(
    directory.organizations().map(({ id, name }) => [id, name]),
    [[organization.id, 'Souk']],
  );
  assert.deepEqual(
    [owner.email, owner.name, owner.roles],
    ['amina@souk.ma', 'amina', { [organization.id]: 'owner' }],
  );
  assert.deepEqual(Object.keys(keys), ['test']);
  assert.equal(directory.key(keys.test.secret).org, organization.id);
  assert.equal(organization.liveActivated, false);

  await assert.rejects(signUp(directory, { ...given, organization: 'Again' }), /has an account/);
  await assert.rejects(signUp(directory, { ...given, email: 'no address' }), DirectoryRefusal);
  assert.equal(directory.organizations().length, 1, 'nothing was made of those that were refused');
  const local = 'x'.repeat(64);
  const { owner: other } = await signUp(directory, { ...given, organization: 'B', email: `${local}@b.ma` });
  assert.equal(other.name, local);
  const long = 'y'.repeat(150);
  const third = await signUp(directory, { ...given, organization: 'C', email: `${long}@c.ma` });
  assert.equal(third.owner.name, long.slice(0, 100));
});

const made = (count: number, atMs: number, fields: Partial<Organization> = {}): Organization[] =>
  Array.from({ length: count }, (_, at) => ({ ...newOrganization(`org_${at}`, 'X', atMs), ...fields }));
const isRefused = (organizations: readonly Organization[]): boolean => {
  const directory = { store: { now: () => nowMs }, organizations: () => organizations };
  try {
    refuseMany(directory as unknown as Directory);
    return false;
  } catch (error) {
    assert.ok(error instanceof DirectoryRefusal && error.code === 'too_many_sign_ups');
    return true;
  }
};
const active = { liveActivated: true } as const;

for (const [what, organizations, refused] of [
  ['none', [], false],
  ['one less than a day may have', made(organizationsPerDayMax - 1, nowMs), false],
  ['as many as a day may have', made(organizationsPerDayMax, nowMs), true],
  ['as many, whose live mode is active', made(organizationsPerDayMax, nowMs, active), true],
  ['as many within the day', made(organizationsPerDayMax, nowMs - dayMs + 1_000), true],
  ['as many a day ago', made(organizationsPerDayMax, nowMs - dayMs), false],
  ['9,999 that wait for their activation', made(9_999, 0), false],
  ['10,000 that wait for their activation', made(10_000, 0), true],
  ['10,000 of which one is active', [...made(9_999, 0), ...made(1, 0, active)], false],
  ['10,000 of which one is closed', [...made(9_999, 0), ...made(1, 0, { status: 'closed' })], false],
  ['10,000 of which one is suspended', [...made(9_999, 0), ...made(1, 0, { status: 'suspended' })], true],
] as const)
  test(`with ${what}, somebody ${refused ? 'can not' : 'can'} sign up`, () => {
    assert.equal(isRefused(organizations), refused);
  });
