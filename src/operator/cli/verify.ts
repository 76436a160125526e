// `payments verify` runs the invariants of the state machine over a data folder while no service runs on it, or over a backup, and
// says what does not hold, where, and what can be done.

import { tmpdir } from 'node:os';
import type { Command } from 'commander';
import { OperatorFailure } from '../protocol.ts';
import { type CliContext, CliFailure, dataOption, folderOf } from './context.ts';
import type { Verification } from './verification.ts';

interface Options {
  readonly data?: string;
  readonly from?: string;
  readonly archive?: string;
  readonly identity?: string;
  readonly scratch?: string;
}

export function addVerifyCommand(program: Command, { host, print }: CliContext): void {
  program
    .command('verify')
    .description(
      'check that everything in a data folder fits together, while the service is stopped, or in a backup; exits with 1 when something does not',
    )
    .addOption(dataOption().conflicts('from'))
    .option('--from <folder>', 'a backup')
    .option('--archive <folder>', 'the archive of the log, which goes on where the backup ends')
    .option('--identity <file>', 'secret keys of age, for what is encrypted')
    .option('--scratch <folder>', `where there is room for what the backup holds (${tmpdir()})`)
    .action(async (options: Options, command: Command) => {
      const { from, archive = null, identity: identityFile = null, scratch = tmpdir() } = options;
      refuseAlone(options);
      const verification =
        from === undefined
          ? await host.verify(folderOf(command, host))
          : await host.verifyBackup({ from, archive, identityFile, scratch });
      print(command, verification, inWords);
      const count = verification.findings.length + verification.unlisted;
      if (count > 0) throw new CliFailure(`${count} ${count === 1 ? 'thing is' : 'things are'} wrong`);
    });
}

/** An archive has the log alone. */
function refuseAlone({ from, archive, identity, scratch }: Options): void {
  if (from !== undefined || (archive ?? identity ?? scratch) === undefined) return;
  const message =
    archive === undefined
      ? '--identity and --scratch are for a backup: name it with --from'
      : 'an archive goes on where a backup ends: name the backup with --from. "payments log verify --archive" checks the archive alone';
  throw new OperatorFailure('usage', message);
}

function inWords({ folder, shards, records, events, responses, findings, unlisted }: Verification): string {
  const looked = `${records} records (${events} of them events) and ${responses} stored responses in ${shards} shards of ${folder}`;
  if (findings.length === 0) return `Everything fits together: ${looked}.`;
  const lines = findings.map(({ shard, check, object, what, advice }) => {
    const place = shard === null ? '' : `shard ${shard}, `;
    return `${place}${check}: ${object === null ? '' : `${object} `}${what}. What to do: ${advice}.`;
  });
  if (unlisted > 0) lines.push(`… and ${unlisted} more`);
  return [...lines, `Looked at ${looked}.`].join('\n');
}
