// Whoever runs the service: starts the process, and starts it again after it has ended, however it did.

import type { Scheduler } from '../../../src/core/scheduler.ts';
import { existingDataFolder } from '../../../src/data-folder/data-folder.ts';
import { reshardLocked } from '../../../src/data-folder/reshard.ts';
import { verifyFolder } from '../../../src/data-folder/verify-folder.ts';
import type { StoredRecord } from '../../../src/domain/record.ts';
import { JournalDamaged } from '../../../src/journal/journal.ts';
import { Folder } from '../disk/volume.ts';
import { Finding } from '../kernel/findings.ts';
import type { Lane } from '../kernel/simulation.ts';
import { type Backup, Backups, dataDir } from './backups.ts';
import type { EarlierShard } from './earlier-shard.ts';
import { isOfDisk } from './failures.ts';
import type { Runs } from './runs.ts';
import { Service } from './service.ts';
import type { World } from './world.ts';

/** An operator looks at a restored service before resuming it. */
const pauseMs = 2_000;

export class Host implements Runs {
  readonly #world: World;
  readonly #lane: Lane;
  service: Service | null = null;
  isReady = false;
  starts = 0;
  /** Hears of each start of a shard. */
  onShardStart: () => void = () => {};
  /** How the process ends that ends in the middle of an operation. */
  #withPower = false;
  #isOver = false;
  /** The command that runs in the place of the service. */
  #command: Lane | null = null;
  /** The machine was lost: the folder comes back from this backup. */
  #lostTo: Backup | null = null;
  /** A shard's folder is as it was before; this undoes it. */
  #undoPutBack: (() => void) | null = null;
  readonly backups: Backups;

  constructor(world: World) {
    this.#world = world;
    this.#lane = world.simulation.lane('host');
    const { volume } = world.machine;
    volume.put(dataDir, new Folder());
    volume.put('/vault', new Folder());
    volume.root.history = [volume.root.entries];
    this.backups = new Backups(world);
  }

  start(): void {
    const { simulation } = this.#world;
    if (this.#lostTo !== null) {
      this.#restoreLost(this.#lostTo);
      return;
    }
    this.starts++;
    this.#world.note(`start ${this.starts}`);
    const service: Service = new Service(this.#world, this.#world.machine, null, (error) =>
      simulation.soon(this.#lane, () => {
        if (this.service === service) this.#couldNotGoOn(error);
      }),
    );
    this.service = service;
    service.onShardStart = this.onShardStart;
    service.start(() =>
      simulation.soon(this.#lane, () => {
        if (this.service !== service || this.isReady) return;
        this.isReady = true;
        if (this.#undoPutBack !== null) this.#judgePutBack('it starts');
        this.#world.note('ready');
        if (this.#world.isPaused) simulation.after(this.#lane, pauseMs, () => this.service?.resume());
      }),
    );
  }

