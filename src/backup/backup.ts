// Makes a backup of a data folder, whether the service runs or not, in a process of its own that
// holds up nobody. The parts are from one moment: the directory first, then the logs as far as they
// go, then each checkpoint, then the rest of the logs up to that moment. Each file is on disk and
// named in the manifest before the next one is begun, so an interrupted backup goes on; what was
// written is read again before the backup counts as one.

import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import { pack } from 'msgpackr';
import { defined, elementAt } from '../core/assert.ts';
import { type DataFolder, journalOf, shardDirsOf, shardNumbers } from '../data-folder/data-folder.ts';
import { DataFolderError } from '../data-folder/data-folder-error.ts';
import { bytesBelow } from '../data-folder/disk-space.ts';
import { changesAfter, directoryBlocks } from '../directory/change-log.ts';
import { revisionOf } from '../directory/directory-store.ts';
import {
  type Block,
  digestOfFile,
  type Pace,
  readArchiveFile,
  type WriteOptions,
  type WrittenFile,
  writeArchiveFile,
} from '../disk/archive-file.ts';
import { RowStore } from '../disk/row-store.ts';
import { makeFolder } from '../disk/sync-path.ts';
import { JournalDamaged } from '../journal/journal.ts';
import { type Sequenced, type WrittenLogFile, writeLogFile } from '../journal/log-files.ts';
import { JournalCopy } from '../journal/stopped-journal.ts';
import { auditPieces } from '../operator/audit/audit-copy.ts';
import type { ReportProgress } from '../operator/results/folder-results.ts';
import { type ArchiveSource, continues, directorySource, shardSource } from './archiver.ts';
import {
  auditPartOf,
  type FileEntry,
  filesOf,
  type Manifest,
  newManifest,
  type PartEntry,
  partsOf,
  saveFinished,
  saveUnfinished,
  unfinishedManifest,
} from './backup-manifest.ts';

interface BackupOptions {
  readonly folder: DataFolder;
  readonly to: string;
  /** Public keys of age; without any the backup is not encrypted. */
  readonly recipients: readonly string[];
  readonly segmentBytesMax: number;
  /** Has the service keep a shard's checkpoint as it is while it is read; without it, none runs. */
  readonly hold?: HoldCheckpoint | undefined;
  /** How fast it goes on. */
  readonly pace: Pace;
  /** Hears how many bytes of about how many are done. */
  readonly onProgress: ReportProgress;
}

/** A checkpoint that stays as it is until it is released, unless its shard ends before. */
interface KeptCheckpoint {
  /** Null: nothing writes to the shard's checkpoint. */
  readonly folder: string | null;
  readonly isLost: boolean;
  release(): void;
}

export type HoldCheckpoint = (shard: number) => Promise<KeptCheckpoint>;

const holdNothing: HoldCheckpoint = async () => ({ folder: null, isLost: false, release() {} });

/** Throws `DataFolderError`, `JournalDamaged`, or what the disk says. */
export async function backUp(options: BackupOptions): Promise<Manifest> {
  const manifest = begin(options);
  const backup = new Backup(options, manifest);
  try {
    await backup.run();
  } finally {
    await backup.close();
  }
  return manifest;
}

/** The manifest to go on with, or a new one. */
function begin({ folder, to, recipients }: BackupOptions): Manifest {
  const encrypted = recipients.length > 0;
  const unfinished = unfinishedManifest(to);
  if (unfinished === null) {
    const manifest = newManifest(folder, encrypted);
    // Before anything else is there, so that an interrupted backup is always known to be one.
    saveUnfinished(to, manifest);
    return manifest;
  }
  const { id, generation, shards } = unfinished.folder;
  if (id !== folder.id || generation !== folder.generation || shards !== folder.shards)
    throw new DataFolderError(
      `${to} holds an unfinished backup of another data folder, or from before a reshard: name another folder`,
    );
  if (unfinished.encrypted !== encrypted)
    throw new DataFolderError(
      `${to} holds an unfinished backup that is ${unfinished.encrypted ? '' : 'not '}encrypted: go on with it as it was begun`,
    );
  return unfinished;
}

class Backup {
  readonly #options: BackupOptions;
  readonly #manifest: Manifest;
  readonly #write: WriteOptions;
  readonly #directory: RowStore;
  readonly #copies: readonly JournalCopy[];
  readonly #bytesExpected: number;
  #bytes: number;
  #task = 'backup';

