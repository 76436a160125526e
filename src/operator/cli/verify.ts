// `payments verify` runs the invariants of the state machine over a data folder while no service runs on it, or over a backup, and
// says what does not hold, where, and what can be done.

import { tmpdir } from 'node:os';
import type { Command } from 'commander';
import { CommandFailure } from '../results/failures.ts';
import type { Verification } from '../results/verification.ts';
import { OperatorFailure } from '../socket/protocol.ts';
import { type CliContext, dataOption, folderOf } from './context.ts';
import { verifyLog } from './log-verify.ts';
import { counted } from './table.ts';

interface Options {
  readonly data?: string;
  readonly from?: string;
  readonly archive?: string;
  readonly identity?: string;
  readonly scratch?: string;
}

export function addVerifyCommand(program: Command, context: CliContext): void {
  const { host, print } = context;
  program
    .command('verify')
    .description(
      'check that everything in a data folder fits together, while the service is stopped, or in a backup, or that all of an archive is there as it was written; exits with 1 when something is wrong',
    )
    .addOption(dataOption().conflicts(['from', 'archive']))
    .option('--from <folder>', 'a backup')
    .option('--archive <folder>', 'an archive of the log: alone, or after the backup')
    .option('--identity <file>', 'secret keys of age, for what is encrypted')
    .option('--scratch <folder>', `where there is room for what the backup holds (${tmpdir()})`)
    .action(async (options: Options, command: Command) => {
      const { from, archive = null, identity: identityFile = null, scratch = tmpdir() } = options;
      refuseNeedless(options);
      // An archive alone has no state that could be checked.
      if (from === undefined && archive !== null) return await verifyLog(command, context);
      const verification =
        from === undefined
          ? await host.verify(folderOf(command, host))
          : await host.verifyBackup({ from, archive, identityFile, scratch });
      print(command, verification, inWords);
      const count = verification.findings.length + verification.unlisted;
      if (count > 0) throw new CommandFailure(`${count} ${count === 1 ? 'thing is' : 'things are'} wrong`);
    });
}

function refuseNeedless({ from, archive, identity, scratch }: Options): void {
  if (from !== undefined) return;
  if (scratch !== undefined)
    throw new OperatorFailure('usage', '--scratch is for a backup: name it with --from');
  if (identity !== undefined && archive === undefined)
    throw new OperatorFailure(
      'usage',
      '--identity is for a backup or an archive: name it with --from or --archive',
    );
}

function inWords({ folder, shards, records, events, responses, findings, unlisted }: Verification): string {
  const looked = `${counted(records, 'record')} (${events} of them events) and ${counted(responses, 'stored response')} in ${counted(shards, 'shard')} of ${folder}`;
  if (findings.length === 0) return `Everything fits together: ${looked}.`;
  const lines = findings.map(({ shard, check, object, what, advice }) => {
    const place = shard === null ? '' : `shard ${shard}, `;
    return `${place}${check}: ${object === null ? '' : `${object} `}${what}. What to do: ${advice}.`;
  });
  if (unlisted > 0) lines.push(`… and ${unlisted} more`);
  return [...lines, `Looked at ${looked}.`].join('\n');
}
