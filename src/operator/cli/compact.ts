// `payments compact` gives unused disk space of a data folder back to the file system.

import type { Command } from 'commander';
import type { Compacted } from '../results/folder-changes.ts';
import { type CliContext, dataOption, folderOf } from './context.ts';
import { counted } from './table.ts';

export function addCompactCommand(program: Command, { host, print }: CliContext): void {
  program
    .command('compact')
    .description('give the disk space back that the checkpoints do not use, while the service runs or not')
    .addOption(dataOption())
    .action(async (_, command: Command) => {
      print(command, await host.compact(folderOf(command, host)), inWords);
    });
}

function inWords({ folder, shards, bytes_before, bytes_after }: Compacted): string {
  const megabytes = (bytes: number) => `${(bytes / 1024 / 1024).toFixed(1)} MB`;
  const taken = `take ${megabytes(bytes_after)} instead of ${megabytes(bytes_before)}`;
  const given = `${megabytes(Math.max(0, bytes_before - bytes_after))} were given back`;
  return `The checkpoints of ${counted(shards, 'shard')} in ${folder} ${taken}: ${given}.`;
}
