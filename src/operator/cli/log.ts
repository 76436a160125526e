// `payments log` shows the write-ahead log: what happened, when, who caused it, and what is
// damaged. The service may run. Only `truncate` writes, and needs it stopped.

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
} from '../../journal/log/log-reader.ts';
import { CommandFailure } from '../results/failures.ts';
import { defectLine, entryInWords, lineOf, placeOf, summaryOf, wholeOf } from '../results/log-entry.ts';
import { addCommand, type CliContext, wholeNumber } from './context.ts';
import {
  fromFolder,
  type LogOptions,
  matcherOf,
  newest,
  openedBy,
  type PlaceOptions,
  selected,
  selecting,
  shardsOf,
} from './log-selection.ts';
import { addLogCheckCommands } from './log-verify.ts';

const listedMax = 100_000;
const listedUnlessTold = 50;
const tailedUnlessTold = 10;
const lookMs = 500;
/** Options that don't say what to search for. */
const wherefrom = ['data', 'from', 'archive', 'identity', 'mode', 'shard'];

interface Listing extends LogOptions {
  readonly limit: number;
}

export function addLogCommands(program: Command, context: CliContext): void {
  const log = addCommand(program, 'log', 'read the write-ahead log, also of a running service');
  const limited = (command: Command, unlessTold: number) =>
    fromFolder(selecting(command)).option(
      '--limit <entries>',
      `at most so many, the newest (${unlessTold})`,
      wholeNumber(1, listedMax),
      unlessTold,
    );
  const show = printer(context);

  limited(addCommand(log, 'list', 'list the newest entries, oldest first'), listedUnlessTold).action(
    async (options: Listing) => {
      for (const found of await newest(await openedBy(options, context), options, options.limit)) show(found);
    },
  );
  const search = addCommand(
    log,
    'search',
    'print every entry that fits, oldest first: name an object, a request, a key, an organization or a time',
  );
  fromFolder(selecting(search)).action(async (options: LogOptions) => {
    if (Object.keys(options).every((name) => wherefrom.includes(name)))
      throw new CommandFailure(
        'say what to search for, with --object, --request, --key, --org, --since or --sequence',
      );
    for await (const found of selected(await openedBy(options, context), options)) show(found);
  });
  limited(
    addCommand(log, 'tail', 'print the newest entries, then new ones until you stop it'),
    tailedUnlessTold,
  ).action(async (options: Listing) => tail(await openedBy(options, context), options, show));
  fromFolder(addCommand(log, 'show', 'show all of one entry'))
    .argument('<place>', 'shard and sequence, such as 0:17')
    .action(async (place: string, options: PlaceOptions) => {
      const entry = await entryAt(await openedBy(options, context), place);
      context.print(wholeOf(entry), () => entryInWords(entry));
    });
  addLogCheckCommands(log, context);
}

/** Prints entries, each on a line, and damage on standard error. */
function printer({ host, options, print }: CliContext): (found: FoundEntry | LogDefect) => void {
  return (found) => {
    if (!('defect' in found)) print(summaryOf(found), () => lineOf(found));
    else
      host.writeError(
        options().json ? `${JSON.stringify({ damaged: found })}\n` : `damaged: ${defectLine(found)}\n`,
      );
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
    if ('defect' in found || found.sequence <= lastSeen(found)) show(found);
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
