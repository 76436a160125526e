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
import { verifyLog } from './verify-log.ts';

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
  addPlaceOptions(
    addCommand(log, 'verify', 'check that the log is whole and undamaged; exits with 1 when it is not'),
  ).action((options: PlaceOptions) => verifyLog(options, context));
  addTruncateCommand(log, context);
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

function addTruncateCommand(log: Command, { host, folder, print }: CliContext): void {
  addCommand(log, 'truncate', "give up a damaged batch at a log's end; the service must be stopped")
    .argument('<place>', 'its shard and first sequence, such as 0:17, as the service names it')
    .option('--yes', "don't ask")
    .action(async (place: string, { yes = false }: { yes?: boolean }) => {
      const confirm = async (lost: LostBatch) => {
        if (yes) return;
        const answer = await host.confirm(`${lostInWords(lost)}\nGive up this batch, for good? [y/N] `);
        if (answer === null) {
          print(lost, lostInWords);
          throw new CommandFailure('this cannot be undone: confirm it with --yes');
        }
        if (!answer) throw new CommandFailure(`${place} was not given up`);
      };
      const lost = await host.truncateLog(folder(), { ...placeOf(place), confirm });
      print(lost, () => `${lostInWords(lost)}\nIt was given up. The service can be started.`);
    });
}

function lostInWords({ place, segment, bytes, defect, lines, damaged_records }: LostBatch): string {
  const readable =
    lines.length === 0 ? ['Nothing in it can be read.'] : ['What can be read of it:', ...lines];
  const damaged = damaged_records === 0 ? [] : [`Damaged records among these: ${damaged_records}.`];
  return [`The batch ${place} in ${segment} (${bytes} bytes): ${defect}.`, ...readable, ...damaged].join(
    '\n',
  );
}
