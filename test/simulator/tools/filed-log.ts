// A log is written to files, as a backup and an archive have them, and read from there: all of it, in parts, and when a file is
// damaged, cut or gone. Then what lies there is lost, and nothing else, and it is said exactly what.

import { createHash } from 'node:crypto';
import { partOf, tagOf } from '../../../src/disk/identity.ts';
import {
  entriesOf,
  FiledLogReader,
  followFiles,
  type LogFile,
  type LogFiles,
  logFilesIn,
  type WrittenLogFile,
  writeLogFile,
} from '../../../src/journal/log-files.ts';
import type { LogRange } from '../../../src/journal/log-reader.ts';
import { Folder, PlainFile, type Volume } from '../disk/volume.ts';
import { foundBatch, type Shown } from './expected-log.ts';
import type { SpareMachine } from './spare-machine.ts';
import { asyncOf, type BatchOnDisk } from './stored-log.ts';

const loses = 'a file that is damaged loses what lies there, and nothing else';
const magicBytes = 19;
const blockHeadBytes = 9;
const options = { type: 'batch', recipients: [], pace: async () => {} } as const;

/** The batches of a file, and where the blocks lie that have them. */
interface Filed {
  readonly file: LogFile;
  readonly batches: readonly BatchOnDisk[];
}

export async function fileLog(spare: SpareMachine): Promise<void> {
  const { batches, random } = spare;
  const bytes = batches.reduce((sum, batch) => sum + batch.bytes.length, 0);
  const filed = await write(spare, '/filed', batches, Math.ceil(bytes / random.between(1, 5)));
  await readSound(spare, filed);
  await readOverlapping(spare, filed);
  await readDamaged(spare, filed);
  if (filed.length > 1) await readWithoutFile(spare, filed);
}

/** A file gets batches until it has as many bytes as it is to have. */
async function write(
  spare: SpareMachine,
  folder: string,
  batches: readonly BatchOnDisk[],
  bytesMax: number,
): Promise<Filed[]> {
  const { volume } = spare;
  volume.put(folder, new Folder());
  const source = asyncOf(batches);
  const part = partOf(identityOf(spare), 'log');
  const written: WrittenLogFile[] = [];
  for (;;) {
    const file = await writeLogFile(folder, part, source, { ...options, bytesMax });
    if (file === null) break;
    written.push(file);
  }
  const wanted: Filed[] = [];
  for (let at = 0; at < batches.length; ) {
    let end = at + 1;
    for (let bytes = batches[at]!.bytes.length; bytes < bytesMax && end < batches.length; end++)
      bytes += batches[end]!.bytes.length;
    const inIt = batches.slice(at, end);
    const [first, last] = [inIt[0]!.firstSequence, inIt.at(-1)!.lastSequence];
    const digits = (sequence: number) => String(sequence).padStart(16, '0');
    wanted.push({
      file: { path: `${folder}/${digits(first)}-${digits(last)}.log`, first, last },
      batches: inIt,
    });
    at = end;
  }
  const described = wanted.map(({ file }) => {
    const content = contentOf(volume, file.path);
    return { ...file, bytes: content.length, sha256: createHash('sha256').update(content).digest('hex') };
  });
  spare.same(loses, written, described, 'the files that were written');
  spare.same(
    loses,
    logFilesIn(folder),
    wanted.map(({ file }) => file),
    'the files in the folder',
  );
  return wanted;
}

function identityOf({ folder, number }: SpareMachine) {
  return folder.shardIdentity(number);
}

function contentOf(volume: Volume, path: string): Buffer {
  const file = volume.find(path);
  return file instanceof PlainFile ? file.bytes : Buffer.alloc(0);
}

function replace(volume: Volume, path: string, bytes: Buffer): void {
  const file = new PlainFile();
  file.history = [bytes];
  volume.put(path, file);
}

