// `payments log verify` reads all of a log and says what is damaged or missing, where, and what to
// do. `payments log truncate` gives up a damaged batch at the end of a shard's log. It shows what
// can be read of the batch and asks first, because all of it was acknowledged.

import type { Command } from 'commander';
import { isDefect, type LogDefect, type LogFolder, type LogSource } from '../../journal/log/log-reader.ts';
import { CommandFailure } from '../results/failures.ts';
import type { LostBatch } from '../results/log-entry.ts';
import { defectLine, placeOf } from '../results/log-entry.ts';
import { addCommand, type CliContext, dataOption } from './context.ts';
import { fromFolder, openedBy, type PlaceOptions } from './log-selection.ts';
import { counted, tableOf } from './table.ts';

type ShardLog = Awaited<ReturnType<typeof verified>>;

interface Finding {
  /** Null: it is about the changes of the directory. */
  readonly shard: number | null;
  readonly file: string;
  readonly byte: number | null;
  readonly from_sequence: number | null;
  readonly to_sequence: number | null;
  readonly defect: string;
  readonly advice: string;
  readonly line: string;
}

export function addLogCheckCommands(log: Command, context: CliContext): void {
  const { host, folder, print } = context;
  const verify = addCommand(
    log,
    'verify',
    'check every checksum, that each part belongs there, and that no entry is missing; exits with 1 when something is wrong',
  );
  fromFolder(verify).action((options: PlaceOptions) => verifyLog(options, context));
  addCommand(
    log,
    'truncate',
    "give up the damaged batch that a shard's log ends with; the service must be stopped",
  )
    .argument('<place>', 'its shard and first sequence, such as 0:17, as the service names it')
    .option('--yes', "don't ask")
    .addOption(dataOption())
    .action(async (place: string, { yes = false, data }: { yes?: boolean; data?: string }) => {
      const confirm = async (lost: LostBatch) => {
        if (yes) return;
        const answer = await host.confirm(`${lostInWords(lost)}\nGive up this batch, for good? [y/N] `);
        if (answer === null) throw new CommandFailure('this cannot be undone: confirm it with --yes');
        if (!answer) throw new CommandFailure(`${place} was not given up`);
      };
      const lost = await host.truncateLog(folder(data), { ...placeOf(place), confirm });
      print(lost, () => `${lostInWords(lost)}\nIt was given up. The service can be started.`);
    });
}

/** Verifies the log that the options name. Rejects with `CommandFailure` when it is damaged. */
export async function verifyLog(options: PlaceOptions, context: CliContext): Promise<void> {
  const folder = await openedBy(options, context);
  const shards: ShardLog[] = [];
  const findings: Finding[] = [];
  for (const source of folder.shards) shards.push(await verified(source, (defect) => findings.push(defect)));
  const defect = await folder.directoryDefect();
  if (defect !== null) findings.push(findingOfDirectory(folder, defect));
  const shown = findings.map(({ line: _line, ...finding }) => finding);
  context.print({ folder: folder.name, shards, findings: shown }, () => inWords(folder, shards, findings));
  if (findings.length === 0) return;
  throw new CommandFailure(`the log is damaged in ${counted(findings.length, 'place')}`);
}

/** The result for one shard's log. */
async function verified(source: LogSource, onFinding: (finding: Finding) => void) {
  const { shard } = source.identity;
  // Before the log is read: a running service goes on.
  const checkpoint = source.checkpointSequence();
  const found = { batches: 0, entries: 0, bytes: 0 };
  const files = new Set<string>();
  let first: { sequence: number; wallMs: number } | null = null;
  let last: { sequence: number; wallMs: number } | null = null;
  for await (const batch of source.read()) {
    files.add(batch.file);
    if (isDefect(batch)) {
      onFinding(findingOf(batch, checkpoint));
      continue;
    }
    const { firstSequence, lastSequence, wallMs, bytes } = batch;
    first ??= { sequence: firstSequence, wallMs };
    last = { sequence: lastSequence, wallMs };
    found.batches++;
    found.entries += lastSequence - firstSequence + 1;
    found.bytes += bytes.length;
  }
  if (checkpoint !== null && (last?.sequence ?? 0) < checkpoint) {
    const [from, to] = [(last?.sequence ?? 0) + 1, checkpoint];
    const defect = `the checkpoint has the entries up to ${to}, and the log ends with ${from - 1}`;
    const place = { shard, file: source.name, segment: from, byte: null };
    onFinding(findingOf({ ...place, defect, fromSequence: from, toSequence: to }, checkpoint));
  }
  const iso = (end: typeof first) => (end === null ? null : new Date(end.wallMs).toISOString());
  return {
    shard,
    files: files.size,
    ...found,
    first_sequence: first?.sequence ?? null,
    last_sequence: last?.sequence ?? null,
    first_time: iso(first),
    last_time: iso(last),
    // The last entry that the checkpoint has; null where there is no checkpoint beside the log.
    checkpoint_sequence: checkpoint,
  };
}

function findingOf(found: LogDefect, checkpoint: number | null): Finding {
  const { shard, file, byte, defect, fromSequence, toSequence } = found;
  const place = { shard, file, byte, from_sequence: fromSequence, to_sequence: toSequence };
  return { ...place, defect, advice: adviceFor(found, checkpoint), line: defectLine(found) };
}

function findingOfDirectory({ name }: LogFolder, defect: string): Finding {
  const place = { shard: null, file: name, byte: null, from_sequence: null, to_sequence: null };
  return { ...place, defect, advice: makeAnother, line: `the changes of organizations and keys: ${defect}` };
}

const makeAnother =
  'this copy can bring nothing back from there on: make another one while the original is good';

function adviceFor({ toSequence }: LogDefect, checkpoint: number | null): string {
  if (checkpoint === null) return makeAnother;
  if (toSequence !== null && toSequence <= checkpoint)
    return (
      'the checkpoint has what these entries changed, so the service starts and goes on; retries whose stored responses were ' +
      'there get 500 api_error until their keys are 24 hours old. Make a backup now, and find out what is wrong with the disk'
    );
  return 'a start refuses this shard: restore the data folder from a backup, or give up what is damaged ("When a shard does not start" in docs/operations.md)';
}

function inWords({ name }: LogFolder, shards: readonly ShardLog[], findings: readonly Finding[]): string {
  const told = findings.map(({ line, advice }) => `damaged: ${line}.\n  What to do: ${advice}.`);
  const end = findings.length === 0 ? [`The log in ${name} is as it was written.`] : told;
  return [shardTable(shards), '', ...end].join('\n');
}

const shardTable = tableOf<ShardLog>([
  'shard',
  'files',
  'batches',
  'entries',
  'bytes',
  ['from', 'first_sequence'],
  ['to', 'last_sequence'],
  ['since', 'first_time'],
  ['until', 'last_time'],
  ['checkpoint', 'checkpoint_sequence'],
]);

function lostInWords({ place, segment, bytes, defect, lines, damaged_records }: LostBatch): string {
  const readable =
    lines.length === 0 ? ['Nothing in it can be read.'] : ['What can be read of it:', ...lines];
  const damaged = damaged_records === 0 ? [] : [`Damaged records among these: ${damaged_records}.`];
  return [`The batch ${place} in ${segment} (${bytes} bytes): ${defect}.`, ...readable, ...damaged].join(
    '\n',
  );
}
