// What is done to the files of a shard while it runs: an operator has the checkpoint compacted, and the scrubber reads all that
// is stored. And what must hold whenever something of the log was dropped.

import type { ShardIdentity } from '../../../src/disk/identity.ts';
import type { Checkpointer, Journal } from '../../../src/journal/journal.ts';
import { foldersOfJournal } from '../../../src/journal/open-journal.ts';
import type { Machine } from '../disk/machine.ts';
import { Folder } from '../disk/volume.ts';
import type { Lane } from '../kernel/simulation.ts';
import { KeptLog } from '../oracle/kept-log.ts';
import type { CheckpointLane } from './checkpoint-lane.ts';
import { isOfDisk } from './failures.ts';
import type { History } from './history.ts';
import { Scrubbing } from './scrubbing.ts';
import type { World } from './world.ts';

export interface ShardToolsOptions {
  readonly world: World;
  readonly machine: Machine;
  /** That of the shard's thread. */
  readonly lane: Lane;
  readonly dir: string;
  readonly identity: ShardIdentity;
  readonly journal: Journal;
  readonly history: History;
}

export class ShardTools {
  readonly #options: ShardToolsOptions;
  readonly #keptLog: KeptLog;
  /** How many compactions are under way. */
  #compacting = 0;

  constructor(options: ShardToolsOptions) {
    this.#options = options;
    this.#keptLog = new KeptLog({ ...options, folder: foldersOfJournal(options.dir).log });
  }

  /** The journal's checkpointer, of which each drop is watched. */
  get checkpointer(): Checkpointer {
    const { checkpointer } = this.#options.journal;
    return {
      ...checkpointer,
      drop: async (olderThanMs) => {
        const wasCompacting = this.#compacting > 0;
        const firstSequence = await checkpointer.drop(olderThanMs);
        // A copy of the checkpoint is brought up to date from the log.
        this.#keptLog.dropped(olderThanMs, firstSequence, wasCompacting || this.#compacting > 0);
        return firstSequence;
      },
    };
  }

  /** An operator who sees nothing asks a second time. */
  compact(): void {
    const { world, lane } = this.#options;
    world.simulation.soon(lane, async () => {
      const areDone = await Promise.all([this.#compact(), this.#compact()]);
      const what = () => `${lane.name} compacts its checkpoint twice at once`;
      world.judge.check('one checkpoint is left by a compaction', areDone.includes(false), what);
    });
  }

  /** Resolves when it is over, with whether it was done. */
  async #compact(): Promise<boolean> {
    const { world, machine, journal } = this.#options;
    this.#compacting++;
    try {
      await journal.checkpointer.compact(() => {});
      this.#compacted();
      return true;
    } catch (error) {
      world.judge.check(
        'the service fails of what failed, and of nothing else',
        machine.isDown || isOfDisk(error) || world.isDamaged,
        () => (error as Error).stack ?? String(error),
      );
      return false;
    } finally {
      this.#compacting--;
    }
  }

  #compacted(): void {
    const { world, machine, dir } = this.#options;
    world.happened.add('compacted');
    const found = machine.volume.find(dir);
    const names = found instanceof Folder ? [...found.entries.keys()] : [];
    const states = names.filter((name) => name.startsWith('state'));
    world.judge.check(
      'one checkpoint is left by a compaction',
      states.length === 1 || this.#compacting > 1,
      () => `${dir} has ${states}`,
    );
  }

  /** `lane` is that of the thread in which the scrubber runs. */
  scrub(lane: CheckpointLane): void {
    const { world, dir, identity } = this.#options;
    const over = () => world.happened.add('scrubbed');
    void lane.scrub((state) => new Scrubbing(world, dir, identity, state)).then(over);
  }
}
