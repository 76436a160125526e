// The archive's process, put together as src/threads/archive-process.ts does it: an archiver for each shard and one for the
// directory, in a lane that is a process of its own.

import { dirname } from 'node:path';
import { Archiver, type ArchiveSource, directorySource, shardSource } from '../../../src/backup/archiver.ts';
import { partsOf } from '../../../src/backup/backup-manifest.ts';
import { type ArchivedPart, archiveFolderOf } from '../../../src/data-folder/archive-folder.ts';
import type { DataFolder } from '../../../src/data-folder/data-folder.ts';
import { RowStore } from '../../../src/disk/row-store.ts';
import { type CopyOptions, JournalCopy } from '../../../src/journal/copy-journal.ts';
import { logFilesIn } from '../../../src/journal/log-files.ts';
import { foldersOfJournal } from '../../../src/journal/open-journal.ts';
import type { Random } from '../kernel/random.ts';
import type { Lane } from '../kernel/simulation.ts';
import { unsyncedSegments } from '../tools/stored-log.ts';
import { isOfDisk } from './failures.ts';
import type { World } from './world.ts';

export const archiveDir = '/vault/archive';
const pollMs = 1_000;

/** What the archive and its position name is on the disk: a log that had lost it would go on otherwise. */
class WatchedCopy extends JournalCopy {
  readonly #world: World;
  readonly #log: string;

  constructor(world: World, options: CopyOptions) {
    super(options);
    this.#world = world;
    this.#log = foldersOfJournal(options.dir).log;
  }

  override sync(): void {
    super.sync();
    const { judge, machine, hasLied } = this.#world;
    const unsynced = unsyncedSegments(machine.volume, this.#log);
    judge.check(
      'a backup and the archive hold what was acknowledged',
      unsynced.length === 0 || hasLied,
      () => `${unsynced} can be lost yet`,
    );
  }
}

/** Takes each file of the archive away, as the operator's command does, which fails now and then. */
export class Carrier {
  readonly #random: Random;
  readonly #last = new Map<string, number>();

  constructor(random: Random) {
    this.#random = random;
  }

  carry(path: string, mayFail: boolean): void {
    if (mayFail && this.#random.chance(0.1)) throw new CarrierAway();
    const folder = dirname(path);
    const { last } = logFilesIn(folder).find((file) => file.path === path)!;
    this.#last.set(folder, Math.max(last, this.#last.get(folder) ?? 0));
  }

  /** The last sequence that was taken away of the files in a folder. */
  lastOf(folder: string): number {
    return this.#last.get(folder) ?? 0;
  }
}

class CarrierAway extends Error {}

/** Everything that archives a folder, and the function that closes what it reads. */
export function archiversOf(world: World, folder: DataFolder, ageMaxMs: number, mayFail: boolean) {
  const archiverOf = (part: ArchivedPart, type: 'batch' | 'rows', source: ArchiveSource) => {
    const at = archiveFolderOf(archiveDir, folder, part);
    const archiver = new Archiver({
      source,
      folder: at,
      part: partsOf(folder, part).log,
      type,
      write: { recipients: [], pace: async () => {} },
      ageMaxMs,
      clocks: world.clocks,
      carry: async (path) => world.carrier.carry(path, mayFail),
      // A folder that was restored has no log from before: a backup has what that held.
      onGap: (first, last) =>
        world.judge.check(
          'a backup and the archive hold what was acknowledged',
          world.isDamaged || (first === 1 && world.wasRestored),
          () => `the archive of ${part} lacks ${first} to ${last}`,
        ),
    });
    const run = async () => {
      try {
        await archiver.run();
      } finally {
        world.judge.check(
          'a backup and the archive hold what was acknowledged',
          archiver.archived <= world.carrier.lastOf(at),
          () => `${archiver.archived} of ${part} is archived, and ${world.carrier.lastOf(at)} was taken away`,
        );
      }
    };
    return { run };
  };
  const copies = Array.from({ length: folder.shards }, (_, number) => {
    const [dir, identity] = [folder.shardDir(number), folder.shardIdentity(number)];
    return new WatchedCopy(world, { dir, identity, segmentBytesMax: world.settings.segmentBytesMax });
  });
  const directory = new RowStore(folder.directory, folder.directoryPart, true);
  const archivers = [
    ...copies.map((copy, shard) => archiverOf(shard, 'batch', shardSource(copy))),
    archiverOf('directory', 'rows', directorySource(directory)),
  ];
  const close = () => Promise.all([directory.close(), ...copies.map((copy) => copy.close())]);
  return { archivers, close };
}

export class ArchiveProcess {
  readonly #world: World;
  readonly lane: Lane;
  #isStopping = false;
  #running: Promise<void> = Promise.resolve();
  #opened: ReturnType<typeof archiversOf> | null = null;

  constructor(world: World, folder: DataFolder) {
    this.#world = world;
    this.lane = world.machine.processLane('archive');
    world.simulation.soon(this.lane, () => this.#begin(folder));
  }

  #begin(folder: DataFolder): void {
    if (this.#isStopping) return;
    this.#running = this.#round(folder).catch((error) => this.#failed(error));
    const again = () => this.#world.simulation.after(this.lane, pollMs, () => this.#begin(folder));
    void this.#running.then(again);
  }

  async #round(folder: DataFolder): Promise<void> {
    this.#opened ??= archiversOf(this.#world, folder, this.#world.settings.archiveAgeMs, true);
    for (const archiver of this.#opened.archivers) if (!this.#isStopping) await archiver.run();
    this.#world.happened.add('archived');
  }

  /** It is tried again. */
  #failed(error: unknown): void {
    this.#world.judge.check(
      'the service fails of what failed, and of nothing else',
      isOfDisk(error) || error instanceof CarrierAway || this.#world.isDamaged,
      () => (error as Error).stack!,
    );
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    await this.#running;
    await this.#opened?.close();
  }
}
