// `payments member …`: the people who use the dashboard. A member is named by the id (`mem_…`) or by the e-mail address.

import { type Command, Option } from 'commander';
import { roles } from '../../directory/members.ts';
import type { PresentedInvitation, PresentedLink, PresentedMember } from '../use-cases/member-commands.ts';
import type { PresentedKey } from '../use-cases/present.ts';
import type { CliContext } from './context.ts';
import { formatFields, formatTable, formatTime } from './table.ts';

export function addMemberCommands(program: Command, { run }: CliContext): void {
  const member = program.command('member').description('members of organizations, who use the dashboard');
  const roleOption = () =>
    new Option('--role <role>', 'what the member may do').choices(roles).makeOptionMandatory();
  member
    .command('invite <ORG>')
    .description('make a link that lets somebody into an organization; it works once and is shown once')
    .requiredOption('--email <address>', 'whom the invitation is for')
    .addOption(roleOption())
    .action((org, { email, role }, command) => run(command, 'member.invite', { org, email, role }, link));
  member
    .command('list <ORG>')
    .description("list an organization's members")
    .action((org, _, command) => run(command, 'member.list', { org }, list));
  member
    .command('role <ORG> <MEMBER>')
    .description('give a member another role')
    .addOption(roleOption())
    .action((org, name, { role }, command) =>
      run(command, 'member.role', { org, member: name, role }, (each: ChangedMember) =>
        withKeys(list([each]), each),
      ),
    );
  member
    .command('remove <ORG> <MEMBER>')
    .description('take a member out of an organization')
    .action((org, name, _, command) =>
      run(command, 'member.remove', { org, member: name }, (each: ChangedMember) =>
        withKeys(`Removed ${each.email}.`, each),
      ),
    );
  member
    .command('end-sessions <MEMBER>')
    .description('sign a member out everywhere')
    .action((name, _, command) =>
      run(
        command,
        'member.end-sessions',
        { member: name },
        ({ ended }: { ended: number }) => `Ended ${ended} sessions.`,
      ),
    );
  member
    .command('reset <MEMBER>')
    .description(
      'make a link that works for an hour: with it a member chooses a new password, and the app is forgotten',
    )
    .action((name, _, command) => run(command, 'member.reset', { member: name }, link));
  const invitations = member.command('invitations').description('invitations that were not used yet');
  invitations
    .command('list <ORG>')
    .description("list an organization's open invitations")
    .action((org, _, command) => run(command, 'member.invitations', { org }, invitationList));
  invitations
    .command('revoke <ORG> <INVITATION>')
    .description('take an invitation back')
    .action((org, id, _, command) =>
      run(command, 'member.revoke-invitation', { org, id }, () => `Revoked ${id}.`),
    );
}

type ChangedMember = PresentedMember & { readonly keys: readonly PresentedKey[] };

/** Names the keys whose text somebody knows who is not to use them any more. */
function withKeys(text: string, { keys }: ChangedMember): string {
  if (keys.length === 0) return text;
  // One that was rolled already can only be stopped.
  const lines = keys.map(({ id, mode, kind, hint, rolled_to }) => {
    const way = rolled_to === null ? `roll ${id} --overlap 3600` : `revoke ${id}`;
    return `  payments key ${way}   # ${mode}, ${kind}, …${hint}`;
  });
  return `${text}\n\nThis person may know these keys, which work. Roll or revoke them:\n\n${lines.join('\n')}`;
}

function invitationList(invitations: readonly PresentedInvitation[]): string {
  const rows = invitations.map(({ id, email, role, made_by, expires }) => [
    id,
    email,
    role ?? '-',
    made_by ?? '-',
    formatTime(expires),
  ]);
  return formatTable(['id', 'email', 'role', 'made by', 'expires'], rows);
}

function link({ email, link, expires }: PresentedLink): string {
  const fields = formatFields({ email, link, expires: formatTime(expires) });
  return `${fields}\n\nThe link works once and is shown this once: give it to this person alone.`;
}

function list(members: readonly PresentedMember[]): string {
  const rows = members.map(({ id, email, name, role, two_step, sessions, created }) => [
    id,
    email,
    name,
    role ?? '-',
    two_step ? 'yes' : 'no',
    String(sessions),
    formatTime(created),
  ]);
  return formatTable(['id', 'email', 'name', 'role', 'two-step', 'sessions', 'created'], rows);
}
