// Whoever runs the service: starts the process, and starts it again after it has ended, however it did.

import type { StoredRecord } from '../../../src/domain/record.ts';
import { JournalDamaged } from '../../../src/journal/journal.ts';
import { existingDataFolder } from '../../../src/process/data-folder.ts';
import { reshardTaken } from '../../../src/process/reshard.ts';
import { Folder } from '../disk/volume.ts';
import { Finding } from '../kernel/findings.ts';
import type { Lane } from '../kernel/simulation.ts';
import { dataDir, Service } from './service.ts';
import type { World } from './world.ts';

export class Host {
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
  #resharding: Lane | null = null;

  constructor(world: World) {
    this.#world = world;
    this.#lane = world.simulation.lane('host');
    const { volume } = world.machine;
    volume.put(dataDir, new Folder());
    volume.root.history = [volume.root.entries];
  }

  start(): void {
    const { simulation } = this.#world;
    this.starts++;
    this.#world.note(`start ${this.starts}`);
    const service: Service = new Service(this.#world, (error) =>
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
        this.#world.note('ready');
      }),
    );
  }

  #couldNotGoOn(error: unknown): void {
    const { name, message, stack } = error as Error;
    this.#world.note(`the process ends: ${message}`);
    const isDamage = error instanceof JournalDamaged || name === 'DataFolderError';
    const { judge, isDamaged } = this.#world;
    if (isDamage && isDamaged) {
      // An operator has to restore a backup: the run is over.
      judge.check('damage is noticed', true, () => '');
      this.end();
      return;
    }
    judge.check('the service starts on what a crash leaves', !isDamage, () => message);
    const code = (error as { code?: unknown }).code;
    const isOfDisk =
      ['JournalFailure', 'MachineDown'].includes(name) || code === 5 || code === 28 || code === 'ENOSPC';
    if (!isOfDisk && !isDamage)
      judge.found(new Finding('the service fails of what failed, and of nothing else', stack!));
    this.#restart(1_000);
  }

  /** The process ends now, and with the power all that was not synced. */
  crash(withPower: boolean, afterMs: number): void {
    if (this.service === null || this.#isOver) return;
    const { machine, happened, clocks } = this.#world;
    this.service.cut();
    if (this.#resharding !== null) this.#world.simulation.cut(this.#resharding);
    const lost = machine.ended(withPower);
    this.#world.note(withPower ? `the power fails, ${lost} files lose writes` : 'the process is killed');
    if (lost > 0) happened.add('a power cut that lost unsynced writes');
    if (withPower) clocks.reboot();
    this.#restart(afterMs, true);
  }

  /** The process ends in the middle of one of its next operations on the disk. */
  crashIn(operations: number, withPower: boolean): void {
    this.#withPower = withPower;
    this.#world.machine.endIn(operations);
  }

  /** To be called after every task: a process that has ended in its middle is gone now. */
  afterTask(): void {
    if (this.#world.machine.isDown) this.crash(this.#withPower, 300);
  }

  #restart(afterMs: number, isCut = false): void {
    if (!isCut) {
      this.service?.cut();
      if (this.#resharding !== null) this.#world.simulation.cut(this.#resharding);
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

  /** Stops the service, lays its folder out for so many shards, and starts it again. */
  reshard(shards: number): void {
    const { service } = this;
    if (service === null || !this.isReady) return;
    const { simulation, machine, settings, happened } = this.#world;
    this.#world.note(`reshard to ${shards}`);
    this.isReady = false;
    service.stop(() => {
      if (this.service !== service) return;
      service.cut();
      machine.ended(false);
      const lane = simulation.lane('reshard');
      this.#resharding = lane;
      const scheduler = { soon: (run: () => void) => simulation.soon(lane, run), elapsedMs: () => 0 };
      const ended = (error?: unknown) => {
        if (lane.isCut || machine.isDown) return;
        // Without room the folder stays as it was.
        if (error !== undefined && !machine.volume.isFull) this.#couldNotGoOn(error);
        else {
          happened.add(error === undefined ? 'resharded' : 'reshard refused');
          this.#restart(100);
        }
      };
      simulation.soon(lane, () => {
        existingDataFolder(dataDir)
          .then((old) =>
            reshardTaken(old, {
              shards,
              segmentBytesMax: settings.segmentBytesMax,
              scheduler,
              warn: () => {},
            }),
          )
          .then(() => ended(), ended);
      });
    });
  }

  /** Nothing is started any more. */
  end(): void {
    this.#isOver = true;
    this.service?.cut();
    this.service = null;
    this.isReady = false;
  }

  #states() {
    return (this.service?.shards ?? []).map((thread) => thread?.shard?.state);
  }

  /** What the service has yet to do by itself: deliveries to make, network calls to settle. */
  get openWork(): number {
    let open = 0;
    for (const state of this.#states()) {
      if (state === undefined) return Infinity;
      open += state.records.count('operation') + state.outbox.draining.size;
      for (const endpoint of state.records.scan('endpoint', { descending: false })) {
        if (endpoint.kind === 'webhook_endpoint' && endpoint.status === 'enabled')
          open += state.records.count(`due/endpoint=${endpoint.id}`);
      }
    }
    return open;
  }

  get isIdle(): boolean {
    return this.isReady && this.openWork === 0;
  }

  /** Every record of every shard, as the shards show them. */
  records(): Map<string, StoredRecord> {
    const records = new Map<string, StoredRecord>();
    for (const thread of this.service?.shards ?? [])
      for (const [id, record] of thread?.records() ?? []) records.set(id, record);
    return new Map(
      [...records].sort(([a], [b]) => (a.slice(a.indexOf('_')) < b.slice(b.indexOf('_')) ? -1 : 1)),
    );
  }
}
