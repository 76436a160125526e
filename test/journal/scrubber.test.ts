// The scrubber on a shard's real files: a sound folder has nothing to tell, and a damaged byte of each kind of thing is told.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { dataFile, openEnvironment, openTable } from '../../src/disk/environment.ts';
import { partOf } from '../../src/disk/identity.ts';
import { FileDamage } from '../../src/disk/lmdb-pages.ts';
import { CheckpointReader } from '../../src/journal/checkpoint/checkpoint-reader.ts';
import { checkpointTables } from '../../src/journal/checkpoint/checkpoint-tables.ts';
import { ResponseTable } from '../../src/journal/checkpoint/response-table.ts';
import { isDefect, LogReader } from '../../src/journal/log-reader.ts';
import { keyOfId } from '../../src/journal/records/record-bytes.ts';
import { Scrubber, type ScrubFinding, type ScrubState, unscrubbed } from '../../src/journal/scrubber.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import {
  appendTurns,
  customer,
  digest,
  encoded,
  flip,
  identity,
  indexRowsOf,
  journalIn,
  overwrite,
  paymentIntent,
} from './journal-fixtures.ts';

const nowMs = Date.UTC(2026, 10, 22);
const entries = 900;

interface Folder {
  readonly checkpoint: string;
  readonly file: string;
  readonly log: LogReader;
}

/** A shard's folder with several segments, and a checkpoint that has most of their entries. */
async function written(context: TestContext): Promise<Folder> {
  const dir = temporaryFolder(context);
  const mapSizes = { log: 1 << 24, state: 1 << 24 };
  const journal = await journalIn(dir, {
    mapSizes,
    segmentBytesMax: 256 * 1024,
  });
  for (let first = 0; first < entries; first += 30) await appendTurns(journal, [30]);
  await journal.checkpointer.write(entries);
  await appendTurns(journal, [5]);
  await journal.checkpointer.putMetadata(new Map([['org_1/t', Uint8Array.of(1, 2, 3)]]));
  await journal.close();
  const checkpoint = join(dir, 'state');
  return { checkpoint, file: dataFile(checkpoint), log: new LogReader(join(dir, 'log'), identity) };
}

interface Scrubbed {
  readonly findings: ScrubFinding[];
  readonly scrubber: Scrubber;
}

function scrubberOf({ checkpoint, log }: Folder, state: ScrubState = unscrubbed): Scrubbed {
  const findings: ScrubFinding[] = [];
  const onFinding = (finding: ScrubFinding) => void findings.push(finding);
  return { findings, scrubber: new Scrubber({ checkpoint, log, indexRowsOf, state, onFinding }) };
}

/** Reads all, so many bytes at a time. */
function pass(folder: Folder, bytes = 1 << 20): Scrubbed {
  const scrubbed = scrubberOf(folder);
  while (scrubbed.scrubber.state.completedMs === null) scrubbed.scrubber.run(bytes, nowMs);
  return scrubbed;
}

/** Where a row of a table lies: the row in the middle. */
function rowIn({ checkpoint }: Folder, table: string): { at: number; length: number; key: Buffer } {
  const reader = new CheckpointReader(checkpoint);
  const rows = [...reader.file.rows(table)].filter((row) => !(row instanceof FileDamage));
  reader.close();
  return rows[Math.floor(rows.length / 2)] as never;
}

test('a folder that is as it was written has nothing to tell, however small the slices are', async (context) => {
  const folder = await written(context);
  for (const bytes of [1 << 20, 5_000, 1]) {
    const { findings, scrubber } = pass(folder, bytes);
    assert.deepEqual(findings, []);
    assert.deepEqual(scrubber.state, { ...unscrubbed, completedMs: nowMs });
  }
});

test('a pass reads the whole of the checkpoint and of the log', async (context) => {
  const folder = await written(context);
  const { scrubber } = scrubberOf(folder);
  let bytes = 0;
  while (scrubber.state.completedMs === null) {
    bytes = Math.max(bytes, scrubber.state.bytes);
    scrubber.run(1_000, nowMs);
  }
  let logBytes = 0;
  for (const batch of folder.log.read()) if (!isDefect(batch)) logBytes += batch.bytes.length;
  assert(bytes > logBytes, `${bytes} ${logBytes}`);
  assert(bytes <= scrubber.totalBytes, `${bytes} ${scrubber.totalBytes}`);
});

test('a scrubber goes on where another one has stopped', async (context) => {
  const folder = await written(context);
  const { at } = rowIn(folder, 'records');
  flip(folder.file, at + 5);
  const parts: number[] = [];
  let state = unscrubbed;
  let found = 0;
  for (let slices = 0; state.completedMs === null; slices++) {
    assert(slices < 10_000, JSON.stringify(state));
    const { findings, scrubber } = scrubberOf(folder, JSON.parse(JSON.stringify(state)));
    scrubber.run(2_000, nowMs);
    found += findings.length;
    state = scrubber.state;
    parts.push(state.part);
  }
  assert.equal(found, 1);
  assert.equal(state.damagedBefore, 1);
  // It never began again.
  const { part: _, ...ends } = state;
  assert.equal(ends.after, '');
  const ascending = parts.slice(0, -1);
  assert.deepEqual(
    ascending,
    [...ascending].sort((a, b) => a - b),
  );
  assert(new Set(parts).size > 4, parts.join());
});

