// An edge's end of the request logs: what it hands over, and what it drops.

import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { test } from 'node:test';
import { type EntryBatch, RequestLogClient } from '../../src/request-logs/client.ts';
import { EntryReader } from '../../src/request-logs/entry.ts';
import { answeredRequest, startMs } from './written-log.ts';

class Port extends EventEmitter {
  readonly batches: EntryBatch[] = [];
  postMessage(batch: EntryBatch) {
    this.batches.push(batch);
  }
  close() {}
  /** Acknowledges the oldest batch. */
  acknowledge(batch: EntryBatch) {
    this.emit('message', { written: batch.buffer });
  }
}

function entriesOf({ buffer, bytes, senders }: EntryBatch): string[] {
  const entry = new EntryReader(Buffer.from(buffer, 0, bytes));
  const found: string[] = [];
  for (let at = 0; entry.moveTo(at); at = entry.end) {
    const { org, mode } = senders[entry.sender]!;
    found.push(`${org} ${mode} ${entry.isGap ? `gap ${entry.duration}` : entry.answered(false).requestId}`);
  }
  return found;
}

function newClient() {
  const due: (() => void)[] = [];
  const dropped: number[] = [];
  const client = new RequestLogClient({
    clock: () => startMs,
    later: (run) => due.push(run),
    onDropped: (entries) => dropped.push(entries),
  });
  return { client, due, dropped };
}

test('entries gather, and are handed over after a moment, with their senders', () => {
  const { client, due } = newClient();
  const port = new Port();
  client.connect(port);
  const entries = [answeredRequest(), answeredRequest({ livemode: true }), answeredRequest()];
  client.put('org_a', entries[0]!);
  client.put('org_a', entries[1]!);
  client.put('org_b', entries[2]!);
  assert.equal(port.batches.length, 0);
  assert.equal(due.length, 1);
  due[0]!();
  assert.deepEqual(port.batches.flatMap(entriesOf), [
    `org_a test ${entries[0]!.requestId}`,
    `org_a live ${entries[1]!.requestId}`,
    `org_b test ${entries[2]!.requestId}`,
  ]);
  client.put('org_b', entries[0]!);
  client.disconnect();
  assert.deepEqual(entriesOf(port.batches[1]!), [`org_b test ${entries[0]!.requestId}`]);
});

test('when the writer is behind, entries are dropped and counted, and a gap comes with the next batch', () => {
  const { client, dropped } = newClient();
  const port = new Port();
  client.connect(port);
  const large = () => answeredRequest({ answerBody: Buffer.alloc(8 * 1024, 'a') });
  let sent = 0;
  for (; dropped.length < 3; sent++) client.put('org_a', large());
  const bytes = port.batches.reduce((sum, batch) => sum + batch.buffer.byteLength, 0);
  assert.ok(bytes <= 16 * 1024 * 1024, `${bytes} bytes wait`);
  const kept = port.batches.flatMap(entriesOf);
  assert.equal(kept.length, sent - 3);
  port.acknowledge(port.batches[0]!);
  const next = answeredRequest();
  client.put('org_a', next);
  client.flush();
  assert.deepEqual(entriesOf(port.batches.at(-1)!), ['org_a test gap 3', `org_a test ${next.requestId}`]);
});

test('while the writer is behind, an organization that sends much leaves room to the others', () => {
  const { client, dropped } = newClient();
  const port = new Port();
  client.connect(port);
  const large = answeredRequest({ answerBody: Buffer.alloc(8 * 1024, 'a') });
  client.put('org_b', answeredRequest());
  while (dropped.length < 5_000) client.put('org_crowd', large);
  const own = Array.from({ length: 100 }, () => answeredRequest());
  for (const entry of own) client.put('org_b', entry);
  client.flush();
  assert.equal(dropped.length, 5_000);
  const kept = new Set(port.batches.flatMap(entriesOf));
  assert.ok(own.every(({ requestId }) => kept.has(`org_b test ${requestId}`)));
  assert.ok(kept.has('org_crowd test gap 5000'));
  for (const batch of [...port.batches]) port.acknowledge(batch);
  client.put('org_crowd', large);
  client.flush();
  assert.deepEqual(entriesOf(port.batches.at(-1)!), [`org_crowd test ${large.requestId}`]);
});

test('a request that is left out on purpose is part of a gap, and is no loss', () => {
  const { client, dropped } = newClient();
  const port = new Port();
  client.connect(port);
  client.leaveOut('org_a', false);
  client.leaveOut('org_a', false);
  assert.deepEqual(dropped, []);
  const next = answeredRequest();
  client.put('org_a', next);
  client.flush();
  assert.deepEqual(entriesOf(port.batches[0]!), ['org_a test gap 2', `org_a test ${next.requestId}`]);
});

test('what the writer had not acknowledged when it ended counts as dropped', () => {
  const { client, dropped } = newClient();
  const entry = answeredRequest();
  client.put('org_a', entry);
  assert.deepEqual(dropped, [1]);
  const first = new Port();
  client.connect(first);
  client.put('org_a', entry);
  client.flush();
  first.acknowledge(first.batches[0]!);
  client.put('org_a', entry);
  client.flush();
  client.put('org_b', entry);
  first.emit('close');
  client.put('org_b', entry);
  client.flush();
  const second = new Port();
  client.connect(second);
  client.put('org_b', entry);
  client.flush();
  assert.deepEqual(second.batches.flatMap(entriesOf), [
    'org_a test gap 1',
    'org_b test gap 2',
    `org_b test ${entry.requestId}`,
  ]);
});
