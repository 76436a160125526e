// A shard's log moves to other machines, in one go or after an interruption, is compared with what these have, and comes back: it is
// the same log, to the last byte, and whatever is not the same is refused or told.

import { existingDataFolder, lookAtDataFolder } from '../../../src/data-folder/data-folder.ts';
import { reshardLocked } from '../../../src/data-folder/reshard.ts';
import { JournalFailure } from '../../../src/journal/journal.ts';
import { compareLogs, moveLogFrom, moveLogTo } from '../../../src/journal/move-log.ts';
import { PlainFile } from '../disk/volume.ts';
import { dataDir } from '../world/backups.ts';
import { PlainRemoteLog } from './plain-remote-log.ts';
import { checkpointedIn, checkpointFileOf, checkRecords, type SpareMachine } from './spare-machine.ts';
import {
  type BatchOnDisk,
  batchOf,
  bytesOf,
  ofEpoch,
  replaceBatch,
  rowsIn,
  sealed,
  withTurnedBit,
} from './stored-log.ts';

const moves = 'a log moves there and back as it is';

export async function moveLog(spare: SpareMachine): Promise<void> {
  const { random } = spare;
  // A log that was laid out anew has no batch yet.
  const isNew = random.chance(0.25);
  if (isNew) await reshard(spare);
  const remote = new PlainRemoteLog(random.below(5));
  const { batches } = spare;
  if (batches.length > 1) await refuseDamaged(spare, remote, batches);
  await moveThere(spare, remote, batches);
  const moved = spare.batches;
  await compare(spare, remote, moved);
  await refuseOtherLog(spare, remote, moved);
  await refuseDivergence(spare, remote, moved);
  await moveBack(spare, remote, moved);
  if (!isNew) await checkRecords(spare, moves, lastOf(moved));
}

async function reshard(spare: SpareMachine): Promise<void> {
  const { random, journal, world } = spare;
  const shards = random.between(1, 3);
  const { segmentBytesMax } = world.settings;
  await reshardLocked(await existingDataFolder(dataDir), {
    shards,
    segmentBytesMax,
    scheduler: journal.scheduler!,
  });
  spare.folder = lookAtDataFolder(dataDir);
  spare.number = random.below(shards);
}

const lastOf = (batches: readonly BatchOnDisk[]) => batches.at(-1)?.lastSequence ?? 0;

/** Nothing is moved of a log with a damaged batch. */
async function refuseDamaged(spare: SpareMachine, remote: PlainRemoteLog, batches: readonly BatchOnDisk[]) {
  const batch = spare.random.pick(batches);
  replaceBatch(spare.volume, batch, withTurnedBit(batch, spare.random));
  await spare.refused(moves, new RegExp(`damaged at sequence ${batch.firstSequence} `), () =>
    moveLogTo(remote, spare.journal, () => {}, 0),
  );
  spare.same(moves, [remote.known, remote.batches.length], [[], 0], 'what a damaged log has moved');
  replaceBatch(spare.volume, batch, batch.bytes);
}

