// A process for compact-checkpoint.test.ts: it compacts the checkpoint of the journal in the given folder, goes on writing at each
// report, and kills itself at the report with the given number. It prints `step <name>` for each report, and `durable <sequence>`
// for what has settled.

import { writeSync } from 'node:fs';
import { indexRowsOf } from '../../src/domain/indexes.ts';
import { openJournal } from '../../src/journal/open-journal.ts';
import { appendCycled } from './cycled.ts';
import { identity, recovered } from './journal-fixtures.ts';

const [dir, killAt] = process.argv.slice(2) as [string, string];
const options = { dir, identity, indexRowsOf, segmentBytesMax: 300_000 };
const journal = await recovered(await openJournal(options));
const say = (line: string) => writeSync(1, `${line}\n`);

let reports = 0;
await journal.checkpointer.compact(async ({ step }) => {
  say(`step ${step}`);
  if (++reports === Number(killAt)) process.kill(process.pid, 'SIGKILL');
  const sequence = await appendCycled(journal, 80);
  await journal.checkpointer.write(sequence);
  await journal.checkpointer.putMetadata(new Map([['last', Buffer.from(String(sequence))]]));
  say(`durable ${sequence}`);
});
say('step none');
await journal.close();
