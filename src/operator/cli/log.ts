// `payments log` shows the write-ahead log to people: what happened, when, and who caused it, and whether the log is damaged. The
// files are only read, so it also works while the service runs. `truncate` alone writes, and wants it stopped.

import { setTimeout as wait } from 'node:timers/promises';
import type { Command } from 'commander';
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
import { type CliContext, type CliHost, type CommonOptions, wholeNumber } from './context.ts';
import { fromFolder, openedBy } from './log-folder-options.ts';
import { type LogOptions, matcherOf, newest, selected, selecting, shardsOf } from './log-selection.ts';
import { addLogTruncateCommand } from './log-truncate.ts';
import { addLogVerifyCommand } from './log-verify.ts';

const listedMax = 100_000;
const listedUnlessTold = 50;
const tailedUnlessTold = 10;
const lookMs = 500;
/** Options that don't say what to search for. */
const wherefrom = ['data', 'from', 'archive', 'identity', 'mode', 'shard'];

interface Listing extends LogOptions {
  readonly limit?: number;
}

export function addLogCommands(program: Command, context: CliContext): void {
  const { host } = context;
  const log = program.command('log').description('read the write-ahead log, of a running service, too');
  const newestOption = (unlessTold: number) =>
    ['--limit <entries>', `at most so many, the newest (${unlessTold})`, wholeNumber(1, listedMax)] as const;

  fromFolder(selecting(log.command('list')))
    .description('list the newest entries, oldest first')
    .option(...newestOption(listedUnlessTold))
    .action(async (options: Listing, command: Command) => {
      const folder = await openedBy(command, host);
      const show = printer(command, host);
      for (const found of await newest(folder, options, options.limit ?? listedUnlessTold)) show(found);
    });
  fromFolder(selecting(log.command('search')))
    .description(
      'print every entry that fits, oldest first: name an object, a request, a key, an organization or a time',
    )
    .action(async (options: LogOptions, command: Command) => {
      if (Object.keys(options).every((name) => wherefrom.includes(name)))
        throw new CommandFailure(
          'say what to search for, with --object, --request, --key, --org, --since or --sequence',
        );
      const folder = await openedBy(command, host);
      const show = printer(command, host);
      for await (const found of selected(folder, options)) show(found);
    });
  fromFolder(selecting(log.command('tail')))
    .description('print the newest entries, then those that come, until it is ended')
    .option(...newestOption(tailedUnlessTold))
    .action(async (options: Listing, command: Command) => tail(command, host, options));
  fromFolder(log.command('show'))
    .description('show all of one entry')
    .argument('<place>', 'shard and sequence, such as 0:17')
    .action(async (place: string, _, command: Command) => {
      const entry = await entryAt(await openedBy(command, host), place);
      const { json } = command.optsWithGlobals<CommonOptions>();
      host.write(`${json ? JSON.stringify(wholeOf(entry)) : entryInWords(entry)}\n`);
    });
  addLogVerifyCommand(fromFolder(log.command('verify')), context);
  addLogTruncateCommand(log, context);
}

/** Prints entries, each on a line, and damage on standard error. */
function printer(command: Command, host: CliHost): (found: FoundEntry | LogDefect) => void {
  const { json } = command.optsWithGlobals<CommonOptions>();
  return (found) => {
    if ('defect' in found)
      host.writeError(json ? `${JSON.stringify({ damaged: found })}\n` : `damaged: ${defectLine(found)}\n`);
    else host.write(`${json ? JSON.stringify(summaryOf(found)) : lineOf(found)}\n`);
  };
}

async function entryAt(folder: LogFolder, place: string): Promise<FoundEntry> {
  const { shard, sequence } = placeOf(place);
  const [source] = shardsOf(folder, { shard });
  for await (const found of source!.read({ after: sequence - 1, upTo: sequence })) {
    if (isDefect(found)) throw new CommandFailure(`it is damaged: ${defectLine(found)}`);
    const entry = entriesOf(found).find((each) => each.sequence === sequence);
    if (entry !== undefined) return entry;
  }
  const all = await endsOf(source!);
  throw new CommandFailure(`the log of shard ${shard} in ${folder.name} has no entry ${sequence}: ${all}`);
}

/** Which entries a log has, in words. */
async function endsOf(source: LogSource): Promise<string> {
  let last = 0;
  for await (const found of source.read({ reverse: true })) {
    if (isDefect(found)) continue;
    last = found.lastSequence;
    break;
  }
  const first = source.firstSequence();
  return last === 0 || first === null ? 'it has none' : `it has ${first} to ${last}`;
}

async function tail(command: Command, host: CliHost, options: Listing): Promise<never> {
  const folder = await openedBy(command, host);
  const show = printer(command, host);
  const isSelected = matcherOf(options);
  const seen = new Map<LogSource, number>();
  for (const source of shardsOf(folder, options)) seen.set(source, await lastOf(source));
  const limit = options.limit ?? tailedUnlessTold;
  for (const found of await newest(folder, options, limit))
    if ('defect' in found || found.sequence <= seen.get(folder.shards[found.shard]!)!) show(found);
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

async function lastOf(source: LogSource): Promise<number> {
  for await (const found of source.read({ reverse: true })) if (!isDefect(found)) return found.lastSequence;
  return 0;
}
