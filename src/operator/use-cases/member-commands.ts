// The operators' commands about members: who may use the dashboard of an organization, and as what.

import { Type } from 'typebox';
import { signInLinkPath } from '../../contract/page-paths.ts';
import { type ApiKey, keyStatus } from '../../directory/api-key.ts';
import type { Directory } from '../../directory/directory.ts';
import { type Member, mayHaveKeys, type Role, refuseStranger, roles } from '../../directory/members.ts';
import { DirectoryRefusal } from '../../directory/refusal.ts';
import type { LinkPurpose, SignInLink } from '../../directory/sign-in-links.ts';
import { letterOf } from '../../mail/letters.ts';
import { defineCommand } from './command.ts';
import { isoTime, makerOf, presentKey } from './present.ts';
import type { OperatorServices } from './services.ts';

const org = Type.String();
const member = Type.String();
const role = Type.Enum([...roles]);

export const memberCommands = {
  'member.invite': defineCommand(
    { org, email: Type.String(), role },
    async ({ org, email, role }, services) => inviteMember(services, org, email, role),
  ),
  'member.list': defineCommand({ org }, async ({ org }, { directory }) =>
    directory.members.of(directory.organization(org).id).map((each) => presentMember(each, org, directory)),
  ),
  'member.role': defineCommand({ org, member, role }, async ({ org, member, role }, services) =>
    presentChanged(await changeRole(services.directory, org, member, role), org, services),
  ),
  'member.remove': defineCommand({ org, member }, async ({ org, member }, services) =>
    presentChanged(await removeMember(services.directory, org, member), org, services),
  ),
  'member.invitations': defineCommand({ org }, async ({ org }, { directory }) =>
    directory.links.invitationsOf(directory.organization(org).id).map(presentInvitation),
  ),
  'member.revoke-invitation': defineCommand(
    { org, id: Type.String() },
    async ({ org, id }, { directory }) => {
      await directory.links.revoke(directory.organization(org).id, id);
      return { id };
    },
  ),
  'member.end-sessions': defineCommand({ member }, async ({ member }, { directory }) => {
    const { id } = directory.members.member(member);
    return { id, ended: await directory.sessions.endAll(id) };
  }),
  'member.reset': defineCommand({ member }, async ({ member }, services) => {
    const { members } = services.directory;
    const { id, email } = members.member(member);
    return makeLink(services, email, { kind: 'reset' }, () => void members.member(id));
  }),
};

type LinkServices = Pick<OperatorServices, 'directory' | 'baseUrl' | 'author' | 'language' | 'mail'>;

export async function inviteMember(services: LinkServices, org: string, email: string, role: Role) {
  const { directory } = services;
  const { id } = directory.organization(org);
  return makeLink(services, email, { kind: 'invitation', org: id, role }, () => {
    const { status } = directory.organization(id);
    if (status !== 'active')
      throw new DirectoryRefusal(`organization ${id} is ${status}: nobody can be invited`);
    refuseFormerOwner(services, id);
    if (Object.hasOwn(directory.members.findByEmail(email)?.roles ?? {}, id))
      throw new DirectoryRefusal(
        'this address belongs to a member of the organization already',
        'member_exists',
      );
  });
}

/** Throws `DirectoryRefusal` when the author is a member who may invite nobody any more. */
function refuseFormerOwner({ directory, author }: LinkServices, org: string): void {
  if (author.by !== 'member') return;
  if (author.name === null || directory.members.find(author.name)?.roles[org] !== 'owner')
    throw new DirectoryRefusal('who invites must be an owner of the organization', 'member_missing');
}

/** A member after a change, and the keys that the member may know and should not use any more. */
interface MemberChanged {
  readonly changed: Member;
  readonly keys: readonly ApiKey[];
}

/**
 * Takes a member out of an organization. Invitations by the member end, and the sessions of one who
 * is in no other, all in one commit: nothing is left to who is gone when the process ends.
 */
