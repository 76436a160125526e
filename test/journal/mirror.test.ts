// Whether a mirror is a beginning of the log that other machines hold.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { JournalDamaged } from '../../src/journal/journal.ts';
import { refuseDivergence } from '../../src/journal/log/mirror.ts';

/** The checksum of the batch that ends with a sequence is that sequence times ten. */
const log = (firstSequence: number, last: number) => ({
  firstSequence,
  end: { sequence: last, checksum: last * 10 },
});
const checksumIn = (firstSequence: number) => async (sequence: number) =>
  sequence >= firstSequence ? sequence * 10 : null;

const cases = [
  { given: 'nothing, and no log', mirror: [0, 0], log: log(1, 0), refused: null },
  { given: 'nothing, and all of the log', mirror: [0, 0], log: log(1, 9), refused: null },
  {
    given: 'nothing, and the end of the log',
    mirror: [0, 0],
    log: log(5, 9),
    refused: /make the folder from a backup that reaches 4/,
  },
  { given: 'a beginning', mirror: [4, 40], log: log(1, 9), refused: null },
  { given: 'all of it', mirror: [9, 90], log: log(1, 9), refused: null },
  { given: 'all of it, which was dropped there', mirror: [9, 90], log: log(10, 9), refused: null },
  {
    given: 'what was dropped there, and nothing of the rest',
    mirror: [4, 40],
    log: log(5, 9),
    refused: null,
  },
  {
    given: 'less than was dropped there',
    mirror: [3, 30],
    log: log(5, 9),
    refused: /from sequence 5 on, and this mirror ends with 3/,
  },
  {
    given: 'another batch within the log',
    mirror: [6, 61],
    log: log(5, 9),
    refused: /this mirror ends with sequence 6/,
  },
  {
    given: 'another batch where the log begins',
    mirror: [5, 51],
    log: log(5, 9),
    refused: /this mirror ends with sequence 5/,
  },
  {
    given: 'another batch at its end',
    mirror: [9, 91],
    log: log(5, 9),
    refused: /this mirror ends with sequence 9/,
  },
  {
    given: 'another batch at its end, which was dropped',
    mirror: [9, 91],
    log: log(10, 9),
    refused: /this mirror ends with sequence 9/,
  },
  {
    given: 'more',
    mirror: [10, 100],
    log: log(5, 9),
    // Checksums are told in hexadecimal.
    refused: /has lost what it had acknowledged .* sequence 10, checksum 64, and PostgreSQL has 9, checksum/,
  },
  {
    given: 'something, where there is nothing',
    mirror: [3, 30],
    log: log(1, 0),
    refused: /has no log of partition 2/,
  },
  { given: 'a checkpoint alone', mirror: [6, null], log: log(5, 9), refused: null },
] as const;

for (const { given, mirror, log, refused } of cases)
  test(`a mirror with ${given} is ${refused === null ? 'a beginning of the log' : 'refused'}`, async () => {
    const [sequence, checksum] = mirror;
    const look = refuseDivergence(2, { sequence, checksum }, log, checksumIn(log.firstSequence));
    if (refused === null) return look;
    await assert.rejects(look, (error) => error instanceof JournalDamaged && refused.test(error.message));
  });
