// Which entries of a log are found by their times, also where the machine's clock was wrong for a while.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { type FoundEntry, isDefect, type LogDefect, LogReader } from '../../../src/journal/log-reader.ts';
import { openJournal } from '../../../src/journal/open-journal.ts';
import { newest, selected } from '../../../src/operator/cli/log-selection.ts';
import { identity, segmentEachTurn, startMs, turnAt } from '../../journal/journal-fixtures.ts';
import { temporaryFolder } from '../../temporary-folder.ts';

const hourMs = 3_600_000;
/** The hour of each entry, and how far the clock was off. */
const entries = [
  [0, 0],
  [1, 0],
  [1.1, 30],
  [2, 0],
  [2.5, -100_000],
  [3, 0],
  [4, 0],
] as const;

const numbersOf = (found: readonly (FoundEntry | LogDefect)[]) =>
  found.map((each) => (isDefect(each) ? each.defect : each.sequence));

for (const [place, segmentBytesMax] of [
  ['segments of their own', 1],
  ['one segment', 1 << 20],
] as const)
  test(`entries in ${place} are found by their times, though the clock was ahead and behind in between`, async (context) => {
    const dir = temporaryFolder(context);
    const journal = await openJournal({ ...segmentEachTurn(dir), segmentBytesMax });
    for await (const _ of journal.replay());
    for (const [i, [hour, off]] of entries.entries()) {
      const timeMs = startMs + hour * hourMs;
      await journal.log.append({ ...turnAt(i + 1, 1, timeMs), wallMs: timeMs + off * hourMs }).durable;
    }
    await journal.close();
    const folder = {
      name: dir,
      shards: [new LogReader(join(dir, 'log'), identity)],
      stateOf: () => null,
      directoryDefect: async () => null,
    };
    const at = (hour: number) => startMs + hour * hourMs;
    const found = async (since: number, until: number) => {
      const all: (FoundEntry | LogDefect)[] = [];
      for await (const each of selected(folder, { since: at(since), until: at(until) })) all.push(each);
      return numbersOf(all);
    };
    assert.deepEqual(await found(1.5, 2.4), [4]);
    assert.deepEqual(await found(0.5, 3.5), [2, 4, 6]);
    assert.deepEqual(await found(30, 40), [3]);
    assert.deepEqual(numbersOf(await newest(folder, { since: at(0.9), until: at(5) }, 10)), [2, 4, 6, 7]);
  });
