// The audit record where other machines hold it, too: whoever takes it has all of it, gives what only this folder has, and puts
// aside what is no part of it. And the chain that shows whether it is as it was written.

import assert from 'node:assert/strict';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeEach, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { systemTimers } from '../../../src/core/scheduler.ts';
import type { RemoteText, TextPart } from '../../../src/disk/remote-text.ts';
import { checkChain } from '../../../src/operator/audit/audit-chain.ts';
import { auditPieces, restoreAudit } from '../../../src/operator/audit/audit-copy.ts';
import { auditFiles, lastRows, placed } from '../../../src/operator/audit/audit-files.ts';
import { AuditFollower } from '../../../src/operator/audit/audit-follower.ts';
import { AuditLog } from '../../../src/operator/audit/audit-log.ts';
import { SharedRecord } from '../../../src/operator/audit/shared-record.ts';
import { temporaryFolder } from '../../temporary-folder.ts';

let folder: string;
beforeEach(() => {
  folder = temporaryFolder();
});

/** What the others hold, in memory. */
class Others implements RemoteText {
  readonly parts: TextPart[] = [];
  begins = 0;
  /** Appends wait for it. */
  answering: PromiseWithResolvers<void> | null = null;
  asked = 0;

  get end(): number {
    const last = this.parts.at(-1);
    return last === undefined ? this.begins : last.place + last.bytes.length;
  }
  async bounds() {
    return { start: this.parts[0]?.place ?? this.end, end: this.end };
  }
  acquire() {
    return this.bounds();
  }
  async partBefore(place: number) {
    return this.parts.find((part) => part.place < place && part.place + part.bytes.length >= place) ?? null;
  }
  async *readAfter(place: number) {
    for (const { place: begins, bytes } of this.parts) {
      const from = Math.max(place, begins);
      if (begins + bytes.length > place) yield { place: from, bytes: bytes.subarray(from - begins) };
    }
  }
  async begin(place: number) {
    this.begins = place;
  }
  async append(place: number, bytes: Uint8Array) {
    this.asked++;
    await this.answering?.promise;
    assert.equal(place, this.end);
    this.parts.push({ place, bytes: Buffer.from(bytes) });
  }
  async forget(place: number) {
    while (this.parts.length > 0 && this.parts[0]!.place + this.parts[0]!.bytes.length <= place)
      this.parts.shift();
  }
  async close() {}
}

const bounds = { fileBytesMax: 400, kept: { filesMax: 100 } };
const pathOf = (name: string) => join(folder, `${name}.ndjson`);
const textOf = (path: string) =>
  auditFiles(path)
    .map(({ path: file }) => (existsSync(file) ? readFileSync(file, 'utf8') : ''))
    .join('');
const numbers = (count: number) => Array.from({ length: count }, (_, i) => i + 1);
const rowsIn = (path: string) => lastRows<{ row: number }>(path, 1_000).map(({ row }) => row);

/** Has a node take the record, append some rows, and let it go. */
async function serve(others: RemoteText | null, name: string, ...rows: number[]): Promise<string | null> {
  const shared = others && (await SharedRecord.take(others, pathOf(name), systemTimers));
  const log = await AuditLog.open(pathOf(name), bounds, shared);
  for (const row of rows) await log.append(() => ({ row }));
  await log.close();
  return shared?.aside ?? null;
}

test('nodes that take the record by turns have one and the same, whichever way its files are cut', async () => {
  const others = new Others();
  await serve(others, 'a', 1, 2, 3, 4, 5, 6, 7);
  await serve(others, 'b', 8, 9);
  await serve(others, 'a', 10);
  await serve(others, 'b');
  assert.deepEqual(rowsIn(pathOf('b')), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  assert.equal(textOf(pathOf('a')), textOf(pathOf('b')));
  assert.deepEqual(checkChain(pathOf('b')), { rows: 10, chained: 10, broken: [] });
});

test('what a folder alone has is given to the others the first time, and after commands while it was stopped', async () => {
  const others = new Others();
  await serve(null, 'a', 1, 2, 3);
  await serve(others, 'a', 4);
  await serve(null, 'a', 5);
  await serve(others, 'a', 6);
  await serve(others, 'b');
  assert.deepEqual(rowsIn(pathOf('b')), [1, 2, 3, 4, 5, 6]);
});

test('rows of its own that do not fit behind the others’ are put aside, and nothing else', async () => {
  for (const [what, shared, own, theirs] of [
    ['all', [], [7, 8, 9, 10, 11], [1, 2]],
    ['all, and shorter', [], [7], [1, 2]],
    ['the last one', [1, 2], [7], [3]],
    ['those over several files', numbers(12), numbers(9).map((row) => row + 100), [13, 14]],
  ] as const) {
    const others = new Others();
    const [a, b] = [`${what} a`, `${what} b`];
    await serve(others, b, ...shared);
    await serve(null, b, ...own);
    await serve(others, a, ...theirs);
    const aside = await serve(others, b);
    const [kept] = auditFiles(join(aside!, 'operators.ndjson'));
    assert.deepEqual(
      readFileSync(kept!.path, 'utf8')
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line).row),
      own,
      what,
    );
    assert.deepEqual(rowsIn(pathOf(b)), [...shared, ...theirs], what);
    assert.equal(textOf(pathOf(a)), textOf(pathOf(b)), what);
    assert.deepEqual(checkChain(pathOf(b)).broken, [], what);
  }
});

