// The identity of the parts of a data folder. Every environment has a label with the id of its
// folder, the generation (how often the folder was resharded), and the name of the part. Every
// commit batch has the same as a short tag. So a part in the place of another one is noticed.

import { JournalDamaged } from './storage-errors.ts';

/** The file in a data folder that says whose it is. */
export const formatFile = 'format.json';

export interface ShardIdentity {
  /** The folder's id: 32 hexadecimal digits. */
  readonly folder: string;
  readonly generation: number;
  readonly shard: number;
}

/** A part of a data folder: `directory`, `shard-0/log` or `shard-0/state`. */
export interface Part {
  readonly folder: string;
  readonly generation: number;
  readonly part: string;
}

/** A part is in the place of another one. It may be whole, but it must not be used there. */
export class ForeignPart extends JournalDamaged {
  override name = 'ForeignPart';

  /** `wrong` says of what lies at `path` what it is instead. */
  constructor(path: string, wrong: string) {
    super(
      `${path} ${wrong}: put each part back in its own place, or restore all of the data folder from one backup`,
    );
  }
}

export function partOf({ folder, generation, shard }: ShardIdentity, part: 'log' | 'state'): Part {
  return { folder, generation, part: `shard-${shard}/${part}` };
}

/** The bytes of a tag: folder (16), generation (u32), shard (u16), little-endian. */
export const tagBytes = 22;

export function tagOf({ folder, generation, shard }: ShardIdentity): Buffer {
  const tag = Buffer.alloc(tagBytes);
  tag.write(folder, 'hex');
  tag.writeUInt32LE(generation, 16);
  tag.writeUInt16LE(shard, 20);
  return tag;
}

export function encodeLabel({ folder, generation, part }: Part): Buffer {
  return Buffer.from(JSON.stringify({ folder, generation, part }));
}

/** Throws `ForeignPart` unless the label found at `path` is that of the part expected there. */
export function checkLabel(path: string, found: Buffer | undefined, expected: Part): void {
  const wrong = found === undefined ? 'has no label' : differenceOf(decodeLabel(found), expected);
  if (wrong !== null) throw new ForeignPart(path, wrong);
}

/**
 * Throws `ForeignPart` when the segment of a log at `path` has something from before the sequence
 * that it is named after: it is another segment.
 */
export function checkFirstSequence(path: string, found: number | undefined, expected: number): void {
  if (found === undefined || found >= expected) return;
  throw new ForeignPart(path, `is the segment of the log that begins with sequence ${found}`);
}

function decodeLabel(label: Buffer): Partial<Part> {
  try {
    return JSON.parse(label.toString()) as Partial<Part>;
  } catch {
    return {};
  }
}

function differenceOf({ folder, generation, part }: Partial<Part>, expected: Part): string | null {
  if (folder !== expected.folder) return 'belongs to another data folder';
  if (generation !== expected.generation) {
    return `is from before a reshard (generation ${generation}, and the data folder is at ${expected.generation})`;
  }
  return part === expected.part ? null : `is ${part} of this data folder`;
}
