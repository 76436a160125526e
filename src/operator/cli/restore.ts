// `payments restore` makes a data folder out of a backup; `payments resume` lets its service work.

import { type Command, InvalidArgumentError, Option } from 'commander';
import type { RestoreCommand, Restored } from '../results/folder-results.ts';
import { ifNoServer } from '../socket/operator-client.ts';
import { addCommand, type CliContext, dateOrTime, failIfWrong } from './context.ts';
import type { PlaceOptions } from './log-selection.ts';
import { formatFields, formatTime, tableOf } from './table.ts';

interface Options extends PlaceOptions {
  readonly from: string;
  readonly toTime?: number;
  readonly toSequence?: { readonly shard: number; readonly sequence: number };
  readonly beforeRequest?: string;
  readonly asNode: boolean;
}

export function addRestoreCommands(
  program: Command,
  { host, options: common, folderToMake, call, print }: CliContext,
): void {
  const targets = ['toTime', 'toSequence', 'beforeRequest'];
  const target = (flags: string, description: string, parse: (text: string) => unknown) => {
    const option = new Option(flags, description).argParser(parse);
    return option.conflicts(targets.filter((name) => name !== option.attributeName()));
  };
  const description =
    'make the folder of --data-dir, which must not exist or be empty, out of a backup and the archive of its log';
  addCommand(program, 'restore', description)
    .requiredOption('--from <folder>', 'the backup')
    .option('--archive <folder>', 'the archive of the log, which goes on where the backup ends')
    .option('--identity <file>', 'secret keys of age, for what is encrypted')
    .addOption(target('--to-time <time>', 'as of this moment, such as 2026-12-31T18:00:00Z', dateOrTime))
    .addOption(target('--to-sequence <shard:sequence>', 'up to this entry; all else as of its time', entry))
    .addOption(target('--before-request <id>', 'up to before this API request; all else as then', requestId))
    .addOption(
      new Option('--as-node', 'a node of the same service, whose log PostgreSQL has')
        .default(false)
        .conflicts(targets),
    )
    .action(async (options: Options) => {
      const { from, archive = null, identity: identityFile = null, asNode } = options;
      const target = targetOf(options);
      const dataDir = folderToMake();
      const restored = await host.restore({ from, archive, dataDir, asNode, identityFile, target });
      print(restored, inWords);
      failIfWrong(restored.findings.length, `: run "payments verify --data-dir ${dataDir}"`);
    });
  addCommand(program, 'resume', 'let the service of a restored folder write, send and pay again').action(
    async () => {
      const resumed = await call('resume', {}).catch(ifNoServer(() => host.resume(common().dataDir)));
      print(resumed, ({ paused }) =>
        paused === null
          ? 'It is not paused.'
          : `Resumed. It was paused since ${formatTime(paused.since)}: ${paused.reason}.`,
      );
    },
  );
}

function targetOf({ toTime: ms, toSequence, beforeRequest: requestId }: Options): RestoreCommand['target'] {
  if (ms !== undefined) return { kind: 'time', ms };
  if (toSequence !== undefined) return { kind: 'sequence', ...toSequence };
  if (requestId !== undefined) return { kind: 'before_request', requestId };
  return { kind: 'end' };
}

function entry(text: string): { readonly shard: number; readonly sequence: number } {
  const [, shard, sequence] = /^(\d{1,5}):(\d{1,15})$/.exec(text) ?? [];
  if (sequence !== undefined) return { shard: Number(shard), sequence: Number(sequence) };
  throw new InvalidArgumentError(
    'It must be the number of a shard and a sequence of its log, such as 0:4711.',
  );
}

function requestId(text: string): string {
  if (/^req_\w+$/.test(text)) return text;
  throw new InvalidArgumentError('It must be the id of an API request: req_…');
}

function inWords(restored: Restored): string {
  const { data, as_node, from, target, shards, later, later_file, warnings, records } = restored;
  const seen = Object.entries(later.objects).map(([what, count]) => `${count} × ${what}`);
  const fields = {
    data,
    backup: `${from.backup}, as of ${formatTime(from.moment)}`,
    archive: from.archive ?? '-',
    restored: `${target}: ${records} records`,
  };
  const rest =
    later.entries + later.directoryChanges === 0
      ? 'The backup and the archive have nothing after that.'
      : `After that, the backup and the archive have ${later.entries} entries and ${later.directoryChanges} changes of organizations or keys. ` +
        `Others may have seen these objects, of which this folder knows nothing: ${seen.join(', ') || 'none'}. Each is a line of ${later_file}.`;
  const lines = [formatFields(fields), '', lastEntries(shards), '', rest, ...warnings];
  const next = as_node
    ? `Start it with the secrets key, PAYMENTS_JOURNAL_URL and PAYMENTS_CLUSTER_NODE: it gets the rest from PostgreSQL.`
    : `Its service is paused: it reads, refuses writes, sends no webhooks and calls no networks until "payments resume --data-dir ${data}".`;
  return [...lines, next].join('\n');
}

const lastEntries = tableOf<Restored['shards'][number]>([
  'shard',
  ['last sequence', 'sequence'],
  ['at', 'time'],
]);
