// The options that say where a log lies: in a data folder, in a backup, in an archive, or in a backup and the archive that
// goes on where it ends.

import type { Command } from 'commander';
import type { LogFolder } from '../../journal/log/log-reader.ts';
import { type CliHost, dataOption, folderOf } from './context.ts';

interface Options {
  readonly from?: string;
  readonly archive?: string;
  readonly identity?: string;
}

export function fromFolder(command: Command): Command {
  return command
    .addOption(dataOption())
    .option('--from <folder>', 'a backup instead of a data folder')
    .option('--archive <folder>', 'an archive of the log: alone, or after the backup')
    .option('--identity <file>', 'secret keys of age, for what is encrypted');
}

export function openedBy(command: Command, host: CliHost): Promise<LogFolder> {
  const { from = null, archive = null, identity: identityFile = null } = command.opts<Options>();
  return host.openLog({ dataDir: () => folderOf(command, host), from, archive, identityFile });
}
