// `payments wal` shows the write-ahead log: what happened, when, who caused it, and what is
// damaged. The service may run. Only `truncate` writes, and needs it stopped: it gives up a damaged
// batch at the end of a shard's log, and asks first, because all of it was acknowledged.

import { setTimeout as wait } from 'node:timers/promises';
import type { Command } from 'commander';
import { elementAt } from '../../core/assert.ts';
import {
  entriesOf,
  type FoundEntry,
  isDefect,
  type LogDefect,
  type LogFolder,
  type LogSource,
} from '../../journal/log-reader.ts';
import {
  defectLine,
  entryInWords,
  type LostBatch,
  lineOf,
  placeOf,
  summaryOf,
  wholeOf,
} from '../results/log-entry.ts';
import { CommandFailure } from '../use-cases/failures.ts';
import { addCommand, type CliContext, limitOption } from './context.ts';
import {
  addPlaceOptions,
  addSelectionOptions,
  type LogOptions,
  matcherOf,
  newest,
  openPlace,
  type PlaceOptions,
  selected,
  shardsOf,
} from './log-selection.ts';
import { counted, tableOf } from './table.ts';

const lookMs = 500;
/** Options that don't say what to search for. */
const wherefrom = ['from', 'archive', 'identity', 'mode', 'shard'];

interface Listing extends LogOptions {
  readonly limit: number;
}

export function addWalCommands(program: Command, context: CliContext): void {
  const log = addCommand(program, 'wal', 'read the write-ahead log, also of a running service');
  const limited = (command: Command, unlessTold: number) =>
    addPlaceOptions(addSelectionOptions(command)).addOption(limitOption('entries', unlessTold, 100_000));
  const show = printer(context);

  limited(addCommand(log, 'list', 'list the newest entries, oldest first'), 50).action(
    async (options: Listing) => {
      for (const found of await newest(await openPlace(options, context), options, options.limit))
        show(found);
    },
  );
  const search = addCommand(log, 'search', 'print every entry that fits, oldest first');
  addPlaceOptions(addSelectionOptions(search)).action(async (options: LogOptions) => {
    if (Object.keys(options).every((name) => wherefrom.includes(name)))
      throw new CommandFailure(
        'say what to search for, with --object, --request, --key, --org, --since or --sequence',
      );
    for await (const found of selected(await openPlace(options, context), options)) show(found);
  });
  limited(addCommand(log, 'tail', 'print the newest entries, then new ones until you stop it'), 10).action(
    async (options: Listing) => tail(await openPlace(options, context), options, show),
  );
  addPlaceOptions(addCommand(log, 'show', 'show all of one entry'))
    .argument('<place>', 'shard and sequence, such as 0:17')
    .action(async (place: string, options: PlaceOptions) => {
      const entry = await entryAt(await openPlace(options, context), place);
      context.print(wholeOf(entry), () => entryInWords(entry));
    });
  addWalCheckCommands(log, context);
}

/** Prints entries, each on a line, and damage on standard error. */
function printer({ host, options, print }: CliContext): (found: FoundEntry | LogDefect) => void {
  return (found) => {
    if (!isDefect(found)) return print(summaryOf(found), () => lineOf(found));
    const line = options().json ? JSON.stringify({ damaged: found }) : `damaged: ${defectLine(found)}`;
    host.writeError(`${line}\n`);
  };
}

async function entryAt(folder: LogFolder, place: string): Promise<FoundEntry> {
  const { shard, sequence } = placeOf(place);
  for (const source of shardsOf(folder, { shard })) {
    for await (const found of source.read({ after: sequence - 1, upTo: sequence })) {
      if (isDefect(found)) throw new CommandFailure(`it is damaged: ${defectLine(found)}`);
      const entry = entriesOf(found).find((each) => each.sequence === sequence);
      if (entry !== undefined) return entry;
    }
    const [first, last] = [source.firstSequence(), await lastOf(source)];
    const all = last === 0 || first === null ? 'it has none' : `it has ${first} to ${last}`;
    throw new CommandFailure(`the log of shard ${shard} in ${folder.name} has no entry ${sequence}: ${all}`);
  }
  throw new CommandFailure(`${folder.name} has no log`);
}

async function tail(folder: LogFolder, options: Listing, show: ReturnType<typeof printer>): Promise<never> {
  const isSelected = matcherOf(options);
  const seen = new Map<LogSource, number>();
  for (const source of shardsOf(folder, options)) seen.set(source, await lastOf(source));
  const lastSeen = ({ shard }: FoundEntry) => seen.get(elementAt(folder.shards, shard)) ?? 0;
  for (const found of await newest(folder, options, options.limit))
    if (isDefect(found) || found.sequence <= lastSeen(found)) show(found);
  for (;;) {
    for (const [source, last] of seen) {
      for await (const found of source.read({ after: last })) {
        if (isDefect(found)) {
          show(found);
          continue;
        }
        for (const entry of entriesOf(found, last)) if (isSelected(entry)) show(entry);
        seen.set(source, found.lastSequence);
      }
    }
    await wait(lookMs);
  }
}

/** The last sequence of a log; 0 when it has none. */
async function lastOf(source: LogSource): Promise<number> {
  for await (const found of source.read({ reverse: true })) if (!isDefect(found)) return found.lastSequence;
  return 0;
}

type ShardLog = Awaited<ReturnType<typeof verified>>;

type Finding = ReturnType<typeof findingOf>;

function addWalCheckCommands(log: Command, context: CliContext): void {
  const { host, folder, print } = context;
  const verify = addCommand(
    log,
    'verify',
    'check that the log is whole and undamaged; exits with 1 when it is not',
  );
  addPlaceOptions(verify).action((options: PlaceOptions) => verifyLog(options, context));
  addCommand(log, 'truncate', "give up a damaged batch at a log's end; the service must be stopped")
    .argument('<place>', 'its shard and first sequence, such as 0:17, as the service names it')
    .option('--yes', "don't ask")
    .action(async (place: string, { yes = false }: { yes?: boolean }) => {
      const confirm = async (lost: LostBatch) => {
        if (yes) return;
        const answer = await host.confirm(`${lostInWords(lost)}\nGive up this batch, for good? [y/N] `);
        if (answer === null) throw new CommandFailure('this cannot be undone: confirm it with --yes');
        if (!answer) throw new CommandFailure(`${place} was not given up`);
      };
      const lost = await host.truncateLog(folder(), { ...placeOf(place), confirm });
      print(lost, () => `${lostInWords(lost)}\nIt was given up. The service can be started.`);
    });
}

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

function lostInWords({ place, segment, bytes, defect, lines, damaged_records }: LostBatch): string {
  const readable =
    lines.length === 0 ? ['Nothing in it can be read.'] : ['What can be read of it:', ...lines];
  const damaged = damaged_records === 0 ? [] : [`Damaged records among these: ${damaged_records}.`];
  return [`The batch ${place} in ${segment} (${bytes} bytes): ${defect}.`, ...readable, ...damaged].join(
    '\n',
  );
}
