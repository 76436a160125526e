// A batch of a log is damaged or gone, or the file of a segment: the log's reader shows all that is left and says exactly what is lost,
// a recovery refuses what it needs and can't read, and a damaged end is given up, with which the log goes on.

import { encodeLabel, partOf } from '../../../src/disk/identity.ts';
import { type FoundEntry, type LogRange, LogReader } from '../../../src/journal/log-reader.ts';
import { foldersOfJournal, metadataIn } from '../../../src/journal/open-journal.ts';
import {
  checkpointSequenceIn,
  inspectJournal,
  JournalCopy,
  newestSegmentIn,
  readStoppedJournal,
  truncateDamagedEnd,
} from '../../../src/journal/stopped-journal.ts';
import { expectedLog, type Harm } from './expected-log.ts';
import {
  checkpointedIn,
  checkpointFileOf,
  checkRecords,
  emptyBatch,
  openReplayed,
  recordsOf,
  type SpareMachine,
} from './spare-machine.ts';
import {
  type BatchOnDisk,
  bytesOf,
  replaceBatch,
  replaceLabel,
  rowsIn,
  segmentsIn,
  withTurnedBit,
} from './stored-log.ts';

const reads = 'the log’s tools show what was appended';
const truncates = 'a damaged end is given up, and nothing else';

export async function damageLog(spare: SpareMachine): Promise<void> {
  const { batches, random } = spare;
  if (random.chance(0.3)) await completeCheckpoint(spare);
  await checkReads(spare, batches, { how: 'gone', at: 0, count: 0 });
  checkPlaces(spare, batches);
  await checkForeign(spare);
  await checkMissing(spare);
  spare.same(truncates, await truncated(spare), null, 'the end of a sound log');
  const isEnd = random.chance(0.5);
  const at = isEnd ? batches.length - 1 : random.below(batches.length);
  const how = isEnd ? 'turned' : random.pick(['turned', 'gone', 'file gone'] as const);
  const harm = harmTo(spare, batches, how, at);
  await checkReads(spare, batches, harm);
  if (harm.how === 'file gone') return;
  const met = metBy(spare, batches, harm);
  await checkRecovery(spare, batches, harm, met);
  if (harm.how === 'turned') await checkTruncation(spare, batches, at, met);
}

/** The checkpoint has all of the log, as after a stop. */
async function completeCheckpoint(spare: SpareMachine): Promise<void> {
  const opened = await openReplayed(spare);
  await opened.checkpointer.write(opened.log.nextSequence - 1);
  await opened.close();
}

function harmTo(spare: SpareMachine, batches: readonly BatchOnDisk[], how: Harm['how'], at: number): Harm {
  const batch = batches[at]!;
  const { volume, random } = spare;
  if (how === 'file gone') {
    volume.remove(batch.file);
    const first = batches.findIndex(({ segment }) => segment === batch.segment);
    return { how, at: first, count: batches.filter(({ segment }) => segment === batch.segment).length };
  }
  const turned = random.chance(0.5) ? withTurnedBit(batch, random) : withWrongChecksum(batch);
  replaceBatch(volume, batch, how === 'gone' ? null : turned);
  return { how, at, count: 1 };
}

/** Everything else can be read. */
function withWrongChecksum({ bytes }: BatchOnDisk): Buffer {
  const wrong = Buffer.from(bytes);
  wrong[4]! ^= 1;
  return wrong;
}

/** Rows behind one that is gone lie one place further to the front. */
function lying(batches: readonly BatchOnDisk[], { how, at }: Harm): BatchOnDisk[] {
  const gone = how === 'gone' ? batches[at] : undefined;
  return batches.map((batch, i) =>
    gone !== undefined && i > at && batch.segment === gone.segment ? { ...batch, row: batch.row - 1 } : batch,
  );
}