async function shownBy(reader: FiledLogReader, range: LogRange = {}): Promise<Shown[]> {
  const shown: Shown[] = [];
  for await (const each of reader.read(range)) shown.push(each);
  return shown;
}

function readerOf(spare: SpareMachine, files: readonly LogFile[], end = 0): FiledLogReader {
  return new FiledLogReader('filed', identityOf(spare), files, [], end);
}

/** As it is shown of a file. */
function shownOf(spare: SpareMachine, { file, batches }: Filed): Shown[] {
  const place = { file: file.path, segment: file.first, byte: null };
  return batches.map((batch) => ({ ...foundBatch(batch, spare.number), ...place }));
}

function rangeIn(spare: SpareMachine, batches: readonly BatchOnDisk[]): LogRange {
  const { random } = spare;
  const within = ({ firstSequence, lastSequence }: BatchOnDisk) =>
    random.between(firstSequence - 1, lastSequence);
  const after = random.chance(0.3) ? 0 : within(random.pick(batches));
  return {
    after,
    ...(random.chance(0.5) && { upTo: Math.max(after + 1, within(random.pick(batches))) }),
    ...(random.chance(0.5) && { reverse: true }),
  };
}

function isIn({ after = 0, upTo = Number.POSITIVE_INFINITY }: LogRange) {
  return ({ firstSequence, lastSequence }: Pick<BatchOnDisk, 'firstSequence' | 'lastSequence'>) =>
    lastSequence > after && firstSequence <= upTo;
}

async function readSound(spare: SpareMachine, filed: readonly Filed[]): Promise<void> {
  const { random, number, history } = spare;
  const files = filed.map(({ file }) => file);
  const batches = filed.flatMap((each) => each.batches);
  const last = batches.at(-1)!.lastSequence;
  const reader = readerOf(spare, files.toReversed(), last);
  const says = [reader.firstSequence(), reader.sequenceBefore(), reader.checkpointSequence(), reader.name];
  spare.same(loses, says, [files[0]!.first, 0, null, 'filed'], 'what files say of themselves');
  const all = filed.flatMap((each) => shownOf(spare, each));
  for (const range of [{}, { reverse: true }, rangeIn(spare, batches), rangeIn(spare, batches)]) {
    const wanted = all.filter((each) => 'bytes' in each && isIn(range)(each));
    const shown = range.reverse ? wanted.reverse() : wanted;
    spare.same(loses, await shownBy(reader, range), shown, `files in ${JSON.stringify(range)}`);
  }
  // More was written than there is.
  const more = readerOf(spare, files, last + 7);
  const defect = `the entries up to ${last + 7} were written, and the last file ends with ${last}`;
  const place = { shard: number, file: 'filed', segment: last + 1, byte: null };
  const lost = { ...place, defect, fromSequence: last + 1, toSequence: last + 7 };
  spare.same(loses, await shownBy(more), [...all, lost], 'files that lack the end');
  spare.same(loses, await shownBy(more, { upTo: last }), all, 'the same, up to where the files end');
  const batch = random.pick(batches);
  const after = random.between(batch.firstSequence - 1, batch.lastSequence - 1);
  const [known] = history.batchesIn(batch.firstSequence - 1, batch.lastSequence);
  // What was appended before the folder was laid out anew is not known by batches.
  if (known === undefined) return;
  const wanted = known.entries
    .map(({ changes, idempotency, cause }, i) => ({
      sequence: batch.firstSequence + i,
      changes,
      requestId: idempotency?.requestId ?? (cause?.by === 'request' ? cause.name : null),
    }))
    .filter(({ sequence }) => sequence > after);
  spare.same(loses, entriesOf(batch, after), wanted, 'the entries of a batch');
}

