// What a power cut may leave on a disk, made of the record that faults.c keeps while a process runs. Of what was written to a
// file and not synced, each sector may be on the disk or not, in any of the states that it went through. A sync that failed has made
// nothing durable, and no later one will, unless the page is written again: so Linux treats it. Changes of a folder that were
// not synced are lost from some moment on.

import {
  closeSync,
  existsSync,
  ftruncateSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';

const headBytes = 72;
const sectorBytes = 512;
const sectorsInPage = 8;
const kinds = [
  '',
  'write',
  'resize',
  'sync begun',
  'sync done',
  'create',
  'rename',
  'unlink',
  'make folder',
  'remove folder',
  'sync failed',
  'write done',
] as const;

interface Operation {
  readonly kind: (typeof kinds)[number];
  readonly path: string;
  readonly other: string;
  readonly inode: bigint;
  readonly offset: number;
  readonly oldSize: number;
  readonly newSize: number;
  readonly old: Buffer;
  readonly bytes: Buffer;
  readonly number: number;
}

function* operationsIn(record: Buffer): Generator<Operation> {
  for (let at = 0; at + headBytes <= record.length; ) {
    const word = (place: number) => record.readUInt32LE(at + place);
    const long = (place: number) => Number(record.readBigUInt64LE(at + place));
    let end = at + headBytes;
    const take = (length: number) => {
      end += length;
      return record.subarray(end - length, end);
    };
    const [path, other] = [take(word(8)).toString(), take(word(12)).toString()];
    const [old, bytes] = [take(long(48)), take(long(56))];
    // The process was killed while it wrote this.
    if (end > record.length) return;
    yield {
      kind: kinds[word(0)]!,
      path,
      other,
      inode: record.readBigUInt64LE(at + 16),
      offset: long(24),
      oldSize: long(32),
      newSize: long(40),
      old,
      bytes,
      number: long(64),
    };
    at = end;
  }
}

/** The states that a sector may be in on the disk, the oldest first. */
interface Sector {
  states: Buffer[];
  /** A sync has failed on it. */
  isStuck: boolean;
}

class UnsyncedFile {
  readonly sectors = new Map<number, Sector>();
  sizes: number[] = [];
  readonly #begun = new Map<number, { sizes: number; states: Map<number, number> }>();

  write({ offset, oldSize, newSize, old, bytes }: Operation): void {
    const start = Math.floor(offset / sectorBytes);
    const content = Buffer.from(old);
    bytes.copy(content, offset - start * sectorBytes);
    for (let i = 0; i * sectorBytes < content.length; i++) {
      const part = (buffer: Buffer) => buffer.subarray(i * sectorBytes, (i + 1) * sectorBytes);
      const sector = this.sectors.get(start + i) ?? { states: [part(old)], isStuck: false };
      sector.states.push(part(content));
      this.sectors.set(start + i, sector);
      const page = Math.floor((start + i) / sectorsInPage) * sectorsInPage;
      for (let at = page; at < page + sectorsInPage; at++) {
        const beside = this.sectors.get(at);
        if (beside !== undefined) beside.isStuck = false;
      }
    }
    this.resize(oldSize, newSize);
  }

  /** What was just written is on the disk, and so is the file's size. */
  written({ offset, bytes }: Operation): void {
    const end = Math.ceil((offset + bytes.length) / sectorBytes);
    for (let at = Math.floor(offset / sectorBytes); at < end; at++) this.sectors.delete(at);
    this.sizes = [];
  }

  resize(oldSize: number, newSize: number): void {
    if (oldSize === newSize) return;
    this.sizes = [...(this.sizes.length === 0 ? [oldSize] : this.sizes), newSize];
  }

  beginSync(number: number): void {
    const states = new Map([...this.sectors].map(([at, sector]) => [at, sector.states.length]));
    this.#begun.set(number, { sizes: this.sizes.length, states });
  }

  endSync(number: number, failed: boolean): void {
    const { sizes, states } = this.#begun.get(number)!;
    for (const [at, count] of states) {
      const sector = this.sectors.get(at);
      if (sector === undefined) continue;
      if (failed) sector.isStuck = true;
      if (sector.isStuck) continue;
      sector.states = sector.states.slice(count - 1);
      if (sector.states.length <= 1) this.sectors.delete(at);
    }
    if (!failed) this.sizes = this.sizes.slice(sizes - 1).length > 1 ? this.sizes.slice(sizes - 1) : [];
  }
}

/** How much of what was not synced a power cut takes. */
const tempers = ['everything', 'some sectors', 'nothing of a file or all of it'] as const;

/**
 * Leaves in the files below `folder` what a power cut may leave, by the record of the process that wrote them, which has
 * ended. Returns the number of sectors and changes of folders that were lost.
 */
export function cutPower(folder: string, recordFile: string, random: () => number): number {
  const files = new Map<bigint, UnsyncedFile>();
  const changes: Operation[] = [];
  const durable = new Set<Operation>();
  const begun = new Map<number, number>();
  const fileOf = (inode: bigint) => {
    const file = files.get(inode) ?? new UnsyncedFile();
    files.set(inode, file);
    return file;
  };
  for (const operation of operationsIn(readFileSync(recordFile))) {
    const { kind, inode, number, path } = operation;
    if (kind === 'write') fileOf(inode).write(operation);
    else if (kind === 'write done') fileOf(inode).written(operation);
    else if (kind === 'resize') fileOf(inode).resize(operation.oldSize, operation.newSize);
    else if (kind === 'sync begun') {
      fileOf(inode).beginSync(number);
      begun.set(number, changes.length);
    } else if (kind === 'sync done' || kind === 'sync failed') {
      fileOf(inode).endSync(number, kind === 'sync failed');
      if (kind === 'sync failed') continue;
      for (const change of changes.slice(0, begun.get(number)))
        if (dirname(change.path) === path || dirname(change.other || '/') === path) durable.add(change);
    } else changes.push(operation);
  }
  const temper = tempers[Math.floor(random() * tempers.length)]!;
  const unsynced = changes.filter((change) => !durable.has(change));
  const kept = temper === 'everything' ? 0 : Math.floor(random() * (unsynced.length + 1));
  const undone = unsynced.slice(kept).reverse();
  for (const change of undone) undo(change, `${recordFile}.graves`);
  let lost = undone.length;
  for (const path of filesBelow(folder)) {
    const file = files.get(statSync(path, { bigint: true }).ino);
    if (file === undefined) continue;
    const wholly = random() < 0.5;
    lost += lose(path, file, (states) => {
      if (temper === 'everything') return 0;
      if (temper === 'some sectors') return Math.floor(random() * states);
      return wholly ? 0 : states - 1;
    });
  }
  rmSync(recordFile, { force: true });
  return lost;
}

function undo({ kind, path, other, number, oldSize }: Operation, graves: string): void {
  const grave = join(graves, `${oldSize}-${number}`);
  if (kind === 'create') rmSync(path, { force: true });
  if (kind === 'make folder') rmSync(path, { recursive: true, force: true });
  if (kind === 'remove folder') mkdirSync(path, { recursive: true });
  if (kind === 'rename' && existsSync(other) && existsSync(dirname(path))) renameSync(other, path);
  const back = kind === 'rename' ? other : path;
  if (
    (kind === 'rename' || kind === 'unlink') &&
    number > 0 &&
    !existsSync(back) &&
    existsSync(dirname(back))
  )
    linkSync(grave, back);
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

function lose(path: string, file: UnsyncedFile, choose: (states: number) => number): number {
  const descriptor = openSync(path, 'r+');
  let lost = 0;
  try {
    const { size } = statSync(path);
    const left = file.sizes[choose(file.sizes.length)] ?? size;
    for (const [at, { states }] of file.sectors) {
      const chosen = choose(states.length);
      if (chosen === states.length - 1 || at * sectorBytes >= size) continue;
      writeSync(descriptor, states[chosen]!.subarray(0, size - at * sectorBytes), 0, null, at * sectorBytes);
      lost++;
    }
    if (left !== size) ftruncateSync(descriptor, left);
  } finally {
    closeSync(descriptor);
  }
  return lost;
}
