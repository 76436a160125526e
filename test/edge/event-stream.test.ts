// The beginning of the stream of test events, when the shard can say where it begins and when it can't.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EventStreams } from '../../src/edge/api/event-stream.ts';
import { eventSource } from '../../src/edge/api/stream-sources.ts';
import type { Exchange } from '../../src/edge/http/exchange.ts';
import type { RequestHead } from '../../src/edge/http/request-head.ts';
import type { InternalAnswer } from '../../src/shard/protocol.ts';

/** What a client is sent who opens the stream for the first time, and leaves after the beginning. */
async function opened(newest: InternalAnswer): Promise<string[]> {
  const said: string[] = [];
  const exchange = {
    isOpen: true,
    begin: () => said.push('begin'),
    write: async (text: string) => said.push(...text.split('\n').filter((line) => line.startsWith('id: '))),
    cut: () => said.push('cut'),
    finish: () => said.push('finish'),
  } as unknown as Exchange;
  const shard = { ask: async () => newest };
  const source = eventSource(shard as never, 'org_1', Buffer.alloc(32));
  const head = { lastEventId: '' } as RequestHead;
  await new EventStreams().stream(exchange, '', 'org_1', source, head, () => false);
  return said;
}

test('it begins behind the newest event, or before all where there is none yet', async () => {
  const at = (cursor: string): InternalAnswer => ({ ok: true, body: '[]', cursor });
  assert.deepEqual(await opened(at('evt_9')), ['begin', 'id: evt_9', 'finish']);
  assert.deepEqual(await opened(at('')), ['begin', 'id: evt_', 'finish']);
});

test('it does not begin with all events there are while the shard can not say which is the newest', async () => {
  assert.deepEqual(await opened({ ok: false, code: 'api_error', message: '' }), ['cut', 'finish']);
});
