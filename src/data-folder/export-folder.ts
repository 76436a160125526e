// `payments export` writes everything in a data folder to one file (folder-lines.ts), while no
// service runs on it. The file gets its name when it is complete. The key with which `listen` signs
// is left out, because it is not sealed. A folder that is made from the file gets a new one.

import { createHash, type Hash } from 'node:crypto';
import { existsSync, renameSync, rmSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import manifest from '../../package.json' with { type: 'json' };
import { defined } from '../core/assert.ts';
import type { Directory } from '../directory/directory.ts';
import { syncPath } from '../disk/sync-path.ts';
import { unlessDamaged } from '../journal/journal.ts';
import { layoutVersions } from '../journal/open-journal.ts';
import { readStoppedJournal } from '../journal/stopped-journal.ts';
import type { ReportProgress, Transferred } from '../operator/results/folder-results.ts';
import { CommandFailure } from '../operator/use-cases/failures.ts';
import { isOfScope, jointRetention, latestClock } from '../shard/metadata.ts';
import { type DataFolder, journalOf, withDirectory } from './data-folder.ts';
import { checkFolder } from './folder-check.ts';
import { commandWhileStopped, warn } from './folder-command.ts';
import {
  type Counts,
  type Head,
  type Line,
  linesFormat,
  noCounts,
  recordLine,
  responseLine,
} from './folder-lines.ts';
import { inOrderOfTime } from './new-shards.ts';
import { StoppedShard } from './stopped-shard.ts';

const progressEvery = 16_384;

/** Throws `CommandFailure`, one clear line; then there is no file. */
export async function exportDataFolder(
  dataDir: string,
  file: string,
  onProgress: ReportProgress,
): Promise<Transferred> {
  const to = resolve(file);
  if (existsSync(to)) throw new CommandFailure(`${to} exists: name another file`);
  return commandWhileStopped(dataDir, 'export', { to }, (folder) => exportTo(to, folder, onProgress));
}

async function exportTo(to: string, folder: DataFolder, onProgress: ReportProgress): Promise<Transferred> {
  const unfinished = `${to}.unfinished`;
  const file = new LineFile(await open(unfinished, 'w', 0o600));
  try {
    await withDirectory(folder, async (directory) => {
      await checkFolder({ folder, directory, acceptLoss: false, isOffline: true, warn });
      await withShards(folder, [], (shards) => writeAll(file, folder, directory, shards, onProgress));
    });
    const counts = await file.end();
    renameSync(unfinished, to);
    syncPath(dirname(to));
    return { file: to, folder: folder.path, ...counts };
  } catch (error) {
    await file.close();
    rmSync(unfinished, { force: true });
    throw error;
  }
}

/** Opens all shards, one within the other, so that they can be read at the same time. */
async function withShards<T>(
  folder: DataFolder,
  opened: readonly StoppedShard[],
  use: (shards: readonly StoppedShard[]) => Promise<T>,
): Promise<T> {
  const number = opened.length;
  if (number === folder.shards) return use(opened);
  return readStoppedJournal(journalOf(folder, number), async (journal) => {
    const shard = new StoppedShard(journal);
    await shard.replay();
    return withShards(folder, [...opened, shard], use);
  });
}

async function writeAll(
  file: LineFile,
  folder: DataFolder,
  directory: Directory,
  shards: readonly StoppedShard[],
  onProgress: ReportProgress,
): Promise<void> {
  const { id, generation } = folder;
  const head: Head = {
    export: 'payments-service',
    format: linesFormat,
    version: manifest.version,
    written: new Date().toISOString(),
    folder: { id, generation, shards: folder.shards },
    layouts: layoutVersions,
    revision: directory.revision,
    secrets_key_check: directory.keyCheckValue,
    clock: defined(latestClock(shards.map(({ clock }) => clock)), 'a folder has a shard'),
    retention: jointRetention(shards.map(({ retention }) => retention)),
    paused: folder.paused ?? undefined,
  };
  await file.write(head);
  for (const { organization, keys } of directory.snapshot()) {
    await file.put('organizations', { organization });
    for (const api_key of keys) await file.put('api_keys', { api_key });
  }
  for (const member of directory.members.all()) await file.put('members', { member });
  const total = shards.reduce((sum, { journal }) => sum + journal.checkpoint.recordCount, 0);
  for (const shard of shards)
    for (const record of shard.all()) {
      if (file.counts.records % progressEvery === 0) onProgress('records', file.counts.records, total);
      await file.put('records', { record: recordLine(record) });
    }
  const keys = shards.map((shard) => [shard, shard.idempotencyRecords()] as const);
  for (const { key, source } of inOrderOfTime(keys)) {
    if (file.counts.responses % progressEvery === 0) onProgress('stored responses', file.counts.responses, 0);
    const response = unlessDamaged(() => source.journal.readResponse(key.location, key.keyDigest)) ?? null;
    await file.put('responses', { response: responseLine(key, response) });
  }
  for (const { journal } of shards)
    for (const [name, value] of journal.checkpoint.metadata())
      if (isOfScope(name))
        await file.put('small_values', {
          small_value: { name, base64: Buffer.from(value).toString('base64') },
        });
}

const flushBytes = 1024 * 1024;

/** A file of lines, with a digest of them. */
class LineFile {
  readonly counts = noCounts();
  readonly #file: FileHandle;
  readonly #hash: Hash = createHash('sha256');
  #text = '';

  constructor(file: FileHandle) {
    this.#file = file;
  }

  async put(counted: keyof Counts, line: Line): Promise<void> {
    this.counts[counted]++;
    await this.write(line);
  }

  async write(line: object): Promise<void> {
    this.#text += `${JSON.stringify(line)}\n`;
    if (this.#text.length >= flushBytes) await this.#flush();
  }

  async #flush(): Promise<void> {
    const bytes = Buffer.from(this.#text);
    this.#text = '';
    this.#hash.update(bytes);
    await this.#file.writeFile(bytes);
  }

  /** Writes the last line, and resolves when all of it is on disk. */
  async end(): Promise<Counts> {
    await this.#flush();
    const end = { ...this.counts, sha256: this.#hash.digest('hex') };
    await this.#file.writeFile(`${JSON.stringify({ end })}\n`);
    await this.#file.sync();
    await this.close();
    return this.counts;
  }

  close(): Promise<void> {
    return this.#file.close();
  }
}
