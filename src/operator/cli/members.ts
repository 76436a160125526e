// `payments member …`: the people who use the dashboard. A member is named by the id (`mem_…`) or by the e-mail address.

import { type Command, Option } from 'commander';
import { roles } from '../../directory/members.ts';
import type { PresentedLink, PresentedMember } from '../server/member-commands.ts';
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
      run(command, 'member.role', { org, member: name, role }, (each: PresentedMember) => list([each])),
    );
  member
    .command('remove <ORG> <MEMBER>')
    .description('take a member out of an organization')
    .action((org, name, _, command) =>
      run(
        command,
        'member.remove',
        { org, member: name },
        ({ email }: PresentedMember) => `Removed ${email}.`,
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
    .description('make a link with which a member chooses a new password; the authenticator app is forgotten')
    .action((name, _, command) => run(command, 'member.reset', { member: name }, link));
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