async function checkReads(spare: SpareMachine, before: readonly BatchOnDisk[], harm: Harm): Promise<void> {
  const { random, log, number, folder } = spare;
  const batches = harm.count === 0 ? [...before] : lying(before, harm);
  const reader = new LogReader(log, folder.shardIdentity(number));
  const [first, end] = [harm.at, harm.at + Math.max(0, harm.count - 1)];
  const ranges: LogRange[] = [{}, { reverse: true }];
  // Right behind a batch before what is harmed, or in its middle; up to one behind that, or its middle.
  const start = harm.count === 0 ? random.pick(batches) : batches[random.below(first + 1) - 1];
  const after = start === undefined ? 0 : random.between(start.firstSequence, start.lastSequence);
  const last = batches[random.between(end, batches.length - 1)]!;
  const upTo = random.between(last.firstSequence, last.lastSequence);
  ranges.push({ after }, { after, reverse: true }, { upTo: Math.max(after, upTo) });
  for (const range of ranges) {
    const wanted = expectedLog(batches, harm, range, number);
    spare.same(reads, [...reader.read(range)], wanted, `${log} in ${JSON.stringify(range)}, ${harm.how}`);
  }
  // Nobody is told of damage before what was asked for.
  const later = batches.filter(({ segment }) => segment > batches[end]!.segment);
  if (harm.count === 0 || later.length === 0) return;
  const beyond = { after: random.pick(later).lastSequence };
  const shown = expectedLog(later, { how: 'gone', at: 0, count: 0 }, beyond, number);
  spare.same(
    reads,
    [...reader.read(beyond)],
    shown,
    `${log} in ${JSON.stringify(beyond)}, behind what is harmed`,
  );
}

/** Where a sound log begins, where a time lies in it, and that its newest segment is not there. */
function checkPlaces(spare: SpareMachine, batches: readonly BatchOnDisk[]): void {
  const { random, log, number, folder, volume } = spare;
  const identity = folder.shardIdentity(number);
  const segments = segmentsIn(volume, log);
  const noted = spare.segmentEnd + 1 + random.between(1, 50);
  const reader = new LogReader(
    log,
    identity,
    () => 7,
    () => noted,
  );
  const known = [reader.firstSequence(), reader.checkpointSequence(), reader.name, reader.identity];
  spare.same(reads, known, [segments[0]!.first, 7, log, identity], 'what a log says of itself');
  const foreign = new LogReader(log, { ...identity, shard: number + 1 });
  const others = [...foreign.read()].map(({ shard, file, segment, ...found }) => [
    shard,
    file,
    segment,
    'defect' in found,
  ]);
  const strangers = segments.map(({ first, file }) => [number + 1, file, first, true]);
  spare.same(reads, others, strangers, 'the log of another shard');
  const wallMs = random.pick(batches).wallMs + random.between(-1, 1);
  const beginnings = segments.map(({ first }) => ({
    first,
    wallMs: batches.find(({ segment }) => segment === first)?.wallMs ?? Number.NaN,
  }));
  const later = beginnings.findIndex((segment) => segment.wallMs > wallMs);
  const begun = beginnings
    .slice(0, later < 0 ? beginnings.length : later)
    .findLast((segment) => segment.wallMs <= wallMs);
  spare.same(
    reads,
    reader.sequenceBefore(wallMs),
    begun === undefined ? 0 : begun.first - 1,
    'before a time',
  );
  const file = `${log}/${String(noted).padStart(16, '0')}/data.mdb`;
  const defect = 'the newest segment is missing';
  const place = { shard: number, file, segment: noted, byte: null };
  const missing = { ...place, defect, fromSequence: noted, toSequence: null };
  const shown = (range: LogRange) => expectedLog(batches, { how: 'gone', at: 0, count: 0 }, range, number);
  spare.same(reads, [...reader.read()], [...shown({}), missing], 'a log without its newest segment');
  const backwards = { reverse: true };
  spare.same(reads, [...reader.read(backwards)], [missing, ...shown(backwards)], 'the same, backwards');
  const upTo = { upTo: noted - 1 };
  spare.same(reads, [...reader.read(upTo)], shown(upTo), 'the same, up to what is missing');
}

