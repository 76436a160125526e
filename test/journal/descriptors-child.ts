// A process for descriptors.test.ts, which gives it few file descriptors. It opens the journal in the given folder, takes all
// descriptors that are left, and appends: first to a log without any segment, then far beyond the end of a segment. Finally
// it frees the descriptors. It prints what happened as one line of JSON.

import { closeSync, openSync, readdirSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { openJournal } from '../../src/journal/open-journal.ts';
import { appendTurns, digest, identity, indexRowsOf } from './journal-fixtures.ts';

const dir = process.argv[2]!;
const segmentsOf = () => readdirSync(join(dir, 'log')).length;
const journal = await openJournal({
  dir,
  identity,
  indexRowsOf,
  segmentBytesMax: 100_000,
});
const taken: number[] = [];
try {
  for (;;) taken.push(openSync('/dev/null', 'r'));
} catch {
  // No descriptor is left, which is the purpose.
}
const { locations, durable } = journal.log.append({
  firstSequence: 1,
  timeMs: 0,
  wallMs: 0,
  entries: [
    {
      changes: [],
      idempotency: {
        keyDigest: digest(1),
        fingerprint: digest(2),
        slot: 0,
        status: 200,
        requestId: 'req_1',
        body: Buffer.from('{}'),
        defaults: '',
      },
      cause: null,
    },
  ],
});
await durable;
for (let round = 0; round < 8; round++) await appendTurns(journal, [50]);
const answer = journal.log.readResponse(locations[0]!, digest(1));
for (const descriptor of taken) closeSync(descriptor);
const starved = segmentsOf();
for (let round = 0; round < 8; round++) await appendTurns(journal, [50]);
const { nextSequence } = journal.log;
await journal.close();
const seen = { nextSequence, starved, segments: segmentsOf(), status: answer?.status };
writeSync(1, `${JSON.stringify(seen)}\n`);
