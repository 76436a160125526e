// `node bench/fill.ts FOLDER INTENTS DAYS`: puts many payment intents, and some of all else (see shop.ts), into a data folder
// of the service, faster than HTTP could: a shard in this process takes requests in large batches, and its log and its
// checkpoint are what they would be in the service. Time is injected: the requests spread evenly over so many days that end
// now. The folder belongs to no running service and knows one organization, which gets them all.

import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { loadConfig } from '../src/config/config.ts';
import type { Clocks } from '../src/core/clock.ts';
import { existingDataFolder, openDirectory } from '../src/data-folder/data-folder.ts';
import { lockDataFolder } from '../src/data-folder/folder-lock.ts';
import { indexRowsOf } from '../src/domain/indexes.ts';
import { openJournal } from '../src/journal/open-journal.ts';
import { memoryShares } from '../src/shard/memory.ts';
import { clockKey, clockStateOf, writeClock } from '../src/shard/metadata.ts';
import { Shard } from '../src/shard/shard.ts';
import { shardOfOrganization } from '../src/shard/shard-map.ts';
import { systemClocks } from '../src/telemetry/system-clocks.ts';
import { CheckpointWorker } from '../src/threads/checkpoint-worker.ts';
import { accountOf } from '../src/threads/directory-projections.ts';
import { shardOptions } from '../test/shard/shard-options.ts';
import { Shop } from './shop.ts';

/** Batches on their way: the shard decides one while the log writes the others. */
const batchesInFlight = 3;
const heapMib = 1024;
const dayMs = 86_400_000;

const [path, intents, days] = process.argv.slice(2) as [string, string, string];
const count = Number(intents);
const fail = (error: unknown): never => {
  throw error;
};

const release = await lockDataFolder(path);
const folder = await existingDataFolder(path);
const directory = openDirectory(folder);
const [known, ...others] = directory.snapshot();
if (known === undefined || others.length > 0) throw new Error(`${path} must know one organization`);
const { organization } = known;
await directory.closeStore();
const number = shardOfOrganization(organization.id, folder.shards);
const [dir, identity] = [folder.shardDir(number), folder.shardIdentity(number)];
const config = loadConfig({}, join(import.meta.dirname, '../config'));
const checkpointer = new CheckpointWorker().begin({ dir, identity, config }, fail);
const journal = await openJournal({ dir, identity, indexRowsOf, checkpointer });

let filled = 0;
const behindMs = () => Math.floor((1 - Math.min(1, filled / count)) * Number(days) * dayMs);
const { wall, monotonic, boot } = systemClocks();
const clocks: Clocks = { wall: () => wall() - behindMs(), monotonic: () => monotonic() - behindMs(), boot };
// The folder's own time begins so many days ago, too.
await checkpointer.putMetadata(new Map([[clockKey, writeClock(clockStateOf(clocks.wall()))]]));
const options = shardOptions(journal);
const shard: Shard = new Shard(
  {
    ...options,
    // Time goes fast: a card page must stay open until the customer pays some batches later.
    settings: { ...options.settings, cardPageMs: Number(days) * dayMs },
    memory: memoryShares(heapMib),
    clocks,
    checkpointIntervalMs: Number.POSITIVE_INFINITY,
    callNetwork: (call) => shop.settle(call),
    onFailure: fail,
  },
  [accountOf(organization)],
);
await shard.recover();
const shop = new Shop(shard, organization.id);
const startedAt = performance.now();
const inFlight: Promise<number>[] = [];
let batches = 0;
while (filled < count) {
  // The checkpoint thread is behind.
  while (shard.state.refusesWrites) await wait(1);
  inFlight.push(shop.batch());
  if (inFlight.length < batchesInFlight) continue;
  filled += await inFlight.shift()!;
  if (++batches % 100 === 0) process.stderr.write(`\r${filled} of ${count} payment intents`);
}
for (const batch of inFlight) filled += await batch;
await shard.stop();
await release();
const seconds = (performance.now() - startedAt) / 1_000;
const perSecond = Math.round(shop.requests / seconds).toLocaleString('en');
process.stderr.write(
  `\r${filled} payment intents in ${seconds.toFixed(0)} s: ${perSecond} requests a second, each durable\n`,
);
