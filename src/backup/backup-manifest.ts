// What a backup is: files (disk/archive-file.ts), and a manifest that names them with their
// digests: `directory/state.rows` and each shard's checkpoint, `shard-0/state.rows`; below `log/`
// what came since (journal/log-files.ts); and `audit/audit.rows`. While a backup is being made,
// `manifest.json.partial` names the files that are done, so that an interrupted one goes on. The
// manifest is not encrypted: it holds no personal data and no secrets.

import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import manifest from '../../package.json' with { type: 'json' };
import type { ArchivedPart } from '../data-folder/archive-folder.ts';
import type { DataFolder, Layouts } from '../data-folder/data-folder.ts';
import { DataFolderError } from '../data-folder/data-folder-error.ts';
import type { NotedEnd } from '../data-folder/sequence-notes.ts';
import { partialSuffix } from '../disk/archive-file.ts';
import type { Part, ShardIdentity } from '../disk/identity.ts';
import { makeFolder, newSuffix, replaceFile, syncPath } from '../disk/sync-path.ts';
import { inSequence, type LogFile, logFilesIn } from '../journal/log-files.ts';
import { layoutVersions } from '../journal/open-journal.ts';

export interface FileEntry {
  /** Below the backup's folder. */
  readonly file: string;
  readonly bytes: number;
  readonly sha256: string;
}

export interface PartEntry {
  /** A checkpoint or a directory, with the sequence or revision that it reflects. */
  state: (FileEntry & { readonly sequence: number }) | null;
  readonly log: (FileEntry & Pick<LogFile, 'first' | 'last'>)[];
  /** How far its files go, and what is there: only a log that has this goes on with them. */
  end?: NotedEnd;
}

export interface Manifest {
  readonly service: 'payments-service';
  readonly format: 1;
  /** The version of the service that made it, and the layouts of the records in it. */
  readonly version: string;
  readonly layouts: Layouts;
  readonly folder: { readonly id: string; readonly generation: number; readonly shards: number };
  readonly encrypted: boolean;
  /** ISO 8601: when it was begun, and as of when it is whole; null while it is being made. */
  readonly started: string;
  moment: string | null;
  readonly directory: PartEntry;
  readonly shards: readonly PartEntry[];
  /** Null while the backup is being made. */
  audit: FileEntry | null;
}

const manifestFile = 'manifest.json';
const partialFile = manifestFile + partialSuffix;
/** Locked by the process that makes the backup. */
export const backupLock = 'backup.lock';

/** The manifest of a backup that begins now. */
export function newManifest({ id, generation, shards }: DataFolder, encrypted: boolean): Manifest {
  return {
    service: 'payments-service',
    format: 1,
    version: manifest.version,
    layouts: layoutVersions,
    folder: { id, generation, shards },
    encrypted,
    started: new Date().toISOString(),
    moment: null,
    directory: { state: null, log: [] },
    shards: Array.from({ length: shards }, () => ({ state: null, log: [] })),
    audit: null,
  };
}

/** Null where a backup can begin. Throws `DataFolderError` where neither is possible. */
export function unfinishedManifest(folder: string): Manifest | null {
  makeFolder(folder);
  const names = readdirSync(folder).filter((name) => !name.endsWith(newSuffix) && name !== backupLock);
  if (names.includes(manifestFile))
    throw new DataFolderError(`${folder} holds a finished backup: name another folder`);
  if (names.includes(partialFile)) return parse(join(folder, partialFile));
  if (names.length === 0) return null;
  throw new DataFolderError(
    `${folder} holds ${names[0]} and no unfinished backup: name a folder that is empty`,
  );
}

/** Notes durably which files are done. */
export function saveUnfinished(folder: string, content: Manifest): void {
  const text = JSON.stringify(content, null, 2);
  replaceFile(join(folder, partialFile), `${JSON.stringify({ sha256: digestOf(text) })}\n${text}\n`);
}

/** Makes the backup a finished one. */
export function saveFinished(folder: string, content: Manifest): void {
  saveUnfinished(folder, content);
  renameSync(join(folder, partialFile), join(folder, manifestFile));
  syncPath(folder);
}

/** The manifest of a finished backup. Throws `DataFolderError`. */
export function readManifest(folder: string): Manifest {
  const file = join(folder, manifestFile);
  if (existsSync(file)) return parse(file);
  throw new DataFolderError(
    existsSync(join(folder, partialFile))
      ? `the backup ${folder} is unfinished: run "payments backup --to ${folder}" again, which goes on with it`
      : `${folder} holds no backup: there is no ${manifestFile}`,
  );
}

/** The first line has the digest of the rest. */
function parse(file: string): Manifest {
  const damaged = (defect: string) =>
    new DataFolderError(`${file} is damaged: ${defect}: use another backup`);
  const text = readFileSync(file, 'utf8');
  const end = text.indexOf('\n');
  const body = text.slice(end + 1, -1);
  let content: Manifest;
  try {
    const { sha256 }: { sha256?: string } = JSON.parse(text.slice(0, end));
    if (sha256 !== digestOf(body)) throw damaged('its digest does not match');
    content = JSON.parse(body);
  } catch (error) {
    throw error instanceof DataFolderError ? error : damaged('it is not as it was written');
  }
  if (content.service === 'payments-service' && content.format === 1) return content;
  throw new DataFolderError(
    `${file} was written by another version of the service: use the one that wrote it`,
  );
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** Every file of a backup. */
export function filesOf({ directory, shards, audit }: Manifest): FileEntry[] {
  const parts = [directory, ...shards].flatMap(({ state, log }) => [state, ...log]);
  return [...parts, audit].filter((entry) => entry !== null);
}

/** The files of a part's log in a backup, and in the archive that goes on where it ends. */
export function logFilesOf(backup: string, { log }: PartEntry, archived: string | null): LogFile[] {
  const files = log.map(({ file, first, last }) => ({ path: join(backup, file), first, last }));
  return inSequence(archived === null ? files : [...files, ...logFilesIn(archived)]);
}

/** The folder of a part in a backup or an archive, and what its files must say that they are. */
export function partsOf({ id, generation }: Omit<Manifest['folder'], 'shards'>, shard: ArchivedPart) {
  const name = shard === 'directory' ? shard : `shard-${shard}`;
  // No reshard changes the directory.
  const of = { folder: id, generation: shard === 'directory' ? 0 : generation };
  const part = (which: 'state' | 'log'): Part => ({ ...of, part: `${name}/${which}` });
  return { name, state: part('state'), log: part('log') };
}

/** What the file of the audit record must say that it is. */
export function auditPartOf({ id }: Pick<Manifest['folder'], 'id'>): Part {
  return { folder: id, generation: 0, part: 'audit' };
}

export function identityOf({ id, generation }: Manifest['folder'], shard: number): ShardIdentity {
  return { folder: id, generation, shard };
}
