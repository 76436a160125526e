// The connections between threads: a shard and those who send it requests or deliver its webhooks,
// the thread of the request logs and an edge, or that of another node.

import { MessageChannel, type MessagePort } from 'node:worker_threads';
import type { Wiring } from '../cluster/wires.ts';
import type { SupervisedThread } from './supervised-thread.ts';
import type { Thread } from './thread.ts';
import type { Connected, Connection } from './thread-protocol.ts';

/** A thread, and what the connection is to it. */
type End = readonly [thread: Thread, connection: Connection];

/**
 * Connects two threads. `wiring`: gives wires to those that run on other nodes; null: no thread
 * does.
 */
export function connectThreads(
  [one, connection]: End,
  [other, otherConnection]: End,
  wiring: Wiring | null,
): void {
  const wire =
    wiring !== null && one.process !== null && other.process !== null
      ? wiring.between(one.process, other.process)
      : null;
  const [end, otherEnd] = wire ?? portsOfChannel();
  one.connect(connection, end);
  other.connect(otherConnection, otherEnd);
}

function portsOfChannel(): readonly [MessagePort, MessagePort] {
  const { port1, port2 } = new MessageChannel();
  return [port1, port2];
}

/** Connects a shard with a thread that sends it requests, or delivers its webhooks. */
export function connectShard(shard: Thread, number: number, thread: Thread, wiring: Wiring | null): void {
  connectThreads([shard, { type: 'connect', number: 0 }], [thread, { type: 'connect', number }], wiring);
}

/** Connects a shard with those of the threads that have been started. */
export function connectAll(
  shard: Thread,
  number: number,
  threads: readonly SupervisedThread[],
  wiring: Wiring | null,
): void {
  for (const { thread } of threads) if (thread !== null) connectShard(shard, number, thread, wiring);
}

/** Connects the edges and shards of two other nodes anew. */
export function connectBetween(
  [process, other]: readonly [string, string],
  shards: readonly SupervisedThread[],
  edges: readonly SupervisedThread[],
  wiring: Wiring | null,
): void {
  for (const { thread: edge } of edges)
    shards.forEach(({ ready: shard }, number) => {
      if (shard === null || edge === null) return;
      const at = [shard.process, edge.process];
      if (at.includes(process) && at.includes(other)) connectShard(shard, number, edge, wiring);
    });
}

/** Connects a thread with a client in this one. */
export function connectClient(
  thread: Thread,
  connection: Connection,
  client: { connect(port: MessagePort): void },
): void {
  const [end, otherEnd] = portsOfChannel();
  thread.connect(connection, end);
  client.connect(otherEnd);
}

/** Runs something after a while, unless the thread has ended then; at once when that is 0. */
export function laterWhile(thread: Thread, ms: number, run: () => void): void {
  if (ms === 0) {
    run();
    return;
  }
  const timer = setTimeout(run, ms);
  void thread.ended.then(() => clearTimeout(timer));
}

/** Which connection to the same counts: the one that was made last. */
export class Newest<K> {
  readonly #counts = new Map<K, number>();

  /**
   * Whether it does; else its port is closed. A wire takes its time: another connection may have
   * taken its place before it is there.
   */
  takes(key: K, { count, port }: Pick<Connected, 'count' | 'port'>): boolean {
    const isNewest = count >= (this.#counts.get(key) ?? 0);
    if (isNewest) this.#counts.set(key, count);
    else port.close();
    return isNewest;
  }
}