interface Damage {
  readonly name: string;
  /** Damages something, and says where. */
  damage(
    folder: Folder,
  ):
    | Promise<{ readonly file: string; readonly byte?: number }>
    | { readonly file: string; readonly byte?: number };
  readonly defect: RegExp;
  readonly advice: RegExp;
}

const lengthOfPage = 4096;

/** Changes tables of the checkpoint as a fault of a program would. */
async function change(
  { checkpoint }: Folder,
  change: (table: (name: string) => ReturnType<typeof openTable>) => void,
) {
  const environment = openEnvironment({
    folder: checkpoint,
    part: partOf(identity, 'state'),
    mapSize: 1 << 24,
    check: 'none',
  });
  environment.transactionSync(() => change((name) => openTable(environment, name)));
  await environment.close();
}

const damages: readonly Damage[] = [
  ...['records', 'unchanging'].map(
    (table): Damage => ({
      name: `a byte of a record in the table ${table}`,
      damage(folder) {
        const { at, length } = rowIn(folder, table);
        flip(folder.file, at + length - 1);
        return { file: folder.file, byte: at };
      },
      defect: /the record (pi|evt)_\d+ is not as it was written/,
      advice: /restore the data folder from a backup/,
    }),
  ),
  {
    name: 'a page of the records',
    damage(folder) {
      const { at } = rowIn(folder, 'records');
      const page = Math.floor(at / lengthOfPage) * lengthOfPage;
      overwrite(folder.file, page, Buffer.alloc(lengthOfPage));
      return { file: folder.file, byte: page };
    },
    defect: /page \d+ is overwritten/,
    advice: /restore the data folder from a backup/,
  },
  {
    name: 'a page of the index',
    damage(folder) {
      const { at } = rowIn(folder, 'index');
      const page = Math.floor(at / lengthOfPage) * lengthOfPage;
      overwrite(folder.file, page, Buffer.alloc(lengthOfPage));
      return { file: folder.file, byte: page };
    },
    defect: /page \d+ is overwritten/,
    advice: /restore the data folder from a backup/,
  },
  {
    name: 'an index row that is missing',
    async damage(folder) {
      const { key } = rowIn(folder, 'index');
      await change(folder, (table) => table('index').removeSync(key));
      return { file: folder.file };
    },
    defect: /the record (pi|evt)_\d+ lacks its row in the index /,
    advice: /the records are sound/,
  },
  {
    name: 'an index row that is missing, without the value of its index',
    async damage(folder) {
      const [record] = encoded([customer(7, 'aicha@example.ma')]);
      await change(folder, (table) => table('records').putSync(record!.key, record!.value));
      return { file: folder.file };
    },
    defect: /^the record cus_\d+ lacks its row in the index customer\/email=$/,
    advice: /the records are sound/,
  },
  {
    name: 'an index row of a record that is not there',
    async damage(folder) {
      const key = keyOfId(paymentIntent(Math.floor(entries / 2)).id)!;
      await change(folder, (table) => assert(table('records').removeSync(key)));
      return { file: folder.file };
    },
    defect: /the index payment_intent has the row pi_\d+, and there is no such record/,
    advice: /the records are sound/,
  },
  {
    name: 'an index row that its record does not ask for',
    async damage(folder) {
      const reader = new CheckpointReader(folder.checkpoint);
      const record = paymentIntent(7);
      const stray = reader.keyOf({
        list: 'payment_intent/status/requires_payment_method',
        value: null,
        sortKey: record.id,
      })!;
      reader.close();
      // The list of all gets the number of another list in one row.
      const wrong = Buffer.from(stray);
      wrong[0] = wrong[0] === 1 ? 2 : 1;
      await change(folder, (table) => {
        table('index').putSync(Buffer.concat([wrong.subarray(0, 1), rowOf('evt_zzz')]), Buffer.alloc(0));
      });
      return { file: folder.file };
    },
    defect: /and there is no such record|does not ask for/,
    advice: /the records are sound/,
  },
  {
    name: 'a byte of the idempotency keys',
    damage(folder) {
      const { at, length } = rowIn(folder, checkpointTables.idempotency);
      flip(folder.file, at + Math.floor(length / 2));
      return { file: folder.file, byte: at };
    },
    defect: /idempotency keys are not as they were written/,
    advice: /restore the data folder from a backup/,
  },
  {
    name: 'a byte of a stored response that was moved out of the log',
    async damage(folder) {
      const response = { status: 200, requestId: 'req_1', body: '{"object":"payment_intent"}', defaults: '' };
      const moved = [1, 4, 7].map((record) => ({
        location: { record, offset: 30 },
        keyDigest: digest(record),
        timeMs: nowMs,
        response,
      }));
      await change(folder, (table) => new ResponseTable(table('responses'), (read) => read()).put(moved));
      const { at, length } = rowIn(folder, 'responses');
      flip(folder.file, at + length - 1);
      return { file: folder.file, byte: at };
    },
    defect: /the stored response of the commit batch 4 at offset 30 is not as it was written/,
    advice: /restore the data folder from a backup/,
  },
  {
    name: 'a byte of an old segment',
    damage({ log }) {
      const batches = [...log.read()];
      const batch = batches[3]!;
      assert(!isDefect(batch));
      flip(batch.file, batch.byte! + 200);
      return { file: batch.file, byte: batch.byte! };
    },
    defect: /begins with 91: its checksum does not match/,
    advice: /"payments wal verify" tells which, and what to do/,
  },
  {
    name: 'the header pages of the checkpoint',
    damage({ file }) {
      overwrite(file, 0, Buffer.alloc(2 * lengthOfPage));
      return { file, byte: 0 };
    },
    defect: /its header page 0 is overwritten/,
    advice: /restore the data folder from a backup/,
  },
];

