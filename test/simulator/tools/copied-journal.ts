// What is copied of a journal for a backup: its log, from anywhere on, and all rows of its checkpoint; what a look at it says; and
// the journal that is built of these, up to any entry. It is what was appended, each time.

import type { ShardIdentity } from '../../../src/disk/identity.ts';
import {
  inspectJournal,
  JournalCopy,
  type KeptBatch,
  readStoppedJournal,
  restoreCheckpoint,
  restoreLog,
  rowsOfBlock,
} from '../../../src/journal/stopped-journal.ts';
import { EnvironmentFile, Folder } from '../disk/volume.ts';
import {
  checkedRecords,
  checkpointedIn,
  checkpointFileOf,
  recordsOf,
  type SpareMachine,
} from './spare-machine.ts';
import { asyncOf, type BatchOnDisk, batchesIn, rowsIn, segmentsIn } from './stored-log.ts';

const copies = 'a journal is copied as it is';

export async function copyJournal(spare: SpareMachine): Promise<void> {
  const { batches, journal, world } = spare;
  const { segmentBytesMax } = world.settings;
  const copy = new JournalCopy({ dir: journal.dir, identity: journal.identity, segmentBytesMax });
  await checkLog(spare, copy, batches);
  const blocks = await checkCheckpoint(spare, copy);
  await copy.close();
  await checkResponses(spare, batches);
  if (checkpointedIn(spare) < spare.history.beginning) return;
  await inspect(spare, batches);
  await rebuild(spare, batches, blocks);
}

const bytesOf = ({ bytes }: Pick<BatchOnDisk, 'bytes'>) => Buffer.from(bytes);

/** What can be told of the end of a batch. */
function checksumAt(spare: SpareMachine, batches: readonly BatchOnDisk[], sequence: number) {
  const segment = segmentsIn(spare.volume, spare.log).findLast(({ first }) => first <= sequence)?.first;
  const found = batches.findLast((each) => each.segment === segment && each.firstSequence <= sequence);
  if (found === undefined || found.lastSequence < sequence) return undefined;
  return found.lastSequence === sequence ? found.checksum : null;
}

/** Any sequence, also before the log and behind it. */
function anywhere({ random }: SpareMachine, batches: readonly BatchOnDisk[]): number {
  const { firstSequence, lastSequence } = random.pick(batches);
  return Math.max(0, random.between(firstSequence - 2, lastSequence + 2));
}

async function checkLog(spare: SpareMachine, copy: JournalCopy, batches: readonly BatchOnDisk[]) {
  const segments = segmentsIn(spare.volume, spare.log);
  const start = segments[0]!.first;
  const end = Math.max(batches.at(-1)!.lastSequence, spare.segmentEnd);
  const says = [copy.logStart, copy.logEnd, copy.finishedEnd];
  spare.same(copies, says, [start, end, spare.segmentEnd], 'the ends of a log');
  copy.refuseMissingSegment();
  for (let i = 0; i < 4; i++) {
    const sequence = anywhere(spare, batches);
    const checksum = checksumAt(spare, batches, sequence);
    spare.same(copies, copy.checksumAt(sequence), checksum, `the checksum at ${sequence}`);
    const next = batches.find(({ lastSequence }) => lastSequence > sequence);
    spare.same(copies, await copy.timeAfter(sequence), next?.wallMs ?? null, `the time after ${sequence}`);
    const upTo = Math.max(sequence, anywhere(spare, batches));
    const missing: (readonly number[])[] = [];
    const found: Buffer[] = [];
    const onMissing = (first: number, last: number) => missing.push([first, last]);
    for await (const batch of copy.batches(sequence, upTo, onMissing)) found.push(bytesOf(batch));
    const wanted = batches.filter(
      ({ firstSequence, lastSequence }) =>
        upTo > sequence && lastSequence > sequence && firstSequence <= upTo,
    );
    const what = `the log after ${sequence} up to ${upTo}`;
    const isDropped = sequence < start - 1 && sequence < upTo;
    const dropped = isDropped ? [[sequence + 1, start - 1]] : [];
    spare.same(copies, [found, missing], [wanted.map(bytesOf), dropped], what);
  }
}

/** All rows of the checkpoint, by tables. Returns them as they go into a backup. */
async function checkCheckpoint(spare: SpareMachine, copy: JournalCopy) {
  const checkpoint = copy.checkpoint();
  const blocks = [];
  const tables = new Map<string, [string, Buffer][]>();
  for await (const { type, bytes } of checkpoint.rows()) {
    // They are valid until the next block.
    const block = { type, bytes: Buffer.from(bytes) };
    blocks.push(block);
    const { table, rows } = rowsOfBlock(block);
    const found = tables.get(table) ?? [];
    tables.set(table, found);
    for (let i = 0; i < rows.length; i += 2)
      found.push([rows[i]!.toString('latin1'), Buffer.from(rows[i + 1]!)]);
  }
  spare.same(copies, checkpoint.sequence, checkpointedIn(spare), 'the sequence of a checkpoint');
  checkpoint.close();
  const { volume } = spare;
  const file = checkpointFileOf(spare);
  const stored = volume.find(file);
  const names = stored instanceof EnvironmentFile ? [...stored.contents.tables.keys()] : [];
  const wanted = names
    .filter((name) => name !== '')
    .map((name) => [name, [...rowsIn(volume, file, name)]] as const)
    .filter(([, rows]) => rows.length > 0);
  const sorted = [...tables].sort(([a], [b]) => (a < b ? -1 : 1));
  const inOrder = wanted.sort(([a], [b]) => (a < b ? -1 : 1));
  spare.same(copies, sorted, inOrder, 'the rows of a checkpoint');
  return blocks;
}

