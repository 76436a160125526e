// `payments audit` shows the audit record of the data folder. The service need not run.

import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import { plain } from '../../core/shown-text.ts';
import { auditFolder, type RefusedKeyRow, readAudit } from '../audit/audit.ts';
import type { OperatorRow } from '../audit/audit-trail.ts';
import { CommandFailure } from '../results/failures.ts';
import { nameOfAsker } from '../socket/protocol.ts';
import { type CliContext, type CommonOptions, wholeNumber } from './context.ts';
import { formatTable, formatTime } from './table.ts';

const shownMax = 100_000;
const shownUnlessTold = 100;

type AuditEntry =
  | ({ readonly kind: 'operator' } & OperatorRow)
  | ({ readonly kind: 'refused_key' } & RefusedKeyRow);

interface AuditOptions {
  readonly limit?: number;
  readonly operators?: true;
  readonly keys?: true;
}

export function addAuditCommand(program: Command, { host, print }: CliContext): void {
  program
    .command('audit')
    .description("print the audit record: operators' actions and refused API keys, oldest first")
    .option('--operators', "operators' actions only")
    .option('--keys', 'refused API keys only')
    .option(
      '--limit <rows>',
      `how many rows to print, the newest ones (${shownUnlessTold})`,
      wholeNumber(1, shownMax),
    )
    .action((options: AuditOptions, command: Command) => {
      const dataDir = host.dataDir(command.optsWithGlobals<CommonOptions>().dataDir);
      if (!existsSync(auditFolder(dataDir))) {
        throw new CommandFailure(`${dataDir} has no audit record: name the data folder with --data-dir`);
      }
      print(command, entries(dataDir, options), table);
    });
}

function entries(dataDir: string, { limit = shownUnlessTold, operators, keys }: AuditOptions): AuditEntry[] {
  // An action has up to two rows.
  const found = readAudit(dataDir, limit * 2);
  const all = operators === undefined && keys === undefined;
  const actions = all || operators ? actionsOf(found.operators) : [];
  const refused = all || keys ? found.refusedKeys : [];
  return [
    ...actions.map((row) => ({ kind: 'operator' as const, ...row })),
    ...refused.map((row) => ({ kind: 'refused_key' as const, ...row })),
  ]
    .sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0))
    .slice(-limit);
}

/** One row for each action: the row with its outcome, with the time of the row before it. */
function actionsOf(rows: readonly OperatorRow[]): OperatorRow[] {
  const actions = new Map<string, OperatorRow>();
  for (const row of rows) actions.set(row.id, { ...row, at: actions.get(row.id)?.at ?? row.at });
  return [...actions.values()];
}

function table(list: readonly AuditEntry[]): string {
  const rows = list.map((entry) => {
    const at = formatTime(entry.at);
    if (entry.kind === 'operator') {
      const { by, action, params, object, outcome, message } = entry;
      return [at, nameOfAsker(by) ?? '-', action, object ?? firstOf(params), message ?? outcome];
    }
    const { address, code, key, prefix, digest, times } = entry;
    const shown = key ?? (digest === null ? 'others' : `${prefix ?? ''}… (${digest})`);
    return [at, address ?? '-', code, shown, times === 1 ? 'refused' : `refused ${times} times`];
  });
  return formatTable(
    ['at', 'who', 'what', 'on', 'outcome'],
    rows.map((row) => row.map(plain)),
  );
}

/** The subject of an action whose row has no object: the first of its parameters. */
function firstOf(params: unknown): string {
  const [first] = Object.values((params ?? {}) as Record<string, unknown>);
  return typeof first === 'string' ? first : '-';
}
