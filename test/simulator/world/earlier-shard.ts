// A shard's folder as it was at a moment, to be put back later beside parts that are newer. A start must notice that.

import { copyOf, type Node } from '../disk/volume.ts';
import type { World } from './world.ts';

export interface EarlierShard {
  readonly dir: string;
  readonly folder: Node;
  /** Whether the shard has come further since, and still lies there. */
  isOlder(): boolean;
}

/** Keeps what lies in a shard's folder now; null while there is no folder. */
export function keepShard(world: World): EarlierShard | null {
  const { folderInUse: folder, machine, simulation } = world;
  if (folder === null) return null;
  const number = simulation.random('a shard that is put back').below(folder.shards);
  const dir = folder.shardDir(number);
  const found = machine.volume.find(dir);
  if (found === undefined) return null;
  const kept = world.historyOf(folder, number).end;
  return {
    dir,
    folder: copyOf(found),
    isOlder: () =>
      world.folderInUse?.id === folder.id &&
      world.folderInUse.generation === folder.generation &&
      world.historyOf(folder, number).durable > kept,
  };
}