test('a part of the last row that a crash has left is completed', async () => {
  const others = new Others();
  await serve(others, 'a', 1, 2);
  await serve(others, 'b');
  truncateSync(pathOf('b'), textOf(pathOf('b')).length - 10);
  await serve(others, 'b', 3);
  assert.deepEqual(rowsIn(pathOf('b')), [1, 2, 3]);
  assert.equal(await serve(others, 'a'), null);
  assert.equal(textOf(pathOf('a')), textOf(pathOf('b')));
});

test('rows do not wait for long for machines that do not answer, and get there later', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const others = new Others();
  const log = await AuditLog.open(
    pathOf('a'),
    bounds,
    await SharedRecord.take(others, pathOf('a'), systemTimers),
  );
  others.answering = Promise.withResolvers();
  const first = log.append(() => ({ row: 1 }));
  let isDone = false;
  void first.then(() => {
    isDone = true;
  });
  while (others.asked === 0) await turn();
  assert.equal(isDone, false);
  context.mock.timers.tick(2_000);
  await first;
  await log.append(() => ({ row: 2 }));
  assert.deepEqual(rowsIn(pathOf('a')), [1, 2]);
  assert.equal(others.end, 0);
  others.answering.resolve();
  await log.append(() => ({ row: 3 }));
  while (others.end < log.end) await turn();
  await log.close();
  await serve(others, 'b');
  assert.deepEqual(rowsIn(pathOf('b')), [1, 2, 3]);
});

test('a row that another machine’s owner refuses fails', async () => {
  const others = new Others();
  const log = await AuditLog.open(
    pathOf('a'),
    bounds,
    await SharedRecord.take(others, pathOf('a'), systemTimers),
  );
  others.append = async () => {
    throw new Error('a newer owner');
  };
  await assert.rejects(
    log.append(() => ({ row: 1 })),
    /a newer owner/,
  );
  await log.close();
});

test('a record whose beginning was dropped begins there on other nodes, too', async () => {
  const others = new Others();
  await serve(others, 'a', ...numbers(20));
  const [first, second] = auditFiles(pathOf('a'));
  rmSync(first!.path);
  await serve(others, 'a', 21);
  assert.equal((await others.bounds()).start, second!.start);
  await serve(others, 'b', 22);
  assert.equal(rowsIn(pathOf('b')).at(0), rowsIn(pathOf('a')).at(0));
  assert.equal(auditFiles(pathOf('b'))[0]!.start, second!.start);
  assert.deepEqual(checkChain(pathOf('b')).broken, []);
  // The others get one that begins late, too.
  const fresh = new Others();
  await serve(fresh, 'a', 23);
  assert.equal((await fresh.bounds()).start, second!.start);
});

test('where a record begins on a node is kept by its backup, and forgotten when the rows from there are too old', async () => {
  const path = join(folder, 'audit', 'operators.ndjson');
  mkdirSync(join(folder, 'audit'));
  writeFileSync(placed(path, 4_711), '');
  const kept = { ms: 1_000, now: () => 10_000 };
  const append = async (atMs: number) => {
    const log = await AuditLog.open(path, { fileBytesMax: 1, kept });
    await log.append(() => ({ at: new Date(atMs).toISOString() }));
    await log.close();
  };
  await append(9_500);
  const restored = join(folder, 'restored');
  await restoreAudit(
    restored,
    (async function* () {
      yield* auditPieces(folder);
    })(),
  );
  const shape = (of: string) => auditFiles(of).map(({ start, bytes }) => [start, bytes]);
  assert.deepEqual(shape(join(restored, 'audit', 'operators.ndjson')), shape(path));
  assert.deepEqual(shape(path)[0], [4_711, 0]);
  for (const atMs of [9_600, 9_700]) await append(atMs);
  const [first] = shape(path);
  assert.ok(first![1]! > 0, `${first}`);
});