  #couldNotGoOn(error: unknown): void {
    const { name, message, stack } = error as Error;
    this.#world.note(`the process ends: ${message}`);
    const isDamage = error instanceof JournalDamaged || (name === 'DataFolderError' && !isOfDisk(error));
    const { judge, isDamaged } = this.#world;
    if (this.#undoPutBack !== null) {
      this.#judgePutBack(message);
      this.#restart(100);
      return;
    }
    if (isDamage && isDamaged) {
      // An operator has to restore a backup: the run is over.
      judge.check('damage is noticed', true, () => '');
      this.end();
      return;
    }
    judge.check('the service starts on what a crash leaves', !isDamage, () => message);
    if (!isOfDisk(error) && !isDamage)
      judge.found(new Finding('the service fails of what failed, and of nothing else', stack!));
    this.#restart(1_000);
  }

  /** The process ends now, and with the power all that was not synced. */
  crash(withPower: boolean, afterMs: number): void {
    if ((this.service === null && this.#command === null) || this.#isOver) return;
    const { machine, happened, clocks } = this.#world;
    this.#withPower = false;
    this.#cut();
    const { lost, lied } = machine.ended(withPower);
    if (lied) this.#forgotten();
    this.#world.note(withPower ? `the power fails, ${lost} files lose writes` : 'the process is killed');
    if (lost > 0) happened.add('a power cut that lost unsynced writes');
    if (withPower) clocks.reboot();
    this.#restart(afterMs, true);
    // A disk that lied while the folder was restored may have nothing of it, and an operator has to restore it again.
    if (lied && this.#lostTo === null && machine.volume.find(dataDir) === undefined) this.end();
  }

  startAnew(): () => boolean {
    this.crash(false, 100);
    return () => this.isReady;
  }

  /** The process is killed, and a shard's folder is put back as it was. The next start must refuse that; then it is undone. */
  putBack({ dir, folder }: EarlierShard): void {
    const { volume } = this.#world.machine;
    this.crash(false, 100);
    this.#world.note(`${dir} is put back as it was`);
    const own = volume.find(dir)!;
    volume.put(dir, folder);
    // A start that takes it lacks what was told: that is not found apart.
    this.#world.isForgetful = true;
    this.#undoPutBack = () => {
      volume.put(dir, own);
      this.#world.isForgetful = false;
    };
  }

  #judgePutBack(message: string): void {
    const isNoticed = /is older than the rest of|is not the one that was last used in/.test(message);
    this.#world.judge.check('a shard that is put back is noticed', isNoticed, () => message);
    this.#undoPutBack!();
    this.#undoPutBack = null;
  }

  /** The process ends in the middle of one of its next operations on the disk. */
  crashIn(operations: number, withPower: boolean): void {
    this.#withPower = withPower;
    this.#world.machine.endIn(operations);
  }

  /** The process ends in one of the first operations after a commit to a path has begun. */
  crashAtCommit(path: string, operations: number, withPower: boolean): void {
    this.#withPower = withPower;
    this.#world.machine.endsAt = { path, operations };
  }

  /** To be called after every task: a process that has ended in its middle is gone now. */
  afterTask(): void {
    const { machine, judge } = this.#world;
    const { failedLane, isDown } = machine;
    const isOfService = failedLane !== null && (this.service?.lanes.includes(failedLane) ?? false);
    machine.failedLane = null;
    if (isDown) this.crash(this.#withPower, 300);
    if (!isOfService) return;
    judge.check(
      'a write error inside the storage library ends the process',
      isDown,
      () => `${failedLane.name} has met one, and the service goes on`,
    );
  }

  /** What was acknowledged may be gone: nobody can promise more than that what is left fits together. */
  #forgotten(): void {
    const world = this.#world;
    world.happened.add('a disk that lied about a sync has lost what it was to keep');
    world.isForgetful = !world.isDamaged;
    world.isDamaged = true;
  }

  #cut(): void {
    this.service?.cut();
    this.backups.cut();
    if (this.#command !== null) this.#world.simulation.cut(this.#command);
    this.#command = null;
  }

  #restart(afterMs: number, isCut = false): void {
    if (!isCut) {
      this.#cut();
      this.#world.machine.ended(false);
    }
    this.service = null;
    this.isReady = false;
    this.#world.simulation.after(this.#lane, afterMs, () => {
      if (this.service === null && !this.#isOver) this.start();
    });
  }

  /** Stops the service as an operator does, and starts it again. */
  stop(): void {
    const { service } = this;
    if (service === null || !this.isReady) return;
    this.#world.note('stop');
    this.isReady = false;
    service.stop(() =>
      this.#world.simulation.soon(this.#lane, () => {
        if (this.service === service) this.#restart(500);
      }),
    );
  }

  compact(): void {
    this.service?.compact();
  }

  /** Stops the service, lays its folder out for so many shards, and starts it again. */
  reshard(shards: number): void {
    const { service } = this;
    if (service === null || !this.isReady) return;
    const { settings } = this.#world;
    this.#world.note(`reshard to ${shards}`);
    this.#insteadOfService('reshard', service, (scheduler) =>
      existingDataFolder(dataDir).then(async (old) => {
        const { segmentBytesMax } = settings;
        await reshardLocked(old, { shards, segmentBytesMax, scheduler });
      }),
    );
  }

  /** Stops the service, has `payments verify` look at its folder, and starts it again. */
  verify(): void {
    const { service } = this;
    if (service === null || !this.isReady) return;
    this.#world.note('verify');
    this.#insteadOfService('verify', service, async () => {
      const { findings } = await verifyFolder(await existingDataFolder(dataDir), () => {});
      this.#world.judge.check(
        'records agree with each other',
        findings.length === 0,
        () => `payments verify finds ${JSON.stringify(findings)}`,
      );
    });
  }

  /** Stops the service, has a command do its work on the folder, and starts the service again. */
  #insteadOfService(
    name: string,
    service: Service,
    run: (scheduler: Scheduler) => Promise<void>,
    onDone = () => {},
  ): void {
    const { machine, happened } = this.#world;
    this.isReady = false;
    service.stop(() => {
      if (this.service !== service) return;
      this.#cut();
      machine.ended(false);
      this.#run(name, run, (error) => {
        // Without room the folder stays as it was.
        if (error !== undefined && machine.volume.hasRoom) this.#couldNotGoOn(error);
        else {
          happened.add(error === undefined ? name : `${name} refused`);
          if (error === undefined) onDone();
          this.#restart(100);
        }
      });
    });
  }

  /** Runs a command as a process of its own; `over` hears of its end unless that is a crash. */
  #run(name: string, run: (scheduler: Scheduler) => Promise<void>, over: (error?: unknown) => void): void {
    const { simulation, machine } = this.#world;
    const lane = machine.lane(name);
    this.#command = lane;
    const scheduler = { soon: (action: () => void) => simulation.soon(lane, action), elapsedMs: () => 0 };
    const ended = (error?: unknown) => {
      if (!lane.isCut && !machine.isDown) over(error);
    };
    simulation.soon(lane, () => {
      run(scheduler).then(() => ended(), ended);
    });
  }

  /** The service stops, the archive gets the rest, and the machine is lost with its disk. */
  lose(): void {
    const { service } = this;
    if (service === null || !this.isReady || this.#world.isPaused || !this.backups.isSafe) return;
    if (this.#world.isDamaged || this.#world.settings.archiveAgeMs === 0) return;
    this.#world.note('the machine is to be replaced');
    let backup: Backup;
    this.#insteadOfService(
      'archive',
      service,
      async () => {
        backup = await this.backups.completeArchive();
      },
      () => {
        this.#lostTo = backup;
        this.#world.clocks.reboot();
      },
    );
  }

  /** Makes the folder out of its backup and the archive; what a crash has left of it goes. */
  #restoreLost(backup: Backup): void {
    const { volume } = this.#world.machine;
    this.#world.note('the folder is restored');
    // The machine in its place has a disk of its own.
    volume.isLow = false;
    volume.remove(dataDir);
    volume.root.history = [volume.root.entries];
    this.#world.folderInUse = null;
    this.#run(
      'restore',
      () => this.backups.restoreLost(backup),
      (error) => {
        if (error === undefined) {
          this.#lostTo = null;
          this.#world.happened.add('a machine was lost and restored');
          this.#restart(100);
        } else this.#couldNotGoOn(error);
      },
    );
  }

  /** Nothing is started any more. */
  end(): void {
    this.#isOver = true;
    this.#cut();
    this.service = null;
    this.isReady = false;
  }

  get openWork(): number {
    return this.service?.openWork ?? 0;
  }

  get isIdle(): boolean {
    return this.isReady && this.openWork === 0;
  }

  records(): Map<string, StoredRecord> {
    return this.service?.records() ?? new Map();
  }
}
