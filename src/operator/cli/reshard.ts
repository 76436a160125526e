// `payments reshard` changes the number of shards of a data folder while no service runs on it.

import type { Command } from 'commander';
import { shardsMax } from '../../shard/shard-map.ts';
import type { Resharded } from '../results/folder-changes.ts';
import { type CliContext, type CommonOptions, wholeNumber } from './context.ts';
import { counted } from './table.ts';

export function addReshardCommand(program: Command, { host, print }: CliContext): void {
  program
    .command('reshard')
    .description('change the number of shards of the data folder; the service must be stopped')
    .requiredOption('--shards <count>', 'the new number of shards', wholeNumber(1, shardsMax))
    .action(async ({ shards }: { shards: number }, command: Command) => {
      const { dataDir } = command.optsWithGlobals<CommonOptions>();
      print(command, await host.reshard(dataDir, shards), inWords);
    });
}

function inWords({ from, to, records, answers }: Resharded): string {
  if (from === to) return `The data folder is laid out for ${counted(to, 'shard')} already.`;
  return `The data folder is laid out for ${counted(to, 'shard')} instead of ${from}: ${counted(records, 'record')} and ${counted(answers, 'stored response')} were moved.`;
}