/** What two files hold counts once. */
async function readOverlapping(spare: SpareMachine, filed: readonly Filed[]): Promise<void> {
  const { random } = spare;
  const batches = filed.flatMap((each) => each.batches);
  const some = batches.slice(random.below(batches.length));
  const others = await write(spare, '/also-filed', some, random.between(1, 20_000));
  const files = [...filed, ...others].map(({ file }) => file);
  for (const range of [{}, { reverse: true }, rangeIn(spare, batches)]) {
    const wanted = batches.filter(isIn(range)).map(({ bytes }) => bytes);
    const shown = (await shownBy(readerOf(spare, files), range)).map((each) =>
      'bytes' in each ? each.bytes : each,
    );
    const inOrder = range.reverse ? wanted.reverse() : wanted;
    spare.same(loses, shown, inOrder, `files that overlap in ${JSON.stringify(range)}`);
  }
  const { firstSequence } = batches[0]!;
  // Right behind an entry, whichever batch that is in.
  const after = random.between(firstSequence - 1, batches.at(-1)!.lastSequence);
  await follow(spare, filesOf(spare, logsOf(files)), batches, after, null);
}

const logsOf = (files: readonly LogFile[]) => files.toSorted((a, b) => a.first - b.first || a.last - b.last);

function filesOf(
  spare: SpareMachine,
  files: readonly LogFile[],
  sha256?: ReadonlyMap<string, string>,
): LogFiles {
  const part = partOf(identityOf(spare), 'log');
  return { files, part, identities: [], ...(sha256 && { digests: sha256 }) };
}

/** What a restore reads: batches in order, until something is missing or damaged. */
async function follow(
  spare: SpareMachine,
  files: LogFiles,
  wanted: readonly BatchOnDisk[],
  after: number,
  refusal: RegExp | null,
  neededAfter = after,
): Promise<void> {
  const found: Buffer[] = [];
  const read = async () => {
    for await (const { bytes } of followFiles(files, tagOf(identityOf(spare)), after, neededAfter))
      found.push(Buffer.from(bytes));
  };
  if (refusal === null) await read();
  else await spare.refused(loses, refusal, read);
  const left = wanted.filter(({ lastSequence }) => lastSequence > after).map(({ bytes }) => bytes);
  spare.same(loses, found, left, `what a restore reads after ${after} of ${files.files.length} files`);
}

/** Where the blocks of a file begin: its head, its batches, its end. */
function blocksOf(content: Buffer): number[] {
  const blocks: number[] = [];
  for (let at = magicBytes; at < content.length; at += blockHeadBytes + content.readUInt32LE(at))
    blocks.push(at);
  return blocks;
}

