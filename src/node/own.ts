// Before the service opens anything, it locks the data folder, and takes what other machines hold,
// too, where they do. Where nodes share the service, it stands by until it has the lease.

import { availableParallelism } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import { firstDatabaseOf, refuseDatabases } from '../config/postgresql.ts';
import { shardCountOf } from '../config/sizing.ts';
import { keepAlive } from '../core/scheduler.ts';
import {
  type DataFolder,
  hasDataFolder,
  openDataFolder,
  type SharedService,
} from '../data-folder/data-folder.ts';
import { lockDataFolder } from '../data-folder/folder-lock.ts';
import { mirrorDirectory, refuseMirror } from '../data-folder/mirrored-directory.ts';
import { remoteRowsOf } from '../data-folder/remote-stores.ts';
import type { RemoteRows } from '../disk/remote-rows.ts';
import type { Audit } from '../operator/audit/audit.ts';
import { serviceIn } from '../postgresql/service-table.ts';
import { openAudit } from './open-audit.ts';
import { type Owning, tellTrouble } from './owning.ts';
import { type StoodBy, standBy } from './stand-by.ts';

export interface Owned extends StoodBy {
  readonly folder: DataFolder;
  /** The directory as the other machines hold it; null where the data folder alone does. */
  readonly remote: RemoteRows | null;
  readonly audit: Audit;
}

/** Null when it is told to stop meanwhile. Rejects with `DataFolderError` or `JournalDamaged`. */
export async function own(owning: Owning): Promise<Owned | null> {
  // What waits for PostgreSQL does not keep the process running.
  return keepAlive(() => Promise.race([ownAll(owning), owning.ending.promise.then(() => null)]));
}

async function ownAll(owning: Owning): Promise<Owned> {
  const { config, closers } = owning;
  closers.push(await lockDataFolder(config.dataDir));
  const defaultShards = shardCountOf(config, availableParallelism());
  const known = await knownService(owning);
  const folder = await openDataFolder(config.dataDir, config.shards, defaultShards, known);
  refuseDatabases(config, folder.shards);
  const stoodBy = await standBy(owning, folder);
  const { lease } = stoodBy.claim;
  const [remote, audit] = await Promise.all([
    ownDirectory(owning, folder, lease),
    openAudit({ ...owning, config: stoodBy.config }, folder, lease),
  ]);
  return { folder, ...stoodBy, remote, audit };
}

const knownRetryMs = 1_000;

/**
 * The service whose log PostgreSQL has: a new data folder becomes another one of that. Asks until
 * PostgreSQL answers. Null without one.
 */
async function knownService({ config, logger, closers }: Owning): Promise<SharedService | null> {
  const options = hasDataFolder(config.dataDir) ? null : firstDatabaseOf(config);
  if (options === null) return null;
  const stopping = new AbortController();
  closers.push(async () => stopping.abort());
  for (;;) {
    const found = await serviceIn(options);
    if (found === null) return null;
    if (typeof found !== 'string') return { ...found, id: found.folder };
    logger.warn(`it is not known yet whose log PostgreSQL has, which is asked again: ${found}`);
    await wait(knownRetryMs, undefined, stopping);
  }
}

async function ownDirectory(
  { config, logger, closers }: Owning,
  folder: DataFolder,
  lease: number | null,
): Promise<RemoteRows | null> {
  const remote = remoteRowsOf(config, folder, lease, tellTrouble(logger, 'the directory'));
  if (remote === null) await refuseMirror(folder, 'start');
  else {
    closers.push(() => remote.close());
    await mirrorDirectory(remote, folder);
  }
  return remote;
}
