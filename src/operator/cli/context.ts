// What all commands share: common options, the call to the server, and the two forms of output.

import { readFileSync } from 'node:fs';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { overlapSecondsMax } from '../../contract/limits.ts';
import { modes, type PaymentMethodType } from '../../contract/vocabulary.ts';
import { codeOrText } from '../../core/errors.ts';
import type { LogFolder } from '../../journal/log-reader.ts';
import type { CheckedCase } from '../../networks/http-conformance.ts';
import type { Reconciled, ReconcileOptions } from '../reconciliation/reconcile.ts';
import type {
  BackedUp,
  BackupOptions,
  BackupToVerify,
  Compacted,
  ComparedLog,
  Imported,
  MovedLog,
  Resharded,
  RestoreCommand,
  Restored,
  Resumed,
  SecretsKeyRolled,
  Transferred,
  Verification,
} from '../results/folder-results.ts';
import type { LogPlaceOptions, LogTruncation, LostBatch } from '../results/log-entry.ts';
import { callOperator } from '../socket/operator-client.ts';
import type { CertifiedNode } from '../use-cases/certify-node.ts';
import type { Cluster } from '../use-cases/cluster.ts';
import type { CommandName, ParamsOf, ResultOf } from '../use-cases/commands.ts';
import { CommandFailure, type OperatorErrorKind, wrongUsage } from '../use-cases/failures.ts';
import type { Check, ConfigLine } from '../use-cases/services.ts';

/** What the command line uses of its process. The functions throw `CommandFailure`. */
export interface CliHost {
  readonly version: string;
  readonly write: (text: string) => void;
  readonly writeError: (text: string) => void;
  /** Asks the user at the terminal; null without a terminal. */
  confirm(question: string): Promise<boolean | null>;
  /** The data folder: the given one, else the configured one. */
  dataDir(given: string | undefined): string;
  config(dataDir: string | undefined): readonly ConfigLine[];
  /** The nodes that share the service. */
  cluster(dataDir: string | undefined): Promise<Cluster>;
  certifyNode(folder: string, node: string): Promise<CertifiedNode>;
  /** Runs the service until it stops. `acceptLoss`: even if parts are older than the rest. */
  serve(dataDir: string | undefined, acceptLoss: boolean): Promise<void>;
  examine(dataDir: string | undefined): Promise<readonly Check[]>;
  /** Changes the number of shards. After a failure the folder is as before. */
  reshard(dataDir: string | undefined, shards: number): Promise<Resharded>;
  openLog(place: LogPlaceOptions): Promise<LogFolder>;
  truncateLog(dataDir: string, truncation: LogTruncation): Promise<LostBatch>;
  verify(dataDir: string): Promise<Verification>;
  verifyBackup(backup: BackupToVerify): Promise<Verification>;
  backup(dataDir: string | undefined, options: BackupOptions): Promise<BackedUp>;
  exportFolder(dataDir: string, to: string): Promise<Transferred>;
  moveToPostgresql(dataDir: string | undefined): Promise<MovedLog>;
  moveFromPostgresql(dataDir: string | undefined): Promise<MovedLog>;
  compareWithPostgresql(dataDir: string | undefined): Promise<ComparedLog>;
  importFolder(from: string, dataDir: string, shards: number): Promise<Imported>;
  /** Makes a data folder out of a backup. After a failure there is none. */
  restore(options: RestoreCommand): Promise<Restored>;
  resume(dataDir: string | undefined): Promise<Resumed>;
  reconcile(options: Omit<ReconcileOptions, 'onProgress'>): Promise<Reconciled>;
  /** Runs the cases of the contract with integrators, those of some methods, against a server. */
  checkIntegrator(
    url: string,
    secret: string,
    methods: readonly PaymentMethodType[],
  ): Promise<readonly CheckedCase[]>;
  compact(dataDir: string): Promise<Compacted>;
  rollSecretsKey(dataDir: string | undefined): Promise<SecretsKeyRolled>;
}

/** One line that says what went wrong: for people, or with `--json` for programs. */
export function complain(
  { writeError }: Pick<CliHost, 'writeError'>,
  json: boolean,
  error: { readonly kind: OperatorErrorKind; readonly message: string },
): void {
  writeError(json ? `${JSON.stringify({ error })}\n` : `payments: ${error.message}\n`);
}

