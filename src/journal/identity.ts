// Whose a part of a data folder is. Every environment carries a label: the id of its folder, the generation (how often
// the folder was resharded), and which part it is. Every log batch carries the same as a short tag. So a part that was
// put in the place of another one, from wherever, is told from the one that belongs there.

import { JournalDamaged } from './journal.ts';

/** Which shard of which data folder. */
export interface ShardIdentity {
  /** The folder's id: 32 hexadecimal digits. */
  readonly folder: string;
  readonly generation: number;
  readonly shard: number;
}

/** Which part of which data folder, `directory`, `shard-0/log` or `shard-0/state`. */
export interface Part {
  readonly folder: string;
  readonly generation: number;
  readonly part: string;
}

/** A part that does not belong where it lies: nothing is wrong with it, and nothing may be done with it there. */
export class ForeignPart extends JournalDamaged {
  override name = 'ForeignPart';
}

export function partOf({ folder, generation, shard }: ShardIdentity, part: 'log' | 'state'): Part {
  return { folder, generation, part: `shard-${shard}/${part}` };
}

/** The bytes of a tag: folder (16), generation (u32), shard (u16), little-endian. */
export const tagBytes = 22;

/** What every batch of a shard's log carries. */
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
  const wrong = found === undefined ? 'does not say whose it is' : differenceOf(decodeLabel(found), expected);
  if (wrong === null) return;
  throw new ForeignPart(
    `${path} ${wrong}: put each part back in its own place, or restore all of the data folder from one backup`,
  );
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