async function inspect(spare: SpareMachine, batches: readonly BatchOnDisk[]) {
  const { history, journal } = spare;
  const checkpointed = checkpointedIn(spare);
  const sequence = anywhere(spare, batches);
  const found = await inspectJournal(journal, (each) => ({
    sequence: each.checkpoint.sequence,
    logEnd: each.logEnd,
    checksum: each.checksumAt(sequence),
    isWhole: each.isWhole,
    missing: each.acceptMissingSegment(),
    organizations: [...each.organizationsInLog()].sort(),
  }));
  const changes = history
    .batchesIn(checkpointed, batches.at(-1)!.lastSequence)
    .flatMap(({ firstSequence, entries }) => entries.slice(Math.max(0, checkpointed + 1 - firstSequence)))
    .flatMap((entry) => entry.changes);
  const wanted = {
    sequence: checkpointed,
    logEnd: Math.max(batches.at(-1)!.lastSequence, spare.segmentEnd),
    checksum: checksumAt(spare, batches, sequence),
    isWhole: true,
    missing: null,
    organizations: [...new Set(changes.map(({ org }) => org))].sort(),
  };
  spare.same(copies, found, wanted, `a look at a journal, with the checksum at ${sequence}`);
}

/** Stored responses of the log, by their keys and no others. */
async function checkResponses(spare: SpareMachine, batches: readonly BatchOnDisk[]) {
  const { random, history, journal } = spare;
  const places = new Set(batches.map(({ firstSequence }) => firstSequence));
  const known = history.responses.filter(({ location }) => places.has(location.record));
  if (known.length === 0) return;
  await readStoppedJournal(journal, ({ readResponse }) => {
    for (let i = 0; i < 3; i++) {
      const { location, response } = random.pick(known);
      const found = readResponse(location, response.keyDigest);
      const { status, requestId, defaults, body } = response;
      const wanted = { status, requestId, defaults, body: Buffer.from(body).toString() };
      const shown = found && { ...found, body: Buffer.from(found.body).toString() };
      spare.same(copies, shown, wanted, `the response at ${JSON.stringify(location)}`);
    }
  });
}

/** Another folder's journal, as of an entry that the checkpoint has at most. */
async function rebuild(
  spare: SpareMachine,
  batches: readonly BatchOnDisk[],
  blocks: Awaited<ReturnType<typeof checkCheckpoint>>,
) {
  const { random, history, volume, world, journal } = spare;
  const checkpointed = checkpointedIn(spare);
  const end = batches.at(-1)!.lastSequence;
  if (end < checkpointed) return;
  const identity: ShardIdentity = { folder: 'ab'.repeat(16), generation: 3, shard: 1 };
  const dir = '/rebuilt';
  volume.put(dir, new Folder());
  const { segmentBytesMax } = world.settings;
  const made = { dir, identity, segmentBytesMax };
  const rows = await restoreCheckpoint(made, asyncOf(blocks));
  const file = checkpointFileOf(spare);
  const metaRows = rowsIn(volume, file, 'meta').has('segment') ? 1 : 0;
  const wanted = blocks.reduce((sum, block) => sum + rowsOfBlock(block).rows.length / 2, 0) - metaRows;
  spare.same(copies, rows, wanted, 'the rows that are restored');
  const last = random.between(Math.max(checkpointed, batches[0]!.firstSequence), end);
  const from = batches.findLastIndex(
    ({ firstSequence }) => firstSequence <= Math.min(last, checkpointed + 1),
  );
  const start = batches[random.below(Math.max(0, from) + 1)]!.firstSequence;
  const kept = batches.filter((each) => each.firstSequence >= start && each.firstSequence <= last);
  const given = kept.map((batch): KeptBatch => ({ batch, last: Math.min(last, batch.lastSequence) }));
  const { last: written, wallMs, newestSegment } = await restoreLog(made, asyncOf(given), checkpointed);
  spare.same(copies, [written, wallMs], [last, kept.at(-1)!.wallMs], 'the end of a log that is restored');
  const restored = batchesIn(volume, `${dir}/log`);
  const ends = (some: readonly BatchOnDisk[]) =>
    some.map(({ firstSequence, timeMs, wallMs: ms, epoch }) => [firstSequence, timeMs, ms, epoch]);
  spare.same(copies, ends(restored), ends(kept), 'the batches of a log that is restored');
  const newest = segmentsIn(volume, `${dir}/log`).at(-1)?.first;
  spare.same(copies, newestSegment, newest, 'the newest segment that is restored');
  const options = { ...journal, dir, identity };
  const found = await recordsOf(options);
  checkedRecords(spare, copies, found, history.at(Math.max(last, checkpointed)), `a rebuild up to ${last}`);
}
