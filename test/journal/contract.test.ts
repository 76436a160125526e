// What every journal must do. The tests run on the journal on LMDB and on the one in memory.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { IdempotencyRecord, OwnJournal, ResponseLocation } from '../../src/journal/journal.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import {
  appendTurns,
  createEntry,
  customer,
  digest,
  encoded,
  indexRowsOf,
  journalIn,
  paymentIntent,
  recovered,
  replayOf,
  sequencesOf,
  startMs,
  turnAt,
  upTo,
} from './journal-fixtures.ts';
import { MemoryJournal } from './memory-journal.ts';

const hourMs = 3_600_000;

interface Subject {
  journal: OwnJournal;
  /** Closes the journal and opens it again. */
  reopen(): Promise<void>;
}

async function onDisk(context: TestContext): Promise<Subject> {
  const dir = temporaryFolder(context);
  // So small that each turn has a segment of its own, as in the twin.
  const open = () => journalIn(dir, { segmentBytesMax: 1 });
  const subject = {
    journal: await open(),
    async reopen() {
      await subject.journal.close();
      subject.journal = await open();
    },
  };
  context.after(() => subject.journal.close());
  return subject;
}

async function inMemory(): Promise<Subject> {
  let journal = new MemoryJournal(indexRowsOf);
  const subject: Subject = {
    journal,
    async reopen() {
      journal = journal.reopen();
      subject.journal = journal;
    },
  };
  return subject;
}

