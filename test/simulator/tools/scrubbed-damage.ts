// One thing in a shard's folder is damaged, and the scrubber, which reads a little at a time and goes on after each restart, tells of
// just that, once in each pass.

import { indexRowsOf } from '../../../src/domain/indexes.ts';
import { LogReader } from '../../../src/journal/log-reader.ts';
import { foldersOfJournal } from '../../../src/journal/open-journal.ts';
import { Scrubber, type ScrubFinding, type ScrubState, unscrubbed } from '../../../src/journal/scrubber.ts';
import { checkpointFileOf, type SpareMachine } from './spare-machine.ts';
import { replaceBatch, replaceRow, rowsIn, withTurnedBit } from './stored-log.ts';

const notices = 'damage is noticed';

/** What must be told of it. */
interface Told {
  readonly file: string;
  /** The place of a row; null: of one that belongs to what is damaged. */
  readonly row: number | null;
  readonly words: RegExp;
}

export async function scrubDamage(spare: SpareMachine): Promise<void> {
  const file = checkpointFileOf(spare);
  spare.same(notices, scrub(spare, []), [], 'what is told of a sound folder');
  const told = spare.random.chance(0.2) ? damageBatch(spare) : damageRow(spare, file);
  if (told === null) return;
  const states: ScrubState[] = [];
  const passes = [scrub(spare, states), scrub(spare, states)];
  for (const found of passes) {
    const [first] = found;
    const holds =
      found.length === 1 &&
      first?.file === told.file &&
      (told.row === null || first.byte === told.row) &&
      told.words.test(first.defect) &&
      first.advice !== '';
    spare.check(
      notices,
      holds,
      () => `of ${JSON.stringify(told)} ${told.words} is told ${JSON.stringify(found)}`,
    );
  }
  const counts = states.map(({ damagedBefore, damaged, part, after }) => [
    damagedBefore,
    damaged,
    part,
    after,
  ]);
  spare.same(
    notices,
    counts,
    [1, 1].map((each) => [each, 0, 0, '']),
    'what a pass has counted',
  );
}

/** One pass, after which `states` has where the scrubber is. */
function scrub(spare: SpareMachine, states: ScrubState[]): ScrubFinding[] {
  const { random, journal, world } = spare;
  const { checkpoint, log } = foldersOfJournal(journal.dir);
  const found: ScrubFinding[] = [];
  let state = states.at(-1) ?? unscrubbed;
  const { nowMs } = world.simulation;
  const isOver = () => state.completedMs !== null && state.bytes === 0;
  do {
    const scrubber = new Scrubber({
      checkpoint,
      log: new LogReader(log, journal.identity),
      indexRowsOf,
      state,
      onFinding: (finding) => found.push(finding),
    });
    // Now and then it starts again.
    do {
      scrubber.run(random.between(1, 40_000), nowMs);
      state = scrubber.state;
    } while (!isOver() && random.chance(0.8));
  } while (!isOver());
  spare.same(notices, state.completedMs, nowMs, 'when a pass is completed');
  states.push(state);
  return found;
}

function damageBatch(spare: SpareMachine): Told {
  const batch = spare.random.pick(spare.batches);
  replaceBatch(spare.volume, batch, withTurnedBit(batch, spare.random));
  const words = new RegExp(
    `the batch that begins with ${batch.firstSequence}: .*entries from ${batch.firstSequence} on`,
  );
  return { file: batch.file, row: batch.row, words };
}

/** What is said of a damaged row of a table. */
const tables = {
  records: /the record \w+ is not as it was written/,
  unchanging: /the record \w+ is not as it was written/,
  idempotency: /idempotency keys are not as they were written/,
  responses: /the stored response of the commit batch \d+ at offset \d+ is not as it was written/,
  index: /the record \w+ lacks its row in the index/,
} as const;

function damageRow(spare: SpareMachine, file: string): Told | null {
  const { random, volume } = spare;
  const table = random.pick(Object.keys(tables) as (keyof typeof tables)[]);
  const rows = [...rowsIn(volume, file, table)];
  const words = tables[table];
  if (rows.length === 0) return null;
  const row = random.below(rows.length);
  const [key, value] = rows[row]!;
  if (table === 'index') {
    replaceRow(volume, file, table, key, null);
    return { file, row: null, words };
  }
  const turned = Buffer.from(value);
  turned[random.below(turned.length)]! ^= 1 << random.below(8);
  replaceRow(volume, file, table, key, turned);
  return { file, row, words };
}
