// `payments import --to-postgresql`, `payments export --from-postgresql` and `payments verify
// --postgresql`, of a stopped service: its log moves into PostgreSQL or back into the data folder
// alone, or what both hold is compared.

import type { Config } from '../config/config-schema.ts';
import type { RemoteRows } from '../disk/remote-rows.ts';
import type { RemoteText } from '../disk/remote-text.ts';
import { compareLogs, moveLogFrom, moveLogTo } from '../journal/move-log.ts';
import type { RemoteLog } from '../journal/remote-log.ts';
import type { ComparedLog, MovedLog, ReportProgress } from '../operator/results/folder-results.ts';
import { CommandFailure } from '../operator/use-cases/failures.ts';
import { type DataFolder, journalOf, shardNumbers } from './data-folder.ts';
import { commandWhileStopped, warn, whileStopped, withClearErrors } from './folder-command.ts';
import { giveDirectory, takeDirectoryBack } from './mirrored-directory.ts';
import { remoteAuditOf, remoteLogOf, remoteRowsOf } from './remote-stores.ts';

export function moveToPostgresql(config: Config, onProgress: ReportProgress): Promise<MovedLog> {
  return moved(config, onProgress, { action: 'import', moveLog: moveLogTo, moveDirectory: giveDirectory });
}

export function moveFromPostgresql(config: Config, onProgress: ReportProgress): Promise<MovedLog> {
  return moved(config, onProgress, {
    action: 'export',
    moveLog: moveLogFrom,
    moveDirectory: takeDirectoryBack,
    remoteAudit: (folder) => remoteAuditOf(config, folder, null, tellTrouble),
  });
}

/** What is done, to PostgreSQL or back. */
interface Move {
  readonly action: string;
  readonly moveLog: typeof moveLogTo;
  readonly moveDirectory: (rows: RemoteRows, folder: DataFolder) => Promise<void>;
  /** The audit record as PostgreSQL has it; left out: the folder's own is whole. */
  readonly remoteAudit?: (folder: DataFolder) => RemoteText | null;
}

function moved(
  config: Config,
  onProgress: ReportProgress,
  { action, moveLog, moveDirectory, remoteAudit }: Move,
): Promise<MovedLog> {
  const { dataDir, journal } = config;
  const moveAll = async (folder: DataFolder): Promise<MovedLog> => {
    const shards: MovedLog['shards'][number][] = [];
    for (const shard of shardNumbers(folder)) {
      const report = (sequence: number) => onProgress(`moving the log of shard ${shard}`, sequence, 0);
      const sequence = await withRemote(config, folder, shard, (remote) =>
        moveLog(remote, journalOf(folder, shard), report, Date.now()),
      );
      shards.push({ shard, sequence });
    }
    await withOpen(remoteRowsOf(config, folder, null, tellTrouble), (rows) => moveDirectory(rows, folder));
    return { folder: folder.path, shards };
  };
  return commandWhileStopped(dataDir, action, { postgresql: journal.url }, moveAll, remoteAudit);
}

export function compareWithPostgresql(config: Config, onProgress: ReportProgress): Promise<ComparedLog> {
  return withClearErrors(() =>
    whileStopped(config.dataDir, async (folder) => {
      const findings: string[] = [];
      for (const shard of shardNumbers(folder)) {
        const report = (sequence: number) => onProgress(`comparing shard ${shard}`, sequence, 0);
        const found = await withRemote(config, folder, shard, (remote) =>
          compareLogs(remote, journalOf(folder, shard), report),
        );
        findings.push(...found.map((finding) => `shard ${shard}: ${finding}`));
      }
      return { folder: folder.path, shards: folder.shards, findings };
    }),
  );
}

function withRemote<T>(
  config: Config,
  folder: DataFolder,
  shard: number,
  use: (remote: RemoteLog) => Promise<T>,
): Promise<T> {
  return withOpen(remoteLogOf(config, folder.shardIdentity(shard), folder.shards, null, tellTrouble), use);
}

function tellTrouble(trouble: string | null): void {
  if (trouble !== null) warn(`PostgreSQL is tried again: ${trouble}`);
}

async function withOpen<R extends { close(): Promise<void> }, T>(
  remote: R | null,
  use: (remote: R) => Promise<T>,
): Promise<T> {
  if (remote === null)
    throw new CommandFailure('PAYMENTS_JOURNAL_URL is not set: it names the PostgreSQL servers');
  try {
    return await use(remote);
  } finally {
    await remote.close();
  }
}
