// Answers of a shard that the edge can't pass on: their client has gone, or holds too much already.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { routeTable } from '../../src/contract/routes/table.ts';
import type { RequestHead } from '../../src/edge/http/request-head.ts';
import type { ShardClient } from '../../src/shard/client.ts';
import { type AnswerFrame, answerFlags } from '../../src/shard/frames.ts';
import { trustingApi } from './trusting-api.ts';

/** A GET that waits for its shard. */
function sent(operation: string, more: Partial<RequestHead> = {}) {
  const { path } = routeTable.find((route) => route.operation === operation)!;
  const [said, logged, asked]: [string[], number[], string[]] = [[], [], []];
  let onAnswer: (answer: AnswerFrame) => void = () => {};
  const shard = {
    refusal: () => null,
    send(_frame: unknown, listener: typeof onAnswer) {
      onAnswer = listener;
      return 1;
    },
    ask: async ({ kind }: { readonly kind: string }) => asked.push(kind),
  };
  const exchange = {
    isOpen: true,
    requestId: 'req_1',
    startedAt: 0,
    room: Infinity,
    hasRoomFor: (bytes: number) => bytes <= exchange.room,
    answer: (status: number, headers: string) => said.push(`${status}${/RateLimit/.exec(headers) ?? ''}`),
    begin: (status: number) => said.push(String(status)),
    finish() {},
    guard: (step: () => unknown) => step(),
    failed: (error: Error) => assert.fail(error),
  };
  const api = trustingApi(shard as unknown as ShardClient, ({ status }) => logged.push(status));
  api.handle(
    exchange as never,
    {
      method: 'GET',
      path,
      query: '',
      authorization: 'org_1',
      acceptLanguage: '',
      lastEventId: '',
      refusal: null,
      hasBody: false,
      ...more,
    } as RequestHead,
  );
  const answer = (flags = 0) =>
    onAnswer({
      status: 200,
      flags,
      errorNumber: 0,
      limit: 1,
      remaining: 1,
      resetSeconds: 1,
      retryAfterSeconds: 0,
      originalRequest: '',
      body: Buffer.from('{"data":[]}'),
    } as AnswerFrame);
  return { exchange, answer, said, logged, asked };
}

test('the shard is told of the end of an export whose client went before it began', async () => {
  const { exchange, answer, logged, asked } = sent('export_charges');
  exchange.isOpen = false;
  answer(answerFlags.more);
  await turn();
  assert.deepEqual([asked, logged], [['export_ended'], []]);
});

test('whoever has gone is not answered', () => {
  const { exchange, answer, said, logged } = sent('list_events');
  exchange.isOpen = false;
  answer();
  assert.deepEqual([said, logged], [[], []]);
});

test('a stream is refused while its client is there', async () => {
  for (const isOpen of [true, false]) {
    const { exchange, answer, said, logged } = sent('stream_events', { lastEventId: 'pi_1' });
    answer(answerFlags.more);
    exchange.isOpen = isOpen;
    await turn();
    assert.deepEqual([said, logged], isOpen ? [['400RateLimit'], [400]] : [[], []]);
  }
});

test('an answer for which there is no room by now is refused, with its limits', () => {
  const { exchange, answer, said, logged } = sent('list_events');
  exchange.room = 5;
  answer();
  assert.deepEqual([said, logged], [['503RateLimit'], [503]]);
});