/** A node that stands by, in a folder of its own, which looks when it is told to. */
function standby(others: Others, name: string) {
  const dataDir = join(folder, name);
  const path = join(dataDir, 'audit', 'operators.ndjson');
  mkdirSync(join(dataDir, 'audit'), { recursive: true });
  let due = () => {};
  const asides: string[] = [];
  const follower = new AuditFollower({
    remote: others,
    dataDir,
    keptMs: Number.POSITIVE_INFINITY,
    now: Date.now,
    timers: {
      after(_, run) {
        due = run;
        return () => {};
      },
    },
    isDiskFull: () => false,
    onPutAside: (aside) => asides.push(aside),
    onFailure: (error) => assert.fail(error as Error),
  });
  /** Resolves when it has looked, and waits for the next time. */
  const look = async () => {
    const before = due;
    before();
    for (let turns = 0; due === before; turns++) {
      assert.ok(turns < 10_000, 'it never looks again');
      await turn();
    }
  };
  follower.start();
  return { path, asides, look, stop: () => follower.stop(), rows: () => rowsIn(path) };
}

test('a node that stands by follows all but the last append, which may not be on enough machines', async () => {
  const others = new Others();
  const b = standby(others, 'b');
  await b.look();
  assert.deepEqual(b.rows(), [], 'there is no record yet');
  await serve(others, 'a', 1, 2, 3);
  await b.look();
  assert.deepEqual(b.rows(), [1, 2]);
  await serve(others, 'a', 4, 5, 6, 7, 8);
  await b.look();
  assert.deepEqual(b.rows(), [1, 2, 3, 4, 5, 6, 7]);
  assert.deepEqual(b.asides, []);
  await b.stop();
});

test('what only a node that stands by has waits until it takes over, or until others have written there', async () => {
  const others = new Others();
  const path = join(folder, 'b', 'audit', 'operators');
  mkdirSync(join(folder, 'b', 'audit'), { recursive: true });
  await serve(others, 'b/audit/operators', 1, 2);
  await serve(null, 'b/audit/operators', 7);
  const b = standby(others, 'b');
  await b.look();
  assert.deepEqual([b.rows(), b.asides], [[1, 2, 7], []]);
  await serve(others, 'a', 3, 4);
  await b.look();
  await b.look();
  assert.deepEqual(b.rows(), [1, 2, 3]);
  assert.equal(b.asides.length, 1);
  await b.stop();
  assert.deepEqual(await serve(others, 'b/audit/operators', 5), null);
  assert.deepEqual(rowsIn(`${path}.ndjson`), [1, 2, 3, 4, 5]);
});

const edits: readonly (readonly [what: string, edit: (lines: string[]) => string[], broken: boolean])[] = [
  ['nothing', (lines) => lines, false],
  ['a row is changed', (lines) => lines.map((line) => line.replace('"row":3', '"row":30')), true],
  ['a row is taken out', (lines) => lines.toSpliced(2, 1), true],
  ['a row is put in', (lines) => lines.toSpliced(2, 0, '{"row":9,"chain":"0"}'), true],
  ['two rows change places', (lines) => [lines[1]!, lines[0]!, ...lines.slice(2)], true],
  ['the first row is taken out', (lines) => lines.slice(1), true],
  ['rows of an earlier version lie before', (lines) => lines, false],
];
test('a row that was changed, taken out or put in is noticed', async () => {
  const large = { fileBytesMax: 100_000, kept: { filesMax: 2 } };
  for (const [what, edit, broken] of edits) {
    const path = pathOf(what.replaceAll(' ', '-'));
    if (what.includes('earlier')) writeFileSync(path, '{"row":-1}\n{"row":0}\n');
    let log = await AuditLog.open(path, large);
    for (const row of [1, 2, 3]) await log.append(() => ({ row }));
    await log.close();
    appendFileSync(path, '{"row":"cut o');
    log = await AuditLog.open(path, large);
    await log.append(() => ({ row: 4 }));
    await log.close();
    writeFileSync(path, `${edit(readFileSync(path, 'utf8').trimEnd().split('\n')).join('\n')}\n`);
    assert.equal(checkChain(path).broken.length > 0, broken, what);
  }
});

test('a file that is missing between others is noticed, and what follows is still looked at', async () => {
  await serve(null, 'a', ...numbers(30));
  const [first, second, third] = auditFiles(pathOf('a'));
  rmSync(second!.path);
  assert.deepEqual(checkChain(pathOf('a')).broken, [second!.start]);
  const text = readFileSync(third!.path, 'utf8');
  writeFileSync(third!.path, text.replace(/"row":(\d)/, '"row":9$1').slice(0, text.length));
  assert.ok(checkChain(pathOf('a')).broken.length > 1);
  assert.equal(first!.start, 0);
});

test('a record whose oldest file was dropped is whole', async () => {
  await serve(null, 'a', ...numbers(20));
  rmSync(auditFiles(pathOf('a'))[0]!.path);
  assert.ok(existsSync(placed(pathOf('a'), auditFiles(pathOf('a'))[0]!.start)));
  assert.deepEqual(checkChain(pathOf('a')).broken, []);
});
