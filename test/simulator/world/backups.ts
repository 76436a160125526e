// Backups that are made while clients write, the archive of the log, and restores: into another folder, as of some moment, and
// into the place of a machine that was lost. A restore must equal the model at its moment (history.ts).

import { isDeepStrictEqual } from 'node:util';
import { backUp } from '../../../src/backup/backup.ts';
import type { Manifest } from '../../../src/backup/backup-manifest.ts';
import { restore } from '../../../src/backup/restore.ts';
import { archiveFolderOf } from '../../../src/data-folder/archive-folder.ts';
import { type DataFolder, lookAtDataFolder } from '../../../src/data-folder/data-folder.ts';
import { indexRowsOf } from '../../../src/domain/indexes.ts';
import type { StoredRecord } from '../../../src/domain/record.ts';
import { logFilesIn } from '../../../src/journal/log-files.ts';
import { foldersOfJournal } from '../../../src/journal/open-journal.ts';
import { readStoppedJournal } from '../../../src/journal/stopped-journal.ts';
import type { Restored, RestoreTarget } from '../../../src/operator/results/folder-results.ts';
import type { Random } from '../kernel/random.ts';
import type { Lane } from '../kernel/simulation.ts';
import { batchesIn } from '../tools/stored-log.ts';
import { archiveDir, archiversOf } from './archive-process.ts';
import { isOfDisk } from './failures.ts';
import { LogTools } from './log-tools.ts';
import type { World } from './world.ts';

export const dataDir = '/data';
const elsewhere = '/elsewhere';

interface Backup {
  readonly path: string;
  readonly manifest: Manifest;
}

export class Backups {
  readonly #world: World;
  readonly #made: Backup[] = [];
  readonly #random: Random;
  #lane: Lane | null = null;
  #count = 0;

  constructor(world: World) {
    this.#world = world;
    this.#random = world.simulation.random('backups');
  }

