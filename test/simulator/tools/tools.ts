// What operators do to the folder of a service that does not run: each tool works on a copy of the disk as it was when the faults
// ended, on a machine of its own, and the run knows what must come of it.

import { type DataFolder, shardNumbers } from '../../../src/data-folder/data-folder.ts';
import { copyOf, Folder } from '../disk/volume.ts';
import { Finding } from '../kernel/findings.ts';
import { Random } from '../kernel/random.ts';
import type { World } from '../world/world.ts';
import { breakRecords } from './broken-records.ts';
import { copyJournal } from './copied-journal.ts';
import { damageLog } from './damaged-log.ts';
import { decideCommands } from './decided-commands.ts';
import { failLog } from './failed-log.ts';
import { fileLog } from './filed-log.ts';
import { moveLog } from './moved-log.ts';
import { writeOldLayouts } from './old-layouts.ts';
import { readDialects } from './other-dialects.ts';
import { readFormat } from './read-format.ts';
import { scrubDamage } from './scrubbed-damage.ts';
import { SpareMachine } from './spare-machine.ts';

const tools: Readonly<Record<string, (spare: SpareMachine) => Promise<void>>> = {
  'a log is moved': moveLog,
  'a log is damaged': damageLog,
  'a disk refuses': failLog,
  'a log is filed': fileLog,
  'a journal is copied': copyJournal,
  'damage is scrubbed': scrubDamage,
  'records are of older layouts': writeOldLayouts,
  'records are broken': breakRecords,
  'dialects are told': readDialects,
  'commands are decided': decideCommands,
  'a log is read as its format says': readFormat,
};

/** Not in every run: a tool reads all of a log. */
const usedShare = 0.25;

export interface KeptDisk {
  readonly disk: Folder;
  readonly folder: DataFolder;
}

/** Keeps the disk as it is now for the tools, if the run has some; nothing of it changes later. */
export function keepDisk({ simulation, machine, folderInUse: folder }: World): KeptDisk | null {
  if (folder === null || !new Random(`${simulation.seed}/tools`).chance(usedShare)) return null;
  const disk = copyOf(machine.volume.root);
  return disk instanceof Folder ? { disk, folder } : null;
}

/** Uses the tools one after the other. Returns whether that is over. */
export function useTools(world: World, { disk, folder }: KeptDisk): () => boolean {
  const { simulation, judge, happened } = world;
  const random = new Random(`${simulation.seed}/use of tools`);
  const spareFor = (shard: number) => new SpareMachine(world, random, disk, folder, shard);
  const shards = shardNumbers(folder).filter((shard) => spareFor(shard).isKnown);
  const waiting = shards.length === 0 ? [] : Object.entries(tools);
  let isOver = false;
  const next = () => {
    const [name = '', use] = waiting.shift() ?? [];
    isOver = use === undefined || judge.finding !== null;
    if (use === undefined || isOver) return;
    const spare = spareFor(random.pick(shards));
    const over = () => {
      happened.add(name);
      spare.end();
      next();
    };
    const failed = (error: unknown) => {
      const assertion = 'the service fails of what failed, and of nothing else';
      judge.found(new Finding(assertion, (error as Error).stack!));
      isOver = true;
    };
    simulation.soon(spare.lane, () => void use(spare).then(over, failed));
  };
  next();
  return () => isOver;
}