/** Whoever reads the journal refuses a segment that lies in a place that is not its own, though it needs nothing of it. */
async function checkForeign(spare: SpareMachine): Promise<void> {
  const { random, volume, journal } = spare;
  const { file } = random.pick(segmentsIn(volume, spare.log));
  const [own, other] = [0, 1].map((more) =>
    encodeLabel(partOf({ ...journal.identity, shard: spare.number + more }, 'log')),
  );
  replaceLabel(volume, file, other!);
  const words = new RegExp(`shard-${spare.number + 1}/log of this data folder: put each part back`);
  for (const look of [readStoppedJournal, inspectJournal])
    await spare.refused(reads, words, () => look(journal, () => {}));
  replaceLabel(volume, file, own!);
}

/** The newest segment, which the checkpoint knows of, is gone: nobody takes what is left for the whole log. */
async function checkMissing(spare: SpareMachine): Promise<void> {
  const { volume, log, journal, world } = spare;
  const { checkpoint } = foldersOfJournal(journal.dir);
  const file = checkpointFileOf(spare);
  const noted = rowsIn(volume, file, 'meta').get('segment')?.readDoubleLE(0) ?? 0;
  const [[name, value] = ['', undefined]] = rowsIn(volume, file, 'metadata');
  const told = [checkpointSequenceIn(checkpoint), newestSegmentIn(checkpoint), metadataIn(checkpoint, name)];
  spare.same(
    reads,
    told,
    [checkpointedIn(spare), noted, value],
    'what a checkpoint says of its log and of itself',
  );
  const newest = segmentsIn(volume, log).at(-1)!.first;
  if (noted < newest) return;
  const path = `${log}/${String(newest).padStart(16, '0')}`;
  const segment = volume.find(path)!;
  volume.remove(path);
  const { segmentBytesMax } = world.settings;
  const copy = new JournalCopy({ dir: journal.dir, identity: journal.identity, segmentBytesMax });
  const words = /^The newest segment of the log is missing: what \S+ held/;
  await spare.refused(reads, words, () => copy.refuseMissingSegment());
  await copy.close();
  await spare.refused(reads, words, () => recordsOf(journal));
  volume.put(path, segment);
}

/** Whether a recovery comes upon the batch: it begins with the one that holds what the checkpoint lacks first, or lies before that. */
function metBy(spare: SpareMachine, batches: readonly BatchOnDisk[], { how, at }: Harm): boolean {
  const next = checkpointedIn(spare) + 1;
  const segment = segmentsIn(spare.volume, spare.log).findLast(({ first }) => first <= next)?.first ?? 0;
  const begin = batches.findLastIndex((each) => each.segment === segment && each.firstSequence <= next);
  if (how === 'gone') return batches[at]!.lastSequence >= next && at < batches.length - 1;
  return begin < 0 ? batches[at]!.segment >= segment : at >= begin;
}

async function checkRecovery(
  spare: SpareMachine,
  batches: readonly BatchOnDisk[],
  { how, at }: Harm,
  met: boolean,
): Promise<void> {
  const { firstSequence, lastSequence } = batches[at]!;
  const checkpointed = checkpointedIn(spare);
  const last = batches.at(-1)!.lastSequence;
  if (!met) {
    const end = how === 'gone' && at === batches.length - 1 ? firstSequence - 1 : last;
    return checkRecords(spare, truncates, Math.max(checkpointed, end));
  }
  let replayed = checkpointed;
  const recover = () =>
    readStoppedJournal(spare.journal, async (journal) => {
      for await (const entries of journal.replay())
        for (const { sequence } of entries) {
          spare.same(truncates, sequence, replayed + 1, 'the next entry that is replayed');
          replayed = sequence;
        }
    });
  const place = how === 'gone' ? Math.max(firstSequence, checkpointed + 1) : firstSequence;
  await spare.refused(
    truncates,
    new RegExp(`is damaged in segment \\d+ \\(.*\\) at sequence ${place}: `),
    recover,
  );
  spare.same(truncates, replayed, Math.max(checkpointed, place - 1), `what comes before ${lastSequence}`);
}

interface GivenUp {
  readonly sequence: number;
  readonly bytes: number;
  readonly defect: string;
  readonly segment: string;
  readonly entries: readonly FoundEntry[];
  readonly damagedRecords: number;
}

