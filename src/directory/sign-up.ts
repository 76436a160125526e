// Somebody who was invited by nobody makes an organization and becomes its owner. It has keys of
// test mode; live mode waits for its activation. How many are made is bounded, because each is a
// row of the directory that every thread has in memory.

import type { Mode } from '../contract/vocabulary.ts';
import type { FirstKeys } from './api-key.ts';
import type { Directory } from './directory.ts';
import { checkedEmail, type Member, type PasswordHash } from './members.ts';
import type { Organization } from './organization.ts';
import { DirectoryRefusal } from './refusal.ts';

/** Organizations that are made in a day, whoever makes them, after which nobody can sign up. */
export const organizationsPerDayMax = 200;
/** Organizations whose live mode was never activated, after which nobody can sign up. */
const unactivatedMax = 10_000;

const nameCharactersMax = 100;
const dayMs = 86_400_000;

export interface SignedUp {
  readonly organization: Organization;
  readonly owner: Member;
  /** The texts of its first keys, which are kept nowhere. */
  readonly keys: FirstKeys<Extract<Mode, 'test'>>;
}

/** Throws `DirectoryRefusal`: also when the address has an account, or too many have signed up. */
export async function signUp(
  directory: Directory,
  given: { readonly organization: string; readonly email: string; readonly password: PasswordHash },
): Promise<SignedUp> {
  const { members } = directory;
  const email = checkedEmail(given.email);
  const name = email.slice(0, Math.min(email.indexOf('@'), nameCharactersMax));
  const withOwner = (organization: string) => {
    const owner = members.creation(email, name, given.password, { [organization]: 'owner' });
    refuseMany(directory);
    return [owner];
  };
  const { organization, keys } = await directory.createOrganization(given.organization, ['test'], withOwner);
  return { organization, owner: members.member(email), keys };
}

/** Throws `DirectoryRefusal` when nobody can sign up now. */
export function refuseMany(directory: Directory): void {
  const sinceSeconds = (directory.store.now() - dayMs) / 1000;
  const organizations = directory.organizations();
  const lately = organizations.filter(({ created }) => created > sinceSeconds);
  const waiting = organizations.filter(({ liveActivated, status }) => !liveActivated && status !== 'closed');
  if (lately.length < organizationsPerDayMax && waiting.length < unactivatedMax) return;
  throw new DirectoryRefusal('too many organizations were made lately: try again later', 'too_many_sign_ups');
}
