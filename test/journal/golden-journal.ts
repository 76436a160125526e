// A journal as a version of the service leaves it: half of its log is in the checkpoint and the other half is not. It has the
// golden records, a stored response for each, and a piece of metadata. `npm run golden` writes it beside the golden records, into a
// folder with the date.

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { causes } from '../../src/domain/cause.ts';
import { indexRowsOf } from '../../src/domain/indexes.ts';
import type { Entry } from '../../src/journal/journal.ts';
import { openJournal } from '../../src/journal/open-journal.ts';
import { goldenRecordsOf } from './golden-records.ts';
import { digest, identity, startMs } from './journal-fixtures.ts';

export const goldenFolder = join(import.meta.dirname, 'golden');

/** The entries of the journal of a date, one with each golden record. The event is about the very object that was answered. */
export const goldenEntriesOf = (date: string) =>
  Object.values(goldenRecordsOf(date)).map(
    (record, i): Entry => ({
      changes: [record],
      cause: i % 2 === 0 ? causes.request : { by: 'operator', name: 'فاطمة' },
      idempotency: {
        keyDigest: digest(i + 1),
        fingerprint: digest(-i - 1),
        slot: 7,
        status: 200,
        requestId: `req_${i + 1}`,
        body: record.kind === 'event' ? record.object_json : JSON.stringify({ id: record.id, note: 'شكرا' }),
        defaults: i % 2 === 0 ? '' : JSON.stringify({ amount: i }),
      },
    }),
  );
/** So many entries are in the checkpoint. */
export const goldenCheckpointed = 6;
export const goldenMetadata = ['org_000000000000000000000001/t', Uint8Array.of(1, 2, 3)] as const;

export function openGolden(dir: string) {
  const mapSizes = { log: 1 << 20, state: 1 << 20 };
  return openJournal({ dir, identity, indexRowsOf, mapSizes });
}

export async function writeGoldenJournal(name: string): Promise<void> {
  const dir = join(goldenFolder, name);
  const goldenEntries = goldenEntriesOf(name);
  rmSync(dir, { recursive: true, force: true });
  const journal = await openGolden(dir);
  const append = (firstSequence: number, entries: readonly Entry[]) =>
    journal.log.append({ firstSequence, timeMs: startMs, wallMs: startMs, entries }).durable;
  await append(1, goldenEntries.slice(0, goldenCheckpointed));
  await journal.checkpointer.write(goldenCheckpointed);
  await journal.checkpointer.putMetadata(new Map([goldenMetadata]));
  await append(goldenCheckpointed + 1, goldenEntries.slice(goldenCheckpointed));
  await journal.close();
  for (const part of ['state', 'log/0000000000000001']) rmSync(join(dir, part, 'data.mdb-lock'));
}
