// Records in the checkpoint as earlier releases have written them: they are read as records of today, which have what was not known
// then as unknown; by a start, the scrubber, and a compaction.

import { crc32 } from 'node:zlib';
import { pack, unpack } from 'msgpackr';
import type { StoredRecord } from '../../../src/domain/record.ts';
import { readRecord } from '../../../src/journal/records/record-bytes.ts';
import { compactCheckpoint } from '../../../src/journal/stopped-journal.ts';
import { Scrubbing } from '../world/scrubbing.ts';
import {
  checkedRecords,
  checkpointedIn,
  checkpointFileOf,
  recordsOf,
  type SpareMachine,
} from './spare-machine.ts';
import { replaceRow, rowsIn } from './stored-log.ts';

const reads = 'a record of an older layout is read';
const organizationAt = 4;
const checksumBytes = 4;

interface OldLayout {
  readonly kind: StoredRecord['kind'];
  readonly version: number;
  /** The values as they were written then. */
  readonly values: (values: unknown[]) => unknown[];
  /** What the record of today has in place of what was not written. */
  readonly unknown: (record: StoredRecord) => object;
}

const layouts: readonly OldLayout[] = [
  {
    kind: 'event',
    version: 1,
    values: (values) => [...values.slice(0, -4), values.at(-1)],
    unknown: () => ({ by: null, by_name: null, sample: false }),
  },
  {
    kind: 'event',
    version: 2,
    values: (values) => [...values.slice(0, -2), values.at(-1)],
    unknown: () => ({ sample: false }),
  },
  {
    kind: 'webhook_endpoint',
    version: 1,
    values: (values) => values.slice(0, -2),
    unknown: () => ({ by_hand: null, failed_resent_at_ms: null }),
  },
  {
    kind: 'delivery',
    version: 1,
    values: (values) => values.slice(0, -4),
    unknown: () => ({ first_at_ms: null, first_duration_ms: null, first_status: null, answered: [] }),
  },
  {
    kind: 'attempt',
    version: 1,
    values: ([delivery, _serial, ...rest]) => [delivery, ...rest],
    unknown: () => ({ serial: null }),
  },
  {
    kind: 'network_call',
    version: 1,
    values: (values) => [...values.slice(0, -1), withoutMember(values.at(-1))],
    unknown: (record) =>
      record.kind === 'network_call' && record.request !== null
        ? { request: { ...record.request, member: null } }
        : {},
  },
];

function withoutMember(request: unknown): unknown {
  if (typeof request !== 'object' || request === null) return request;
  return Object.fromEntries(Object.entries(request).filter(([name]) => name !== 'member'));
}

/** The characters of an id in the order of their codes, from 1 on. */
const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz';

/** The key of a record: its id with the prefix last, six bits for each character. */
export function keyOf(id: string): string {
  const [prefix = '', body = ''] = id.split('_');
  const codes = [...`${body}_${prefix}`].map((each) => alphabet.indexOf(each) + 1);
  const bits = codes.map((code) => code.toString(2).padStart(6, '0')).join('');
  const bytes = bits.match(/.{1,8}/g)?.map((each) => Number.parseInt(each.padEnd(8, '0'), 2));
  return Buffer.from(bytes ?? []).toString('latin1');
}

export async function writeOldLayouts(spare: SpareMachine): Promise<void> {
  const { history, journal, world, batches } = spare;
  const checkpointed = checkpointedIn(spare);
  if (checkpointed < history.beginning) return;
  const known = history.at(checkpointed);
  const last = Math.max(checkpointed, batches.at(-1)!.lastSequence);
  const wanted = history.at(last);
  // What was changed since is in the log, as it is written today.
  for (const [id, unknown] of rewritten(spare, known))
    if (wanted.get(id) === known.get(id)) wanted.set(id, { ...wanted.get(id)!, ...unknown });
  checkedRecords(spare, reads, await recordsOf(journal), wanted, 'records of older layouts');
  new Scrubbing(world, journal.dir, journal.identity).runToEnd();
  const { dir, identity, indexRowsOf } = journal;
  await compactCheckpoint(dir, identity, indexRowsOf, () => {});
  checkedRecords(spare, reads, await recordsOf(journal), wanted, 'records of older layouts, compacted');
  new Scrubbing(world, journal.dir, journal.identity).runToEnd();
}

/** Writes some of the records anew, and tells what is not known of them any more. */
function rewritten(spare: SpareMachine, known: ReadonlyMap<string, StoredRecord>): Map<string, object> {
  const { random, volume } = spare;
  const file = checkpointFileOf(spare);
  const ids = new Map([...known.values()].map((record) => [keyOf(record.id), record]));
  const changed = new Map<string, object>();
  for (const table of ['records', 'unchanging'])
    for (const [key, value] of rowsIn(volume, file, table)) {
      const record = ids.get(key);
      const of = layouts.filter(({ kind }) => kind === record?.kind);
      if (record === undefined || of.length === 0 || random.chance(0.3)) continue;
      const layout = random.pick(of);
      const older = inLayout(Buffer.from(key, 'latin1'), value, layout);
      // Its row in an index depends on what was not known.
      if (record.kind === 'attempt') {
        const read = readRecord({ key: Buffer.from(key, 'latin1'), value: older });
        spare.same(reads, read, { ...record, ...layout.unknown(record) }, record.id);
        continue;
      }
      replaceRow(volume, file, table, key, older);
      changed.set(record.id, layout.unknown(record));
    }
  spare.world.happened.add('record of an older layout', changed.size);
  return changed;
}

function inLayout(key: Buffer, value: Buffer, { version, values }: OldLayout): Buffer {
  const start = organizationAt + value[organizationAt - 1]!;
  const head = Buffer.from(value.subarray(0, start));
  head[1] = version;
  const written: unknown[] = unpack(value.subarray(start, value.length - checksumBytes));
  const content = Buffer.concat([head, pack(values(written))]);
  const checksum = Buffer.alloc(checksumBytes);
  checksum.writeUInt32LE(crc32(content, crc32(key)));
  return Buffer.concat([content, checksum]);
}
