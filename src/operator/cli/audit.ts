// `payments audit` shows the audit record of the data folder. The service need not run.

import { existsSync } from 'node:fs';
import { type Command, Option } from 'commander';
import { auditFolder, checkAudit, type RefusedKeyRow, readAudit } from '../audit/audit.ts';
import type { CheckedChain } from '../audit/audit-chain.ts';
import { nameOfAsker, type OperatorRow } from '../audit/audit-row.ts';
import { CommandFailure } from '../use-cases/failures.ts';
import { addCommand, type CliContext, limitOption } from './context.ts';
import { readable } from './readable-folder.ts';
import { counted, tableOf } from './table.ts';

type AuditEntry =
  | ({ readonly kind: 'operator' } & OperatorRow)
  | ({ readonly kind: 'refused_key' } & RefusedKeyRow);

interface AuditOptions {
  readonly limit: number;
  readonly operators?: true;
  readonly keys?: true;
  readonly check?: true;
}

export function addAuditCommand(program: Command, context: CliContext): void {
  const { folder, print } = context;
  addCommand(program, 'audit', "print operators' actions and refused API keys, oldest first")
    .option('--operators', "operators' actions only")
    .option('--keys', 'only refused API keys')
    .addOption(
      new Option(
        '--check',
        'look whether rows were changed or taken out, instead of printing them',
      ).conflicts(['operators', 'keys']),
    )
    .addOption(limitOption('rows', 100, 100_000))
    .action((options: AuditOptions) => {
      const dataDir = readable(folder());
      if (!existsSync(auditFolder(dataDir)))
        throw new CommandFailure(`${dataDir} has no audit record: name the data folder with --data-dir`);
      if (options.check) checkRows(dataDir, context);
      else print(entries(dataDir, options), table);
    });
}

/** Throws `CommandFailure` when a row is not as it was written. */
function checkRows(dataDir: string, { print }: CliContext): void {
  const { operators, refusedKeys } = checkAudit(dataDir);
  const records = [
    { record: "operators' and members' actions", ...operators },
    { record: 'refused keys', ...refusedKeys },
  ];
  print(records, (all) => all.map(checkedInWords).join('\n'));
  const broken = records.reduce((sum, record) => sum + record.broken.length, 0);
  if (broken > 0)
    throw new CommandFailure(`the audit record is not as it was written in ${counted(broken, 'place')}`);
}

function checkedInWords({
  record,
  rows,
  chained,
  broken,
}: CheckedChain & { readonly record: string }): string {
  const found = `${record}: ${counted(rows, 'row')}, of which ${chained} name the row before them`;
  if (broken.length === 0) return `${found}. Each names the right one.`;
  return `${found}. Something was changed, taken out or put in before byte ${broken.join(', ')}.`;
}

function entries(dataDir: string, { limit, operators, keys }: AuditOptions): AuditEntry[] {
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

const table = tableOf<AuditEntry>([
  'at',
  ['who', (entry) => (entry.kind === 'operator' ? nameOfAsker(entry.by) : entry.address)],
  ['what', (entry) => (entry.kind === 'operator' ? entry.action : entry.code)],
  ['on', subjectOf],
  ['outcome', outcomeOf],
]);

function subjectOf(entry: AuditEntry): string {
  if (entry.kind === 'operator') return entry.object ?? firstOf(entry.params);
  const { key, prefix, digest } = entry;
  return key ?? (digest === null ? 'others' : `${prefix ?? ''}… (${digest})`);
}

function outcomeOf(entry: AuditEntry): string {
  if (entry.kind === 'operator') return entry.message ?? entry.outcome;
  return entry.times === 1 ? 'refused' : `refused ${entry.times} times`;
}

/** The subject of an action whose row has no object: the first of its parameters. */
function firstOf(params: unknown): string {
  const [first] = Object.values(params ?? {});
  return typeof first === 'string' ? first : '-';
}
