// A request log in a temporary folder, written as the edges' batches are, for tests that read it.

import type { LoggedRequest } from '../../src/contract/routes/logged-request.ts';
import { encodeBase62 } from '../../src/core/ids.ts';
import { type AnsweredRequest, EntryWriter } from '../../src/request-logs/entry.ts';
import { type LogScope, RequestLogs, type RequestLogsOptions } from '../../src/request-logs/request-logs.ts';
import { findInParts } from '../../src/request-logs/search.ts';
import { temporaryFolder } from '../temporary-folder.ts';

export const dayMs = 86_400_000;
export const startMs = Date.UTC(2026, 10, 1, 10);
export const shop: LogScope = { org: 'org_0VTK3JqA1f0c6uXo9dWb2kQp1', mode: 'test' };

/** The id of the request that is the `number`th at `ms`. */
export function requestIdAt(ms: number, number: number): string {
  return `req_${encodeBase62(ms, 8)}0000${encodeBase62(number, 6)}${'x'.repeat(3)}${encodeBase62(number, 4)}`;
}

let count = 0;

/** A create that went well, unless told otherwise. */
export function answeredRequest(change: Partial<AnsweredRequest> = {}): AnsweredRequest {
  const answeredAtMs = change.answeredAtMs ?? startMs + count;
  return {
    answeredAtMs,
    durationMs: 3,
    requestId: requestIdAt(answeredAtMs, count++),
    livemode: false,
    address: '203.0.113.7',
    key: 'key_0VTK3JqA1f0c6uXo9dWb2kQp1',
    routeNumber: 0,
    method: 'POST',
    path: '/v1/payment_intents',
    query: '',
    objectId: '',
    idempotencyKey: undefined,
    version: undefined,
    status: 200,
    code: null,
    replayed: false,
    originalRequest: '',
    requestBody: Buffer.from('{"amount":12000,"currency":"mad"}'),
    answerBody: Buffer.from(`{"id":"pi_${encodeBase62(count, 25)}","object":"payment_intent"}`),
    ...change,
  };
}

export function newLogs(change: Partial<RequestLogsOptions> = {}) {
  const folder = change.folder ?? temporaryFolder();
  const lost: [entries: number, reason: string][] = [];
  const logs = new RequestLogs({
    folder,
    keptMs: 7 * dayMs,
    bytesMax: 64 * 1024 * 1024,
    hasRoom: () => true,
    onFailed: (error) => {
      throw error;
    },
    onLost: (entries, reason) => lost.push([entries, reason]),
    ...change,
  });
  return { folder, logs, lost };
}

/** Writes entries as one batch. */
export function writeAll(logs: RequestLogs, scope: LogScope, entries: readonly AnsweredRequest[]): void {
  logs.write(batchOf(entries), [scope]);
}

/** The entries of entries that all have the first sender. */
export function batchOf(entries: readonly AnsweredRequest[]): Buffer {
  const writer = new EntryWriter(Buffer.alloc(entries.length * 96 * 1024));
  for (const entry of entries) if (!writer.put(0, entry)) throw new Error('it does not fit');
  return writer.buffer.subarray(0, writer.used);
}

/** A request of a log; null when the log does not have it. */
export function findRequest(folder: string, scope: LogScope, request: string): LoggedRequest | null {
  const parts = findInParts(folder, scope, request);
  for (;;) {
    const { done, value } = parts.next();
    if (done) return value;
  }
}
