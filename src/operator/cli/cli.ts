// The command `payments`: `serve` runs the service, `reshard` changes a stopped one's data, `audit` reads the audit
// record; every other command asks the running service through its operators' socket. Human output by default, `--json`
// for machines. What went wrong is one line on standard error: `payments: …`, or with `--json`
// `{"error":{"kind":…,"message":…}}`. The exit codes are in exit-codes.mjs.

import { Command, CommanderError } from 'commander';
import { CommandFailure, ServiceCrash } from '../results/failures.ts';
import { NoServer } from '../socket/operator-client.ts';
import { OperatorFailure } from '../socket/protocol.ts';
import type { ConfigLine } from '../use-cases/services.ts';
import { addAuditCommand } from './audit.ts';
import { addBackupCommand } from './backup.ts';
import { addCompactCommand } from './compact.ts';
import { type CliContext, type CliHost, type CommonOptions, complain, createContext } from './context.ts';
import { addDoctorCommand } from './doctor.ts';
import { exitCodes } from './exit-codes.mjs';
import { addHistoryCommand } from './history.ts';
import { addKeyCommands } from './keys.ts';
import { addLimitCommands } from './limits.ts';
import { addListenCommand } from './listen.ts';
import { addLogCommands } from './log.ts';
import { addMemberCommands } from './members.ts';
import { addNetworkCommands } from './networks.ts';
import { addOrganizationCommands } from './organizations.ts';
import { addReconcileCommand } from './reconcile.ts';
import { addRequestLogsCommand } from './request-logs.ts';
import { addReshardCommand } from './reshard.ts';
import { addRestoreCommands } from './restore.ts';
import { addReviewCommands } from './reviews.ts';
import { addSecretsCommands } from './secrets.ts';
import { addStatusCommand } from './status.ts';
import { formatTable } from './table.ts';
import { addTransferCommands } from './transfer.ts';
import { addVerifyCommand } from './verify.ts';
import { addWebhookCommands } from './webhooks.ts';

/** Each function adds its commands to the program. A new group of commands is a new element. */
const families: readonly ((program: Command, context: CliContext) => void)[] = [
  addProcessCommands,
  addOrganizationCommands,
  addKeyCommands,
  addNetworkCommands,
  addLimitCommands,
  addMemberCommands,
  addReviewCommands,
  addReconcileCommand,
  addWebhookCommands,
  addListenCommand,
  addAuditCommand,
  addRequestLogsCommand,
  addStatusCommand,
  addDoctorCommand,
  addReshardCommand,
  addBackupCommand,
  addRestoreCommands,
  addSecretsCommands,
  addVerifyCommand,
  addLogCommands,
  addHistoryCommand,
  addTransferCommands,
  addCompactCommand,
];

/** Runs one command line (without the names of node and the script) and returns the exit code. */
export async function runCli(args: readonly string[], host: CliHost): Promise<number> {
  const json = args.includes('--json');
  try {
    await buildProgram(host, json).parseAsync([...args], { from: 'user' });
    return exitCodes.done;
  } catch (error) {
    if (error instanceof CommanderError) return usageCode(error, host, json);
    if (!(error instanceof CommandFailure || error instanceof OperatorFailure)) throw error;
    const kind = error instanceof OperatorFailure ? error.kind : 'failed';
    complain(host, json, { kind, message: error.message });
    if (error instanceof ServiceCrash) return exitCodes.crashed;
    return kind === 'usage' ? exitCodes.usage : exitCodes.failed;
  }
}

/** The exit code after help, or after wrong usage, which was reported where it was found. */
function usageCode(error: CommanderError, host: CliHost, json: boolean): number {
  if (error.exitCode === 0) return exitCodes.done;
  // Without a command the help is printed.
  const message = 'name a command: "payments --help" lists them';
  if (json && error.code === 'commander.help') complain(host, json, { kind: 'usage', message });
  return exitCodes.usage;
}

function buildProgram(host: CliHost, json: boolean): Command {
  const program = new Command('payments')
    .description('A self-hosted REST API for card and cash payments in Morocco')
    .version(host.version)
    .option('--json', 'print JSON for machines')
    .option('--data-dir <folder>', 'data folder of the service (default: as configured)')
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: host.write,
      writeErr: json ? () => {} : host.writeError,
      outputError: (text) => complain(host, json, { kind: 'usage', message: inOneLine(text) }),
    })
    .exitOverride();
  const context = createContext(host);
  for (const addCommands of families) addCommands(program, context);
  return program;
}

/** The message of commander without its `error: `, and its suggestion, which is on a second line, on the same line. */
function inOneLine(text: string): string {
  return text
    .replace(/^error: /, '')
    .trim()
    .replace(/\s*\n\s*/g, ' ');
}

function addProcessCommands(program: Command, { host, call, print, run }: CliContext): void {
  program
    .command('serve')
    .description('run the service until it gets SIGTERM or SIGINT')
    .option('--accept-loss', 'start although parts of the data folder are older than the rest of it')
    .action(({ acceptLoss = false }: { acceptLoss?: boolean }, command: Command) =>
      host.serve(command.optsWithGlobals<CommonOptions>().dataDir, acceptLoss),
    );
  program
    .command('config')
    .description('print the configuration in force, or the one a start would use when no server runs')
    .action(async (_, command: Command) => {
      const { dataDir } = command.optsWithGlobals<CommonOptions>();
      const lines = await call(command, 'config', {}).catch((error) => {
        if (error instanceof NoServer) return host.config(dataDir);
        throw error;
      });
      print(command, lines as readonly ConfigLine[], configTable);
    });
  program
    .command('metrics')
    .description('print the metrics of the running service in the Prometheus text format')
    .action((_, command) => run(command, 'metrics', {}, ({ text }: { text: string }) => text.trimEnd()));
}

function configTable(lines: readonly ConfigLine[]): string {
  const rows = lines.map(({ key, value, variable }) => [key, valueInWords(value), variable]);
  return formatTable(['key', 'value', 'variable'], rows);
}

function valueInWords(value: unknown): string {
  if (value === null) return '-';
  return Array.isArray(value) ? value.join(',') || '[]' : String(value);
}
