// `payments export` writes everything in a data folder to one file of JSON lines, and `payments import` makes a folder of
// such a file. Both work while no service runs on the folder.

import type { Command } from 'commander';
import { shardsMax } from '../../shard/shard-map.ts';
import { CommandFailure } from '../results/failures.ts';
import type { Imported, Transferred } from '../results/folder-changes.ts';
import { type CliContext, dataOption, folderOf, wholeNumber } from './context.ts';
import { counted } from './table.ts';

export function addTransferCommands(program: Command, { host, print }: CliContext): void {
  program
    .command('export')
    .description('write everything in a data folder to one file of JSON lines, while the service is stopped')
    .requiredOption('--to <file>', 'the file, which must not exist')
    .addOption(dataOption())
    .action(async ({ to }: { to: string }, command: Command) => {
      print(command, await host.exportFolder(folderOf(command, host), to), exportedInWords);
    });
  program
    .command('import')
    .description('make a data folder of a file that "payments export" wrote')
    .requiredOption('--from <file>', 'the file')
    .requiredOption('--data <folder>', 'the folder to make')
    .requiredOption('--shards <count>', 'shards of the folder', wholeNumber(1, shardsMax))
    .action(
      async ({ from, data, shards }: { from: string; data: string; shards: number }, command: Command) => {
        const imported = await host.importFolder(from, data, shards);
        print(command, imported, importedInWords);
        const wrong = imported.findings.length + imported.unlisted;
        if (wrong > 0)
          throw new CommandFailure(
            `the folder is there, and "payments verify" finds ${wrong} things wrong in it`,
          );
      },
    );
}

function amounts({ organizations, api_keys, records, responses }: Transferred): string {
  return `${organizations} organizations with ${api_keys} API keys, ${records} records and ${responses} stored responses`;
}

function exportedInWords(exported: Transferred): string {
  return `${exported.file} holds ${amounts(exported)}. It is readable for you alone, and holds personal data: keep it so.`;
}

function importedInWords(imported: Imported): string {
  const { folder, shards } = imported;
  return `${folder} holds ${amounts(imported)}, in ${counted(shards, 'shard')}. A service on it needs the key file of the signing secrets that the exported folder had.`;
}