for (const [name, open] of [
  ['on LMDB', onDisk],
  ['in memory', inMemory],
] as const) {
  test(`${name}: what was appended is replayed, entry by entry`, async (context) => {
    const subject = await open(context);
    assert.equal(subject.journal.log.nextSequence, 1);
    assert.deepEqual(await replayOf(subject.journal), []);
    await appendTurns(subject.journal, [1, 3, 2]);
    await subject.reopen();
    const replayed = await replayOf(subject.journal);
    assert.deepEqual(sequencesOf(replayed), upTo(6));
    assert.equal(subject.journal.log.nextSequence, 7);
    for (const entry of replayed) {
      const written = createEntry(entry.sequence, entry.sequence % 2 === 1);
      assert.deepEqual(entry.changes, written.changes);
      assert.equal(entry.timeMs, startMs);
      assert.equal(entry.idempotency?.usedAtMs, written.idempotency === null ? undefined : startMs);
      assert.deepEqual(entry.idempotency?.keyDigest, written.idempotency?.keyDigest);
      assert.deepEqual(entry.idempotency?.fingerprint, written.idempotency?.fingerprint);
    }
  });

  test(`${name}: stored responses are read while written, afterwards, and after a restart`, async (context) => {
    const subject = await open(context);
    const { locations, durable } = subject.journal.log.append(turnAt(1, 4));
    const second = subject.journal.log.append(turnAt(5, 1));
    assert.deepEqual(
      locations.map((location) => location !== null),
      [true, false, true, false],
    );
    const check = () => {
      for (const [index, location] of [...locations, ...second.locations].entries()) {
        if (location === null) continue;
        const { status, requestId, body, defaults } = createEntry(index + 1, true).idempotency!;
        const answer = subject.journal.log.readResponse(location, digest(index + 1))!;
        assert.deepEqual(
          { ...answer, body: Buffer.from(answer.body) },
          { status, requestId, body, defaults },
        );
      }
    };
    check();
    await Promise.all([durable, second.durable]);
    check();
    await subject.reopen();
    check();
    const replayed = (await replayOf(subject.journal)).map((entry) => entry.idempotency?.location ?? null);
    assert.deepEqual(replayed, [...locations, ...second.locations]);
    assert.equal(subject.journal.log.readResponse({ record: 100, offset: 0 }, digest(1)), undefined);
  });

  test(`${name}: an answer is not read for another key`, async (context) => {
    const subject = await open(context);
    const { locations, durable } = subject.journal.log.append(turnAt(1, 1));
    await durable;
    const read = (number: number) => subject.journal.log.readResponse(locations[0]!, digest(number));
    assert.equal(read(1)?.status, 200);
    assert.throws(() => read(2), { name: 'JournalDamaged' });
  });

  test(`${name}: all records and all levels can be read`, async (context) => {
    const subject = await open(context);
    const { checkpoint } = subject.journal;
    assert.deepEqual([[...checkpoint.records()], [...checkpoint.metadata()]], [[], []]);
    const records = upTo(2_500).map((number) => paymentIntent(number));
    await checkpoint.write({ records: encoded(records), sequence: 0, idempotencyRecords: [] });
    const levels = upTo(3).map((number) => [`org_${number}/t`, Buffer.from(`level ${number}`)] as const);
    await subject.journal.checkpointer.putMetadata(new Map(levels));
    const check = () => {
      const { checkpoint: current } = subject.journal;
      assert.deepEqual([...current.records()], records);
      const read = [...current.metadata()].map(([scope, level]) => [scope, Buffer.from(level)]);
      assert.deepEqual(read, levels);
    };
    check();
    await subject.reopen();
    check();
  });

  test(`${name}: appends in flight settle in order`, async (context) => {
    const { journal } = await open(context);
    const settled: number[] = [];
    const all = upTo(20).map((sequence) =>
      journal.log.append(turnAt(sequence, 1)).durable.then(() => settled.push(sequence)),
    );
    assert.equal(journal.log.nextSequence, 21);
    await Promise.all(all);
    assert.deepEqual(settled, upTo(20));
  });

  test(`${name}: a turn that doesn't follow the one before is a bug`, async (context) => {
    const { journal } = await open(context);
    assert.throws(() => journal.log.append(turnAt(2, 1)), { name: 'AssertionFailure' });
    assert.throws(() => journal.log.append(turnAt(1, 0)), { name: 'AssertionFailure' });
    await appendTurns(journal, [2]);
    assert.throws(() => journal.log.append(turnAt(2, 1)), { name: 'AssertionFailure' });
  });

  test(`${name}: a closed journal takes nothing`, async (context) => {
    const subject = await open(context);
    const last = subject.journal.log.append(turnAt(1, 1)).durable;
    const { log } = subject.journal;
    await log.close();
    await last;
    await assert.rejects(log.append(turnAt(2, 1)).durable, { name: 'JournalFailure' });
    await subject.reopen();
    assert.equal((await recovered(subject.journal)).log.nextSequence, 2);
  });

  test(`${name}: the checkpoint answers reads, and shortens the replay`, async (context) => {
    const subject = await open(context);
    await appendTurns(subject.journal, [4, 4]);
    const changes = [paymentIntent(1), paymentIntent(2), customer(9, 'a@example.com')];
    const records = encoded(changes);
    await subject.journal.checkpoint.write({ records, sequence: 6, idempotencyRecords: [] });
    const check = () => {
      const { checkpoint } = subject.journal;
      assert.equal(checkpoint.sequence, 6);
      for (const record of changes) assert.deepEqual(checkpoint.get(record.id), record);
      for (const unknown of ['', 'pi_unknown', `pi_${'x'.repeat(16_000)}`, '\u0000', 'é'.repeat(1_500)])
        assert.equal(checkpoint.get(unknown), undefined);
    };
    check();
    await subject.reopen();
    check();
    assert.deepEqual(sequencesOf(await replayOf(subject.journal)), [7, 8]);
    assert.equal(subject.journal.log.nextSequence, 9);
  });

  test(`${name}: a scan gives the sort keys between the bounds, in both directions`, async (context) => {
    const { checkpoint } = (await open(context)).journal;
    const intents = upTo(9).map((number) => paymentIntent(number));
    const longEmail = `${'x'.repeat(2_000)}@example.com`;
    const others = [customer(1, longEmail), customer(2, 'a'), customer(3, 'a'), customer(4, 'a\u0000b')];
    const records = encoded([...intents, ...others]);
    await checkpoint.write({ records, sequence: 1, idempotencyRecords: [] });
    const ids = intents.map((intent) => intent.id);
    const bounds = [
      undefined,
      '',
      'a',
      'pi_',
      ids[0],
      ids[4],
      `${ids[4]}0`,
      `${ids[4]}é`,
      `${ids[4]!.slice(0, -1)} `,
      ids[8],
      'pi_0/',
      'pi~',
      'z',
    ];
    for (const after of bounds)
      for (const before of bounds)
        for (const descending of [false, true]) {
          const expected = ids.filter((id) => (after ?? '') < id && id < (before ?? '\uffff'));
          const found = [...checkpoint.scan('payment_intent', { after, before, descending })];
          assert.deepEqual(found, descending ? expected.reverse() : expected);
        }
    const customersOf = (email: string) => [
      ...checkpoint.scan(`customer/email=${email}`, { descending: false }),
    ];
    assert.deepEqual(customersOf(longEmail), [others[0]!.id]);
    assert.deepEqual(customersOf('a'), [others[1]!.id, others[2]!.id]);
    assert.deepEqual(customersOf('a\u0000b'), [others[3]!.id]);
    assert.deepEqual(customersOf(''), []);
  });

  test(`${name}: an index follows its record`, async (context) => {
    const { checkpoint } = (await open(context)).journal;
    const statuses = () =>
      ['requires_payment_method', 'succeeded'].map((status) => [
        ...checkpoint.scan(`payment_intent/status/${status}`, { descending: false }),
      ]);
    const [first, second] = [paymentIntent(1), paymentIntent(2)];
    await checkpoint.write({ records: encoded([first, second]), sequence: 1, idempotencyRecords: [] });
    assert.deepEqual(statuses(), [[first.id, second.id], []]);
    const succeeded = { ...first, status: 'succeeded' } as const;
    await checkpoint.write({ records: encoded([succeeded]), sequence: 2, idempotencyRecords: [] });
    assert.deepEqual(statuses(), [[second.id], [first.id]]);
    const removed = { ...second, removed: true } as const;
    await checkpoint.write({ records: encoded([removed]), sequence: 3, idempotencyRecords: [] });
    assert.deepEqual(statuses(), [[], [first.id]]);
    assert.equal(checkpoint.get(second.id), undefined);
    assert.deepEqual([...checkpoint.scan('payment_intent', { descending: false })], [first.id]);
  });

  test(`${name}: a scan may be left early, and others go on beside it`, async (context) => {
    const { checkpoint } = (await open(context)).journal;
    const intents = upTo(50).map((number) => paymentIntent(number));
    await checkpoint.write({ records: encoded(intents), sequence: 1, idempotencyRecords: [] });
    for (let round = 0; round < 300; round++) {
      for (const sortKey of checkpoint.scan('payment_intent', { descending: round % 2 === 0 })) {
        const [next] = checkpoint.scan('payment_intent', { after: sortKey, descending: false });
        assert.equal(next, round % 2 === 0 ? undefined : intents[1]!.id);
        break;
      }
    }
    const scan = checkpoint.scan('payment_intent', { descending: false })[Symbol.iterator]();
    assert.equal(scan.next().value, intents[0]!.id);
    await checkpoint.write({
      records: encoded([paymentIntent(60)]),
      sequence: 2,
      idempotencyRecords: [],
    });
    assert.equal(scan.next().value, intents[1]!.id);
    const [newest] = checkpoint.scan('payment_intent', { descending: true });
    assert.equal(newest, paymentIntent(60).id);
    assert.equal([...{ [Symbol.iterator]: () => scan }].length, 48);
  });

  test(`${name}: the newest keys of an index are those of the last write, however far a scan goes`, async (context) => {
    const { journal } = await open(context);
    const { checkpoint } = journal;
    const scan = () => checkpoint.scan('payment_intent', { descending: true });
    const idsDownFrom = (number: number) =>
      upTo(number)
        .map((each) => paymentIntent(each).id)
        .reverse();
    await appendTurns(journal, [75, 75]);
    assert.deepEqual([...scan()], []);
    await journal.checkpointer.write(75);
    for (const _key of scan()) break;
    const beside = scan()[Symbol.iterator]();
    const found = [beside.next().value];
    assert.deepEqual([...scan()], idsDownFrom(75));
    for (let next = beside.next(); !next.done; next = beside.next()) found.push(next.value);
    assert.deepEqual(found, idsDownFrom(75));
    await journal.checkpointer.write(150);
    for (let again = 0; again < 2; again++) assert.deepEqual([...scan()], idsDownFrom(150));
    const removed = { ...paymentIntent(150), removed: true } as const;
    await checkpoint.write({ records: encoded([removed]), sequence: 151, idempotencyRecords: [] });
    assert.deepEqual([...scan()], idsDownFrom(149));
  });

  test(`${name}: idempotency keys are kept by the hour`, async (context) => {
    const subject = await open(context);
    const keptKey = (number: number, usedAtMs: number): IdempotencyRecord => ({
      keyDigest: digest(number),
      fingerprint: digest(-number),
      slot: number * 100,
      usedAtMs,
      location: { record: number * 3_000_000_000, offset: number * 700_000_000 },
    });
    const keys = upTo(6).map((number) => keptKey(number, startMs + number * 0.4 * hourMs));
    await appendTurns(subject.journal, [6]);
    await subject.journal.checkpoint.write({
      records: [],
      sequence: 3,
      idempotencyRecords: keys.slice(0, 3),
    });
    await subject.journal.checkpoint.write({ records: [], sequence: 6, idempotencyRecords: keys.slice(3) });
    await subject.reopen();
    const { checkpoint, checkpointer } = subject.journal;
    const found = (sinceMs: number) =>
      [...checkpoint.idempotencyRecords(sinceMs)].sort((a, b) => a.usedAtMs - b.usedAtMs);
    assert.deepEqual(found(0), keys);
    assert.deepEqual(found(startMs + 0.8 * hourMs), keys.slice(1));
    assert.deepEqual(found(startMs + 24 * hourMs), []);
    await checkpointer.drop(startMs + 1.9 * hourMs);
    assert.deepEqual(found(0), keys.slice(2));
    await checkpointer.drop(startMs + 24 * hourMs);
    assert.deepEqual(found(0), []);
  });

  test(`${name}: levels are written and read`, async (context) => {
    const subject = await open(context);
    const levels = upTo(1_500).map((n) => [`org_${n}/test/all`, Uint8Array.of(n & 255, n >> 8)] as const);
    await subject.journal.checkpointer.putMetadata(new Map(levels));
    await subject.journal.checkpointer.putMetadata(new Map([['org_7/test/all', Uint8Array.of(1)]]));
    await subject.reopen();
    const { checkpoint } = subject.journal;
    assert.deepEqual(Array.from(checkpoint.getMetadata('org_1500/test/all')!), [1_500 & 255, 1_500 >> 8]);
    assert.deepEqual(Array.from(checkpoint.getMetadata('org_7/test/all')!), [1]);
    assert.equal(checkpoint.getMetadata('org_0/test/all'), undefined);
  });

  test(`${name}: whole segments are dropped, oldest first, never the newest`, async (context) => {
    const subject = await open(context);
    const locations: ResponseLocation[] = [];
    for (const sequence of upTo(5)) {
      const turn = turnAt(sequence * 2 - 1, 2, startMs + sequence * hourMs);
      const appended = subject.journal.log.append(turn);
      locations.push(appended.locations[0]!);
      await appended.durable;
    }
    const readable = () =>
      locations.map(
        (location, i) => subject.journal.log.readResponse(location, digest(2 * i + 1)) !== undefined,
      );
    const { checkpointer } = subject.journal;
    const later = startMs + 1_000 * hourMs;
    await checkpointer.write(2);
    assert.equal(await checkpointer.drop(later), 3);
    assert.deepEqual(readable(), [false, true, true, true, true]);
    await checkpointer.write(10);
    assert.equal(await checkpointer.drop(startMs + 3 * hourMs), 5);
    assert.deepEqual(readable(), [false, false, true, true, true]);
    assert.equal(await checkpointer.drop(later), 9);
    assert.deepEqual(readable(), [false, false, false, false, true]);
    await subject.reopen();
    assert.deepEqual(readable(), [false, false, false, false, true]);
    await appendTurns(await recovered(subject.journal), [1]);
    assert.equal(subject.journal.log.nextSequence, 12);
  });
}

test('in memory: a failed append ends the log, and is not there after a crash', async () => {
  const journal = new MemoryJournal(indexRowsOf);
  await appendTurns(journal, [2]);
  journal.failNextAppend({ diskFull: true });
  const failing = journal.log.append(turnAt(3, 1)).durable;
  const behind = journal.log.append(turnAt(4, 1)).durable;
  await assert.rejects(failing, { name: 'JournalFailure', diskFull: true });
  await assert.rejects(behind, { name: 'JournalFailure' });
  await assert.rejects(journal.log.append(turnAt(5, 1)).durable, { name: 'JournalFailure' });
  const reopened = journal.reopen();
  assert.deepEqual(sequencesOf(await replayOf(reopened)), [1, 2]);
  const unsettled = reopened.log.append(turnAt(3, 1)).durable;
  const crashed = reopened.reopen();
  await assert.rejects(unsettled, { name: 'JournalFailure' });
  assert.equal(crashed.log.nextSequence, 3);
});
