// The operators' commands about members: who may use the dashboard of an organization, and as what.

import { Type } from 'typebox';
import { signInLinkPath } from '../../contract/page-paths.ts';
import type { Directory } from '../../directory/directory.ts';
import { type Member, type Role, roles } from '../../directory/members.ts';
import { DirectoryRefusal } from '../../directory/refusal.ts';
import type { LinkPurpose } from '../../directory/sign-in-links.ts';
import { defineCommand, type OperatorCommand } from './command.ts';
import type { OperatorServices } from './services.ts';

const org = Type.String();
const member = Type.String();
const role = Type.Enum([...roles]);

/** A member as a command answers it. Times are ISO 8601. */
export interface PresentedMember {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly role: Role | null;
  readonly two_step: boolean;
  readonly sessions: number;
  readonly created: string;
}

/** A link that works once. It is shown in this answer only. */
export interface PresentedLink {
  /** The id of the link, which opens nothing. */
  readonly id: string;
  readonly email: string;
  readonly link: string;
  readonly expires: string;
}

export const memberCommands: readonly OperatorCommand[] = [
  defineCommand(
    'member.invite',
    { org, email: Type.String(), role },
    async ({ org, email, role }, services) => inviteMember(services, org, email, role),
  ),
  defineCommand('member.list', { org }, async ({ org }, { directory }) =>
    directory.members.of(directory.organization(org).id).map((each) => presentMember(each, org, directory)),
  ),
  defineCommand('member.role', { org, member, role }, async ({ org, member, role }, { directory }) => {
    const { id } = memberIn(directory, org, member);
    return presentMember(await directory.members.setRole(id, org, role), org, directory);
  }),
  defineCommand('member.remove', { org, member }, async ({ org, member }, { directory }) =>
    presentMember(await removeMember(directory, org, member), org, directory),
  ),
  defineCommand('member.end-sessions', { member }, async ({ member }, { directory }) => {
    const { id } = directory.members.member(member);
    return { id, ended: await directory.sessions.endAll(id) };
  }),
  defineCommand('member.reset', { member }, async ({ member }, services) =>
    makeLink(services, services.directory.members.member(member).email, { kind: 'reset' }),
  ),
];

/** Invites somebody into an organization. Throws `DirectoryRefusal` for one who is in it already. */
export async function inviteMember(
  services: Pick<OperatorServices, 'directory' | 'baseUrl'>,
  org: string,
  email: string,
  role: Role,
): Promise<PresentedLink> {
  const { directory } = services;
  const { id } = directory.organization(org);
  if (Object.hasOwn(directory.members.findByEmail(email)?.roles ?? {}, id))
    throw new DirectoryRefusal(
      'this address belongs to a member of the organization already',
      'member_exists',
    );
  return makeLink(services, email, { kind: 'invitation', org: id, role });
}

/** Takes a member out of an organization. The sessions of one who is in no other end. */
export async function removeMember(directory: Directory, org: string, member: string): Promise<Member> {
  const removed = await directory.members.remove(memberIn(directory, org, member).id, org);
  if (Object.keys(removed.roles).length === 0) await directory.sessions.endAll(removed.id);
  return removed;
}

/** Throws `DirectoryRefusal` when the organization has no such member. */
export function memberIn(directory: Directory, org: string, idOrEmail: string): Member {
  const found = directory.members.member(idOrEmail);
  if (Object.hasOwn(found.roles, directory.organization(org).id)) return found;
  throw new DirectoryRefusal('this organization has no such member', 'member_missing');
}

async function makeLink(
  { directory, baseUrl }: Pick<OperatorServices, 'directory' | 'baseUrl'>,
  email: string,
  purpose: LinkPurpose,
): Promise<PresentedLink> {
  const { link, token } = await directory.links.create(email, purpose);
  const expires = new Date(link.expiresMs).toISOString();
  return { id: link.id, email: link.email, link: baseUrl + signInLinkPath(token), expires };
}

function presentMember(member: Member, org: string, { sessions }: Directory): PresentedMember {
  return {
    id: member.id,
    email: member.email,
    name: member.name,
    role: member.roles[org] ?? null,
    two_step: member.totp !== null,
    sessions: sessions.of(member.id).length,
    created: new Date(member.created * 1000).toISOString(),
  };
}
