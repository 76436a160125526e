// `payments log truncate` gives up the damaged batch that a shard's log ends with, of a stopped service. It shows what the batch
// held, as far as that can be read, and asks first: all of it was acknowledged.

import type { Command } from 'commander';
import { CommandFailure } from '../results/failures.ts';
import { placeOf } from '../results/log-entry.ts';
import type { LostBatch } from '../results/log-results.ts';
import { type CliContext, dataOption, folderOf } from './context.ts';

export function addLogTruncateCommand(log: Command, { host, print }: CliContext): void {
  log
    .command('truncate')
    .description("give up the damaged batch that a shard's log ends with; the service must be stopped")
    .argument('<place>', 'its shard and first sequence, such as 0:17, as the service names it')
    .option('--yes', "don't ask")
    .addOption(dataOption())
    .action(async (place: string, { yes = false }: { yes?: boolean }, command: Command) => {
      const confirm = async (lost: LostBatch) => {
        if (yes) return;
        const answer = await host.confirm(`${inWords(lost)}\nGive up this batch, for good? [y/N] `);
        if (answer === null) throw new CommandFailure('this cannot be undone: confirm it with --yes');
        if (!answer) throw new CommandFailure(`${place} was not given up`);
      };
      const truncation = { ...placeOf(place), confirm };
      print(
        command,
        await host.truncateLog(folderOf(command, host), truncation),
        (lost) => `${inWords(lost)}\nIt was given up. The service can be started.`,
      );
    });
}

function inWords({ place, segment, bytes, defect, lines, damaged_records }: LostBatch): string {
  const readable =
    lines.length === 0 ? ['Nothing in it can be read.'] : ['What can be read of it:', ...lines];
  const damaged = damaged_records === 0 ? [] : [`Records of these that are damaged: ${damaged_records}.`];
  return [`The batch ${place} in ${segment} (${bytes} bytes): ${defect}.`, ...readable, ...damaged].join(
    '\n',
  );
}
