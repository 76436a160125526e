// The entry of a shard's checkpoint thread, which brings the checkpoint up to date from the log
// that the shard writes. It answers a task that fails with the failure. The shard then ends, and
// this thread with it, and both are started again from what is on disk. Between the tasks the
// scrubber reads what is stored (journal/scrubber.ts).

import { setTimeout as wait } from 'node:timers/promises';
import { lowerPriority } from '../backup/pace.ts';
import { archivedOfShard } from '../data-folder/archive-folder.ts';
import { hasRoom } from '../data-folder/disk-space.ts';
import { indexRowsOf } from '../domain/indexes.ts';
import { type CheckpointSizes, type Compacting, JournalFailure } from '../journal/journal.ts';
import { LogReader } from '../journal/log-reader.ts';
import { foldersOfJournal, metadataIn, openFollower } from '../journal/open-journal.ts';
import { Scrubber, type ScrubState } from '../journal/scrubber.ts';
import { type Answers, answerQuestion, type Question } from '../rpc/questions.ts';
import { readScrub, scrubKey } from '../shard/metadata.ts';
import { createLogger } from '../telemetry/logger.ts';
import { gaugeThisThread } from '../telemetry/thread-time.ts';
import {
  type CheckpointTarget,
  type CheckpointTasks,
  type FromCheckpointThread,
  failureOf,
} from './checkpoint-protocol.ts';
import { ScrubTimer } from './scrub-timer.ts';
import { startOfThread } from './thread-side.ts';
import { watchStorage } from './watch-storage.ts';

const { data, main: shard, gate: tasks } = await startOfThread<CheckpointTarget>();
const { dir, identity, isChecked, config } = data;
const { shard: number } = identity;
const answer = (message: FromCheckpointThread) => shard.postMessage(message);
const logger = await createLogger({ level: config.logLevel, thread: `checkpoint-${number}` });
watchStorage(logger);

/**
 * Requests go first when processors are busy. Only on Linux is a priority that of a thread and not
 * of the process.
 */
const niceness = 5;
if (process.platform === 'linux') lowerPriority(niceness);

answer({ gauge: gaugeThisThread() });

const archiveDir = config.logArchive.dir;
/** Where the log is archived, it keeps what the archive does not have. */
const archived = archiveDir === null ? undefined : () => archivedOfShard(archiveDir, identity);

let opened: ReturnType<typeof openFollower> | null = null;
let scrub: ScrubTimer | null = null;
let isClosing = false;
/** A compaction writes at most so much a second: more would hold up the log's commits. */
const compactBytesPerSecond = 50 * 1024 * 1024;

/**
 * The follower is opened by the first task. From then on the shard does not write the checkpoint
 * itself.
 */
function follower() {
  if (opened !== null) return opened;
  const { segmentBytesMax, logBytesMax } = config.journal;
  const onDamage = (damage: Error) =>
    logger.error(
      { shard: number, err: damage },
      'what has expired was damaged: it is dropped; find out what is wrong with the disk',
    );
  const options = { dir, identity, indexRowsOf, segmentBytesMax, logBytesMax, isChecked, onDamage };
  opened = openFollower(options, archived);
  scrub = startScrubbing(readScrub(metadataIn(foldersOfJournal(dir).checkpoint, scrubKey)));
  return opened;
}

/**
 * There was room for the copy when it began. Others write to the disk, too, and a write that it
 * refuses ends the process.
 */
function refuseWithoutRoom(): void {
  if (!hasRoom(dir, false))
    throw new JournalFailure(`There is no room left for the copy of the checkpoint in ${dir}`, {
      diskFull: true,
    });
}

/** Compacts the checkpoint, with pauses in which other tasks run and this thread may be ended. */
async function compact(report: (progress: Compacting) => void): Promise<CheckpointSizes> {
  const pause = async ({ bytes }: Compacting) => {
    await wait((bytes / compactBytesPerSecond) * 1000);
    if (isClosing) throw new JournalFailure('The shard is stopping', { diskFull: false });
    refuseWithoutRoom();
  };
  const sizes = await follower().compact((progress) => {
    report(progress);
    return tasks.outside(() => pause(progress));
  });
  // The scrubber goes on in the new file, which has the same rows.
  scrub?.stop();
  scrub = scrub && startScrubbing(scrub.state);
  return sizes;
}

function startScrubbing(state: ScrubState): ScrubTimer | null {
  const periodMs = config.journal.scrubSeconds * 1000;
  if (periodMs === 0) return null;
  const folders = foldersOfJournal(dir);
  const scrubber = new Scrubber({
    checkpoint: folders.checkpoint,
    log: new LogReader(folders.log, identity),
    indexRowsOf,
    state,
    onFinding: (finding) =>
      logger.error(
        { shard: number, ...finding },
        `the scrubber has found damage: ${finding.defect}. What to do: ${finding.advice}`,
      ),
  });
  return new ScrubTimer({
    scrubber,
    periodMs,
    onProgress: (scrubbed, totalBytes) => answer({ scrubbed, totalBytes }),
    onFailure: (error) =>
      logger.error({ err: error }, 'the scrubber has ended: it starts again with its shard'),
  });
}

/** No task begins once the shard has shut the gate. */
function gated<A, R, P>(task: (asks: A, report: (progress: P) => void) => Promise<R>) {
  return (asks: A, report: (progress: P) => void) => tasks.run(() => task(asks, report));
}

const answers: Answers<CheckpointTasks> = {
  write: gated(({ sequence }) => follower().write(sequence)),
  put_metadata: gated(({ values }) => follower().putMetadata(values)),
  note_segment: gated(({ firstSequence }) => follower().noteSegment(firstSequence)),
  drop: gated(({ olderThanMs }) => follower().drop(olderThanMs)),
  compact: gated((_asks, report) => compact(report)),
  close: gated(async () => {
    scrub?.stop();
    await opened?.close();
  }),
};

const underWay = new Set<Promise<void>>();

shard.on('message', async (task: Question<CheckpointTasks>) => {
  if (task.type === 'close') {
    isClosing = true;
    await Promise.all(underWay);
  }
  const performed = answerQuestion(answers, task, answer, failureOf);
  underWay.add(performed);
  await performed;
  underWay.delete(performed);
  // Only the port keeps this thread alive.
  if (task.type === 'close') shard.close();
});