async function readDamaged(spare: SpareMachine, filed: readonly Filed[]): Promise<void> {
  const { random, volume, number } = spare;
  const harmed = random.below(filed.length);
  const { file, batches } = filed[harmed]!;
  const { path, first, last } = file;
  const start = filed[0]!.file.first - 1;
  const content = contentOf(volume, path);
  const blocks = blocksOf(content);
  const block = random.below(blocks.length);
  const [from, end] = [blocks[block]!, blocks[block + 1] ?? content.length];
  // Not its length: that it is wrong shows somewhere behind it.
  const turned = Buffer.from(content);
  turned[random.between(from + 4, end - 1)]! ^= 1 << random.below(8);
  const cut = content.subarray(0, random.between(from, end - 1));
  const ways = [
    { bytes: turned, left: block - 1, byte: from, what: 'the checksum of a block does not match' },
    { bytes: cut, left: block - 1, byte: null, what: 'it is cut short' },
    {
      bytes: Buffer.concat([content, cut]),
      left: batches.length,
      byte: content.length,
      what: 'it goes on after its end',
    },
  ];
  for (const { bytes, left, byte, what } of ways) {
    replace(volume, path, bytes);
    const kept = shownOf(spare, { file, batches: batches.slice(0, Math.max(0, left)) });
    const next = batches[Math.max(0, left)]?.firstSequence ?? last + 1;
    const before = filed.slice(0, harmed).flatMap((each) => shownOf(spare, each));
    const behind = filed.slice(harmed + 1).flatMap((each) => shownOf(spare, each));
    const reader = readerOf(
      spare,
      filed.map((each) => each.file),
    );
    const shown = await shownBy(reader);
    const told = shown.find((each) => 'defect' in each);
    const at = byte ?? (told as { byte?: number } | undefined)?.byte ?? null;
    const defect = `${path} is damaged at byte ${at}: ${what}`;
    const place = { shard: number, file: path, segment: first, byte: at };
    const lost = { ...place, defect, fromSequence: next, toSequence: Math.max(next, last) };
    const wanted = [...before, ...kept, lost, ...behind];
    spare.same(loses, shown, wanted, `files of which one is damaged: ${what}`);
    spare.same(loses, await shownBy(reader, { reverse: true }), wanted.reverse(), 'the same, backwards');
    // A file that has nothing of a range is not read for it.
    spare.same(loses, await shownBy(reader, { after: last }), behind, 'the same, behind the damaged file');
    spare.same(loses, await shownBy(reader, { upTo: first - 1 }), before, 'the same, before that file');
    const read = filed.slice(0, harmed).flatMap((each) => each.batches);
    const files = filesOf(
      spare,
      filed.map((each) => each.file),
    );
    await follow(spare, files, [...read, ...batches.slice(0, Math.max(0, left))], start, new RegExp(what));
  }
  replace(volume, path, content);
  const digests = new Map([[path, 'another']]);
  const upToIt = filed.slice(0, harmed + 1).flatMap((each) => each.batches);
  const files = filed.map((each) => each.file);
  await follow(
    spare,
    filesOf(spare, files, digests),
    upToIt,
    start,
    /its SHA-256 is [0-9a-f]{64} instead of another/,
  );
  // A file whose name says more than there is.
  const named = files.with(harmed, { ...file, last: last + 1 }).slice(0, harmed + 1);
  const words = new RegExp(`it ends with sequence ${last} and is named for ${last + 1}`);
  await follow(spare, filesOf(spare, named), upToIt, start, words);
}

async function readWithoutFile(spare: SpareMachine, filed: readonly Filed[]): Promise<void> {
  const { random, number } = spare;
  const gone = random.below(filed.length);
  const { file } = filed[gone]!;
  const left = filed.filter((_, i) => i !== gone);
  const files = left.map((each) => each.file);
  const next = filed[gone + 1];
  const isGap = gone > 0 && next !== undefined;
  const { first: from } = file;
  const to = (next?.file.first ?? 0) - 1;
  const defect = `there is no batch with the entries ${from} to ${to}`;
  const place = { shard: number, file: next?.file.path ?? '', segment: next?.file.first ?? 0, byte: null };
  const gap: Shown[] = [{ ...place, defect, fromSequence: from, toSequence: to, isGap: true }];
  const before = filed.slice(0, gone).flatMap((each) => shownOf(spare, each));
  const behind = filed.slice(gone + 1).flatMap((each) => shownOf(spare, each));
  const reader = readerOf(spare, files);
  spare.same(
    loses,
    await shownBy(reader),
    [...before, ...(isGap ? gap : []), ...behind],
    'files of which one is gone',
  );
  const backwards = [...before, ...behind].reverse();
  spare.same(loses, await shownBy(reader, { reverse: true }), backwards, 'the same, backwards');
  if (next === undefined) return;
  const read = filed.slice(0, gone).flatMap((each) => each.batches);
  const start = filed[0]!.file.first - 1;
  const words = new RegExp(`goes on at sequence ${next.file.first}: ${from} to ${to} are in no file`);
  await follow(spare, filesOf(spare, files), read, start, words);
  // What comes before the gap's end is not needed, because the checkpoint has it.
  const all = left.flatMap((each) => each.batches);
  await follow(spare, filesOf(spare, files), all, start, null, to);
  await follow(spare, filesOf(spare, files), read, start, words, to - 1);
}