async function moveThere(spare: SpareMachine, remote: PlainRemoteLog, batches: readonly BatchOnDisk[]) {
  const { random, journal, volume } = spare;
  const known = Math.max(batches.at(-1)?.epoch ?? 0, epochIn(spare));
  const next = Math.max(checkpointedIn(spare), spare.segmentEnd) + 1;
  const wallMs = 1_700_000_000_000 + random.below(1_000);
  const runs = batches.length > 2 && random.chance(0.6) ? 2 : 1;
  if (runs === 2) remote.appendsMax = random.below(batches.length - 1);
  for (let run = 1; run <= runs; run++) {
    const reports: number[] = [];
    const before = remote.batches.length;
    const move = moveLogTo(remote, journal, (sequence) => reports.push(sequence), wallMs);
    if (run < runs) {
      const failed = await move.then(
        () => 'it succeeds',
        (error) => (error instanceof JournalFailure ? 'failure' : Promise.reject(error)),
      );
      spare.same(moves, failed, 'failure', 'a move whose append fails');
      spare.same(moves, hasMark(spare), false, 'the mark of a mirror after a move that failed');
      remote.appendsMax = Number.POSITIVE_INFINITY;
    } else spare.same(moves, await move, lastOf(spare.batches), 'the last sequence that was moved');
    const appended = remote.batches.slice(before).map((bytes) => batchOf(bytes).lastSequence);
    spare.same(moves, reports, appended, 'the reported sequences');
  }
  const moved = spare.batches;
  const [first, ...rest] = moved;
  if (batches.length === 0) {
    spare.same(
      moves,
      [first?.firstSequence, lastOf(moved), first?.wallMs],
      [next, next, wallMs],
      'a first batch',
    );
  } else spare.same(moves, moved.map(bytesOf), batches.map(bytesOf), 'the log that was moved');
  const { firstSequence: _, lastSequence: sequence = 0, checksum = 0 } = first ?? {};
  spare.same(moves, remote.begun, { sequence, checksum }, 'where the log begins there');
  spare.same(moves, remote.batches, rest.map(bytesOf), 'the batches there');
  spare.same(moves, remote.faults, [], 'how the log there is used');
  spare.same(moves, remote.known, Array(runs).fill(known), 'the epochs that are known');
  const file = checkpointFileOf(spare);
  const metadata = [...rowsIn(volume, file, 'small-values')];
  const noted = [...(remote.noted?.metadata ?? [])].map(([name, value]) => [name, Buffer.from(value)]);
  spare.same(moves, noted, metadata, 'the metadata there');
  spare.same(moves, remote.noted?.mirrored, lastOf(moved), 'what the mirror holds');
  spare.same(moves, [epochIn(spare), hasMark(spare)], [remote.epoch, true], 'epoch and mark of the mirror');
}

function epochIn({ volume, journal }: SpareMachine): number {
  const file = volume.find(`${journal.dir}/epoch`);
  return file instanceof PlainFile ? Number(file.bytes.toString()) : 0;
}

function hasMark({ volume, journal }: SpareMachine): boolean {
  return volume.find(`${journal.dir}/mirror`) !== undefined;
}

/** Both are the same; then one of them is changed, and that is told, and nothing else. */
async function compare(spare: SpareMachine, remote: PlainRemoteLog, moved: readonly BatchOnDisk[]) {
  const { random } = spare;
  const differences = async () => {
    const reports: number[] = [];
    const found = await compareLogs(remote, spare.journal, (sequence) => reports.push(sequence));
    return { found, reports };
  };
  const rest = moved.slice(1);
  const ends = rest.map(({ lastSequence }) => lastSequence);
  spare.same(moves, await differences(), { found: [], reports: ends }, 'a comparison');
  if (rest.length === 0) return;
  const at = random.below(rest.length);
  const [batch, before, last] = [rest[at]!, moved[at]!, lastOf(moved)];
  const kept = remote.batches;
  const told = async (changed: readonly Buffer[], words: readonly RegExp[], reported: readonly number[]) => {
    remote.batches = [...changed];
    const { found, reports } = await differences();
    const holds = found.length === words.length && words.every((each, i) => each.test(found[i]!));
    spare.check(moves, holds, () => `${words} is not what a comparison tells: ${found}`);
    spare.same(moves, reports, reported, 'what was compared');
    remote.batches = kept;
    remote.said = null;
  };
  const reached = ends.slice(0, at);
  remote.readAs.set(kept[at]!, withTurnedBit(batch, random));
  await told(kept, [new RegExp(`behind sequence ${before.lastSequence}: `)], reached);
  remote.readAs.clear();
  const other = [new RegExp(`the batch ${batch.firstSequence} is another`)];
  await told(kept.with(at, sealed(withBody(batch))), other, reached);
  const left = [new RegExp(`goes on behind sequence ${before.lastSequence}, where`)];
  await told(kept.slice(0, at), left, reached);
  const { sequence, checksum } = remote.end;
  for (const said of [
    { sequence: sequence + 1, checksum },
    { sequence, checksum: checksum ^ 1 },
  ]) {
    remote.said = said;
    await told(
      kept,
      [new RegExp(`ends with sequence ${last}, and its partition says ${said.sequence}`)],
      ends,
    );
  }
  if (at === 0) return;
  // Both have a batch of an older epoch behind a newer one.
  const [newer, older] = [ofEpoch(before, batch.epoch + 1), ofEpoch(batch, batch.epoch)];
  replaceBatch(spare.volume, before, newer);
  const later = rest.slice(at + 1).map(bytesOf);
  const changed = [...kept.slice(0, at - 1), newer, older, ...later];
  const words = new RegExp(
    `batch ${batch.firstSequence} is of epoch ${batch.epoch}, behind ${batch.epoch + 1}`,
  );
  await told(changed, [words], ends);
  replaceBatch(spare.volume, before, before.bytes);
}

