// The commands about a whole data folder. Most of them need the service stopped, and say so.

import { tmpdir } from 'node:os';
import { type Command, InvalidArgumentError } from 'commander';
import { shardsMax } from '../../shard/shard-map.ts';
import type {
  BackedUp,
  Compacted,
  ComparedLog,
  Imported,
  MovedLog,
  Resharded,
  SecretsKeyRolled,
  Transferred,
  Verification,
} from '../results/folder-results.ts';
import { CommandFailure, wrongUsage } from '../use-cases/failures.ts';
import { addCommand, type CliContext, failIfWrong, wholeNumber } from './context.ts';
import { addPlaceOptions, type PlaceOptions } from './log-selection.ts';
import { counted, formatTime } from './table.ts';
import { verifyLog } from './verify-log.ts';

const backupMibMax = 100_000;
const backupMib = 50;

export function addFolderCommands(program: Command, context: CliContext): void {
  const { host, options, folder, print } = context;
  addCommand(program, 'reshard', 'change the number of shards; the service must be stopped')
    .requiredOption('--shards <count>', 'the new number of shards', wholeNumber(1, shardsMax))
    .action(async ({ shards }) => print(await host.reshard(options().dataDir, shards), resharded));
  addCommand(program, 'compact', 'give unused disk space back; the service may run').action(async () =>
    print(await host.compact(folder()), compacted),
  );
  addCommand(program, 'backup', 'copy all data, or finish an interrupted backup; the service may run')
    .requiredOption('--to <folder>', 'folder for the backup: a new one, or that of an unfinished backup')
    .option('--recipient <age1…>', 'encrypt for this public key of age; may be repeated', recipient, [])
    .option('--rate <MiB>', 'read at most so much each second', wholeNumber(1, backupMibMax), backupMib)
    .action(async ({ to, recipient: recipients, rate: mibPerSecond }) =>
      print(await host.backup(options().dataDir, { to, recipients, mibPerSecond }), backedUp),
    );
  addTransferCommands(program, context);
  addVerifyCommand(program, context);
  const secrets = addCommand(program, 'secrets', 'the key that seals the secrets in the data folder');
  addCommand(secrets, 'roll-key', 'seal all secrets with a new key; the service must be stopped').action(
    async () => print(await host.rollSecretsKey(options().dataDir), keyRolled),
  );
}

function addTransferCommands(program: Command, context: CliContext): void {
  const { host, folder, folderToMake, options, print } = context;
  addCommand(program, 'export', 'write all data to one file of JSON lines; the service must be stopped')
    .option('--to <file>', 'the file, which must not exist')
    .option('--from-postgresql', 'have the folder hold its log alone again, instead of PAYMENTS_JOURNAL_URL')
    .action(async ({ to, fromPostgresql }) => {
      oneOf({ '--to': to, '--from-postgresql': fromPostgresql });
      if (to === undefined) print(await host.moveFromPostgresql(options().dataDir), movedFrom);
      else print(await host.exportFolder(folder(), to), exported);
    });
  addCommand(program, 'import', 'make the folder of --data-dir of a file that "payments export" wrote')
    .option('--from <file>', 'the file')
    .option('--shards <count>', 'the number of shards of the folder', wholeNumber(1, shardsMax))
    .option('--to-postgresql', 'move the log of the folder to the servers of PAYMENTS_JOURNAL_URL instead')
    .action(async ({ from, shards, toPostgresql }) => {
      oneOf({ '--from': from, '--to-postgresql': toPostgresql });
      if (from === undefined) return print(await host.moveToPostgresql(options().dataDir), movedTo);
      if (shards === undefined) throw wrongUsage('--shards is missing: the number of shards of the folder');
      const made = await host.importFolder(from, folderToMake(), shards);
      print(made, imported);
      const wrong = made.findings.length + made.unlisted;
      if (wrong > 0)
        throw new CommandFailure(
          `the folder was made, but "payments verify" finds ${counted(wrong, 'thing')} wrong in it`,
        );
    });
}

interface VerifyOptions extends PlaceOptions {
  readonly scratch?: string;
  readonly postgresql?: boolean;
}

function addVerifyCommand(program: Command, context: CliContext): void {
  const { host, folder, options: common, print } = context;
  const verify = addCommand(
    program,
    'verify',
    'check a data folder (the service must be stopped), a backup or an archive; exits with 1 when something is wrong',
  );
  addPlaceOptions(verify)
    .option('--postgresql', 'compare the folder with the log at the servers of PAYMENTS_JOURNAL_URL')
    .option('--scratch <folder>', `a folder with room for what the backup contains (${tmpdir()})`)
    .action(async (options: VerifyOptions) => {
      refuseNeedless(options);
      if (options.postgresql) {
        const comparison = await host.compareWithPostgresql(common().dataDir);
        print(comparison, compared);
        return failIfWrong(comparison.findings.length);
      }
      const { from, archive = null, identity: identityFile = null, scratch = tmpdir() } = options;
      if ((from !== undefined || archive !== null) && common().dataDir !== undefined)
        throw wrongUsage('give --data-dir, or --from and --archive: one is checked');
      // An archive alone has no state that could be checked.
      if (from === undefined && archive !== null) return await verifyLog(options, context);
      const verification =
        from === undefined
          ? await host.verify(folder())
          : await host.verifyBackup({ from, archive, identityFile, scratch });
      print(verification, verified);
      failIfWrong(verification.findings.length + verification.unlisted);
    });
}

