// `npm run golden -- DATE` adds today's bytes to the golden files: each record on its own, and a journal with all of them. Run
// it after a change of a layout or a format, when the tests show that older files are still read.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { encodeRecord } from '../../src/journal/records/record-bytes.ts';
import { goldenFolder, writeGoldenJournal } from './golden-journal.ts';
import { goldenRecords } from './golden-records.ts';

const [name] = process.argv.slice(2);
if (name === undefined)
  throw new Error('name the files after the version that they are of: npm run golden -- 2026-11-22');
const golden = Object.entries(goldenRecords).map(([kind, record]) => {
  const { key, value } = encodeRecord(record);
  return [kind, { key: key.toString('hex'), value: value.toString('hex') }];
});
writeFileSync(join(goldenFolder, `${name}.json`), `${JSON.stringify(Object.fromEntries(golden), null, 2)}\n`);
await writeGoldenJournal(name);
