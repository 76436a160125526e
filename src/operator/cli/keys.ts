// `payments key …`. A key is named by its id (`key_…`) or by its text, which is never printed back.

import type { Command } from 'commander';
import { overlapSecondsMax } from '../../contract/limits.ts';
import { keyKinds } from '../../directory/api-key.ts';
import type { PresentedKey } from '../use-cases/present.ts';
import { addCommand, type CliContext, choiceOption, modeOption, wholeNumber } from './context.ts';
import { formatFields, formatTime, tableOf } from './table.ts';

type CreatedKey = PresentedKey & { readonly key: string; readonly replaces?: PresentedKey };

export function addKeyCommands(program: Command, { run }: CliContext): void {
  const key = addCommand(program, 'key', 'API keys of organizations');
  addCommand(key, 'create <ORG>', 'create a key, which is shown once')
    .addOption(modeOption())
    .addOption(choiceOption('--kind <kind>', 'what the key may do', keyKinds))
    .action((org, { mode, kind }) => run('key.create', { org, mode, kind }, created));
  addCommand(
    key,
    'list <ORG>',
    "list an organization's keys, oldest first, with their last four characters",
  ).action((org) => run('key.list', { org }, list));
  addCommand(key, 'roll <KEY>', 'replace a key by a new one; the old one works until the overlap ends')
    .requiredOption(
      '--overlap <seconds>',
      'how long the old key still works',
      wholeNumber(0, overlapSecondsMax),
    )
    .action((name, { overlap }) => run('key.roll', { key: name, overlapSeconds: overlap }, created));
  addCommand(key, 'revoke <KEY>', 'stop a key at once').action((name) =>
    run(
      'key.revoke',
      { key: name },
      ({ id, mode, kind, hint }) => `Revoked ${id}, the ${mode} ${kind} key that ends in ${hint}.`,
    ),
  );
}

function created({ id, organization, mode, kind, key, replaces }: CreatedKey): string {
  const end =
    replaces?.status === 'expired' ? 'has expired' : `works until ${formatTime(replaces?.expires ?? null)}`;
  const old: Record<string, string> =
    replaces === undefined ? {} : { replaces: `${replaces.id}, which ${end}` };
  const fields = formatFields({ id, organization, mode, kind, key, ...old });
  return `${fields}\n\nThe key will not be shown again: keep it safe.`;
}

const list = tableOf<PresentedKey>([
  'id',
  'mode',
  'kind',
  ['key', ({ hint }) => `…${hint}`],
  'status',
  'created',
  'last_used',
  ['ends', ({ revoked, expires }) => revoked ?? expires],
]);
