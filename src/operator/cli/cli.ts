// The command `payments`. Most commands ask the running service through its operators' socket.
// Output is for people, or JSON with `--json`. What went wrong is one line on standard error:
// `payments: …`, or with `--json` `{"error":{"kind":…,"message":…}}`.

import { Command, CommanderError } from 'commander';
import { ifNoServer } from '../socket/operator-client.ts';
import { CommandFailure, OperatorFailure, ServiceCrash } from '../use-cases/failures.ts';
import type { ConfigLine } from '../use-cases/services.ts';
import { addAuditCommand } from './audit.ts';
import { addClusterCommands } from './cluster.ts';
import { addCompletionCommand } from './completion.ts';
import { addCommand, type CliContext, type CliHost, complain, createContext } from './context.ts';
import { exitCodes } from './exit-codes.mjs';
import { addFolderCommands } from './folder.ts';
import { withPresentNames } from './former-names.ts';
import { addHistoryCommand } from './history.ts';
import { addListenCommand } from './listen.ts';
import { addMemberCommands } from './members.ts';
import { addNetworkCommands } from './networks.ts';
import { addKeyCommands, addLimitCommands, addOrganizationCommands } from './organizations.ts';
import { addReconcileCommand, addReviewCommands } from './reconcile.ts';
import { addRequestLogsCommand } from './request-logs.ts';
import { addRestoreCommands } from './restore.ts';
import { addStatusCommands } from './status.ts';
import { tableOf } from './table.ts';
import { addWalCommands } from './wal.ts';
import { addWebhookCommands } from './webhooks.ts';

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
  addStatusCommands,
  addFolderCommands,
  addClusterCommands,
  addRestoreCommands,
  addWalCommands,
  addHistoryCommand,
  addCompletionCommand,
];

/** Runs one command line (without the names of node and the script) and returns the exit code. */
export async function runCli(args: readonly string[], host: CliHost): Promise<number> {
  const json = args.includes('--json');
  const present = withPresentNames(args, (former, name) => {
    const message = `"${former}" is called "${name}" now`;
    host.writeError(json ? `${JSON.stringify({ warning: { message } })}\n` : `payments: ${message}\n`);
  });
  try {
    await buildProgram(host, json).parseAsync(present, { from: 'user' });
    return exitCodes.done;
  } catch (error) {
    if (error instanceof CommanderError) return usageCode(error, host, json);
    if (!isClear(error)) throw error;
    const kind = error instanceof OperatorFailure ? error.kind : 'failed';
    complain(host, json, { kind, message: error.message });
    if (error instanceof ServiceCrash) return exitCodes.crashed;
    return kind === 'usage' ? exitCodes.usage : exitCodes.failed;
  }
}

/** Whether the message is one line for the operator. What the system says of a file is one, too. */
function isClear(error: unknown): error is Error {
  if (error instanceof CommandFailure || error instanceof OperatorFailure) return true;
  return error instanceof Error && 'syscall' in error && 'path' in error;
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
  const context = createContext(host, program);
  for (const addCommands of families) addCommands(program, context);
  return program;
}

/** The message of commander without its `error: `, with its suggestion on the same line. */
function inOneLine(text: string): string {
  return text
    .replace(/^error: /, '')
    .trim()
    .replace(/\s*\n\s*/g, ' ');
}

function addProcessCommands(program: Command, { host, options, call, print }: CliContext): void {
  addCommand(program, 'serve', 'run the service until it gets SIGTERM or SIGINT')
    .option('--accept-loss', 'start although parts of the data folder are older than the rest of it')
    .action(({ acceptLoss = false }) => host.serve(options().dataDir, acceptLoss));
  addCommand(program, 'config', 'print the active configuration, or what a start would use').action(
    async () => {
      const lines = await call('config', {}).catch(ifNoServer(() => host.config(options().dataDir)));
      print(lines, tableOf<ConfigLine>(['key', ['value', valueInWords], 'variable']));
    },
  );
  addCommand(program, 'metrics', 'print the metrics in the Prometheus text format').action(async () => {
    const { text, metrics } = await call('metrics', {});
    print(metrics, () => text.trimEnd());
  });
}

function valueInWords({ value }: ConfigLine): string {
  if (value === null) return '-';
  return Array.isArray(value) ? value.join(',') || '[]' : String(value);
}
