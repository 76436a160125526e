// The scrubber of a shard: it tells of what is damaged, and of nothing else.

import type { ShardIdentity } from '../../../src/disk/identity.ts';
import { indexRowsOf } from '../../../src/domain/indexes.ts';
import { LogReader } from '../../../src/journal/log-reader.ts';
import { foldersOfJournal } from '../../../src/journal/open-journal.ts';
import { Scrubber, type ScrubFinding, type ScrubState, unscrubbed } from '../../../src/journal/scrubber.ts';
import type { World } from './world.ts';

/** So much is read at once. */
const sliceBytes = 20_000;

export class Scrubbing {
  readonly #world: World;
  readonly #scrubber: Scrubber;
  readonly #found: ScrubFinding[] = [];

  constructor(world: World, dir: string, identity: ShardIdentity, state: ScrubState = unscrubbed) {
    const { log, checkpoint } = foldersOfJournal(dir);
    this.#world = world;
    this.#scrubber = new Scrubber({
      checkpoint,
      log: new LogReader(log, identity),
      indexRowsOf,
      state,
      onFinding: (finding) => this.#tell(finding),
    });
  }

  #tell(finding: ScrubFinding): void {
    const { judge, isDamaged, happened } = this.#world;
    happened.add('damage told by the scrubber');
    this.#found.push(finding);
    judge.check(
      'damage is noticed',
      isDamaged,
      () => `the scrubber tells of ${JSON.stringify(finding)}, and nothing was damaged`,
    );
  }

  /** Reads on, and tells where it is. */
  run(): ScrubState {
    this.#scrubber.run(sliceBytes, this.#world.simulation.nowMs);
    return this.#scrubber.state;
  }

  /** Reads to the end. Returns the files in which damage was found. */
  runToEnd(): ReadonlySet<string> {
    while (this.run().completedMs === null);
    return new Set(this.#found.map(({ file }) => file));
  }
}

/** What lies damaged in the folder that is in use is found. Returns whether that is over. */
export function auditDamage(world: World): () => boolean {
  const { folderInUse: folder, machine, simulation, judge } = world;
  const there = world.damages.filter((damage) => damage.isThere());
  const lane = machine.processLane('scrubber');
  const dirs = Array.from({ length: folder?.shards ?? 0 }, (_, number) => folder!.shardDir(number));
  let isOver = false;
  simulation.soon(lane, () => {
    for (const [number, dir] of dirs.entries()) {
      const damaged = there.filter(({ path }) => path.startsWith(`${dir}/`));
      if (damaged.length === 0) continue;
      const found = new Scrubbing(world, dir, folder!.shardIdentity(number)).runToEnd();
      for (const { path, row } of damaged)
        judge.check('damage is noticed', found.has(path), () => `the scrubber does not find ${path} ${row}`);
    }
    isOver = true;
  });
  return () => isOver;
}
