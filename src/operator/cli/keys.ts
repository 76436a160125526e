// `payments key …`: API keys. A key is named by its id (`key_…`) or by its whole text, which is never printed back.

import { type Command, Option } from 'commander';
import { overlapSecondsMax } from '../../contract/limits.ts';
import { keyKinds } from '../../directory/api-key.ts';
import type { PresentedKey } from '../use-cases/present.ts';
import { type CliContext, modeOption, wholeNumber } from './context.ts';
import { formatFields, formatTable, formatTime } from './table.ts';

type CreatedKey = PresentedKey & { readonly key: string; readonly replaces?: PresentedKey };

export function addKeyCommands(program: Command, { run }: CliContext): void {
  const key = program.command('key').description('API keys of organizations');
  key
    .command('create <ORG>')
    .description('create a key, which is shown once')
    .addOption(modeOption())
    .addOption(new Option('--kind <kind>', 'what the key may do').choices(keyKinds).makeOptionMandatory())
    .action((org, { mode, kind }, command) => run(command, 'key.create', { org, mode, kind }, created));
  key
    .command('list <ORG>')
    .description("list an organization's keys, oldest first, with their last four characters")
    .action((org, _, command) => run(command, 'key.list', { org }, list));
  key
    .command('roll <KEY>')
    .description('replace a key by a new one; the old one works until the overlap ends')
    .requiredOption(
      '--overlap <seconds>',
      'how long the old key still works',
      wholeNumber(0, overlapSecondsMax),
    )
    .action((name, { overlap }, command) =>
      run(command, 'key.roll', { key: name, overlapSeconds: overlap }, created),
    );
  key
    .command('revoke <KEY>')
    .description('stop a key at once')
    .action((name, _, command) => run(command, 'key.revoke', { key: name }, revoked));
}

function created({ id, organization, mode, kind, key, replaces }: CreatedKey): string {
  const end =
    replaces?.status === 'expired' ? 'works no more' : `works until ${formatTime(replaces?.expires ?? null)}`;
  const old: Record<string, string> =
    replaces === undefined ? {} : { replaces: `${replaces.id}, which ${end}` };
  const fields = formatFields({ id, organization, mode, kind, key, ...old });
  return `${fields}\n\nThe key is shown this once: keep it safe.`;
}

function list(keys: readonly PresentedKey[]): string {
  const rows = keys.map((key) => [
    key.id,
    key.mode,
    key.kind,
    `…${key.hint}`,
    key.status,
    formatTime(key.created),
    formatTime(key.last_used),
    formatTime(key.revoked ?? key.expires),
  ]);
  return formatTable(['id', 'mode', 'kind', 'key', 'status', 'created', 'last used', 'ends'], rows);
}

function revoked(key: PresentedKey): string {
  return `Revoked ${key.id}, the ${key.mode} ${key.kind} key that ends in ${key.hint}.`;
}
