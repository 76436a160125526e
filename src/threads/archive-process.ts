// The entry of the archive's process: it runs an archiver for each shard and one for the directory,
// one after the other. What fails is tried again, with growing waits; meanwhile the log keeps what
// is not archived, and the metrics say how old that is.

import { execFile } from 'node:child_process';
import { relative } from 'node:path';
import { promisify } from 'node:util';
import Registry from 'prom-client/lib/registry.js';
import { Archiver, type ArchiveSource, directorySource, lagsOf, shardSource } from '../backup/archiver.ts';
import { partsOf } from '../backup/backup-manifest.ts';
import { lowerPriority, paceOf } from '../backup/pace.ts';
import { defined } from '../core/assert.ts';
import { backOffMs } from '../core/scheduler.ts';
import { type ArchivedPart, archiveFolderOf } from '../data-folder/archive-folder.ts';
import { RowStore } from '../disk/row-store.ts';
import { JournalCopy } from '../journal/stopped-journal.ts';
import type { Answers } from '../rpc/questions.ts';
import { createLogger } from '../telemetry/logger.ts';
import { metricsIn } from '../telemetry/metrics-in.ts';
import { systemClocks } from '../telemetry/system-clocks.ts';
import type { ArchiveProcessData, Notice, ThreadQuestions } from './thread-protocol.ts';
import { carryOut, commonAnswers, startOfProcess } from './thread-side.ts';

const {
  config,
  folder,
  shardDirs,
  directory: directoryFolder,
  directoryPart,
} = startOfProcess<ArchiveProcessData>();
const tell = (notice: Notice) => process.send?.(notice);
// The service has ended, however it did.
process.once('disconnect', () => process.exit(1));
// A terminal sends these to the whole group; the service says when this process is to end.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => {});
const logger = await createLogger({ level: config.logLevel, thread: 'archive' });

const niceness = 10;
lowerPriority(niceness);

const poll = { minMs: 1_000, maxMs: 60_000 };
const commandMsMax = 600_000;
const bytesPerSecond = 50 << 20;

const registry = new Registry();
const { gauge, counter } = metricsIn(registry);
const lag = gauge(
  'payments_archive_lag_seconds',
  'Age of the oldest change that is not archived: what would be lost with the machine',
  ['part'],
);
const archived = gauge(
  'payments_archived_sequence',
  'The last sequence of the log, or revision of the directory, that is archived',
  ['part'],
);
const failures = counter(
  'payments_archive_failures_total',
  'Times that something could not be archived and is tried again',
);

const { command, maxAgeSeconds, recipients } = config.logArchive;
const dir = defined(config.logArchive.dir, 'this process runs where the log is archived');

const clocks = systemClocks();

/** Has the operator's command carry a file away, or leaves it where it is. */
async function carry(path: string): Promise<void> {
  if (command === null) return;
  const name = relative(dir, path);
  const env = { ...process.env, PAYMENTS_ARCHIVE_FILE: path, PAYMENTS_ARCHIVE_NAME: name };
  await promisify(execFile)('/bin/sh', ['-c', command], { env, timeout: commandMsMax });
}

function archiverOf(part: ArchivedPart, type: 'batch' | 'rows', source: ArchiveSource): Archiver {
  return new Archiver({
    source,
    folder: archiveFolderOf(dir, folder, part),
    part: partsOf(folder, part).log,
    type,
    write: { recipients, pace: paceOf(bytesPerSecond) },
    ageMaxMs: maxAgeSeconds * 1000,
    clocks,
    carry,
    onGap: (first, last) =>
      logger.error(
        { part, first, last },
        'the archive has a gap, because the log was dropped or given up before it was archived: make a new backup',
      ),
  });
}

const copies = shardDirs.map(
  (shardDir, shard) =>
    new JournalCopy({
      dir: shardDir,
      identity: { folder: folder.id, generation: folder.generation, shard },
      segmentBytesMax: config.journal.segmentBytesMax,
    }),
);
const directory = new RowStore(directoryFolder, directoryPart, true);

const archivers = new Map<string, Archiver>([
  ...copies.map((copy, shard) => [`shard-${shard}`, archiverOf(shard, 'batch', shardSource(copy))] as const),
  ['directory', archiverOf('directory', 'rows', directorySource(directory))],
]);

let isStopping = false;
let timer: NodeJS.Timeout | undefined;
let failedInARow = 0;
let running: Promise<void> = Promise.resolve();

async function round(): Promise<void> {
  let failed = false;
  for (const [part, archiver] of archivers) {
    if (isStopping) return;
    try {
      await archiver.run();
    } catch (error) {
      failed = true;
      failures.inc();
      logger.error(
        { part, err: error },
        `the log could not be archived in ${dir}: it is kept, and tried again`,
      );
    }
  }
  failedInARow = failed ? failedInARow + 1 : 0;
  if (isStopping) return;
  timer = setTimeout(begin, backOffMs(poll, failedInARow));
}

function begin(): void {
  running = round();
}

async function show(): Promise<void> {
  const lags = await lagsOf(archivers);
  lag.reset();
  for (const [part, ms] of lags) lag.labels(part).set(ms / 1000);
  for (const [part, archiver] of archivers) archived.labels(part).set(archiver.archived);
}

async function stop(): Promise<void> {
  isStopping = true;
  clearTimeout(timer);
  await running;
  await Promise.all([directory.close(), ...copies.map((copy) => copy.close())]);
}

const answers: Answers<ThreadQuestions> = { ...commonAnswers(logger, registry, show), stop };
process.on('message', carryOut(answers, tell));
begin();
tell({ type: 'ready' });
