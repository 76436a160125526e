// The entry of a webhook thread: it connects the dispatcher to the shards, to the attempts and to
// its timers. All deliveries of an endpoint come to the same thread (shard/outboxes.ts), so the
// attempts in flight to it are counted in one place.

import { setTimeout as wait } from 'node:timers/promises';
import type { MessagePort } from 'node:worker_threads';
import { SecretBox, SigningKeys } from '../crypto/secret-box.ts';
import { OwnershipBoard } from '../journal/ownership.ts';
import type { Answers } from '../rpc/questions.ts';
import { type PackedOutbox, receivedFromShard, sendToShard } from '../shard/packed-outbox.ts';
import type { FromShard } from '../shard/protocol.ts';
import { createWebhookMetrics } from '../telemetry/metrics.ts';
import { systemClocks, trustClocks } from '../telemetry/system-clocks.ts';
import { Attempts } from '../webhooks/attempt.ts';
import { Dispatcher } from '../webhooks/dispatcher.ts';
import { outboundOf } from './outbound.ts';
import type { Connected, ThreadQuestions, WebhookThreadData } from './thread-protocol.ts';
import { carryOut, commonAnswers, startOfThread } from './thread-side.ts';
import { observeThread } from './thread-telemetry.ts';
import { Visits } from './visits.ts';

const { data, main, tell } = await startOfThread<WebhookThreadData>();
const { number: thread, config, secretsKeys, paused } = data;
const name = `webhooks-${thread}`;
const { logger, registry } = await observeThread(config, name);
const metrics = createWebhookMetrics(registry);
const visits = new Visits(registry, logger, name, ['webhook_attempt']);
// What a receiver sends may throw where nobody waits.
visits.catchStraysOf('webhook_attempt');

/**
 * Time for receivers to notice that the connections of an earlier process have closed, before new
 * ones are opened.
 */
const noticeMs = 1_000;
const tickMs = 1_000;
/**
 * Time for the attempts in flight when the service stops. Those that take longer are made again
 * after the next start.
 */
const stopGraceMs = 2_000;
const stopPollMs = 20;

/** The attempts in flight in all are divided among the threads. */
const concurrency = Math.ceil(config.webhooks.concurrency / config.webhookThreads);
const { monotonic } = systemClocks();
const signingKeys = new SigningKeys(new SecretBox(secretsKeys));
const attempts = new Attempts({
  ...outboundOf(config, config.webhooks.timeoutMs),
  connectionsMax: concurrency,
});

const shards = new Map<number, MessagePort>();
const ownership = new OwnershipBoard(data.ownership, trustClocks);
const dispatcher = new Dispatcher({
  concurrency,
  clock: Date.now,
  monotonic,
  isHeld: (shard) => ownership.isHeld(shard),
  // The signing secrets are opened here. One that can't be opened is a fault of the service, not a
  // failed attempt.
  attempt: ({ org, endpoint, sealed, url, body, nowSeconds }) => {
    const owner = { id: endpoint, org };
    const secrets = sealed.map((each) => signingKeys.open(each, owner));
    return attempts.make({ org, endpoint, url, body, secrets, nowSeconds });
  },
  hangUp: (endpoint) => attempts.connections.hangUp(endpoint),
  send(shard, message) {
    const port = shards.get(shard);
    if (port !== undefined) sendToShard(port, { thread, ...message });
  },
  onAttempted: metrics.attempted,
  onTrouble: (error) => visits.failed(error, 'webhook_attempt', null),
  later: (run, ms) => setTimeout(() => visits.own(run), ms),
});

function connect(connected: Connected): void {
  if (connected.type !== 'connect') return;
  const { number, port } = connected;
  shards.get(number)?.close();
  shards.set(number, port);
  port.on('close', () => {
    if (shards.get(number) === port) visits.own(() => dispatcher.disconnected(number));
  });
  port.on('message', (message: FromShard | PackedOutbox) => {
    if ('packedOutbox' in message) visits.own(() => dispatcher.take(number, receivedFromShard(message)));
  });
  dispatcher.connected(number);
}

let isPaused = paused;
let isQuiet = true;
const starting = setTimeout(
  () => {
    isQuiet = false;
    startIfDue();
  },
  Math.max(noticeMs, data.quietMs),
);
const ticking = setInterval(() => visits.own(() => dispatcher.tick()), tickMs);

function startIfDue(): void {
  if (!isPaused && !isQuiet) visits.own(() => dispatcher.start());
}

async function stop(): Promise<void> {
  clearTimeout(starting);
  dispatcher.pause();
  const untilMs = performance.now() + stopGraceMs;
  while (!dispatcher.isIdle && performance.now() < untilMs) await wait(stopPollMs);
  clearInterval(ticking);
  // Attempts that are not over end with the thread, and their outcomes are not recorded.
  for (const port of shards.values()) port.close();
}

const answers: Answers<ThreadQuestions> = {
  ...commonAnswers(logger, registry, () => metrics.show(dispatcher.counts())),
  resume() {
    isPaused = false;
    startIfDue();
  },
  stop,
};
main.on('message', carryOut(answers, tell, { connect }));
tell({ type: 'ready' });
