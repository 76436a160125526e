// The batches of a log are read as their format is published, without the sources: later releases read them that way, and so does
// whoever rescues a log.

import { isDeepStrictEqual } from 'node:util';
import { crc32 } from 'node:zlib';
import { tagBytes } from '../../../src/disk/identity.ts';
import { causeKinds } from '../../../src/domain/cause.ts';
import type { Entry } from '../../../src/journal/journal.ts';
import { keyOf } from './old-layouts.ts';
import type { SpareMachine } from './spare-machine.ts';
import type { BatchOnDisk } from './stored-log.ts';

const lies = 'what is on disk lies as its format says';
const headerBytes = 56 + tagBytes;
const entryHeadBytes = 7;
const changeHeadBytes = 5;
const responseHeadBytes = 52;
const checksumBytes = 4;
const noResponse = 0xffff_ffff;
const namedMark = 128;

export async function readFormat(spare: SpareMachine): Promise<void> {
  const { batches, history, world } = spare;
  if (world.isDamaged) return;
  for (const batch of batches) {
    const [known] = history.batchesIn(batch.lastSequence - 1, batch.lastSequence);
    if (known?.firstSequence !== batch.firstSequence || known.epoch !== batch.epoch) continue;
    const [found, wanted] = [readIn(batch), known.entries.map(entryOf)];
    const at = wanted.findIndex((entry, i) => !isDeepStrictEqual(entry, found[i]));
    spare.same(lies, found.length, wanted.length, `the entries of the batch ${batch.firstSequence}`);
    spare.same(lies, found[at], wanted[at], `the entry ${batch.firstSequence + at}`);
  }
}

/** None where what lies there leads beyond the batch. */
function readIn(batch: BatchOnDisk): object[] {
  try {
    return entriesIn(batch);
  } catch (error) {
    if (error instanceof RangeError) return [];
    throw error;
  }
}

function entriesIn({ bytes }: BatchOnDisk): object[] {
  const bodyEnd = headerBytes + bytes.readUInt32LE(40);
  const entries: object[] = [];
  for (let at = headerBytes; at < bodyEnd; ) {
    const keys = new Array<string>(bytes.readUInt16LE(at));
    const offset = bytes.readUInt32LE(at + 2);
    const kind = bytes[at + 6]!;
    at += entryHeadBytes;
    const nameEnd = kind >= namedMark ? at + 1 + bytes[at]! : at;
    const name = kind >= namedMark ? bytes.toString('utf8', at + 1, nameEnd) : null;
    at = nameEnd;
    for (let i = 0; i < keys.length; i++) {
      const valueAt = at + changeHeadBytes + bytes[at]!;
      keys[i] = bytes.toString('latin1', at + changeHeadBytes, valueAt);
      at = valueAt + bytes.readUInt32LE(at + 1);
    }
    const by = causeKinds[(kind % namedMark) - 1];
    const response = offset === noResponse ? null : responseAt(bytes, bodyEnd + offset);
    entries.push({ keys, cause: by === undefined ? null : { by, name }, response });
  }
  return entries;
}

function responseAt(bytes: Buffer, at: number): object {
  const [requestIdAt, status] = [at + responseHeadBytes, bytes.readUInt16LE(at + 38)];
  const defaultsAt = requestIdAt + bytes.readUInt16LE(at + 40);
  const ownEnd = defaultsAt + bytes.readUInt16LE(at + 42);
  const [bodyBytes, holder] = [bytes.readUInt32LE(at + 44), bytes.readUInt32LE(at + 48)];
  const valueAt = holder + changeHeadBytes + bytes[holder]!;
  const bodyEnd =
    holder === 0 ? ownEnd + bodyBytes : valueAt + bytes.readUInt32LE(holder + 1) - checksumBytes;
  return {
    isSound: bytes.readUInt32LE(at) === crc32(bytes.subarray(at + 4, holder === 0 ? bodyEnd : ownEnd)),
    keyDigest: bytes.toString('hex', at + 4, at + 20),
    fingerprint: bytes.toString('hex', at + 20, at + 36),
    slot: bytes.readUInt16LE(at + 36),
    status,
    requestId: bytes.toString('utf8', requestIdAt, defaultsAt),
    defaults: bytes.toString('utf8', defaultsAt, ownEnd),
    body: bytes.toString('utf8', bodyEnd - bodyBytes, bodyEnd),
  };
}

/** What was appended, in the words of what is read. */
function entryOf({ changes, cause, idempotency: response }: Entry): object {
  return {
    keys: changes.map(({ id }) => keyOf(id)),
    cause: cause && { by: cause.by, name: cause.name },
    response: response && {
      isSound: true,
      keyDigest: Buffer.from(response.keyDigest).toString('hex'),
      fingerprint: Buffer.from(response.fingerprint).toString('hex'),
      slot: response.slot,
      status: response.status,
      requestId: response.requestId,
      defaults: response.defaults,
      body: Buffer.from(response.body).toString(),
    },
  };
}
