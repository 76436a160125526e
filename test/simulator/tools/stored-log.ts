// The commit batches of a shard's log as they lie on the simulated disk, found without the sources that read logs, and what is
// done to them there.

import { crc32 } from 'node:zlib';
import { tagBytes } from '../../../src/disk/identity.ts';
import { type Contents, tableOf, withTable } from '../disk/contents.ts';
import { EnvironmentFile, Folder, type Volume } from '../disk/volume.ts';
import type { Random } from '../kernel/random.ts';

const epochAt = 48 + tagBytes;
const segmentPattern = /^\d{16}$/;
/** The label of an environment comes first. */
const labelRows = 1;

export interface BatchOnDisk {
  /** The first sequence of its segment. */
  readonly segment: number;
  readonly file: string;
  /** Its row in the segment's table. */
  readonly row: number;
  readonly firstSequence: number;
  readonly lastSequence: number;
  readonly timeMs: number;
  readonly wallMs: number;
  readonly epoch: number;
  readonly checksum: number;
  readonly bytes: Buffer;
}

interface Segment {
  /** Its first sequence. */
  readonly first: number;
  /** The first sequence of the next one; Infinity: it is the newest. */
  readonly end: number;
  readonly file: string;
}

/** The segments of a log, oldest first; empty ones, too. */
export function segmentsIn(volume: Volume, log: string): Segment[] {
  const folder = volume.find(log);
  const names = folder instanceof Folder ? [...folder.entries.keys()] : [];
  const segments = names.filter((name) => segmentPattern.test(name)).sort();
  return segments.map((name, i) => ({
    first: Number(name),
    end: Number(segments[i + 1] ?? Number.POSITIVE_INFINITY),
    file: `${log}/${name}/data.mdb`,
  }));
}

/** The batches of a log in order, without those that an owner wrote which had lost it. */
export function batchesIn(volume: Volume, log: string): BatchOnDisk[] {
  return segmentsIn(volume, log).flatMap((segment) =>
    ownBatches(segment, environmentAt(volume, segment.file).contents),
  );
}

/** The last sequence that a power cut leaves of a log; 0: none. */
export function syncedEnd(volume: Volume, log: string): number {
  for (const segment of segmentsIn(volume, log).toReversed()) {
    const [synced] = environmentAt(volume, segment.file).history;
    const last = ownBatches(segment, synced!).at(-1);
    if (last !== undefined) return last.lastSequence;
  }
  return 0;
}

/** The batches of a segment up to where the next one begins: what an owner that had lost the log wrote lies beyond. */
function ownBatches({ first, end, file }: Segment, contents: Contents): BatchOnDisk[] {
  const rows = tableOf(contents, '').values.slice(labelRows);
  const batches = rows.map((bytes, row) => batchOf(bytes, first, file, row + labelRows));
  return batches.filter(({ firstSequence }) => firstSequence < end);
}

/**
 * What a power cut could still take of the segments of a log: paths. A batch that arrives in one which was left behind is none of the
 * log's.
 */
export function unsyncedSegments(volume: Volume, log: string): string[] {
  return segmentsIn(volume, log).flatMap((segment) => {
    const unsynced = volume.unsyncedAt(segment.file);
    return unsynced === null || hasOnlyLate(volume, segment) ? [] : [unsynced];
  });
}

/** Whether all that is not synced of a segment came when the log had left it behind. */
function hasOnlyLate(volume: Volume, segment: Segment): boolean {
  const { history, contents } = environmentAt(volume, segment.file);
  const isLeft = segment.end < Number.POSITIVE_INFINITY;
  const own = (state: Contents) => ownBatches(segment, state).length;
  return isLeft && history.length > 1 && own(history[0]!) === own(contents);
}

export function batchOf(bytes: Buffer, segment = 0, file = '', row = 0): BatchOnDisk {
  return {
    segment,
    file,
    row,
    firstSequence: bytes.readDoubleLE(8),
    lastSequence: bytes.readDoubleLE(16),
    timeMs: bytes.readDoubleLE(24),
    wallMs: bytes.readDoubleLE(32),
    epoch: bytes.readDoubleLE(epochAt),
    checksum: bytes.readUInt32LE(4),
    bytes,
  };
}

function environmentAt(volume: Volume, file: string): EnvironmentFile {
  const found = volume.find(file);
  if (found instanceof EnvironmentFile) return found;
  throw new Error(`${file} is no environment`);
}

/** Gives a segment another label. */
export function replaceLabel(volume: Volume, file: string, label: Buffer): void {
  putRow(volume, file, '', 0, label);
}

/** Puts other bytes in the place of a batch; null: its row goes. */
export function replaceBatch(volume: Volume, { file, row }: BatchOnDisk, bytes: Buffer | null): void {
  putRow(volume, file, '', row, bytes);
}

function putRow(volume: Volume, file: string, name: string, at: number, value: Buffer | null): void {
  const environment = environmentAt(volume, file);
  const { keys, values } = tableOf(environment.contents, name);
  const table =
    value === null
      ? { keys: keys.toSpliced(at, 1), values: values.toSpliced(at, 1) }
      : { keys, values: values.with(at, value) };
  environment.history = [withTable(environment.contents, name, table)];
}

export const bytesOf = ({ bytes }: BatchOnDisk) => bytes;

/** The rows of a table of an environment, by their keys as Latin-1. */
export function rowsIn(volume: Volume, file: string, name: string): ReadonlyMap<string, Buffer> {
  const { keys, values } = tableOf(environmentAt(volume, file).contents, name);
  return new Map(keys.map((key, i) => [key, values[i]!]));
}

/** Gives changed bytes of a batch the checksum that fits them. */
export function sealed(bytes: Buffer): Buffer {
  bytes.writeUInt32LE(crc32(bytes.subarray(8)), 4);
  return bytes;
}

/** The batch with a bit of its body turned: its checksum tells. */
export function withTurnedBit({ bytes }: BatchOnDisk, random: Random): Buffer {
  const turned = Buffer.from(bytes);
  turned[random.between(8, turned.length - 1)]! ^= 1 << random.below(8);
  return turned;
}

/** The same batch of another epoch. */
export function ofEpoch({ bytes }: BatchOnDisk, epoch: number): Buffer {
  const other = Buffer.from(bytes);
  other.writeDoubleLE(epoch, epochAt);
  return sealed(other);
}

/** Puts another value into a row that is there; null: the row goes. */
export function replaceRow(
  volume: Volume,
  file: string,
  name: string,
  key: string,
  value: Buffer | null,
): void {
  const { keys } = tableOf(environmentAt(volume, file).contents, name);
  putRow(volume, file, name, keys.indexOf(key), value);
}

export async function* asyncOf<T>(items: readonly T[]): AsyncGenerator<T> {
  yield* items;
}
