// `npm run bench:shard`: what a create costs a shard, in processor time, without any network: a shard in this thread is
// fed with frames as an edge packs them, a batch at a time, and each batch is answered before the next one comes. The
// stages add one part after the other, so that what each part costs shows without noise from sockets: deciding alone
// (no journal), encoding the commit batch, the log on disk (fsync), and the checkpoints that follow. Each figure is of the whole
// process, with that of the shard's own thread and what the collector took of it behind.

import { join } from 'node:path';
import { loadConfig } from '../src/config/config.ts';
import { type ShardIdentity, tagOf } from '../src/disk/identity.ts';
import { indexRowsOf } from '../src/domain/indexes.ts';
import type { Checkpointer, Journal, Log, LogBatch } from '../src/journal/journal.ts';
import { encodeBatch } from '../src/journal/log/codec.ts';
import { openJournal } from '../src/journal/open-journal.ts';
import { memoryShares } from '../src/shard/memory.ts';
import { Shard } from '../src/shard/shard.ts';
import type { PackedChanges } from '../src/store/cold-store.ts';
import { gaugeThisThread, processorSeconds } from '../src/telemetry/thread-time.ts';
import { CheckpointWorker } from '../src/threads/checkpoint-worker.ts';
import { MemoryJournal } from '../test/journal/memory-journal.ts';
import { accountOf, shardOptions } from '../test/shard/shard-options.ts';
import { temporaryFolder } from '../test/temporary-folder.ts';
import { Feeder } from './feeder.ts';
import { bench, counts, positive } from './options.ts';

const account = accountOf(100_000_000);

/** Changes that were not encoded. */
function heldAsObjects({ entries }: LogBatch): PackedChanges {
  const changes = entries.flatMap((entry) => entry.changes);
  return { bytes: 0, read: (number) => changes[number]! };
}

/** A log that keeps nothing; `encode` gets each commit batch. */
function emptyLog(encode: (batch: LogBatch) => PackedChanges): Log {
  let nextSequence = 1;
  return {
    get nextSequence() {
      return nextSequence;
    },
    durableEnd: null,
    append(batch) {
      const changes = encode(batch);
      nextSequence += batch.entries.length;
      return {
        locations: batch.entries.map((_, i) => ({ record: batch.firstSequence, offset: i })),
        changes,
        durable: Promise.resolve(),
      };
    },
    readResponse: () => undefined,
    close: () => Promise.resolve(),
  };
}

interface Stage {
  readonly name: string;
  readonly checkpoints: boolean;
  open(): Promise<Journal>;
}

const identity: ShardIdentity = { folder: '0'.repeat(32), generation: 0, shard: 0 };
const tag = tagOf(identity);

/** For a log that keeps nothing: there is nothing to write. */
const noCheckpointer: Checkpointer = {
  write: async () => 0,
  putMetadata: async () => {},
  noteSegment: async () => {},
  drop: async () => 0,
  compact: async () => ({ before: 0, after: 0 }),
  close: async () => {},
};

const withLog = (log: Log): Journal => {
  const memory = new MemoryJournal(indexRowsOf);
  return {
    ownership: memory.ownership,
    log,
    checkpoint: memory.checkpoint,
    checkpointer: noCheckpointer,
    replay: async function* () {},
    close: () => Promise.resolve(),
  };
};
const onDisk = (dir = temporaryFolder(), checkpointer?: CheckpointWorker) =>
  openJournal({ dir, identity, indexRowsOf, ...(checkpointer && { checkpointer }) });
/** The checkpoint is kept by a thread of its own, as in the service. */
const withCheckpoints = () => {
  const dir = temporaryFolder();
  const config = loadConfig({}, join(import.meta.dirname, '../config'));
  const checkpointer = new CheckpointWorker().begin({ dir, identity, config }, (error) => {
    throw error;
  });
  return onDisk(dir, checkpointer);
};

const stages: readonly Stage[] = [
  { name: 'no journal', checkpoints: false, open: async () => withLog(emptyLog(heldAsObjects)) },
  {
    name: 'encoding only',
    checkpoints: false,
    open: async () => withLog(emptyLog((batch) => encodeBatch(batch, tag, 1).changes)),
  },
  { name: 'log', checkpoints: false, open: () => onDisk() },
  { name: 'log and checkpoints', checkpoints: true, open: withCheckpoints },
];

interface Measured {
  readonly cpuMicroseconds: number;
  readonly threadMicroseconds: number;
  readonly collectorMicroseconds: number;
}

const shares = memoryShares(1024);
const gauge = gaugeThisThread();

async function measure(stage: Stage, batch: number, seconds: number): Promise<Measured> {
  const journal = await stage.open();
  const shard = new Shard(
    shardOptions(journal, {
      memory: stage.checkpoints
        ? shares
        : { ...shares, checkpointBytes: Infinity, unwrittenBytesMax: Infinity },
      checkpointIntervalMs: stage.checkpoints ? 10_000 : Number.POSITIVE_INFINITY,
    }),
    [account],
  );
  await shard.recover();
  const ticks = setInterval(() => shard.tick(), 100);
  const feeder = new Feeder(shard, account.id);
  const run = async (ms: number) => {
    let answered = 0;
    for (const end = performance.now() + ms; performance.now() < end; ) answered += await feeder.batch(batch);
    return answered;
  };
  await run(1_000);
  const collectorBefore = gauge.collectorMs[0]!;
  const threadMs = () => processorSeconds(gauge)! * 1_000;
  const threadBefore = threadMs();
  const before = process.cpuUsage();
  const answered = await run(seconds * 1_000);
  const { user, system } = process.cpuUsage(before);
  const ownMs = threadMs() - threadBefore;
  await new Promise((resolve) => setImmediate(resolve));
  const collectorMs = gauge.collectorMs[0]! - collectorBefore;
  clearInterval(ticks);
  await shard.stop();
  return {
    cpuMicroseconds: (user + system) / answered,
    threadMicroseconds: (ownMs * 1_000) / answered,
    collectorMicroseconds: (collectorMs * 1_000) / answered,
  };
}

const options = bench('bench:shard', 'processor time of a create in a shard alone, stage by stage')
  .option('--seconds <n>', 'length of one measurement', positive, 4)
  .option('--batches <n,…>', 'requests in a batch', counts, [8, 32, 128])
  .option('--only <stage>', 'only the stage of this name')
  .option('--json', 'print JSON', false)
  .parse()
  .opts<{ seconds: number; batches: number[]; json: boolean; only?: string }>();

const rows = [];
for (const stage of stages.filter(({ name }) => name === (options.only ?? name))) {
  const cells = [];
  for (const batch of options.batches)
    cells.push({ batch, ...(await measure(stage, batch, options.seconds)) });
  rows.push({ stage: stage.name, cells });
  if (!options.json)
    console.log(
      stage.name.padEnd(22) +
        cells
          .map((cell) =>
            `${cell.batch}: ${cell.cpuMicroseconds.toFixed(1)} (thread ${cell.threadMicroseconds.toFixed(1)}, gc ${cell.collectorMicroseconds.toFixed(1)})`.padStart(
              37,
            ),
          )
          .join(''),
    );
}
if (options.json) console.log(JSON.stringify(rows));