interface CommonOptions {
  readonly json?: true;
  readonly dataDir?: string;
}

/** Where a command prints: JSON with `--json`, else text for people. */
export interface Output {
  readonly host: Pick<CliHost, 'write' | 'writeError'>;
  options(): CommonOptions;
  /** Prints a result: as JSON with `--json`, else as `human` formats it. */
  print<R>(result: R, human: (result: R) => string): void;
}

export interface CliContext extends Output {
  readonly host: CliHost;
  /** The data folder of --data-dir, or the configured one. */
  folder(): string;
  /** The folder of --data-dir, for a command that makes it. */
  folderToMake(): string;
  call<N extends CommandName>(name: N, params: ParamsOf<N>): Promise<ResultOf<N>>;
  /** Runs a command and prints its result, which is all that most commands do. */
  run<N extends CommandName>(
    name: N,
    params: ParamsOf<N>,
    human: (result: ResultOf<N>) => string,
  ): Promise<void>;
}

export function createOutput(host: Output['host'], program: Command): Output {
  const options = () => program.opts<CommonOptions>();
  return {
    host,
    options,
    print: (result, human) => host.write(`${options().json ? JSON.stringify(result) : human(result)}\n`),
  };
}

/** Commands that change nothing and are asked when something is wrong. The others may take long. */
const looks: ReadonlySet<CommandName> = new Set(['config', 'doctor', 'metrics', 'status']);
const lookMsMax = 15_000;

export function createContext(host: CliHost, program: Command): CliContext {
  const context: CliContext = {
    ...createOutput(host, program),
    host,
    folder: () => host.dataDir(context.options().dataDir),
    folderToMake() {
      const { dataDir } = context.options();
      if (dataDir === undefined) throw wrongUsage('name the folder to make with --data-dir');
      return dataDir;
    },
    call: (name, params) =>
      callOperator(context.folder(), name, params, looks.has(name) ? { silentMsMax: lookMsMax } : {}),
    async run(name, params, human) {
      context.print(await context.call(name, params), human);
    },
  };
  return context;
}

export function addCommand(parent: Command, usage: string, description: string): Command {
  return parent.command(usage).description(description);
}

export function choiceOption(flags: string, description: string, choices: readonly string[]): Option {
  return new Option(flags, description).choices(choices).makeOptionMandatory();
}

/** `--limit`: how many of the newest are shown. */
export function limitOption(things: string, unlessTold: number, maximum: number): Option {
  const option = new Option(`--limit <${things}>`, 'at most so many, the newest');
  return option.argParser(wholeNumber(1, maximum)).default(unlessTold);
}

export function overlapOption(description: string): Option {
  const option = new Option('--overlap <seconds>', description);
  return option.argParser(wholeNumber(0, overlapSecondsMax)).makeOptionMandatory();
}

export function modeOption(): Option {
  return choiceOption('--mode <mode>', 'test or live mode of the organization', modes);
}

export function wholeNumber(minimum: number, maximum: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= minimum && value <= maximum) return value;
    throw new InvalidArgumentError(`It must be a whole number from ${minimum} to ${maximum}.`);
  };
}

/** Parses an ISO 8601 date (its start in UTC) or time with its zone into Unix milliseconds. */
export function dateOrTime(text: string): number {
  const ms = Date.parse(text);
  const form = /^(\d{4}-\d\d-\d\d)(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d))?$/;
  const day = form.exec(text)?.[1];
  // `Date` reads a day that does not exist as one of the next month: the texts then differ.
  if (day !== undefined && !Number.isNaN(ms) && new Date(day).toISOString().startsWith(day)) return ms;
  throw new InvalidArgumentError(
    'It must be a date such as 2026-12-31, or a time such as 2026-12-31T18:00:00Z.',
  );
}

/** The trimmed content of a file. `failure` makes the error when the file can't be read. */
export function contentOf(file: string, failure: (message: string) => Error): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    throw failure(`${file} can't be read (${codeOrText(error)})`);
  }
}

/** Throws `CommandFailure`, so that the command exits with 1, when things are wrong. */
export function failIfWrong(count: number, hint = ''): void {
  if (count > 0) throw new CommandFailure(`${count} ${count === 1 ? 'thing is' : 'things are'} wrong${hint}`);
}