  /** The machine, or the service, has ended, and so have the operator's commands. */
  cut(): void {
    if (this.#lane !== null) this.#world.simulation.cut(this.#lane);
    this.#lane = null;
  }

  /** Runs an operator's command beside the service, unless one runs already. */
  #command(name: string, run: () => Promise<void>): void {
    const { simulation, machine, judge } = this.#world;
    if (this.#lane !== null || this.#world.isDamaged) return;
    const lane = machine.processLane(name);
    this.#lane = lane;
    const over = (error?: unknown) => {
      if (this.#lane === lane) this.#lane = null;
      if (!machine.isDown && !lane.isCut) this.#world.closesAll(machine, lane);
      if (error === undefined || machine.isDown || lane.isCut) return;
      this.#world.note(`the ${name} fails: ${(error as Error).message}`);
      judge.check(
        'the service fails of what failed, and of nothing else',
        isOfDisk(error) || this.#world.isDamaged || !this.#world.machine.volume.hasRoom,
        () => (error as Error).stack!,
      );
    };
    simulation.soon(lane, () => void run().then(() => over(), over));
  }

  /** `payments backup`: a new one, or the one that was interrupted. */
  begin(): void {
    this.#command('backup', async () => {
      const folder = lookAtDataFolder(dataDir);
      const path = this.#pathOf(folder);
      const durable = this.#histories(folder).map((history) => history.durable);
      const manifest = await backUp({
        folder,
        to: path,
        recipients: [],
        segmentBytesMax: this.#world.settings.segmentBytesMax,
        pace: () => this.#world.simulation.wait(this.#random.skewed(0.05, 50)),
        onProgress() {},
      });
      this.#count++;
      this.#made.push({ path, manifest });
      this.#world.note(`${path} is made`);
      this.#world.happened.add('backup made');
      const unsynced = this.#world.machine.volume.unsyncedAt(path);
      this.#world.judge.check(
        'a backup and the archive hold what was acknowledged',
        unsynced === null || this.#world.hasLied,
        () => `${path} is made, and ${unsynced} could still be lost`,
      );
      for (const [shard, sequence] of durable.entries())
        this.#world.judge.check(
          'a backup and the archive hold what was acknowledged',
          endOf(manifest, shard) >= sequence,
          () => `${path} ends with ${endOf(manifest, shard)} of shard ${shard}, and ${sequence} was durable`,
        );
    });
  }

  /** An unfinished one goes on; one that was finished when its process ended stays as it is. */
  #pathOf({ id, generation }: DataFolder): string {
    for (;;) {
      const path = `/vault/backup-${id.slice(0, 6)}-${generation}-${this.#count}`;
      if (this.#world.machine.volume.find(`${path}/manifest.json`) === undefined) return path;
      this.#count++;
    }
  }

  #histories(folder: Pick<DataFolder, 'id' | 'generation' | 'shards'>) {
    return Array.from({ length: folder.shards }, (_, shard) => this.#world.historyOf(folder, shard));
  }

  /** `payments restore` into another folder, which is compared with the model and removed. */
  restoreElsewhere(random: Random): void {
    const backup = this.#made.at(-1 - random.below(Math.min(2, this.#made.length)));
    if (backup === undefined) return;
    this.#command('restore', async () => {
      const { volume } = this.#world.machine;
      if (volume.find(elsewhere) !== undefined) volume.remove(elsewhere);
      const { folder } = backup.manifest;
      const target = this.#targetIn(backup, random);
      const atLeast = this.#wanted(backup, target);
      this.#world.note(`restore ${backup.path} to ${JSON.stringify(target)}`);
      const isTooEarly = atLeast.some((sequence, i) => sequence < backup.manifest.shards[i]!.state!.sequence);
      let restored: Restored;
      try {
        restored = await this.#restore(backup, target, elsewhere);
      } catch (error) {
        // Before its checkpoint a backup can't be restored.
        if (isTooEarly && (error as Error).message.includes('is before the checkpoint')) return;
        throw error;
      }
      // The archive has grown meanwhile.
      const atMost = this.#wanted(backup, target);
      for (const { shard, sequence } of restored.shards)
        this.#world.judge.check(
          'a restore equals the model',
          sequence >= atLeast[shard]! && sequence <= atMost[shard]!,
          () => `shard ${shard} is restored up to ${sequence} instead of ${atLeast[shard]}`,
        );
      await this.#compare(elsewhere, folder, restored);
      volume.remove(elsewhere);
      this.#world.happened.add(`restored to ${target.kind}`);
    });
  }

  /** `payments wal` and `payments history`, of the data folder or of a backup. */
  readLogs(random: Random): void {
    const backup = random.chance(0.5) ? this.#made.at(-1) : undefined;
    this.#command('log tool', async () => {
      const { id, generation } = backup?.manifest.folder ?? lookAtDataFolder(dataDir);
      const archived = archiveFolderOf(archiveDir, { id, generation }, 0);
      const hasArchive = backup !== undefined && this.#world.machine.volume.find(archived) !== undefined;
      const tools = new LogTools(this.#world, random, dataDir);
      const archive = hasArchive ? archiveDir : null;
      await tools.look({ id, generation }, { from: backup?.path ?? null, archive });
      this.#world.happened.add(`the log of ${backup === undefined ? 'the folder' : 'a backup'} is read`);
    });
  }

  /** A moment, an entry, or the end. */
  #targetIn({ manifest }: Backup, random: Random): RestoreTarget {
    const { folder, shards } = manifest;
    const shard = random.below(folder.shards);
    const history = this.#world.historyOf(folder, shard);
    const first = shards[shard]!.state!.sequence;
    const sequence = random.between(first, Math.max(first, this.#available(manifest, shard)));
    const wallMs = history.wallMsOf(sequence);
    if (sequence === 0 || wallMs === null || random.chance(0.2)) return { kind: 'end' };
    if (sequence > first && random.chance(0.3)) return { kind: 'sequence', shard, sequence };
    return { kind: 'time', ms: wallMs + random.between(-1, 100) };
  }

  /** The last sequence of each shard that a restore has to bring. */
  #wanted({ manifest }: Backup, target: RestoreTarget): number[] {
    return this.#histories(manifest.folder).map((history, shard) => {
      const available = this.#available(manifest, shard);
      if (target.kind === 'time') return Math.min(available, history.cutAt(target.ms));
      if (target.kind !== 'sequence') return available;
      if (target.shard === shard) return target.sequence;
      const entry = this.#world.historyOf(manifest.folder, target.shard);
      return Math.min(available, history.cutAt(entry.wallMsOf(target.sequence)!));
    });
  }

  /** How far the files of a backup and the archive go. */
  #available(manifest: Manifest, shard: number): number {
    let end = endOf(manifest, shard);
    for (const { first, last } of logFilesIn(archiveFolderOf(archiveDir, manifest.folder, shard)))
      if (first <= end + 1) end = Math.max(end, last);
    return end;
  }

  #restore({ path, manifest }: Backup, target: RestoreTarget, to: string): Promise<Restored> {
    const { simulation, settings, machine } = this.#world;
    const lane = simulation.current;
    const hasArchive = machine.volume.find(`${archiveDir}/${manifest.folder.id}`) !== undefined;
    return restore({
      from: path,
      archive: hasArchive ? archiveDir : null,
      target,
      dataDir: to,
      identities: [],
      segmentBytesMax: settings.segmentBytesMax,
      onProgress() {},
      scheduler: { soon: (run) => simulation.soon(lane, run), elapsedMs: () => simulation.nowMs },
    });
  }

  /** Every record of a restored folder is as it was, and there is no other, unless something is damaged meanwhile. */
  async #compare(path: string, of: Manifest['folder'], restored: Restored): Promise<void> {
    const world = this.#world;
    const same = (holds: boolean, what: () => string) =>
      world.judge.check('a restore equals the model', holds || world.isDamaged, what);
    same(restored.findings.length === 0, () => JSON.stringify(restored.findings[0]));
    const folder = lookAtDataFolder(path);
    for (const { shard, sequence } of restored.shards) {
      const [dir, identity] = [folder.shardDir(shard), folder.shardIdentity(shard)];
      const found = await readStoppedJournal({ dir, identity, indexRowsOf }, async (journal) => {
        const records = new Map<string, StoredRecord>();
        for (const record of journal.checkpoint.records()) records.set(record.id, record as StoredRecord);
        for await (const entries of journal.replay())
          for (const change of entries.flatMap(({ changes }) => changes))
            records.set(change.id, change as StoredRecord);
        return records;
      });
      const history = this.#world.historyOf(of, shard);
      const stored = batchesIn(world.machine.volume, foldersOfJournal(dir).log);
      if (sequence >= history.end) history.found(sequence, stored);
      const wanted = history.at(sequence);
      for (const [id, record] of wanted)
        same(
          isDeepStrictEqual(found.get(id), record),
          () => `${id} was ${JSON.stringify(record)} at ${sequence} and is ${JSON.stringify(found.get(id))}`,
        );
      for (const id of found.keys()) same(wanted.has(id), () => `${id} was not there at ${sequence} yet`);
    }
  }

  /** Whether there is a backup of the folder as it is laid out now, so that its machine may be lost. */
  get isSafe(): boolean {
    return this.#newest() !== undefined;
  }

  #newest(): Backup | undefined {
    const { id, generation } = lookAtDataFolder(dataDir);
    return this.#made.findLast(
      ({ manifest: { folder } }) => folder.id === id && folder.generation === generation,
    );
  }

  /** The service has stopped: archives what is not archived yet. */
  async completeArchive(): Promise<Backup> {
    const backup = this.#newest()!;
    const { archivers, close } = archiversOf(this.#world, lookAtDataFolder(dataDir), 0, false);
    for (const archiver of archivers) await archiver.run();
    await close();
    return backup;
  }

  /** Everything comes back on another machine. */
  async restoreLost(backup: Backup): Promise<void> {
    const restored = await this.#restore(backup, { kind: 'end' }, dataDir);
    const { folder } = backup.manifest;
    for (const { shard, sequence } of restored.shards) {
      const { durable } = this.#world.historyOf(folder, shard);
      this.#world.judge.check(
        'a restore equals the model',
        sequence >= durable,
        () => `shard ${shard} is restored up to ${sequence}, and ${durable} was acknowledged`,
      );
    }
    await this.#compare(dataDir, folder, restored);
    const made = lookAtDataFolder(dataDir);
    for (const { shard, sequence } of restored.shards)
      this.#world.historyOf(made, shard).continues(this.#world.historyOf(folder, shard), sequence);
    const { paused } = made;
    this.#world.judge.check(
      'nothing goes out while paused',
      paused !== null,
      () => 'a restored service is not paused',
    );
    this.#world.wasRestored = true;
  }
}

export type { Backup };

/** The last sequence of a shard in a backup. */
function endOf({ shards }: Manifest, shard: number): number {
  const { state, log } = shards[shard]!;
  return Math.max(state!.sequence, log.at(-1)?.last ?? 0);
}
