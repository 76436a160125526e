// `payments secrets …`: the key with which the webhook signing secrets in the data folder are sealed.

import type { Command } from 'commander';
import type { SecretsKeyRolled } from '../results/folder-changes.ts';
import type { CliContext, CommonOptions } from './context.ts';

export function addSecretsCommands(program: Command, { host, print }: CliContext): void {
  program
    .command('secrets')
    .description('the key that seals the signing secrets in the data folder')
    .command('roll-key')
    .description('seal all signing secrets with a new key; the service must be stopped')
    .action(async (_, command: Command) => {
      const { dataDir } = command.optsWithGlobals<CommonOptions>();
      print(command, await host.rollSecretsKey(dataDir), inWords);
    });
}

function inWords({ key, secrets, file, kept }: SecretsKeyRolled): string {
  return `${secrets} signing secrets are sealed with the new key ${key}, which is in ${file}. Backups made before now need the old one: it is kept in ${kept}.`;
}