  constructor(options: BackupOptions, manifest: Manifest) {
    const { folder, recipients, pace, segmentBytesMax } = options;
    this.#options = options;
    this.#manifest = manifest;
    this.#bytes = filesOf(manifest).reduce((sum, { bytes }) => sum + bytes, 0);
    this.#write = { recipients, pace: this.#counted(pace) };
    this.#bytesExpected = shardDirsOf(folder).reduce((sum, dir) => sum + bytesBelow(dir), 0);
    this.#directory = new RowStore(folder.directory, folder.directoryPart, true);
    this.#copies = shardNumbers(folder).map(
      (number) => new JournalCopy({ ...journalOf(folder, number), segmentBytesMax }),
    );
  }

  #counted(pace: Pace): Pace {
    return (bytes) => {
      this.#bytes += bytes;
      this.#options.onProgress(this.#task, this.#bytes, Math.max(this.#bytes, this.#bytesExpected));
      return pace(bytes);
    };
  }

  async run(): Promise<void> {
    const { to } = this.#options;
    const { directory, shards } = this.#manifest;
    for (const copy of this.#copies) copy.refuseMissingSegment();
    this.#refuseOtherHistory();
    const store = this.#directory;
    directory.state ??= await this.#state('directory', revisionOf(store), directoryBlocks(store));
    this.#save();
    // The log first: a stored response whose segment is dropped moves into the checkpoint.
    await this.#logs(this.#ends());
    for (const [number, shard] of shards.entries()) {
      shard.state ??= await this.#shardState(number);
      this.#save();
    }
    // Most of what was added meanwhile, so that the moment comes when little is left.
    await this.#logs(this.#ends());
    const ends = this.#ends();
    this.#manifest.moment = new Date().toISOString();
    await this.#directoryLog();
    await this.#logs(ends);
    this.#manifest.audit = await this.#audit();
    this.#save();
    this.#task = 'read again';
    this.#bytes = 0;
    await verifyFiles(to, this.#manifest, this.#write.pace);
    saveFinished(to, this.#manifest);
  }

  /** What a folder does after it went back in time must not lie behind what it has lost. */
  #refuseOtherHistory(): void {
    const { to, folder } = this.#options;
    const { directory, shards } = this.#manifest;
    for (const [part, { end }] of [['directory', directory] as const, ...shards.entries()]) {
      if (end === undefined || continues(this.#sourceOf(part), { end }, end.sequence)) continue;
      throw new DataFolderError(
        `${to} holds an unfinished backup that ${folder.path} does not go on with: the data folder is from an ` +
          'earlier moment, or has gone another way since. Remove what is there, or name another folder',
      );
    }
  }

  #ends(): number[] {
    return this.#copies.map(({ logEnd }) => logEnd);
  }

  /** To be called before the manifest names a file: what was read for it is on the disk then. */
  #noteEnd(part: number | 'directory', sequence: number): void {
    const { directory, shards } = this.#manifest;
    const entry = part === 'directory' ? directory : elementAt(shards, part);
    const source = this.#sourceOf(part);
    source.sync();
    if (sequence < (entry.end?.sequence ?? 0)) return;
    entry.end = { sequence, checksum: source.checksumAt(sequence) ?? null };
  }

  #sourceOf(part: number | 'directory'): ArchiveSource {
    return part === 'directory'
      ? directorySource(this.#directory)
      : shardSource(elementAt(this.#copies, part));
  }

  /** `sequence` was looked up before: a change that comes in between is in the log, too. */
  async #state(
    shard: number | 'directory',
    sequence: number,
    blocks: Iterable<Block> | AsyncIterable<Block>,
  ): Promise<PartEntry['state']> {
    const { name, state } = this.#partsOf(shard);
    const written = await writeArchiveFile(name, () => 'state.rows', state, blocks, this.#write);
    this.#noteEnd(shard, sequence);
    return { ...this.#entryOf(written), sequence };
  }

  async #shardState(number: number): Promise<PartEntry['state']> {
    const kept = await (this.#options.hold ?? holdNothing)(number);
    try {
      return await this.#checkpointOf(number, kept.folder);
    } catch (error) {
      throw kept.isLost ? startedAgain(number) : error;
    } finally {
      kept.release();
    }
  }

  async #checkpointOf(number: number, folder: string | null): Promise<PartEntry['state']> {
    const checkpoint = elementAt(this.#copies, number).checkpoint(folder ?? undefined);
    try {
      return await this.#state(number, checkpoint.sequence, checkpoint.rows());
    } finally {
      checkpoint.close();
    }
  }

  /** Writes what of the shards' logs is not written yet, up to these ends. */
  async #logs(ends: readonly number[]): Promise<void> {
    for (const [number, end] of ends.entries()) {
      const entry = elementAt(this.#manifest.shards, number);
      const copy = elementAt(this.#copies, number);
      let isDropped = false;
      const dropped = () => {
        isDropped = true;
      };
      const after = entry.log.at(-1)?.last ?? copy.logStart - 1;
      const batches = copy.batches(after, end, dropped)[Symbol.asyncIterator]();
      await this.#log(entry, number, 'batch', batches);
      if (!isDropped || entry.state === null) continue;
      // Only a newer checkpoint has what was dropped since the one that was read.
      entry.state = null;
      this.#save();
      entry.state = await this.#shardState(number);
      this.#save();
    }
  }

  async #directoryLog(): Promise<void> {
    const entry = this.#manifest.directory;
    const state = defined(entry.state, 'the state is written before the log');
    const changes = [...changesAfter(this.#directory, entry.log.at(-1)?.last ?? state.sequence)];
    const iterator = (async function* () {
      yield* changes;
    })();
    await this.#log(entry, 'directory', 'rows', iterator);
  }

  async #log(
    entry: PartEntry,
    shard: number | 'directory',
    type: 'batch' | 'rows',
    source: AsyncIterator<Sequenced>,
  ): Promise<void> {
    const { name, log } = this.#partsOf(shard);
    const folder = join(name, 'log');
    makeFolder(folder);
    for (;;) {
      const written = await writeLogFile(folder, log, source, { type, ...this.#write });
      if (written === null) return;
      const { first, last }: WrittenLogFile = written;
      entry.log.push({ ...this.#entryOf(written), first, last });
      this.#noteEnd(shard, last);
      this.#save();
    }
  }

  async #audit(): Promise<FileEntry> {
    const { folder, to } = this.#options;
    const name = join(to, 'audit');
    makeFolder(name);
    const blocks = function* (): Generator<Block> {
      for (const { file, bytes } of auditPieces(folder.path))
        yield { type: 'rows', bytes: pack([file, bytes]) };
    };
    const part = auditPartOf(this.#manifest.folder);
    return this.#entryOf(await writeArchiveFile(name, () => 'audit.rows', part, blocks(), this.#write));
  }

  #partsOf(shard: number | 'directory') {
    const parts = partsOf(this.#manifest.folder, shard);
    const name = join(this.#options.to, parts.name);
    makeFolder(name);
    return { ...parts, name };
  }

  #entryOf({ path, bytes, sha256 }: WrittenFile): FileEntry {
    return { file: relative(this.#options.to, path), bytes, sha256 };
  }

  #save(): void {
    saveUnfinished(this.#options.to, this.#manifest);
  }

  async close(): Promise<void> {
    await Promise.all([this.#directory.close(), ...this.#copies.map((copy) => copy.close())]);
  }
}

function startedAgain(shard: number): DataFolderError {
  return new DataFolderError(
    `shard ${shard} was started again while its checkpoint was read: run the same command again, which goes on ` +
      'with the backup',
  );
}

/**
 * Reads every file: its digest must be that of the manifest, and what is not encrypted must be
 * whole. Throws `DataFolderError` or `JournalDamaged`, which name the file and the place.
 */
async function verifyFiles(folder: string, manifest: Manifest, pace: Pace): Promise<void> {
  for (const { file, sha256 } of filesOf(manifest)) {
    const path = join(folder, file);
    if (!existsSync(path)) throw new DataFolderError(`${path} is missing: use another backup`);
    if (!manifest.encrypted) {
      for await (const { bytes } of readArchiveFile(path, partOfFile(manifest, file), {
        identities: [],
        sha256,
      }))
        await pace(bytes.length);
      continue;
    }
    const found = await digestOfFile(path, pace);
    if (found !== sha256)
      throw new JournalDamaged(`${path} is damaged: its SHA-256 is ${found} instead of ${sha256}`);
  }
}

function partOfFile({ folder }: Manifest, file: string) {
  const [first = '', second = ''] = file.split('/');
  if (first === 'audit') return auditPartOf(folder);
  const shard = first === 'directory' ? first : Number(first.slice('shard-'.length));
  return partsOf(folder, shard)[second === 'log' ? 'log' : 'state'];
}
