// `payments doctor` finds out whether something is wrong with the service, its machine or its data folder, for people and
// for monitoring. A running service checks itself; otherwise this process checks what a start would find.

import type { Command } from 'commander';
import { CommandFailure } from '../results/failures.ts';
import { NoServer } from '../socket/operator-client.ts';
import type { Check } from '../use-cases/services.ts';
import type { CliContext, CommonOptions } from './context.ts';
import { formatTable } from './table.ts';

export function addDoctorCommand(program: Command, context: CliContext): void {
  const { print } = context;
  program
    .command('doctor')
    .description(
      'check the service, its machine and its data folder, and say what to do; exits with 1 when something is wrong',
    )
    .option('--stopped', 'the service is stopped on purpose, so that is not reported as wrong')
    .action(async ({ stopped }: { stopped?: true }, command: Command) => {
      const checks = await checksOf(command, context, stopped === true);
      print(command, checks, checksTable);
      const wrong = checks.filter(({ ok }) => !ok).map(({ name }) => name);
      if (wrong.length > 0) throw new CommandFailure(`something is wrong: ${wrong.join(', ')}`);
    });
}

async function checksOf(
  command: Command,
  { call, host }: CliContext,
  stopped: boolean,
): Promise<readonly Check[]> {
  const { dataDir } = command.optsWithGlobals<CommonOptions>();
  if (stopped) return host.examine(dataDir);
  try {
    return (await call(command, 'doctor', {})) as readonly Check[];
  } catch (error) {
    if (!(error instanceof NoServer)) throw error;
    return [{ name: 'service', ok: false, detail: error.message }, ...(await host.examine(dataDir))];
  }
}

function checksTable(checks: readonly Check[]): string {
  const rows = checks.map(({ name, ok, detail }) => [name, ok ? 'ok' : 'WRONG', detail]);
  return formatTable(['check', 'state', 'detail'], rows);
}
