// The names of all actions that the audit record has: what operators command, what members ask of
// the API, and what members do besides.

import { type Operation, routeTable } from '../../contract/routes/table.ts';
import { type CommandName, operatorCommands } from '../use-cases/commands.ts';

/** What members do that is neither an operator's command nor a request of the API. */
const memberActions = [
  'limits.request',
  'member.change-password',
  'member.join',
  'member.notices',
  'member.recovery-codes',
  'member.rename',
  'member.reset-password',
  'member.sign-in',
  'member.sign-out',
  'member.sign-up',
  'member.two-step-off',
  'member.two-step-on',
  'org.settings',
  'payment_link.make',
  'payment_link.pause',
  'payment_link.remove',
  'payment_link.resume',
] as const;

/** What a member does in the dashboard. */
export type MemberAction = CommandName | (typeof memberActions)[number] | `api.${Operation}`;

/** Every action, of members and operators. */
export const auditActions: readonly string[] = [
  ...Object.entries(operatorCommands).flatMap(([name, { recording }]) =>
    (recording as { readonly audited?: boolean }).audited === false ? [] : [name],
  ),
  ...routeTable.filter(({ kind }) => kind === 'command').map(({ operation }) => `api.${operation}`),
  ...memberActions,
];
