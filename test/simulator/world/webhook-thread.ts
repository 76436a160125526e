// A webhook thread, put together as src/threads/webhook-thread.ts does it: the dispatcher in a lane, with receivers in the
// place of attempts.

import { isDeepStrictEqual } from 'node:util';
import type { OwnershipBoard } from '../../../src/journal/ownership.ts';
import { type PackedOutbox, receivedFromShard, sendToShard } from '../../../src/shard/packed-outbox.ts';
import type { EndpointChange, FromShard, ToShard } from '../../../src/shard/protocol.ts';
import type { SealedAttempt } from '../../../src/webhooks/attempt.ts';
import { Dispatcher } from '../../../src/webhooks/dispatcher.ts';
import type { Machine } from '../disk/machine.ts';
import type { Lane } from '../kernel/simulation.ts';
import { channel, type End } from './channel.ts';
import type { ShardThread } from './shard-thread.ts';
import type { World } from './world.ts';

export const webhookThreads = 2;
const attemptsAtOnce = 12;
const settleMs = 300;
const tickMs = 1_000;

export interface WebhookThreadOptions {
  readonly world: World;
  readonly machine: Machine;
  readonly thread: number;
  readonly board: OwnershipBoard;
  /** Attempts of another node may be under way for so long. */
  readonly quietMs: number;
}

export class WebhookThread {
  readonly #world: World;
  readonly #lane: Lane;
  readonly #dispatcher: Dispatcher;
  readonly #ports = new Map<number, End<ToShard | PackedOutbox, FromShard | PackedOutbox>>();
  /** What shards have told of each endpoint. */
  readonly #told = new Map<string, EndpointChange['state']>();
  /** The shard of each endpoint. */
  readonly #shards = new Map<string, number>();
  /** By which lease each shard runs; it may have been run by an earlier one when this thread began. */
  readonly #leases = new Map<number, number | null>();
  /** Whom receivers take it for. */
  readonly #sender: string;

  constructor({ world, machine, thread, board, quietMs }: WebhookThreadOptions) {
    this.#world = world;
    const { simulation, receivers, judge } = world;
    const { clocks } = machine;
    this.#sender = `${machine.name} ${thread} at ${simulation.tasks}`;
    const lane = machine.lane(`webhooks ${thread}`);
    this.#lane = lane;
    this.#dispatcher = new Dispatcher({
      concurrency: world.settings.attemptsAtOnce ?? attemptsAtOnce,
      clock: clocks.wall,
      monotonic: clocks.monotonic,
      isHeld: (shard) => board.isHeld(shard),
      attempt: (input) => {
        world.speaks(this.#leaseOf(input.endpoint), 'a delivery');
        this.#judgeSent(input, clocks.wall());
        return receivers.attempt(this.#sender, input, clocks);
      },
      hangUp: () => {},
      send: (shard, message) => {
        const port = this.#ports.get(shard);
        if (port !== undefined) sendToShard(port, { thread, ...message });
      },
      onAttempted: () => {},
      onTrouble: (error) =>
        judge.check('the service fails of what failed, and of nothing else', false, () => String(error)),
      later: (run, ms) => void simulation.after(lane, ms, run),
    });
    simulation.after(lane, Math.max(settleMs, quietMs), () => {
      if (!world.isPaused) this.#dispatcher.start();
    });
    this.#tick();
  }

  #tick(): void {
    this.#world.simulation.after(this.#lane, tickMs, () => {
      this.#dispatcher.tick();
      this.#tick();
    });
  }

  connect(number: number, thread: ShardThread): void {
    const { simulation } = this.#world;
    const [near, far] = channel<ToShard | PackedOutbox, FromShard | PackedOutbox>(
      simulation,
      this.#lane,
      thread.lane,
    );
    thread.connect(far);
    simulation.soon(this.#lane, () => {
      this.#ports.get(number)?.close();
      this.#ports.set(number, near);
      this.#leases.set(number, thread.lease);
      near.on('message', (message) => {
        if (!('packedOutbox' in message)) return;
        const batch = receivedFromShard(message);
        for (const { id, state } of batch.endpoints) {
          this.#told.set(id, state);
          this.#shards.set(id, number);
        }
        this.#dispatcher.take(number, batch);
      });
      this.#dispatcher.connected(number);
    });
  }

  /** The thread of a shard has ended, and with it the connection to it. */
  disconnected(number: number): void {
    const port = this.#ports.get(number);
    this.#world.simulation.soon(this.#lane, () => {
      if (port !== undefined && this.#ports.get(number) === port) this.#dispatcher.disconnected(number);
    });
  }

  #leaseOf(endpoint: string): number | null {
    const shard = this.#shards.get(endpoint);
    return shard === undefined ? null : (this.#leases.get(shard) ?? null);
  }

  #judgeSent({ endpoint, url, sealed }: SealedAttempt, nowMs: number): void {
    const state = this.#told.get(endpoint) ?? null;
    const counts = ({ expires_at_ms: endMs }: { readonly expires_at_ms: number | null }) =>
      endMs === null || endMs > nowMs;
    const wanted = state?.secrets.filter(counts).map((secret) => secret.sealed);
    this.#world.judge.check(
      'a delivery goes to its address, signed with the secrets that count',
      state?.enabled === true && url === state.url && isDeepStrictEqual(sealed, wanted),
      () => `${endpoint} is sent a delivery to ${url} with ${sealed}, and should be with ${wanted}`,
    );
  }

  resume(): void {
    this.#world.simulation.soon(this.#lane, () => this.#dispatcher.start());
  }

  /** `isSilent`: receivers do not hear of the end of the connections. */
  cut(isSilent = false): void {
    this.#world.simulation.cut(this.#lane);
    if (isSilent && this.#world.hasNodes) return;
    this.#world.receivers.disconnected(this.#sender);
  }
}
