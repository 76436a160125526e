// `payments backup` copies all data to another folder, while the service runs or not.

import { type Command, InvalidArgumentError } from 'commander';
import type { BackedUp } from '../results/backups.ts';
import { type CliContext, type CommonOptions, wholeNumber } from './context.ts';
import { formatTime } from './table.ts';

interface Options {
  readonly to: string;
  readonly recipient: readonly string[];
  readonly rate: number;
}

const rateMibMax = 100_000;
const rateMib = 50;

export function addBackupCommand(program: Command, { host, print }: CliContext): void {
  program
    .command('backup')
    .description(
      'copy all data, while the service runs or not; run it again to go on with one that was interrupted',
    )
    .requiredOption('--to <folder>', 'folder for the backup: a new one, or that of an unfinished backup')
    .option('--recipient <age1…>', 'encrypt for this public key of age; may be repeated', recipient, [])
    .option('--rate <MiB>', 'read at most so much each second', wholeNumber(1, rateMibMax), rateMib)
    .action(async ({ to, recipient: recipients, rate }: Options, command: Command) => {
      const { dataDir } = command.optsWithGlobals<CommonOptions>();
      print(command, await host.backup(dataDir, { to, recipients, mibPerSecond: rate }), inWords);
    });
}

/** Adds one more recipient. */
function recipient(text: string, others: readonly string[]): string[] {
  if (/^age1[0-9a-z]+$/.test(text)) return [...others, text];
  throw new InvalidArgumentError('It must be a public key of age, such as age-keygen prints: age1…');
}

function inWords({ to, moment, files, bytes, seconds, encrypted }: BackedUp): string {
  const size = `${files} files with ${(bytes / 1024 / 1024).toFixed(1)} MiB`;
  return `${to} is a backup as of ${formatTime(moment)}: ${size}${encrypted ? ', encrypted' : ''}, written and read again in ${seconds.toFixed(1)} s.`;
}
