// `payments wal verify` reads a whole log, and tells what is in it, what is wrong with it, and what
// to do about that.

import { isDefect, type LogDefect, type LogFolder, type LogSource } from '../../journal/log-reader.ts';
import { defectLine } from '../results/log-entry.ts';
import { CommandFailure } from '../use-cases/failures.ts';
import type { CliContext } from './context.ts';
import { openPlace, type PlaceOptions } from './log-selection.ts';
import { counted, tableOf } from './table.ts';

type ShardLog = Awaited<ReturnType<typeof verified>>;

type Finding = ReturnType<typeof findingOf>;

/** Verifies the log that the options name. Rejects with `CommandFailure` when it is damaged. */
export async function verifyLog(options: PlaceOptions, context: CliContext): Promise<void> {
  const folder = await openPlace(options, context);
  const { shards, findings } = await verifiedIn(folder);
  const shown = findings.map(({ line: _line, ...finding }) => finding);
  context.print({ folder: folder.name, shards, findings: shown }, () => inWords(folder, shards, findings));
  if (findings.length === 0) return;
  throw new CommandFailure(`the log is damaged in ${counted(findings.length, 'place')}`);
}

/** Reads all of a log. Returns what is in it, and what is wrong with it. */
export async function verifiedIn(folder: LogFolder) {
  const shards: ShardLog[] = [];
  const findings: Finding[] = [];
  for (const source of folder.shards) shards.push(await verified(source, (defect) => findings.push(defect)));
  const defect = await folder.directoryDefect();
  if (defect !== null) {
    const line = `the changes of organizations and keys: ${defect}`;
    const place = { shard: null, file: folder.name, byte: null, fromSequence: null, toSequence: null };
    findings.push(findingOf({ ...place, defect }, makeAnother, line));
  }
  return { shards, findings };
}

async function verified(source: LogSource, onFinding: (finding: Finding) => void) {
  const { shard } = source.identity;
  // Before the log is read: a running service goes on.
  const checkpoint = source.checkpointSequence();
  const defects: LogDefect[] = [];
  let newestSegment: number | null = null;
  const found = { batches: 0, entries: 0, bytes: 0 };
  const files = new Set<string>();
  let first: { sequence: number; wallMs: number } | null = null;
  let last: { sequence: number; wallMs: number } | null = null;
  for await (const batch of source.read()) {
    files.add(batch.file);
    newestSegment = batch.segment;
    if (isDefect(batch)) {
      defects.push(batch);
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
    defects.push({ ...place, defect, fromSequence: from, toSequence: to, isGap: true });
  }
  const end = last?.sequence ?? 0;
  for (const defect of defects) {
    const advice = adviceFor(defect, checkpoint, { end, newestSegment });
    onFinding(findingOf(defect, advice, defectLine(defect)));
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

/** Without a shard: what is wrong with the changes of the directory. */
function findingOf(
  found: Nullable<Omit<LogDefect, 'segment' | 'defect' | 'file' | 'isGap'>> &
    Pick<LogDefect, 'defect' | 'file'>,
  advice: string,
  line: string,
) {
  const { shard, file, byte, defect, fromSequence: from_sequence, toSequence: to_sequence } = found;
  return { shard, file, byte, from_sequence, to_sequence, defect, advice, line };
}

type Nullable<T> = { readonly [Key in keyof T]: T[Key] | null };

const makeAnother =
  'this copy can bring nothing back from there on: make another one while the original is good';

const covered =
  'the checkpoint has what these entries changed, so the service starts and goes on; retries whose stored responses were ' +
  'there get 500 api_error until their keys are 24 hours old. Find out what is wrong with the disk';
const blocked =
  'Keep the last backup and the archive: no backup can be made before this segment of the log is dropped, when it is 25 hours ' +
  'old, and an archive waits for it for ever';
const moveAway =
  'For a backup now, and for an archive to go on, stop the service, move the folder of this segment out of log/ (keep it), and start';
const stays =
  'Leave the newest segment where it is: a start needs it until it is full or a day old, and another one begins';

const refused =
  'a start refuses this shard: restore the data folder from a backup, or give up what is damaged ("When a shard does not start" in docs/operations.md)';

interface LogFound {
  /** The last entry that can be read. */
  readonly end: number;
  readonly newestSegment: number | null;
}

function adviceFor(defect: LogDefect, checkpoint: number | null, { end, newestSegment }: LogFound): string {
  const { fromSequence, toSequence, isGap, segment } = defect;
  if (checkpoint === null) return makeAnother;
  if (toSequence === null || toSequence > checkpoint || fromSequence > end) return refused;
  if (isGap) return `${covered}. Backups and the archive go on behind it`;
  return `${covered}. ${blocked}. ${segment === newestSegment ? stays : moveAway}`;
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