/** A sort key as it is packed. */
function rowOf(sortKey: string): Buffer {
  const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz';
  let bits = '';
  for (const character of sortKey) bits += (alphabet.indexOf(character) + 1).toString(2).padStart(6, '0');
  const bytes = bits.padEnd(Math.ceil(bits.length / 8) * 8, '0').match(/.{8}/g)!;
  return Buffer.from(bytes.map((byte) => Number.parseInt(byte, 2)));
}

for (const { name, damage, defect, advice } of damages) {
  test(`${name}: damage is told, with its place and what to do`, async (context) => {
    const folder = await written(context);
    const place = await damage(folder);
    const { findings, scrubber } = pass(folder, 10_000);
    assert.notEqual(findings.length, 0);
    const told = findings.find((finding) => defect.test(finding.defect));
    assert(told !== undefined, JSON.stringify(findings));
    assert.equal(told.file, place.file);
    if (place.byte !== undefined) assert.equal(told.byte, place.byte);
    assert.match(told.advice, advice);
    assert.equal(scrubber.state.damagedBefore, findings.length);
    // The next pass tells it again, and one that finds nothing forgets it.
    assert.equal(
      new Set(findings.map(({ file, byte, defect }) => `${file} ${byte} ${defect}`)).size,
      findings.length,
    );
    const again = scrubberOf(folder, scrubber.state);
    const before = again.scrubber.state;
    do again.scrubber.run(1 << 20, nowMs + 1);
    while (again.scrubber.state.completedMs === before.completedMs);
    assert.equal(again.findings.length, findings.length);
  });
}

test('what comes after a large record whose pages are overwritten is read all the same', async (context) => {
  const folder = await written(context);
  const [large] = encoded([paymentIntent(7, { description: 'x'.repeat(3 * lengthOfPage) })]);
  await change(folder, (table) => table('records').putSync(large!.key, large!.value));
  const later = rowIn(folder, 'records');
  const reader = new CheckpointReader(folder.checkpoint);
  const [row] = [...reader.file.rows('records')].filter(
    (each) => !(each instanceof FileDamage) && each.key.equals(large!.key),
  );
  reader.close();
  assert(row !== undefined && !(row instanceof FileDamage) && row.key < later.key);
  const page = Math.floor(row.at / lengthOfPage) * lengthOfPage;
  overwrite(folder.file, page, Buffer.alloc(lengthOfPage));
  flip(folder.file, later.at + later.length - 1);
  const { findings } = pass(folder);
  assert.deepEqual(
    findings.map(({ byte }) => byte),
    [page, later.at],
  );
});

test('a checkpoint that is written between slices is not taken for a damaged one', async (context) => {
  const dir = temporaryFolder(context);
  const mapSizes = { log: 1 << 24, state: 1 << 24 };
  const journal = await journalIn(dir, { mapSizes });
  const folder = { checkpoint: join(dir, 'state'), file: '', log: new LogReader(join(dir, 'log'), identity) };
  const { findings, scrubber } = scrubberOf(folder);
  let passes = 0;
  for (let round = 0; passes < 3; round++) {
    assert(round < 5_000);
    await appendTurns(journal, [7]);
    const sequence = journal.log.nextSequence - 1;
    // Records change, and so do their index rows.
    const status = round % 2 === 0 ? 'succeeded' : 'canceled';
    const changed = [
      paymentIntent(1 + (round % 50), { status }),
      customer(round % 9, `c${round}@shop.example`),
    ];
    await journal.checkpointer.write(sequence);
    await journal.checkpoint.write({
      records: encoded(changed),
      sequence: journal.checkpoint.sequence,
      idempotencyRecords: [],
    });
    const { completedMs } = scrubber.state;
    scrubber.run(20_000, nowMs + round);
    if (scrubber.state.completedMs !== completedMs) passes++;
  }
  assert.deepEqual(findings, []);
  await journal.close();
});
