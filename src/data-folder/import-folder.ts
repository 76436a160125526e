// `payments import` makes a data folder from a file that `payments export` wrote. The folder is
// built beside its place, or in it where that is there, as a disk of its own is. It is verified,
// and moved to its place when it is complete; otherwise it is removed. It has an id of its own and
// any number of shards.

import { createHash } from 'node:crypto';
import { createReadStream, existsSync, readdirSync, renameSync, rmdirSync, rmSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { errorCode, errorText } from '../core/errors.ts';
import type { ApiKey } from '../directory/api-key.ts';
import type { Directory } from '../directory/directory.ts';
import type { Organization } from '../directory/organization.ts';
import { formatFile } from '../disk/identity.ts';
import { syncPath } from '../disk/sync-path.ts';
import { JournalFailure, type OwnJournal } from '../journal/journal.ts';
import { layoutVersions, openJournal, recordFields } from '../journal/open-journal.ts';
import { encodeRecord } from '../journal/stopped-journal.ts';
import type { Imported, ReportProgress } from '../operator/results/folder-results.ts';
import { CommandFailure } from '../operator/use-cases/failures.ts';
import {
  type DataFolder,
  journalOf,
  lockFile,
  openDataFolder,
  setPause,
  shardNumbers,
  withDirectory,
} from './data-folder.ts';
import { recordOffline, withClearErrors } from './folder-command.ts';
import {
  type Counts,
  counted,
  type End,
  type Head,
  type Line,
  linesFormat,
  noCounts,
  recordOfLine,
  responseOfLine,
} from './folder-lines.ts';
import { lockDataFolder } from './folder-lock.ts';
import { lostAndFound } from './folder-owner.ts';
import { NewShards } from './new-shards.ts';
import { verifyFolder } from './verify-folder.ts';

interface ImportOptions {
  readonly from: string;
  readonly dataDir: string;
  readonly shards: number;
  readonly onProgress: ReportProgress;
}

/**
 * Throws `CommandFailure`, one clear line; then there is no folder, or a whole one beside a place
 * that something else has taken meanwhile.
 */
export async function importDataFolder(options: ImportOptions): Promise<Imported> {
  const from = resolve(options.from);
  const to = resolve(options.dataDir);
  const isThere = existsSync(to);
  const unfinished = isThere ? join(to, unfinishedName) : `${to}.unfinished`;
  return withClearErrors(async () => {
    if (!existsSync(from)) throw new CommandFailure(`there is no file ${from}`);
    if (isThere && !isEmpty(to))
      throw new CommandFailure(`${to} is not empty: name a folder that is, or that does not exist`);
    const release = await lockDataFolder(unfinished);
    try {
      const imported = await importBeside(unfinished, from, options);
      moveTo(to, unfinished);
      return { file: from, folder: to, ...imported };
    } finally {
      await release();
    }
  });
}

/** In the folder that there is, while it is not complete. */
const unfinishedName = 'import.unfinished';

/** Makes the folder, in place of one that was not finished, and verifies it. */
async function importBeside(
  unfinished: string,
  from: string,
  { shards, onProgress }: ImportOptions,
): Promise<Omit<Imported, 'file' | 'folder'>> {
  try {
    for (const name of readdirSync(unfinished))
      if (name !== lockFile) rmSync(join(unfinished, name), { recursive: true });
    const folder = await openDataFolder(unfinished, shards, shards);
    const imported = await recordOffline(unfinished, 'import', { from }, () =>
      withDirectory(folder, (directory) => importInto(folder, directory, from, onProgress)),
    );
    const { findings, unlisted } = await verifyFolder(folder, onProgress);
    syncPath(unfinished);
    return { shards: folder.shards, ...imported, findings, unlisted };
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true });
    throw error instanceof SyntaxError ? new CommandFailure(error.message) : error;
  }
}

/** Gives the folder its name, or moves what is in it one up. Nothing else is replaced. */
function moveTo(to: string, unfinished: string): void {
  try {
    if (dirname(unfinished) === to) moveUp(to, unfinished);
    else renameSync(unfinished, to);
  } catch (error) {
    throw new CommandFailure(
      `the imported folder is whole, and could not be moved to ${to} (${errorCode(error)}): see what lies there, ` +
        `and move ${unfinished} to where it shall be`,
    );
  }
  syncPath(dirname(to));
}

/** What makes it a data folder comes last. */
function moveUp(to: string, unfinished: string): void {
  if (!isEmpty(to)) throw Object.assign(new Error('something came meanwhile'), { code: 'ENOTEMPTY' });
  const names = readdirSync(unfinished).filter((name) => name !== formatFile);
  for (const name of [...names, formatFile]) renameSync(join(unfinished, name), join(to, name));
  rmdirSync(unfinished);
  syncPath(to);
}

/** But for an import, and for what a disk has. */
function isEmpty(folder: string): boolean {
  return readdirSync(folder).every((name) => name === unfinishedName || name === lostAndFound);
}

async function importInto(
  folder: DataFolder,
  directory: Directory,
  from: string,
  onProgress: ReportProgress,
): Promise<Counts> {
  const journals: OwnJournal[] = [];
  try {
    for (const number of shardNumbers(folder)) journals.push(await openJournal(journalOf(folder, number)));
    const { counts, head } = await new Import(directory, new NewShards(journals)).run(from, onProgress);
    if (head.paused !== undefined) setPause(folder, head.paused);
    return counts;
  } finally {
    for (const journal of journals) await journal.close();
  }
}

