// The names of the actions that the audit record has: what operators command, what members ask of
// the API, and what members do besides.

import type { Operation } from '../../contract/routes/table.ts';
import type { CommandName } from '../use-cases/commands.ts';

/** What members do that is neither an operator's command nor a request of the API. */
export const memberActions = [
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
