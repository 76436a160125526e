// The ports between a shard and those who send it requests or deliver its webhooks.

import { MessageChannel, type MessagePort } from 'node:worker_threads';
import type { SupervisedThread } from './supervised-thread.ts';
import type { Thread } from './thread.ts';

/** Gives the shard one end of a channel and somebody else the other. */
export function connectShard(shard: Thread, give: (port: MessagePort) => void): void {
  const { port1, port2 } = new MessageChannel();
  shard.connect(0, port1);
  give(port2);
}

/** Connects a shard with those of the threads that have been started. */
export function connectAll(shard: Thread, number: number, threads: readonly SupervisedThread[]): void {
  for (const { thread } of threads)
    if (thread !== null) connectShard(shard, (port) => thread.connect(number, port));
}

/** Runs something after a while, unless the thread has ended then; at once when there is none. */
export function laterWhile(thread: Thread, ms: number, run: () => void): void {
  if (ms === 0) {
    run();
    return;
  }
  const timer = setTimeout(run, ms);
  void thread.ended.then(() => clearTimeout(timer));
}
