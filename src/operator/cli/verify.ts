// `payments verify` runs the invariants of the state machine over a data folder while no service runs on it, and says what
// does not hold, where, and what can be done.

import type { Command } from 'commander';
import { type CliContext, CliFailure, dataOption, folderOf } from './context.ts';
import type { Verification } from './verification.ts';

export function addVerifyCommand(program: Command, { host, print }: CliContext): void {
  program
    .command('verify')
    .description(
      'check that everything in a data folder fits together, while the service is stopped; exits with 1 when something does not',
    )
    .addOption(dataOption())
    .action(async (_, command: Command) => {
      const verification = await host.verify(folderOf(command, host));
      print(command, verification, inWords);
      const count = verification.findings.length + verification.unlisted;
      if (count > 0) throw new CliFailure(`${count} ${count === 1 ? 'thing is' : 'things are'} wrong`);
    });
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
