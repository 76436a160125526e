// Makes a new data folder out of a backup and, where there is one, the archive of its log: as of
// their end, or of a moment before. Each shard gets its checkpoint and the log up to that moment;
// then its journal is opened as after a crash, and its follower brings the checkpoint up to the
// log's end. The folder has an id of its own, so that no part of it is taken for one of the old
// folder, and its service is paused until an operator resumes it; or it is the folder of another
// node of the service, which has the rest of the log in PostgreSQL.

import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { unpack } from 'msgpackr';
import { defined, elementAt } from '../core/assert.ts';
import type { Scheduler } from '../core/scheduler.ts';
import { type ArchivedPart, archiveFolderOf, positionIn } from '../data-folder/archive-folder.ts';
import {
  activate,
  anotherDataFolder,
  type DataFolder,
  emptyDirectory,
  emptyFolder,
  newDataFolder,
  refuseNewer,
  shardNumbers,
  withDirectory,
} from '../data-folder/data-folder.ts';
import { DataFolderError } from '../data-folder/data-folder-error.ts';
import { refuseWithoutRoom } from '../data-folder/disk-space.ts';
import { checkFolder } from '../data-folder/folder-check.ts';
import { completeCheckpoint } from '../data-folder/reshard.ts';
import { verifyFolder } from '../data-folder/verify-folder.ts';
import { restoreDirectory } from '../directory/change-log.ts';
import { isForeignRow } from '../directory/directory.ts';
import { type Block, readArchiveFile } from '../disk/archive-file.ts';
import { tagOf } from '../disk/identity.ts';
import { indexRowsOf } from '../domain/indexes.ts';
import { EntriesMissing } from '../journal/log-files.ts';
import { markMirror, openJournal } from '../journal/open-journal.ts';
import { type KeptBatch, restoreCheckpoint, restoreLog } from '../journal/stopped-journal.ts';
import { type AuditPiece, restoreAudit } from '../operator/audit/audit-copy.ts';
import type {
  Finding,
  ReportProgress,
  Restored,
  RestoreTarget,
  Verification,
} from '../operator/results/folder-results.ts';
import { clockKey, directoryRevisionKey, writeClock, writeRevision } from '../shard/metadata.ts';
import {
  auditPartOf,
  filesOf,
  identityOf,
  logFilesOf,
  type Manifest,
  type PartEntry,
  partsOf,
  readManifest,
} from './backup-manifest.ts';
import { endWarning, type KnownPart } from './known-until.ts';
import { LaterReport } from './restore-report.ts';
import { batchesOf, beforeCheckpoint, type Cut, cutFor, keptOf, type ShardLog } from './restore-target.ts';

interface RestoreOptions {
  /** The backup's folder, and the archive's (null: none). */
  readonly from: string;
  readonly archive: string | null;
  readonly target: RestoreTarget;
  readonly dataDir: string;
  /** Whether it is to be the folder of another node, with the same id. The target is the end. */
  readonly asNode?: boolean;
  /** The secret keys of age that open what is encrypted. */
  readonly identities: readonly string[];
  readonly segmentBytesMax: number;
  readonly onProgress: ReportProgress;
  /** The thread's own by default. */
  readonly scheduler?: Scheduler;
  /** Hears what the verification of the new folder found. */
  readonly onVerified?: (verification: Verification) => void;
}

const reportFile = 'restored.json';
const laterFile = 'restored-after.ndjson';

/** When it throws, also what the disk says, the folder is as empty as before. */
export async function restore(options: RestoreOptions): Promise<Restored> {
  const { from, dataDir } = options;
  const manifest = readManifest(from);
  refuseNewer(from, manifest.layouts);
  const existed = existsSync(dataDir);
  const folder = folderFor(options, manifest);
  try {
    return await new Restore(options, manifest, folder).run();
  } catch (error) {
    // Nothing was there, and a part of a folder must not be taken for one.
    if (existed) emptyFolder(dataDir);
    else rmSync(dataDir, { recursive: true, force: true });
    throw error;
  }
}