export async function removeMember(
  directory: Directory,
  org: string,
  idOrEmail: string,
): Promise<MemberChanged> {
  const { id, email } = memberIn(directory, org, idOrEmail);
  const { links, members, sessions } = directory;
  const changed = await members.remove(id, org, ({ roles }) => {
    const invitations = links.endingInvitations(org, (link) => isBy(link, id) || link.email === email);
    const isLast = Object.keys(roles).length === 0;
    return isLast ? [invitations, links.endingOwn(email), sessions.ending(id)] : [invitations];
  });
  return { changed, keys: keysKnownTo(directory, org, id) };
}

/** Gives a member another role. Open invitations that the new role does not allow end. */
export async function changeRole(
  directory: Directory,
  org: string,
  idOrEmail: string,
  role: Role,
): Promise<MemberChanged> {
  const { id, email } = memberIn(directory, org, idOrEmail);
  const isEnded = (link: SignInLink) => link.email === email || (role !== 'owner' && isBy(link, id));
  const changed = await directory.members.setRole(id, org, role, () => [
    directory.links.endingInvitations(org, isEnded),
  ]);
  return { changed, keys: mayHaveKeys(role) ? [] : keysKnownTo(directory, org, id) };
}

/** Who made an invitation of version 0.1.0 is not known: it may have been anybody. */
function isBy({ madeBy }: SignInLink, member: string): boolean {
  return madeBy === undefined || madeBy === member;
}

/** The active keys that a member has seen, or may have: of keys of version 0.1.0 nobody knows. */
export function keysKnownTo(directory: Directory, org: string, member: string): ApiKey[] {
  const nowMs = directory.store.now();
  return directory
    .keysOf(org)
    .filter((key) => keyStatus(key, nowMs) === 'active' && (key.madeBy ?? member) === member);
}

function memberIn(directory: Directory, org: string, idOrEmail: string): Member {
  const found = directory.members.member(idOrEmail);
  refuseStranger(found, directory.organization(org).id);
  return found;
}

/** Makes a link that works once: it is in this answer only, and mailed if mail is set up. */
async function makeLink(
  { directory, baseUrl, author, language, mail }: LinkServices,
  email: string,
  purpose: Extract<LinkPurpose, { kind: 'invitation' | 'reset' }>,
  refuse?: () => void,
) {
  let mailed = false;
  const org = purpose.kind === 'invitation' ? purpose.org : null;
  const queue = ({ email: to, digest, expiresMs }: SignInLink, token: string) => {
    const organization = org === null ? null : directory.organization(org);
    const letter = letterOf(purpose.kind, to, language, {
      organization: organization?.name ?? '',
      link: baseUrl + signInLinkPath(token),
    });
    const isNewcomer = organization?.liveActivated === false;
    const planned = mail?.plan([letter], { org, isNewcomer, kind: 'link', link: digest, expiresMs }) ?? null;
    mailed = planned !== null;
    return planned;
  };
  const { link, token } = await directory.links.create(email, purpose, makerOf(author), refuse, queue);
  const { id, email: to, expiresMs } = link;
  return { id, email: to, link: baseUrl + signInLinkPath(token), expires: isoTime(expiresMs), mailed };
}

function presentChanged({ changed, keys }: MemberChanged, org: string, services: OperatorServices) {
  return {
    ...presentMember(changed, org, services.directory),
    keys: keys.map((key) => presentKey(key, services)),
  };
}

function presentInvitation(link: SignInLink) {
  const { id, email, madeBy = null, createdMs, expiresMs } = link;
  return {
    id,
    email,
    role: link.kind === 'invitation' ? link.role : null,
    // A member's id, or `operator`; null in one of version 0.1.0.
    made_by: madeBy,
    created: isoTime(createdMs),
    expires: isoTime(expiresMs),
  };
}

function presentMember(
  { id, email, name, roles, totp, created }: Member,
  org: string,
  { sessions }: Directory,
) {
  return {
    id,
    email,
    name,
    role: roles[org] ?? null,
    two_step: totp !== null,
    sessions: sessions.into(id, org).length,
    created: isoTime(created * 1000),
  };
}
