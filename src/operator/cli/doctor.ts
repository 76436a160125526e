// `payments doctor`: whether something is wrong with the running service, for people and for monitoring.

import type { Command } from 'commander';
import type { Check } from '../server/services.ts';
import { type CliContext, CliFailure } from './context.ts';
import { formatTable } from './table.ts';

export function addDoctorCommand(program: Command, { call, print }: CliContext): void {
  program
    .command('doctor')
    .description(
      'check the shards, the disk and the clock of the running service; exits with 1 when something is wrong',
    )
    .action(async (_, command: Command) => {
      const checks = (await call(command, 'doctor', {})) as readonly Check[];
      print(command, checks, checksTable);
      const wrong = checks.filter(({ ok }) => !ok).map(({ name }) => name);
      if (wrong.length > 0) throw new CliFailure(`something is wrong: ${wrong.join(', ')}`);
    });
}

function checksTable(checks: readonly Check[]): string {
  const rows = checks.map(({ name, ok, detail }) => [name, ok ? 'ok' : 'WRONG', detail]);
  return formatTable(['check', 'state', 'detail'], rows);
}