function refuseNeedless({ from, archive, identity, scratch, postgresql }: VerifyOptions): void {
  if (postgresql && (from !== undefined || archive !== undefined))
    throw wrongUsage(
      'give --postgresql, or --from and --archive: a backup or an archive is checked by itself',
    );
  if (from !== undefined) return;
  if (scratch !== undefined) throw wrongUsage('--scratch is for a backup: name it with --from');
  if (identity !== undefined && archive === undefined)
    throw wrongUsage('--identity is for a backup or an archive: name it with --from or --archive');
}

function recipient(text: string, others: readonly string[]): string[] {
  if (/^age1[0-9a-z]+$/.test(text)) return [...others, text];
  throw new InvalidArgumentError('It must be a public key of age, such as age-keygen prints: age1…');
}

function resharded({ from, to, records, answers }: Resharded): string {
  if (from === to) return `The data folder is laid out for ${counted(to, 'shard')} already.`;
  return `The data folder is laid out for ${counted(to, 'shard')} instead of ${from}: ${counted(records, 'record')} and ${counted(answers, 'stored response')} were moved.`;
}

function compacted({ folder, shards, bytes_before, bytes_after }: Compacted): string {
  const megabytes = (bytes: number) => `${(bytes / 1024 / 1024).toFixed(1)} MB`;
  const taken = `take ${megabytes(bytes_after)} instead of ${megabytes(bytes_before)}`;
  const given = `${megabytes(Math.max(0, bytes_before - bytes_after))} were given back`;
  return `The checkpoints of ${counted(shards, 'shard')} in ${folder} ${taken}: ${given}.`;
}

function backedUp({ to, moment, files, bytes, seconds, encrypted }: BackedUp): string {
  const size = `${files} files with ${(bytes / 1024 / 1024).toFixed(1)} MiB`;
  return `${to} is a backup as of ${formatTime(moment)}: ${size}${encrypted ? ', encrypted' : ''}, written and read again in ${seconds.toFixed(1)} s.`;
}

function amounts({ organizations, api_keys, records, responses }: Transferred): string {
  return `${organizations} organizations with ${api_keys} API keys, ${records} records and ${responses} stored responses`;
}

function exported(result: Transferred): string {
  return `${result.file} contains ${amounts(result)}. Only you can read it. Keep it so, because it contains personal data.`;
}

function oneOf(given: Readonly<Record<string, unknown>>): void {
  const names = Object.keys(given);
  if (names.filter((name) => given[name] !== undefined).length !== 1)
    throw wrongUsage(`give either ${names.join(' or ')}`);
}

function ends({ shards }: MovedLog): string {
  return shards.map(({ shard, sequence }) => `shard ${shard} to sequence ${sequence}`).join(', ');
}

function movedTo(result: MovedLog): string {
  return `PostgreSQL has the log of ${result.folder}: ${ends(result)}. Start the service with PAYMENTS_JOURNAL_URL from now on.`;
}

function movedFrom(result: MovedLog): string {
  return `${result.folder} holds its log alone: ${ends(result)}. Start the service without PAYMENTS_JOURNAL_URL from now on, or import it into PostgreSQL first.`;
}

function compared({ folder, shards, findings }: ComparedLog): string {
  if (findings.length > 0) return findings.join('\n');
  return `PostgreSQL and ${folder} have the same log, in ${counted(shards, 'shard')}.`;
}

function imported(result: Imported): string {
  const { folder, shards } = result;
  return `${folder} contains ${amounts(result)}, in ${counted(shards, 'shard')}. A service on it needs the key file of the signing secrets that the exported folder had.`;
}

function verified({ folder, shards, records, events, responses, findings, unlisted }: Verification): string {
  const looked = `${counted(records, 'record')} (${events} of them events) and ${counted(responses, 'stored response')} in ${counted(shards, 'shard')} of ${folder}`;
  if (findings.length === 0) return `Everything fits together: ${looked}.`;
  const lines = findings.map(({ shard, check, object, what, advice }) => {
    const place = shard === null ? '' : `shard ${shard}, `;
    return `${place}${check}: ${object === null ? '' : `${object} `}${what.replace(/\.$/, '')}. What to do: ${advice}.`;
  });
  if (unlisted > 0) lines.push(`… and ${unlisted} more`);
  return [...lines, `Looked at ${looked}.`].join('\n');
}

function keyRolled({ key, secrets, file, kept }: SecretsKeyRolled): string {
  return `${secrets} secrets, waiting mails among them, are sealed with the new key ${key}, which is in ${file}. Backups made before now need the old one: it is kept in ${kept}.`;
}
