// The ports between a shard and those who send it requests or deliver its webhooks.

import { MessageChannel } from 'node:worker_threads';
import type { Wiring } from '../cluster/wires.ts';
import { elementAt } from '../core/assert.ts';
import type { ShardClient } from '../shard/client.ts';
import type { SupervisedThread } from './supervised-thread.ts';
import type { Thread } from './thread.ts';
import type { Instruction } from './thread-protocol.ts';

/** Connects a shard with the client in this thread. */
export function connectClient(shard: Thread, client: ShardClient): void {
  const { port1, port2 } = new MessageChannel();
  shard.connect(0, port1);
  client.connect(port2);
}

/**
 * Connects a shard with a thread. `wiring`: gives wires to those that run on other nodes; null: on
 * none.
 */
export function connectShard(shard: Thread, number: number, thread: Thread, wiring: Wiring | null): void {
  const wire =
    wiring === null || shard.process === null || thread.process === null
      ? null
      : wiring.between(shard.process, thread.process);
  if (wire !== null) {
    shard.connectWire(0, wire[0]);
    thread.connectWire(number, wire[1]);
    return;
  }
  const { port1, port2 } = new MessageChannel();
  shard.connect(0, port1);
  thread.connect(number, port2);
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

/** Runs something after a while, unless the thread has ended then; at once when there is none. */
export function laterWhile(thread: Thread, ms: number, run: () => void): void {
  if (ms === 0) {
    run();
    return;
  }
  const timer = setTimeout(run, ms);
  void thread.ended.then(() => clearTimeout(timer));
}

/** The clients of an edge, which keep to the connection with each shard that was made last. */
export class NewestConnections {
  readonly #clients: readonly Pick<ShardClient, 'connect'>[];
  readonly #counts: number[];

  constructor(clients: readonly Pick<ShardClient, 'connect'>[]) {
    this.#clients = clients;
    this.#counts = clients.map(() => 0);
  }

  /** A wire takes its time: another connection may have taken its place before it is there. */
  take({ number, count, port }: Extract<Instruction, { type: 'connect' }>): void {
    if (count < elementAt(this.#counts, number)) {
      port.close();
      return;
    }
    this.#counts[number] = count;
    elementAt(this.#clients, number).connect(port);
  }
}
