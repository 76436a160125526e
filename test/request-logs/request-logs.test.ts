// The request logs on the disk: what a search finds, what is dropped, and what a crash leaves.

import assert from 'node:assert/strict';
import fs, {
  appendFileSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { LoggedRequest } from '../../src/contract/routes/logged-request.ts';
import { routeTable } from '../../src/contract/routes/table.ts';
import { type AnsweredRequest, bodyKeptBytesMax, type EntryReader } from '../../src/request-logs/entry.ts';
import type { Gap } from '../../src/request-logs/logged-request.ts';
import { Masker } from '../../src/request-logs/mask.ts';
import { answerLogQuestions } from '../../src/request-logs/query.ts';
import type { LogScope, RequestLogs } from '../../src/request-logs/request-logs.ts';
import {
  entriesAfter,
  findRequestAnywhere,
  type LogFilter,
  newestPlace,
  searchLog,
} from '../../src/request-logs/search.ts';
import { entriesFile, readIndex, scopeFolderOf, segmentsIn } from '../../src/request-logs/segment.ts';
import {
  answeredRequest,
  batchOf,
  dayMs,
  findRequest,
  newLogs,
  requestIdAt,
  shop,
  startMs,
  writeAll,
} from './written-log.ts';

const requestsOf = (found: readonly (LoggedRequest | Gap)[]) =>
  found.map((entry) => ('missing' in entry ? entry.missing : entry.request));
const idsOf = (entries: readonly AnsweredRequest[]) => entries.map(({ requestId }) => requestId);
const hourMs = 3_600_000;
const clocksAt = (wallMs: number, monotonicMs: number) => ({
  wall: () => wallMs,
  monotonic: () => monotonicMs,
});
/** As after an hour in which the clock has kept going. */
function sweepTwice(logs: RequestLogs, nowMs: number): void {
  logs.sweep(clocksAt(nowMs - hourMs, 0));
  logs.sweep(clocksAt(nowMs, hourMs));
}
const filesOf = (folder: string, scope: LogScope) =>
  readdirSync(scopeFolderOf(folder, scope.org, scope.mode));

test('an entry is found by its request, with everything that was written', () => {
  const { folder, logs } = newLogs();
  const entry = answeredRequest({
    idempotencyKey: 'order-1',
    query: 'expand=x',
    version: '2026-01-01',
    replayed: true,
    originalRequest: 'req_0',
    status: 400,
    code: 'amount_too_small',
    answerBody: '{"error":{"message":"لا"}}',
  });
  writeAll(logs, shop, [answeredRequest(), entry, answeredRequest()]);
  assert.deepEqual(findRequest(folder, shop, entry.requestId), {
    request: entry.requestId,
    time: new Date(entry.answeredAtMs).toISOString(),
    duration_ms: 3,
    status: 400,
    code: 'amount_too_small',
    method: 'POST',
    path: '/v1/payment_intents',
    query: 'expand=x',
    idempotency_key: 'order-1',
    replayed: true,
    original_request: 'req_0',
    api_version: '2026-01-01',
    key: entry.key,
    member: null,
    address: '203.0.113.7',
    object: null,
    request_body: '{"amount":12000,"currency":"mad"}',
    request_cut: false,
    answer_body: '{"error":{"message":"لا"}}',
    answer_cut: false,
    masked: false,
  });
  assert.equal(findRequestAnywhere(folder, entry.requestId)?.scope.org, shop.org);
  assert.equal(findRequest(folder, { ...shop, mode: 'live' }, entry.requestId), null);
  assert.equal(findRequest(folder, shop, answeredRequest().requestId), null);
  assert.equal(findRequest(folder, shop, 'req_1'), null);
});

test('of a large body the beginning is kept', () => {
  const { folder, logs } = newLogs();
  const entry = answeredRequest({
    requestBody: Buffer.alloc(20_000, 'a'),
    answerBody: 'é'.repeat(bodyKeptBytesMax),
    path: `/v1/${'p'.repeat(15_000)}`,
  });
  writeAll(logs, shop, [entry]);
  const found = findRequest(folder, shop, entry.requestId)!;
  assert.equal(found.request_body, 'a'.repeat(bodyKeptBytesMax));
  assert.equal(found.answer_body, 'é'.repeat(bodyKeptBytesMax / 2));
  assert.deepEqual([found.request_cut, found.answer_cut], [true, true]);
});

const routeOf = (method: string, path: string) =>
  routeTable.findIndex((route) => route.method === method && route.path === path);

test('a search finds what its filter says, newest first', () => {
  const { folder, logs } = newLogs();
  const entries = [
    answeredRequest({ idempotencyKey: 'order-1' }),
    answeredRequest({ status: 402, code: 'card_declined' }),
    answeredRequest({
      method: 'GET',
      path: '/v1/payment_intents/pi_1abcd',
      objectId: 'pi_1abcd',
      routeNumber: routeOf('GET', '/v1/payment_intents/{id}'),
    }),
    answeredRequest({
      status: 404,
      code: 'unrecognized_request_url',
      path: '/v1/nothing',
      routeNumber: null,
    }),
    answeredRequest({
      path: '/v1/refunds',
      routeNumber: routeOf('POST', '/v1/refunds'),
      answerBody: Buffer.from('{"id":"re_1abcd"}'),
    }),
    answeredRequest({ status: 500, code: 'api_error', answeredAtMs: startMs + dayMs }),
  ];
  writeAll(logs, shop, entries);
  const cases: readonly (readonly [filter: LogFilter, found: readonly number[]])[] = [
    [{}, [5, 4, 3, 2, 1, 0]],
    [{ idempotencyKey: 'order-1' }, [0]],
    [{ idempotencyKey: 'order-2' }, []],
    [{ status: { from: 402, to: 402 } }, [1]],
    [{ status: { from: 400, to: 499 } }, [3, 1]],
    [{ path: '/v1/payment_intents' }, [5, 2, 1, 0]],
    [{ path: '/v1/payment_intents/pi_1abcd' }, [2]],
    [{ path: '/v1/n' }, [3]],
    [{ object: 'pi_1abcd' }, [2]],
    [{ object: 're_1abcd' }, [4]],
    [{ object: 're_2abcd' }, []],
    [{ since: startMs + dayMs }, [5]],
    [{ until: startMs + dayMs }, [5, 4, 3, 2, 1, 0]],
    [{ until: startMs + dayMs - 1 }, [4, 3, 2, 1, 0]],
    [{ until: startMs - 1 }, []],
  ];
  for (const [filter, found] of cases) {
    const page = searchLog(folder, shop, filter, 10);
    const wanted = found.map((i) => entries[i]!.requestId);
    assert.deepEqual(requestsOf(page.found), wanted, JSON.stringify(filter));
    assert.equal(page.older, null);
  }
});

test('pages follow each other across segments, also while more is written, and entries can be followed', () => {
  const { folder, logs } = newLogs({ bytesMax: 64 * 1024 });
  const entries = Array.from({ length: 100 }, () => answeredRequest());
  for (const entry of entries) writeAll(logs, shop, [entry]);
  assert.ok(filesOf(folder, shop).length > 2);
  const seen: (string | number)[] = [];
  const first = searchLog(folder, shop, {}, 7);
  let page = first;
  for (;;) {
    seen.push(...requestsOf(page.found));
    if (page.older === null) break;
    page = searchLog(folder, shop, {}, 7, page.older);
    if (seen.length === 14) writeAll(logs, shop, [answeredRequest()]);
  }
  assert.deepEqual(seen, idsOf(entries).reverse());
  const more = [answeredRequest(), answeredRequest({ status: 500 }), answeredRequest()];
  writeAll(logs, shop, more);
  const late = entriesAfter(folder, shop, { status: { from: 200, to: 299 } }, 2, first.newest);
  assert.equal(late.found.length, 2);
  const last = entriesAfter(folder, shop, { status: { from: 200, to: 299 } }, 2, late.newest);
  assert.deepEqual(requestsOf(last.found), [more[2]!.requestId]);
  assert.deepEqual(entriesAfter(folder, shop, {}, 2, last.newest), { found: [], newest: last.newest });
});

test('a long search pauses again and again, and what is written meanwhile does not change it', async () => {
  const { folder, logs } = newLogs();
  const routeNumber = routeOf('GET', '/v1/payment_intents/{id}');
  const reads = Array.from({ length: 2_000 }, () =>
    answeredRequest({ routeNumber, path: '/v1/payment_intents/pi_1' }),
  );
  writeAll(logs, shop, reads);
  const newest = newestPlace(folder, shop);
  let pauses = 0;
  const path = '/v1/payment_intents/pi_2';
  const { search } = answerLogQuestions(folder, async () => {
    if (pauses++ % 10 === 0) writeAll(logs, shop, [answeredRequest({ routeNumber, path })]);
  });
  const page = await search!({ scope: shop, limit: 10, before: null, filter: { path } }, () => {});
  assert.deepEqual(page, { found: [], places: [], older: null, reachedMs: Number.NEGATIVE_INFINITY, newest });
  assert.ok(pauses >= 20, `${pauses} pauses`);
});

test('who follows a long log pauses, too, and reads at its end what is new', async (t) => {
  const { folder, logs } = newLogs();
  const entries = Array.from({ length: 60_000 }, () =>
    answeredRequest({ requestBody: Buffer.alloc(0), answerBody: Buffer.alloc(0) }),
  );
  for (let i = 0; i < entries.length; i += 1_000) writeAll(logs, shop, entries.slice(i, i + 1_000));
  let pauses = 0;
  const { after } = answerLogQuestions(folder, async () => void pauses++);
  const asked = { scope: shop, limit: 10, filter: { status: { from: 500, to: 599 } } };
  const first = await after!({ ...asked, after: '0-0' }, () => {});
  assert.deepEqual([first.found, first.newest], [[], newestPlace(folder, shop)]);
  assert.ok(pauses >= 1, `${pauses} pauses`);
  const readSync = t.mock.method(fs, 'readSync');
  syncBuiltinESMExports();
  t.after(syncBuiltinESMExports);
  assert.deepEqual(await after!({ ...asked, after: first.newest }, () => {}), first);
  const bytes = readSync.mock.calls.reduce((sum, { result }) => sum + (result ?? 0), 0);
  assert.equal(bytes, 0);
  assert.deepEqual(entriesAfter(folder, shop, {}, 10, `${first.newest}0`).found, [], 'behind the end');
});

test('the searches of an organization run one after the other, so that others do not wait for all of them', async () => {
  const { folder, logs } = newLogs();
  const other: LogScope = { org: 'org_other', mode: 'test' };
  const routeNumber = routeOf('GET', '/v1/payment_intents/{id}');
  const read = () => answeredRequest({ routeNumber, path: '/v1/payment_intents/pi_1' });
  for (const scope of [shop, other]) writeAll(logs, scope, Array.from({ length: 1_000 }, read));
  let parts = 0;
  const { search } = answerLogQuestions(folder, async () => {
    parts++;
    await setImmediate();
  });
  const asked = { limit: 10, before: null, filter: { path: '/v1/payment_intents/pi_2' } };
  const crowd = Array.from({ length: 10 }, () => search!({ ...asked, scope: shop }, () => {}));
  await search!({ ...asked, scope: other }, () => {});
  const partsByThen = parts;
  await Promise.all(crowd);
  assert.ok(partsByThen < parts / 4, `${partsByThen} of ${parts} parts came before`);
});

test('each organization and mode has a log of its own', () => {
  const { folder, logs } = newLogs();
  const other: LogScope = { org: 'org_0VTK3JqA1f0c6uXo9dWb2kQp2', mode: 'live' };
  const [ours, theirs] = [answeredRequest(), answeredRequest()];
  // Two batches that are written together, with other numbers for the senders.
  const [first, second] = [batchOf([ours]), batchOf([theirs])];
  second.writeUInt16LE(1, 4);
  logs.write(Buffer.concat([first, second, first]), [shop, other]);
  assert.deepEqual(requestsOf(searchLog(folder, shop, {}, 10).found), idsOf([ours, ours]));
  assert.deepEqual(requestsOf(searchLog(folder, other, {}, 10).found), idsOf([theirs]));
});

test('the oldest entries are dropped beyond the size that is kept', () => {
  const bytesMax = 256 * 1024;
  const { folder, logs } = newLogs({ bytesMax });
  const entries = Array.from({ length: 2_000 }, () => answeredRequest());
  for (let i = 0; i < entries.length; i += 20) writeAll(logs, shop, entries.slice(i, i + 20));
  const log = scopeFolderOf(folder, shop.org, shop.mode);
  const bytes = readdirSync(log).reduce((sum, name) => sum + statSync(join(log, name)).size, 0);
  assert.ok(bytes <= bytesMax && bytes > bytesMax / 2, `${bytes} bytes`);
  const { found, older } = searchLog(folder, shop, {}, 2_000);
  assert.deepEqual(requestsOf(found), idsOf(entries).slice(-found.length).reverse());
  assert.equal(older, null);
});

test('what is older than is kept is dropped, also of an organization that sends nothing', () => {
  const { folder, logs } = newLogs();
  const entries = Array.from({ length: 9 }, (_, day) =>
    answeredRequest({ answeredAtMs: startMs + day * dayMs }),
  );
  for (const entry of entries) writeAll(logs, shop, [entry]);
  sweepTwice(logs, startMs + 8 * dayMs);
  assert.deepEqual(requestsOf(searchLog(folder, shop, {}, 10).found), idsOf(entries).slice(1).reverse());
  sweepTwice(logs, startMs + 30 * dayMs);
  assert.deepEqual(filesOf(folder, shop), []);
  writeAll(logs, shop, [entries[0]!]);
  assert.deepEqual(requestsOf(searchLog(folder, shop, {}, 10).found), idsOf(entries.slice(0, 1)));
});

test('a clock that is ahead at a start, or is set ahead and back, makes no entry old', () => {
  const { folder, logs } = newLogs();
  const entry = answeredRequest();
  writeAll(logs, shop, [entry]);
  const aheadMs = 3_650 * dayMs;
  for (const [hour, ms] of [aheadMs, 0, aheadMs, 0].entries())
    logs.sweep(clocksAt(startMs + hour * hourMs + ms, hour * hourMs));
  assert.deepEqual(requestsOf(searchLog(folder, shop, {}, 10).found), [entry.requestId]);
});

test('what was written after a clock had been ahead is found, and dropped when it is too old', () => {
  const { folder, logs } = newLogs();
  const times = [0, 3_650 * dayMs, hourMs, 3 * dayMs, 9 * dayMs];
  const entries = times.map((ms) => answeredRequest({ answeredAtMs: startMs + ms }));
  for (const entry of entries) writeAll(logs, shop, [entry]);
  for (const { requestId } of entries) assert.equal(findRequest(folder, shop, requestId)?.request, requestId);
  sweepTwice(logs, startMs + 9 * dayMs + hourMs);
  const left = [entries[4]!, entries[3]!, entries[1]!];
  assert.deepEqual(requestsOf(searchLog(folder, shop, {}, 10).found), idsOf(left));
});

test('a request whose id is ahead of its time, because the clock was set back, is found', () => {
  const { folder, logs } = newLogs();
  const entries = [0, dayMs].map((ms) =>
    answeredRequest({
      answeredAtMs: startMs + ms,
      requestId: requestIdAt(startMs + dayMs, ms),
    }),
  );
  for (const entry of entries) writeAll(logs, shop, [entry]);
  for (const { requestId } of entries) {
    assert.equal(findRequest(folder, shop, requestId)?.request, requestId);
    assert.equal(findRequestAnywhere(folder, requestId)?.entry.request, requestId);
  }
});

/** What a crash can leave of the last batch: the two files end anywhere. */
const ends: readonly (readonly [name: string, entries: number, index: number, left: number])[] = [
  ['a row that is not whole', 0, -5, 2],
  ['a row whose entry is not whole', -5, 0, 2],
  ['rows without their entries', -600, 0, 0],
  ['entries without their rows', 0, -64, 1],
  ['garbage behind the rows', 10, 32, 3],
];
for (const [name, entriesBy, indexBy, left] of ends) {
  test(`an end with ${name} is cut, and the log goes on`, () => {
    const { folder, logs } = newLogs();
    const entries = [answeredRequest(), answeredRequest(), answeredRequest()];
    writeAll(logs, shop, entries);
    logs.close();
    const log = scopeFolderOf(folder, shop.org, shop.mode);
    for (const [extension, by] of [
      ['.entries', entriesBy],
      ['.index', indexBy],
    ] as const) {
      const file = join(log, readdirSync(log).find((each) => each.endsWith(extension))!);
      if (by > 0) appendFileSync(file, Buffer.alloc(by, 0xff));
      else truncateSync(file, statSync(file).size + by);
    }
    // A reader meets it before it is cut.
    const before = requestsOf(searchLog(folder, shop, {}, 10).found);
    assert.deepEqual(before, idsOf(entries).slice(0, left).reverse());
    const again = newLogs({ folder }).logs;
    const next = answeredRequest();
    writeAll(again, shop, [next]);
    const after = requestsOf(searchLog(folder, shop, {}, 10).found);
    assert.deepEqual(after, [next.requestId, ...before]);
    const [segment] = segmentsIn(log) as [string];
    assert.equal(
      statSync(entriesFile(log, segment)).size,
      readIndex(log, segment).end,
      'nothing else is left',
    );
  });
}

test('an entry that a clock was ahead of is found by its time, although a later segment begins before it', () => {
  const { folder, logs } = newLogs({ keptMs: 8 * 60_000 });
  const [first, ahead, next] = [0, 30, 2].map((minutes) =>
    answeredRequest({ answeredAtMs: startMs + minutes * 60_000 }),
  );
  writeAll(logs, shop, [first!, ahead!]);
  writeAll(logs, shop, [next!]);
  assert.equal(segmentsIn(scopeFolderOf(folder, shop.org, shop.mode)).length, 2);
  const { found } = searchLog(folder, shop, { since: startMs + 20 * 60_000 }, 10);
  assert.deepEqual(requestsOf(found), [ahead!.requestId]);
});

test('rows that a crash of the machine has left empty hide no others, and don’t make them old', () => {
  const { folder, logs } = newLogs();
  const entries = Array.from({ length: 3 }, () => answeredRequest());
  writeAll(logs, shop, entries);
  logs.close();
  const log = scopeFolderOf(folder, shop.org, shop.mode);
  const index = join(log, readdirSync(log).find((each) => each.endsWith('.index'))!);
  const bytes = readFileSync(index);
  writeFileSync(index, Buffer.concat([bytes.fill(0, 32, 64), Buffer.alloc(64)]));
  const again = newLogs({ folder }).logs;
  sweepTwice(again, startMs + dayMs);
  const left = [entries[2]!, entries[0]!];
  const since = { since: entries[0]!.answeredAtMs };
  assert.deepEqual(requestsOf(searchLog(folder, shop, since, 10).found), idsOf(left));
  const next = answeredRequest();
  writeAll(again, shop, [next]);
  assert.deepEqual(requestsOf(searchLog(folder, shop, since, 10).found), idsOf([next, ...left]));
});

for (const kept of [8, 28, 40, 59, 80])
  test(`an entry of which a crash of the machine has left the first ${kept} bytes is none, and the log goes on`, () => {
    const { folder, logs } = newLogs();
    const entries = [answeredRequest(), answeredRequest({ idempotencyKey: 'order-1' })];
    for (const entry of entries) writeAll(logs, shop, [entry]);
    logs.close();
    const log = scopeFolderOf(folder, shop.org, shop.mode);
    const file = join(log, readdirSync(log).find((each) => each.endsWith('.entries'))!);
    const bytes = readFileSync(file);
    const rows = readFileSync(file.replace('.entries', '.index'));
    writeFileSync(file, bytes.fill(0, rows.readUInt32LE(32 + 8) + kept));
    const newestFirst = () => requestsOf(searchLog(folder, shop, {}, 10).found);
    assert.deepEqual(newestFirst(), idsOf(entries).slice(0, 1));
    const next = answeredRequest();
    writeAll(newLogs({ folder }).logs, shop, [next]);
    assert.deepEqual(newestFirst(), [next.requestId, entries[0]!.requestId]);
  });

test('what the disk does not take is counted, and the log tells the gap when it goes on', () => {
  let hasRoom = true;
  const { folder, logs, lost } = newLogs({ hasRoom: () => hasRoom });
  const [before, after] = [answeredRequest(), answeredRequest()];
  writeAll(logs, shop, [before]);
  hasRoom = false;
  writeAll(logs, shop, [answeredRequest(), answeredRequest()]);
  writeAll(logs, shop, [answeredRequest()]);
  hasRoom = true;
  writeAll(logs, shop, [after]);
  assert.deepEqual(lost, [
    [2, 'the disk is almost full'],
    [1, 'the disk is almost full'],
  ]);
  const { found } = searchLog(folder, shop, {}, 10);
  assert.deepEqual(requestsOf(found), [3, after.requestId, before.requestId]);
  assert.deepEqual(requestsOf(searchLog(folder, shop, { status: { from: 200, to: 299 } }, 10).found), [
    after.requestId,
    before.requestId,
  ]);
});

test('an entry that can not be masked is left out and counted, and the others of its batch are kept', (t) => {
  const failures: string[] = [];
  const { folder, logs, lost } = newLogs({ onFailed: (error) => failures.push((error as Error).message) });
  const entries = [answeredRequest(), answeredRequest(), answeredRequest()];
  let count = 0;
  const masked = Masker.prototype.masked;
  t.mock.method(Masker.prototype, 'masked', function (this: Masker, entry: EntryReader) {
    if (++count === 2) throw new TypeError('broken');
    return masked.call(this, entry);
  });
  writeAll(logs, shop, entries);
  logs.close();
  assert.deepEqual(failures, ['broken']);
  assert.deepEqual(lost, [[1, 'an entry could not be masked']]);
  const found = entries.map(({ requestId }) => findRequest(folder, shop, requestId) !== null);
  assert.deepEqual(found, [true, false, true]);
});
