// The entry of a shard's checkpoint thread, which brings the checkpoint up to date from the log that the shard writes. It
// answers a task that fails with the failure. The shard then ends, and this thread with it, and both are started again from
// what is on disk. Between the tasks the scrubber reads what is stored (journal/scrubber.ts).

import { setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { indexRowsOf } from '../domain/indexes.ts';
import { smallValueIn } from '../journal/checkpoint-reader.ts';
import { LogReader } from '../journal/log-reader.ts';
import { foldersOfJournal, openFollower } from '../journal/open-journal.ts';
import { Scrubber } from '../journal/scrubber.ts';
import { readScrub, scrubKey } from '../shard/small-values.ts';
import { archivedSequence, archiveFolderOf } from './archive-folder.ts';
import {
  type CheckpointThreadData,
  type FromCheckpointThread,
  failureOf,
  type NumberedTask,
} from './checkpoint-protocol.ts';
import { createLogger, logConsole } from './logger.ts';
import { ScrubTimer } from './scrub-timer.ts';
import { TaskGate } from './task-gate.ts';
import { gaugeThisThread } from './thread-time.ts';

const { number, dir, identity, isChecked, config, gate } = workerData as CheckpointThreadData;
const shard = parentPort!;
const tasks = new TaskGate(gate);
const answer = (message: FromCheckpointThread) => shard.postMessage(message);
const logger = await createLogger({ level: config.logLevel, thread: `checkpoint-${number}` });
logConsole(logger);

/** Requests go first when processors are busy. Only on Linux is a priority that of a thread and not of the process. */
const niceness = 5;
if (process.platform === 'linux') setPriority(niceness);

answer({ gauge: gaugeThisThread() });

const archiveDir = config.logArchive.dir;
/** Where the log is archived, it keeps what the archive does not have. */
const archived =
  archiveDir === null
    ? undefined
    : () => archivedSequence(archiveFolderOf(archiveDir, { ...identity, id: identity.folder }, number));

let opened: ReturnType<typeof openFollower> | null = null;
let scrub: ScrubTimer | null = null;

/** The follower is opened by the first task. From then on the shard does not write the checkpoint itself. */
function follower() {
  if (opened !== null) return opened;
  const { segmentBytesMax, logBytesMax } = config.journal;
  const options = { dir, identity, indexRowsOf, segmentBytesMax, logBytesMax, isChecked };
  opened = openFollower(options, archived);
  scrub = startScrubbing();
  return opened;
}

function startScrubbing(): ScrubTimer | null {
  const periodMs = config.journal.scrubSeconds * 1000;
  if (periodMs === 0) return null;
  const folders = foldersOfJournal(dir);
  const scrubber = new Scrubber({
    checkpoint: folders.checkpoint,
    log: new LogReader(folders.log, identity),
    indexRowsOf,
    state: readScrub(smallValueIn(folders.checkpoint, scrubKey)),
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

async function run(task: NumberedTask): Promise<number> {
  switch (task.type) {
    case 'write':
      return follower().write(task.sequence);
    case 'put_small_values':
      await follower().putSmallValues(task.values);
      return 0;
    case 'note_segment':
      await follower().noteSegment(task.firstSequence);
      return 0;
    case 'drop':
      return follower().drop(task.olderThanMs);
    case 'close':
      scrub?.stop();
      await opened?.close();
      return 0;
  }
}

shard.on('message', async (task: NumberedTask) => {
  const { number } = task;
  try {
    answer({ number, result: await tasks.run(() => run(task)) });
  } catch (error) {
    answer({ number, failure: failureOf(error) });
  }
  // Only the port keeps this thread alive.
  if (task.type === 'close') shard.close();
});