/** Another batch in the place of this one, which no checksum tells from it. */
function withBody({ bytes }: BatchOnDisk): Buffer {
  const other = Buffer.from(bytes);
  other.writeDoubleLE(other.readDoubleLE(24) + 1, 24);
  return other;
}

/** The log is moved once more, which changes nothing; and to where another one lies. */
async function refuseOtherLog(spare: SpareMachine, remote: PlainRemoteLog, moved: readonly BatchOnDisk[]) {
  const { batches } = remote;
  const again = await moveLogTo(remote, spare.journal, () => {}, 0);
  spare.same(moves, [again, remote.batches], [lastOf(moved), batches], 'a move of what is there');
  const { sequence, checksum } = remote.end;
  const inside = moved.find(({ firstSequence, lastSequence }) => lastSequence > firstSequence);
  const others = [
    { sequence, checksum: checksum ^ 1 },
    { sequence: sequence + 1, checksum },
    ...(inside === undefined ? [] : [{ sequence: inside.firstSequence, checksum: inside.checksum }]),
  ];
  for (const other of others) {
    remote.said = other;
    await spare.refused(moves, new RegExp(`another log, which ends with sequence ${other.sequence} `), () =>
      moveLogTo(remote, spare.journal, () => {}, 0),
    );
    spare.same(moves, remote.batches, batches, 'the batches of another log');
  }
  remote.said = null;
}

/** What a mirror has, and the log has not, was lost there. */
async function refuseDivergence(spare: SpareMachine, remote: PlainRemoteLog, moved: readonly BatchOnDisk[]) {
  const last = moved.at(-1)!;
  const kept = remote.batches;
  const refused = async (changed: Buffer[], words: RegExp) => {
    remote.batches = changed;
    await spare.refused(moves, words, () => moveLogFrom(remote, spare.journal));
    spare.same(moves, hasMark(spare), true, 'the mark of a mirror that was refused');
    remote.batches = kept;
  };
  if (kept.length === 0) return;
  const lost = /has lost what it had acknowledged/;
  await refused(kept.slice(0, -1), lost);
  await refused([...kept.slice(0, -1), sealed(withBody(last))], lost);
  spare.same(moves, spare.batches.map(bytesOf), moved.map(bytesOf), 'a mirror that was refused');
  const { begun } = remote;
  remote.begun = { sequence: 0, checksum: 0 };
  await refused([], /PostgreSQL has no log of partition/);
  remote.begun = begun;
}

/** The mirror gets what it lacks, and is the log again. */
async function moveBack(spare: SpareMachine, remote: PlainRemoteLog, moved: readonly BatchOnDisk[]) {
  const { random, volume, journal } = spare;
  const checkpointed = checkpointedIn(spare);
  // A segment is begun when all before it is in the mirror.
  const newest = moved.findLastIndex(
    ({ segment, lastSequence }) => lastSequence <= checkpointed || segment <= spare.segmentEnd,
  );
  const lackMax = moved.length - 1 - Math.max(0, newest);
  const lacking = lackMax > 0 ? random.between(0, Math.min(lackMax, 6)) : 0;
  for (const batch of moved.slice(moved.length - lacking).reverse()) replaceBatch(volume, batch, null);
  const { epoch } = remote;
  spare.same(moves, await moveLogFrom(remote, journal), lastOf(moved), 'the last sequence that came back');
  spare.same(moves, spare.batches.map(bytesOf), moved.map(bytesOf), `the log that came back, ${lacking}`);
  const left = [epochIn(spare), hasMark(spare), remote.isClosed, remote.faults];
  spare.same(moves, left, [epoch + 1, false, true, []], 'what is left of the move');
}
