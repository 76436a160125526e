// `payments member …`: who uses the dashboard. A member is named by id (`mem_…`) or e-mail address.

import type { Command } from 'commander';
import { roles } from '../../directory/members.ts';
import type { ResultOf, RowOf } from '../use-cases/commands.ts';
import { addCommand, type CliContext, choiceOption } from './context.ts';
import { counted, formatFields, formatTime, tableOf } from './table.ts';

export function addMemberCommands(program: Command, { run }: CliContext): void {
  const member = addCommand(program, 'member', 'members of organizations, who use the dashboard');
  const roleOption = () => choiceOption('--role <role>', 'what the member may do', roles);
  addCommand(member, 'invite <ORG>', 'make a link that lets somebody into an organization; it works once')
    .requiredOption('--email <address>', 'the e-mail address of the person')
    .addOption(roleOption())
    .action((org, { email, role }) => run('member.invite', { org, email, role }, link));
  addCommand(member, 'list <ORG>', "list an organization's members").action((org) =>
    run('member.list', { org }, list),
  );
  addCommand(member, 'role <ORG> <MEMBER>', 'give a member another role')
    .addOption(roleOption())
    .action((org, name, { role }) =>
      run('member.role', { org, member: name, role }, (each) => withKeys(list([each]), each)),
    );
  addCommand(member, 'remove <ORG> <MEMBER>', 'take a member out of an organization').action((org, name) =>
    run('member.remove', { org, member: name }, (each) => withKeys(`Removed ${each.email}.`, each)),
  );
  addCommand(member, 'end-sessions <MEMBER>', 'sign a member out everywhere').action((name) =>
    run('member.end-sessions', { member: name }, ({ ended }) => `Ended ${counted(ended, 'session')}.`),
  );
  addCommand(
    member,
    'reset <MEMBER>',
    'make a link, valid for an hour, with which a member chooses a new password; two-step sign-in is forgotten',
  ).action((name) => run('member.reset', { member: name }, link));
  const invitations = addCommand(member, 'invitations', 'invitations that have not been used yet');
  addCommand(invitations, 'list <ORG>', "list an organization's open invitations").action((org) =>
    run('member.invitations', { org }, invitationList),
  );
  addCommand(invitations, 'revoke <ORG> <INVITATION>', 'revoke an invitation').action((org, id) =>
    run('member.revoke-invitation', { org, id }, () => `Revoked ${id}.`),
  );
}

/** Names the keys whose text somebody knows who is not to use them any more. */
function withKeys(text: string, { keys }: ResultOf<'member.role'>): string {
  if (keys.length === 0) return text;
  // One that was rolled already can only be stopped.
  const lines = keys.flatMap(({ id, mode, kind, hint, rolled_to }) => [
    `  # ${mode}, ${kind}, …${hint}`,
    ...(rolled_to === null ? [`  payments key roll ${id} --overlap 3600`] : []),
    `  payments key revoke ${id}`,
  ]);
  return `${text}\n\nThis person may know these keys, which still work. Roll each of them, or revoke it to stop it at once:\n\n${lines.join('\n')}`;
}

function link({ email, link, expires }: ResultOf<'member.invite'>): string {
  const fields = formatFields({ email, link, expires: formatTime(expires) });
  return `${fields}\n\nThe link works once and will not be shown again: give it to this person alone.`;
}

const list = tableOf<RowOf<'member.list'>>([
  'id',
  'email',
  'name',
  'role',
  ['two-step', 'two_step'],
  'sessions',
  'created',
]);
const invitationList = tableOf<RowOf<'member.invitations'>>(['id', 'email', 'role', 'made_by', 'expires']);
