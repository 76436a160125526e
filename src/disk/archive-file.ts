// A file of a backup or of a log archive. It may be encrypted in the format of age; its name then
// ends with `.age`. Until it is whole, its name ends with `.partial`.
//
//   "payments archive 1\n", then blocks: bytes of the content (u32), CRC-32 of type and content
//   (u32), type (u8), content. Types: 1 head: the part, as JSON · 2 a commit batch · 3 rows of a
//   table, or a change of the directory: msgpack · 4 end: {"frames": how many blocks were between}

import { createHash, type Hash } from 'node:crypto';
import { createReadStream, renameSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { crc32 } from 'node:zlib';
import { errorCode } from '../core/errors.ts';
import { checkLabel, encodeLabel, type Part } from './identity.ts';
import { JournalDamaged } from './storage-errors.ts';
import { syncPath } from './sync-path.ts';

const magic = Buffer.from('payments archive 1\n');
const blockHeadBytes = 9;
/** No block is larger: the largest holds one commit batch. */
const blockBytesMax = 1 << 30;
/** Written and synced at once: little, so that no sync delays those of the log for long. */
const writeBytes = 1 << 20;

const encryptedSuffix = '.age';
export const partialSuffix = '.partial';

const types = { head: 1, batch: 2, rows: 3, end: 4 } as const;

export interface Block {
  readonly type: 'batch' | 'rows';
  readonly bytes: Uint8Array;
}

/** A file of a backup or an archive is damaged. The message says where. */
export class ArchiveDamaged extends JournalDamaged {
  /** The byte of what the file holds, decrypted, at which it is damaged. */
  readonly at: number;
  constructor(path: string, at: number, defect: string) {
    super(`${path} is damaged at byte ${at}: ${defect}`);
    this.at = at;
  }
}

/** Called after each piece with its bytes. Resolves when more may be read and written. */
export type Pace = (bytes: number) => Promise<void>;

export interface WriteOptions {
  /** For whom the files are encrypted; not at all when there is none. */
  readonly recipients: readonly string[];
  readonly pace: Pace;
}

export interface WrittenFile {
  readonly path: string;
  readonly bytes: number;
  /** The digest of all bytes of the file: 64 hexadecimal digits. */
  readonly sha256: string;
}

/**
 * Writes a file into `folder`, which is on disk under its name when this resolves. `nameOf` says
 * the name, without the suffix of encryption, when all blocks are taken.
 */
export async function writeArchiveFile(
  folder: string,
  nameOf: () => string,
  part: Part,
  blocks: Iterable<Block> | AsyncIterable<Block>,
  { recipients, pace }: WriteOptions,
): Promise<WrittenFile> {
  const partial = join(folder, `writing${partialSuffix}`);
  const file = await open(partial, 'w', 0o600);
  const hash = createHash('sha256');
  let bytes = 0;
  try {
    bytes = await writeAll(file, hash, await encrypted(encodeBlocks(part, blocks), recipients), pace);
    await file.sync();
  } finally {
    await file.close();
  }
  const path = join(folder, nameOf() + (recipients.length > 0 ? encryptedSuffix : ''));
  renameSync(partial, path);
  syncPath(folder);
  return { path, bytes, sha256: hash.digest('hex') };
}

async function writeAll(
  file: FileHandle,
  hash: Hash,
  chunks: AsyncIterable<Uint8Array>,
  pace: Pace,
): Promise<number> {
  let bytes = 0;
  for await (const chunk of chunks) {
    hash.update(chunk);
    await file.writeFile(chunk);
    await file.datasync();
    bytes += chunk.length;
    await pace(chunk.length);
  }
  return bytes;
}

async function* encodeBlocks(
  part: Part,
  blocks: Iterable<Block> | AsyncIterable<Block>,
): AsyncGenerator<Uint8Array> {
  let count = 0;
  yield magic;
  yield* encodeBlock(types.head, encodeLabel(part));
  for await (const { type, bytes } of blocks) {
    count++;
    // The content is copied, because the next block may use the same memory.
    yield* encodeBlock(types[type], new Uint8Array(bytes));
  }
  yield* encodeBlock(types.end, Buffer.from(JSON.stringify({ frames: count })));
}

function encodeBlock(type: number, content: Uint8Array): [Buffer, Uint8Array] {
  const head = Buffer.alloc(blockHeadBytes);
  head.writeUInt32LE(content.length, 0);
  head[8] = type;
  head.writeUInt32LE(crc32(content, crc32(head.subarray(8))), 4);
  return [head, content];
}

async function encrypted(
  pieces: AsyncIterable<Uint8Array>,
  recipients: readonly string[],
): Promise<AsyncIterable<Uint8Array>> {
  const plain = inLargeChunks(pieces);
  if (recipients.length === 0) return plain;
  const { Encrypter } = await import('age-encryption');
  const encrypter = new Encrypter();
  for (const recipient of recipients) encrypter.addRecipient(recipient);
  return inLargeChunks(await encrypter.encrypt(ReadableStream.from(plain)));
}

/** Joins chunks, because each write costs a round through libuv: the cipher's have 64 KiB. */
async function* inLargeChunks(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let gathered: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    gathered.push(chunk);
    bytes += chunk.length;
    if (bytes < writeBytes) continue;
    yield Buffer.concat(gathered);
    gathered = [];
    bytes = 0;
  }
  if (bytes > 0) yield Buffer.concat(gathered);
}

interface ReadOptions {
  /** The secret keys of age with which encrypted files are opened. */
  readonly identities: readonly string[];
  /** That the file must have, where it is known. */
  readonly sha256?: string | undefined;
}