/** Gives up the damaged end of the log, if it has one. */
function truncated(spare: SpareMachine): Promise<GivenUp | null> {
  return truncateDamagedEnd(spare.journal, async (end, remove) => {
    await remove();
    return end;
  });
}

async function checkTruncation(
  spare: SpareMachine,
  batches: readonly BatchOnDisk[],
  at: number,
  met: boolean,
): Promise<void> {
  const batch = batches[at]!;
  const isEnd = at === batches.length - 1 && batch.segment === spare.segmentEnd + 1;
  if (met && !isEnd) {
    await spare.refused(truncates, /is damaged in segment .*accept the loss/, () => truncated(spare));
    spare.same(truncates, spare.batches.length, batches.length, 'a log that is damaged elsewhere');
    return;
  }
  const damaged = spare.batches[at]!.bytes;
  const end = await truncated(spare);
  spare.same(truncates, end !== null, met, 'whether the end is given up');
  if (end === null) return;
  const { firstSequence, bytes, file } = batch;
  const found = [end.sequence, end.bytes, end.defect, `${end.segment}/data.mdb`];
  spare.same(truncates, found, [firstSequence, bytes.length, 'its checksum does not match', file], 'the end');
  // Whatever lies behind a bit that turned may be read as something else.
  if (damaged.subarray(8).equals(bytes.subarray(8))) checkReadable(spare, end, batch);
  spare.same(
    truncates,
    spare.batches.map(bytesOf),
    batches.slice(0, -1).map(bytesOf),
    'what is left of the log',
  );
  spare.same(truncates, await truncated(spare), null, 'the end of a log that was cut');
  const isBehind = await inspectJournal(
    spare.journal,
    ({ logEnd, checkpoint }) => logEnd < checkpoint.sequence,
  );
  spare.same(truncates, isBehind, false, 'whether a log that was cut looks older than its checkpoint');
  await checkRecords(spare, truncates, Math.max(checkpointedIn(spare), firstSequence - 1));
  await goOn(spare, batch);
}

function checkReadable(spare: SpareMachine, { entries, damagedRecords }: GivenUp, batch: BatchOnDisk): void {
  const { firstSequence, lastSequence, timeMs, wallMs } = batch;
  const [known] = spare.history.batchesIn(firstSequence - 1, lastSequence);
  const shown = entries.map(({ response, idempotency: _, ...entry }) => ({
    ...entry,
    response: response && { ...response, body: Buffer.from(response.body).toString() },
  }));
  if (known === undefined) return;
  const wanted = known.entries.map(({ changes, cause, idempotency }, i) => ({
    sequence: firstSequence + i,
    timeMs,
    cause,
    changes,
    shard: spare.number,
    wallMs,
    response: idempotency && {
      status: idempotency.status,
      requestId: idempotency.requestId,
      defaults: idempotency.defaults,
      body: Buffer.from(idempotency.body).toString(),
    },
  }));
  spare.same(truncates, [shown, damagedRecords], [wanted, 0], 'what can be read of a damaged end');
}

/** The shard starts on what is left, and appends. */
async function goOn(spare: SpareMachine, lost: BatchOnDisk): Promise<void> {
  const opened = await openReplayed(spare);
  const first = Math.max(checkpointedIn(spare) + 1, lost.firstSequence);
  spare.same(truncates, opened.log.nextSequence, first, 'the next sequence behind a log that was cut');
  const batch = emptyBatch(spare, first, lost);
  await opened.log.append(batch).durable;
  const { epoch } = opened.ownership;
  await opened.close();
  const { segment: _, file: __, row: ___, checksum: ____, bytes: _____, ...added } = spare.batches.at(-1)!;
  const lastSequence = first + batch.entries.length - 1;
  const { timeMs, wallMs } = batch;
  const wanted = { firstSequence: first, lastSequence, timeMs, wallMs, epoch };
  spare.same(truncates, added, wanted, 'a batch that is appended behind a log that was cut');
  spare.check(truncates, epoch > lost.epoch, () => `the epoch ${epoch} comes after ${lost.epoch}`);
}