function folderFor(
  { from, dataDir, target, asNode = false }: RestoreOptions,
  { folder }: Manifest,
): DataFolder {
  if (asNode) return anotherDataFolder(dataDir, folder);
  const reason = `restored from ${from} (${inWords(target)})`;
  return newDataFolder(dataDir, folder.shards, { since: new Date().toISOString(), reason });
}

function inWords(target: RestoreTarget): string {
  switch (target.kind) {
    case 'end':
      return 'all of it';
    case 'time':
      return `up to ${new Date(target.ms).toISOString()}`;
    case 'sequence':
      return `up to sequence ${target.sequence} of shard ${target.shard}`;
    case 'before_request':
      return `up to before the request ${target.requestId}`;
  }
}

class Restore {
  readonly #options: RestoreOptions;
  readonly #manifest: Manifest;
  readonly #folder: DataFolder;
  readonly #digests: ReadonlyMap<string, string>;
  readonly #archived: ReturnType<typeof archivedOf>;
  readonly #logs: readonly ShardLog[];
  readonly #later: LaterReport;
  readonly #warnings: string[] = [];
  /** Those of which something was left out. */
  readonly #cutParts = new Set<ArchivedPart>();
  readonly #bytesExpected: number;
  #bytes = 0;

  constructor(options: RestoreOptions, manifest: Manifest, folder: DataFolder) {
    this.#options = options;
    this.#manifest = manifest;
    this.#folder = folder;
    const files = filesOf(manifest);
    this.#digests = new Map(files.map(({ file, sha256 }) => [join(options.from, file), sha256]));
    this.#bytesExpected = files.reduce((sum, { bytes }) => sum + bytes, 0);
    this.#later = new LaterReport(join(folder.path, laterFile));
    // Before the files are listed, because the service may go on to archive.
    this.#archived = archivedOf(options.archive, manifest.folder);
    this.#logs = manifest.shards.map((entry, shard) => ({
      shard,
      files: this.#logFiles(entry, shard),
      tag: tagOf(identityOf(manifest.folder, shard)),
      state: stateOf(entry).sequence,
    }));
  }

  #logFiles(entry: PartEntry, shard: number | 'directory') {
    const { from, archive, identities } = this.#options;
    const { folder } = this.#manifest;
    const files = logFilesOf(from, entry, archive && archiveFolderOf(archive, folder, shard));
    return { files, part: partsOf(folder, shard).log, identities, digests: this.#digests };
  }

  async run(): Promise<Restored> {
    const { target, archive, asNode = false } = this.#options;
    const known = this.#manifest.folder;
    if (archive !== null && !existsSync(join(archive, known.id)))
      throw new DataFolderError(
        basename(archive) === known.id
          ? `${archive} is a folder of an archive: name the one above it, ${dirname(resolve(archive))}`
          : `${archive} is no archive of the data folder ${known.id}, which the backup is of`,
      );
    refuseWithoutRoom(`restoring ${this.#options.from}`, this.#folder.path, this.#bytesExpected);
    const cut = await cutFor(target, this.#logs);
    const shards = [];
    for (const log of this.#logs) shards.push(await this.#shard(log, cut));
    await this.#directory(cut);
    await this.#audit();
    const later = this.#later.finish();
    this.#warnOfEnd(cut, shards);
    await this.#checkParts();
    const missing = this.#missingEnds();
    this.#warnings.push(...missing.map(({ what, advice }) => `${what}: ${advice}`));
    const verification = await verifyFolder(this.#folder, this.#options.onProgress);
    this.#options.onVerified?.({ ...verification, findings: [...verification.findings, ...missing] });
    const report: Restored = {
      data: this.#folder.path,
      id: this.#folder.id,
      as_node: asNode,
      from: {
        backup: this.#options.from,
        archive,
        folder: known.id,
        moment: defined(this.#manifest.moment, complete),
      },
      target: inWords(target),
      shards,
      later,
      later_file: join(this.#folder.path, laterFile),
      warnings: this.#warnings,
      findings: verification.findings,
      records: verification.records,
    };
    const file = join(this.#folder.path, reportFile);
    writeFileSync(file, `${JSON.stringify(report, null, 2)}\n`, { flush: true, mode: 0o600 });
    if (asNode) await this.#makeNode();
    activate(this.#folder);
    return report;
  }

  /** It serves only with PostgreSQL, which has the directory. */
  async #makeNode(): Promise<void> {
    for (const shard of shardNumbers(this.#folder)) markMirror(this.#folder.shardDir(shard));
    await emptyDirectory(this.#folder);
  }

  async #shard(log: ShardLog, cut: Cut): Promise<Restored['shards'][number]> {
    const { segmentBytesMax, scheduler } = this.#options;
    const { shard, state } = log;
    const [dir, identity] = [this.#folder.shardDir(shard), this.#folder.shardIdentity(shard)];
    const target = { dir, identity, segmentBytesMax };
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    await restoreCheckpoint(target, this.#stateOf(shard));
    const { entries } = this.#later;
    const restored = await restoreLog(target, this.#kept(log, cut), state);
    if (restored.last < state && (this.#later.entries > entries || cut.entry !== null))
      throw beforeCheckpoint(log, this.#options.from);
    const journal = await openJournal({
      dir,
      identity,
      indexRowsOf,
      segmentBytesMax,
      ...(scheduler && { scheduler }),
    });
    try {
      const clock = await completeCheckpoint(journal);
      await journal.checkpointer.noteSegment(restored.newestSegment);
      await journal.checkpointer.putMetadata(
        new Map([
          // The checkpoint's clock was that of the backup.
          [clockKey, writeClock(clock)],
          // Its directory may have changed after the moment.
          [directoryRevisionKey, writeRevision(0)],
        ]),
      );
    } finally {
      await journal.close();
    }
    const { last, wallMs } = restored;
    const time = wallMs === 0 ? null : new Date(wallMs).toISOString();
    return { shard, sequence: Math.max(last, state), time };
  }

  /** The batches to keep, each with its last entry to keep. What comes after is reported. */
  async *#kept(log: ShardLog, cut: Cut): AsyncGenerator<KeptBatch> {
    const { shard } = log;
    const named = cut.entry?.shard === shard ? cut.entry.sequence : null;
    let end = Number.POSITIVE_INFINITY;
    try {
      for await (const batch of batchesOf(log, 0)) {
        const last = Math.min(end, keptOf(batch, shard, cut));
        if (last >= batch.firstSequence) {
          this.#count(batch.bytes.length, `shard ${shard}: log`);
          yield { batch, last };
        }
        if (last === batch.lastSequence && last !== named) continue;
        end = last;
        this.#cutParts.add(shard);
        this.#later.add(batch, last, shard);
      }
    } catch (error) {
      if (end === Number.POSITIVE_INFINITY || !(error instanceof EntriesMissing)) throw error;
      this.#warnOfGap(error.gap);
    }
  }

  #warnOfGap(gap: string | null): void {
    if (gap !== null) this.#warnings.push(`not all that came after that is known: ${gap}`);
  }

  async *#stateOf(shard: number | 'directory'): AsyncGenerator<Block> {
    const { from, identities } = this.#options;
    const { directory, shards, folder } = this.#manifest;
    const { file, sha256 } = stateOf(shard === 'directory' ? directory : elementAt(shards, shard));
    const blocks = readArchiveFile(join(from, file), partsOf(folder, shard).state, { identities, sha256 });
    for await (const block of blocks) {
      this.#count(block.bytes.length, shard === 'directory' ? shard : `shard ${shard}: checkpoint`);
      yield block;
    }
  }

  #count(bytes: number, what: string): void {
    this.#bytes += bytes;
    this.#options.onProgress(what, this.#bytes, Math.max(this.#bytes, this.#bytesExpected));
  }

  async #directory({ toMs }: Cut): Promise<void> {
    const { directory: entry } = this.#manifest;
    const { directory: folder, directoryPart: part } = this.#folder;
    const { leftOut, gap } = await restoreDirectory(
      { folder, part, isForeign: isForeignRow, toMs },
      this.#stateOf('directory'),
      this.#logFiles(entry, 'directory'),
      stateOf(entry).sequence,
    );
    this.#later.directoryChanges = leftOut.length;
    if (leftOut.length > 0) this.#cutParts.add('directory');
    this.#warnOfGap(gap);
  }

  /** All of it, whatever the target: it says what was done, not what is active. */
  async #audit(): Promise<void> {
    const { from, identities } = this.#options;
    const { audit, folder } = this.#manifest;
    if (audit === null) return;
    const { file, sha256 } = audit;
    const blocks = readArchiveFile(join(from, file), auditPartOf(folder), { identities, sha256 });
    const pieces = async function* (): AsyncGenerator<AuditPiece> {
      for await (const { bytes } of blocks) {
        const [name, piece]: [string, Buffer] = unpack(bytes);
        yield { file: name, bytes: piece };
      }
    };
    await restoreAudit(this.#folder.path, pieces());
  }

  /** What was archived and is in no file. Nothing comes behind it that would show the gap. */
  #missingEnds(): Finding[] {
    const { directory } = this.#manifest;
    const changes = { state: stateOf(directory).sequence, files: this.#logFiles(directory, 'directory') };
    return this.#archived.flatMap(({ shard, part, sequence }) => {
      const { state, files }: Pick<ShardLog, 'state' | 'files'> =
        shard === null ? changes : elementAt(this.#logs, shard);
      const last = files.files.reduce((end, file) => Math.max(end, file.last), state);
      if (sequence <= last) return [];
      const what = `${part} was written up to ${sequence}, and the last file ends with ${last}`;
      const advice = 'what came after that is missing: add the files that hold it, and run this again';
      return [{ shard, check: 'archive.end', object: null, what, advice }];
    });
  }

  #warnOfEnd({ toMs }: Cut, shards: Restored['shards']): void {
    const parts = [...shards, { shard: null, time: null }].map(({ shard, time }): KnownPart => {
      const archived = this.#archived.find((each) => each.shard === shard);
      return {
        name: shard === null ? 'the directory' : `shard ${shard}`,
        lastMs: time === null ? null : Date.parse(time),
        archivedMs: archived?.untilMs ?? null,
        isCut: this.#cutParts.has(shard ?? 'directory'),
      };
    });
    const warning = endWarning(parts, toMs, Date.parse(defined(this.#manifest.moment, complete)));
    if (warning !== null) this.#warnings.push(warning);
  }

  /** The archive may end earlier for the directory: it gets organizations that the shards know. */
  async #checkParts(): Promise<void> {
    const warn = (message: string) => void this.#warnings.push(message);
    await withDirectory(this.#folder, (directory) =>
      checkFolder({ folder: this.#folder, directory, acceptLoss: true, warn }),
    );
  }
}

const complete = 'only a complete backup is restored';

function stateOf({ state }: PartEntry) {
  return defined(state, complete);
}

/** How far the archive has come with each part; the directory is no shard. */
function archivedOf(archive: string | null, folder: Manifest['folder']) {
  if (archive === null) return [];
  return [...Array(folder.shards).keys(), null].map((shard) => {
    const part = archiveFolderOf(archive, folder, shard ?? 'directory');
    const { sequence, untilMs } = positionIn(part);
    return { shard, part, sequence, untilMs };
  });
}