/**
 * The blocks of a file, which must belong to `part`, each checked. A file that was cut short, or
 * has another digest, is noticed at the end. Throws `ArchiveDamaged`, or `ForeignPart`.
 */
export async function* readArchiveFile(
  path: string,
  part: Part,
  options: ReadOptions,
): AsyncGenerator<Block> {
  const hash = createHash('sha256');
  const reader = new BlockReader(path, await decrypted(path, options.identities, hash));
  await reader.expectMagic();
  const head = await reader.next();
  if (head.type !== types.head) throw reader.damaged('it does not begin with its head');
  checkLabel(path, Buffer.from(head.content), part);
  for (let count = 0; ; count++) {
    const { type, content } = await reader.next();
    if (type === types.end) {
      const { frames: blocks } = JSON.parse(Buffer.from(content).toString()) as { frames: number };
      if (blocks !== count) throw reader.damaged(`it has ${count} blocks and says that they are ${blocks}`);
      break;
    }
    if (type !== types.batch && type !== types.rows) throw reader.damaged(`a block has the type ${type}`);
    yield { type: type === types.batch ? 'batch' : 'rows', bytes: content };
  }
  await reader.expectEnd();
  const digest = hash.digest('hex');
  if (options.sha256 !== undefined && digest !== options.sha256)
    throw reader.damaged(`its SHA-256 is ${digest} instead of ${options.sha256}`);
}

export async function digestOfFile(path: string, pace: Pace): Promise<string> {
  const hash = createHash('sha256');
  for await (const { length } of hashed(path, hash)) await pace(length);
  return hash.digest('hex');
}

/** The bytes of a file, which `hash` gets, too. */
async function* hashed(path: string, hash: Hash): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of createReadStream(path, { highWaterMark: writeBytes })) {
      hash.update(chunk as Buffer);
      yield chunk as Buffer;
    }
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
    throw new JournalDamaged(`${path} is missing: put it back, or use another backup`, { cause: error });
  }
}

/** Throws `JournalDamaged` when no identity opens the file. A damaged one is let through. */
export async function refuseUnopened(path: string, identities: readonly string[]): Promise<void> {
  if (!path.endsWith(encryptedSuffix)) return;
  try {
    const content = await decrypted(path, identities, createHash('sha256'));
    await content[Symbol.asyncIterator]().return?.();
  } catch (error) {
    if (identities.length === 0 || /no identity matched/.test((error as Error).message)) throw error;
  }
}

/** Decrypted if its name says that it is encrypted. `hash` gets the bytes of the file. */
async function decrypted(
  path: string,
  identities: readonly string[],
  hash: Hash,
): Promise<AsyncIterable<Uint8Array>> {
  const content = hashed(path, hash);
  if (!path.endsWith(encryptedSuffix)) return content;
  if (identities.length === 0)
    throw new JournalDamaged(`${path} is encrypted: name the file with its age identity with --identity`);
  const { Decrypter } = await import('age-encryption');
  const decrypter = new Decrypter();
  for (const identity of identities) decrypter.addIdentity(identity);
  try {
    return await decrypter.decrypt(ReadableStream.from(content));
  } catch (error) {
    if (error instanceof JournalDamaged) throw error;
    throw new JournalDamaged(`${path} can't be decrypted: ${(error as Error).message}`, { cause: error });
  }
}

/** Cuts a stream of bytes into blocks. */
class BlockReader {
  readonly #path: string;
  readonly #chunks: AsyncIterator<Uint8Array>;
  #bytes: Buffer = Buffer.alloc(0);
  #at = 0;

  constructor(path: string, chunks: AsyncIterable<Uint8Array>) {
    this.#path = path;
    this.#chunks = chunks[Symbol.asyncIterator]();
  }

  damaged(defect: string): ArchiveDamaged {
    return new ArchiveDamaged(this.#path, this.#at, defect);
  }

  async expectMagic(): Promise<void> {
    const found = await this.#take(magic.length);
    if (!found.equals(magic))
      throw this.damaged('it is not a file of a backup or an archive of this version');
  }

  async next(): Promise<{ readonly type: number; readonly content: Uint8Array }> {
    const at = this.#at;
    const head = Buffer.from(await this.#take(blockHeadBytes));
    const length = head.readUInt32LE(0);
    if (length > blockBytesMax) throw new ArchiveDamaged(this.#path, at, `a block has ${length} bytes`);
    const content = await this.#take(length);
    if (crc32(content, crc32(head.subarray(8))) !== head.readUInt32LE(4))
      throw new ArchiveDamaged(this.#path, at, 'the checksum of a block does not match');
    return { type: head[8]!, content };
  }

  async expectEnd(): Promise<void> {
    if (this.#bytes.length > 0 || (await this.#more()) !== null)
      throw this.damaged('it goes on after its end');
  }

  async #take(length: number): Promise<Buffer> {
    const parts = [this.#bytes];
    let found = this.#bytes.length;
    while (found < length) {
      const chunk = await this.#more();
      if (chunk === null) throw this.damaged('it is cut short');
      parts.push(chunk);
      found += chunk.length;
    }
    const all = parts.length === 1 ? this.#bytes : Buffer.concat(parts);
    this.#bytes = all.subarray(length);
    this.#at += length;
    return all.subarray(0, length);
  }

  async #more(): Promise<Buffer | null> {
    try {
      const { done, value } = await this.#chunks.next();
      return done === true ? null : Buffer.from(value);
    } catch (error) {
      if (errorCode(error) !== undefined || error instanceof JournalDamaged) throw error;
      throw this.damaged(`it can't be decrypted from here on: ${(error as Error).message}`);
    }
  }
}

export function plainNameOf(path: string): string {
  return basename(path, encryptedSuffix);
}