const wrote = 'import it with the version of the service that wrote it, and upgrade the folder afterwards';

/** Throws a `SyntaxError` that names the line when something is wrong with it. */
class Import {
  readonly #directory: Directory;
  readonly #shards: NewShards;
  readonly #counts = noCounts();
  /** An organization is written with all of its keys, which follow it. */
  #organization: { readonly organization: Organization; readonly keys: ApiKey[] } | null = null;

  constructor(directory: Directory, shards: NewShards) {
    this.#directory = directory;
    this.#shards = shards;
  }

  async run(path: string, onProgress: ReportProgress): Promise<{ counts: Counts; head: Head }> {
    const { size } = statSync(path);
    let head: Head | null = null;
    let end: End['end'] | null = null;
    let number = 0;
    let bytes = 0;
    const hash = createHash('sha256');
    for await (const line of linesOf(path)) {
      number++;
      bytes += line.length + 1;
      if (number % 4_096 === 0) onProgress('import', bytes, size);
      const value = parsed(line, number);
      if (end !== null) throw new SyntaxError(`line ${number} follows the end`);
      if (head === null) head = headOf(value);
      else if ('end' in value) {
        ({ end } = value);
        continue;
      } else if (!('export' in value)) await this.#take(value, number);
      else throw new SyntaxError(`line ${number} is a second head`);
      hash.update(line).update('\n');
    }
    if (head === null || end === null) throw new SyntaxError(`${path} is cut off: it has no end`);
    await this.#putOrganization();
    if (end.sha256 !== hash.digest('hex'))
      throw new SyntaxError(`${path} is not as it was written: its digest differs`);
    // Files of earlier versions have no members.
    for (const name of counted)
      if ((end[name] ?? 0) !== this.#counts[name])
        throw new SyntaxError(`${path} has ${this.#counts[name]} ${name} and its end says ${end[name]}`);
    const { revision, secrets_key_check } = head;
    await this.#shards.finish(head);
    await this.#directory.store.skipTo(Math.max(revision, this.#directory.revision));
    if (secrets_key_check !== null) await this.#directory.putKeyCheckValue(secrets_key_check);
    return { counts: this.#counts, head };
  }

  async #take(line: Line, number: number): Promise<void> {
    try {
      await this.#put(line);
    } catch (error) {
      if (error instanceof JournalFailure) throw error;
      throw new SyntaxError(`line ${number}: ${errorText(error)}`);
    }
  }

  async #put(line: Line): Promise<void> {
    if ('organization' in line) {
      await this.#putOrganization();
      this.#organization = { organization: line.organization, keys: [] };
      this.#counts.organizations++;
    } else if ('api_key' in line) {
      if (this.#organization?.organization.id !== line.api_key.org)
        throw new SyntaxError(`the key ${line.api_key.id} does not follow its organization`);
      this.#organization.keys.push(line.api_key);
      this.#counts.api_keys++;
    } else if ('member' in line) {
      await this.#directory.members.restore(line.member);
      this.#counts.members++;
    } else if ('record' in line) {
      await this.#shards.putRecord(encodeRecord(recordOfLine(line.record, recordFields)));
      this.#counts.records++;
    } else if ('response' in line) {
      const { key, response } = responseOfLine(line.response);
      await this.#shards.putResponse(key, response);
      this.#counts.responses++;
    } else if ('small_value' in line) {
      const { name, base64 } = line.small_value;
      this.#shards.putMetadataRow(name, Buffer.from(base64, 'base64'));
      this.#counts.small_values++;
    } else throw new SyntaxError('it is none of the lines that an export has');
  }

  async #putOrganization(): Promise<void> {
    if (this.#organization !== null) await this.#directory.restore(this.#organization);
    this.#organization = null;
  }
}

function parsed(line: Buffer, number: number): Line | End | Head {
  try {
    const value = JSON.parse(line.toString());
    if (typeof value === 'object' && value !== null) return value;
  } catch {
    // The line is not JSON.
  }
  throw new SyntaxError(`line ${number} is not a line of an export`);
}

function headOf(head: Line | End | Head): Head {
  if (!('export' in head) || head.export !== 'payments-service')
    throw new SyntaxError('line 1: the file was not written by "payments export"');
  if (head.format !== linesFormat)
    throw new SyntaxError(`line 1: the format ${head.format} is unknown: ${wrote}`);
  const other = Object.keys(layoutVersions).find((kind) => head.layouts[kind] !== layoutVersions[kind]);
  if (other !== undefined)
    throw new SyntaxError(`line 1: another version had another layout of ${other}: ${wrote}`);
  return head;
}

/** More than any line of an export has. */
const lineBytesMax = 64 * 1024 * 1024;

/** The lines of a file without their line breaks. The last line may have none. */
async function* linesOf(path: string): AsyncGenerator<Buffer> {
  let parts: Buffer[] = [];
  let bytes = 0;
  const add = (part: Buffer) => {
    parts.push(part);
    bytes += part.length;
    if (bytes > lineBytesMax)
      throw new SyntaxError(`${path} has a line that is longer than any of an export`);
  };
  const taken = () => {
    const line = Buffer.concat(parts);
    [parts, bytes] = [[], 0];
    return line;
  };
  for await (const chunk of createReadStream(path, { highWaterMark: 1024 * 1024 }) as AsyncIterable<Buffer>) {
    let start = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      add(chunk.subarray(start, end));
      yield taken();
      start = end + 1;
    }
    if (start < chunk.length) add(chunk.subarray(start));
  }
  if (bytes > 0) yield taken();
}
