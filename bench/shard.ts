// `npm run bench:shard`: what a create costs a shard, in processor time, without any network: a shard in this thread is
// fed with frames as an edge packs them, a batch at a time, and each batch is answered before the next one comes. The
// stages add one part after the other, so that what each part costs shows without noise from sockets: deciding alone
// (no journal), encoding the turn, the log on disk (fsync), and the checkpoints that follow. Each figure is of the whole
// process, with that of the shard's own thread and what the collector took of it behind.

import { randomFillSync } from 'node:crypto';
import { join } from 'node:path';
import { indexRowsOf } from '../src/domain/indexes.ts';
import { matchRoute } from '../src/edge/router.ts';
import { encodeTurn } from '../src/journal/codec.ts';
import { type ShardIdentity, tagOf } from '../src/journal/identity.ts';
import type { Journal, Log, LogBatch } from '../src/journal/journal.ts';
import { openJournal } from '../src/journal/open-journal.ts';
import { CheckpointWorker } from '../src/process/checkpoint-worker.ts';
import { loadConfig } from '../src/process/config.ts';
import { systemClocks } from '../src/process/system-clocks.ts';
import { gaugeThisThread, processorSeconds } from '../src/process/thread-time.ts';
import type { ShardAccount } from '../src/shard/account.ts';
import { memoryShares } from '../src/shard/memory.ts';
import {
  type FromShard,
  noVersion,
  RequestWriter,
  readAnswers,
  requestFlags,
} from '../src/shard/protocol.ts';
import { systemScheduler } from '../src/shard/scheduler.ts';
import { Shard } from '../src/shard/shard.ts';
import type { Peer } from '../src/shard/turn.ts';
import type { PackedChanges } from '../src/store/packed-changes.ts';
import { MemoryJournal } from '../test/journal/memory-journal.ts';
import { bench, counts, positive } from './options.ts';
import { temporaryFolder } from './targets.ts';

const org = 'org_000000000000000000000001';
const noLimit = { perMinute: 100_000_000, source: 'custom', untilMs: null } as const;
const limits = {
  buckets: { all: noLimit, writes: noLimit, payment_creation: noLimit, search: noLimit },
  dailyRequests: 100_000_000,
  dailyPaymentCreations: 100_000_000,
};
const on = { card: true, cash: true };
const account: ShardAccount = {
  id: org,
  name: 'Bench',
  created: 0,
  apiVersion: '2026-11-01',
  methods: { test: on, live: on },
  limits: { test: limits, live: limits },
};
const body = Buffer.from(
  JSON.stringify({
    amount: 12_000,
    currency: 'mad',
    payment_method_types: ['card', 'cash'],
    metadata: { order_id: 'order-1042' },
  }),
);

/** Changes that were not encoded. */
function heldAsObjects({ entries }: LogBatch): PackedChanges {
  const changes = entries.flatMap((entry) => entry.changes);
  return { bytes: 0, read: (number) => changes[number]! };
}

/** A log that keeps nothing; `encode` gets each turn. */
function emptyLog(encode: (turn: LogBatch) => PackedChanges): Log {
  let nextSequence = 1;
  return {
    get nextSequence() {
      return nextSequence;
    },
    append(turn) {
      const changes = encode(turn);
      nextSequence += turn.entries.length;
      return {
        locations: turn.entries.map((_, i) => ({ record: turn.firstSequence, offset: i })),
        changes,
        durable: Promise.resolve(),
      };
    },
    readAnswer: () => undefined,
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

const withLog = (log: Log): Journal => {
  const memory = new MemoryJournal(indexRowsOf);
  return {
    log,
    checkpoint: memory.checkpoint,
    checkpointer: memory.checkpointer,
    replay: () => [],
    close: () => Promise.resolve(),
  };
};
const onDisk = (dir = temporaryFolder(), checkpointer?: CheckpointWorker) =>
  openJournal({ dir, identity, indexRowsOf, warn: () => {}, ...(checkpointer && { checkpointer }) });
/** The checkpoint is kept by a thread of its own, as in the service. */
const withCheckpoints = () => {
  const dir = temporaryFolder();
  const config = loadConfig({}, join(import.meta.dirname, '../config'));
  const checkpointer = new CheckpointWorker({ number: 0, dir, identity, config }, (error) => {
    throw error;
  });
  return onDisk(dir, checkpointer);
};

const stages: readonly Stage[] = [
  { name: 'no journal', checkpoints: false, open: async () => withLog(emptyLog(heldAsObjects)) },
  {
    name: 'encoding only',
    checkpoints: false,
    open: async () => withLog(emptyLog((turn) => encodeTurn(turn, tag).changes)),
  },
  { name: 'log', checkpoints: false, open: () => onDisk() },
  { name: 'log and checkpoints', checkpoints: true, open: withCheckpoints },
];

class Feeder {
  readonly #shard: Shard;
  readonly #writer = new RequestWriter();
  readonly #route = matchRoute('POST', '/v1/payment_intents')!;
  #count = 0;
  #answered: ((answers: number) => void) | null = null;

  readonly #peer: Peer = {
    post: (message: FromShard) => {
      if (!(message instanceof ArrayBuffer)) return;
      let answers = 0;
      readAnswers(message, (answer) => {
        if (answer.status !== 200)
          throw new Error(`a create was answered with ${answer.status}: ${answer.body}`);
        answers++;
      });
      this.#answered?.(answers);
    },
  };

  constructor(shard: Shard) {
    this.#shard = shard;
  }

  /** Sends a batch and settles when it is answered. */
  batch(size: number): Promise<number> {
    for (let i = 0; i < size; i++) {
      const number = String(this.#count++).padStart(21, '0');
      this.#writer.put(i + 1, {
        route: this.#route.route,
        flags: requestFlags.hasIdempotencyKey,
        language: 0,
        version: noVersion,
        org,
        requestId: `req_${number}`,
        id: '',
        query: '',
        idempotencyKey: `load-${number}`,
        body,
      });
    }
    const answered = new Promise<number>((resolve) => {
      this.#answered = resolve;
    });
    this.#shard.receive(this.#writer.take(), this.#peer);
    return answered;
  }
}

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
    {
      journal,
      settings: {
        baseUrl: 'https://pay.test',
        cardPageMs: 1_800_000,
        cashCodeMs: 259_200_000,
        webhookRetryMs: [5_000],
      },
      availability: { test: on, live: on },
      fillRandom: (bytes) => void randomFillSync(bytes),
      secrets: { seal: (secret) => secret },
      memory: stage.checkpoints
        ? shares
        : { ...shares, checkpointBytes: Infinity, unwrittenBytesMax: Infinity },
      clocks: systemClocks(),
      scheduler: systemScheduler,
      clockObserver: { jumped() {}, followed() {} },
      checkpointIntervalMs: stage.checkpoints ? 10_000 : Number.POSITIVE_INFINITY,
      callNetwork: () => {},
      checkAddress: () => Promise.resolve(true),
      deliveryRetentionMs: 30 * 86_400_000,
      observer: { turnEnded() {}, committed() {}, checkpointed() {}, attempted() {} },
      onDamage: () => {},
      onFailure: (error) => {
        throw error;
      },
    },
    [account],
  );
  const ticks = setInterval(() => shard.tick(), 100);
  const feeder = new Feeder(shard);
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
