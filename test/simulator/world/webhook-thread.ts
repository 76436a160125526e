// A webhook thread, put together as src/threads/webhook-thread.ts does it: the dispatcher in a lane, with receivers in the
// place of attempts.

import type { FromShard, ToShard } from '../../../src/shard/protocol.ts';
import { Dispatcher } from '../../../src/webhooks/dispatcher.ts';
import type { Lane } from '../kernel/simulation.ts';
import { channel, type End } from './channel.ts';
import type { ShardThread } from './shard-thread.ts';
import type { World } from './world.ts';

export const webhookThreads = 2;
const concurrency = 12;
const settleMs = 300;
const tickMs = 1_000;

export class WebhookThread {
  readonly #world: World;
  readonly #lane: Lane;
  readonly #dispatcher: Dispatcher;
  readonly #ports = new Map<number, End<ToShard, FromShard>>();

  readonly #thread: number;

  constructor(world: World, thread: number) {
    this.#world = world;
    this.#thread = thread;
    const { simulation, clocks, receivers, judge } = world;
    const lane = simulation.lane(`webhooks ${thread}`);
    this.#lane = lane;
    this.#dispatcher = new Dispatcher({
      concurrency,
      clock: clocks.wall,
      monotonic: clocks.monotonic,
      isHeld: () => true,
      attempt: (input) => receivers.attempt(thread, input),
      hangUp: () => {},
      send: (shard, message) => this.#ports.get(shard)?.postMessage({ outbox: { thread, ...message } }),
      onAttempted: () => {},
      onTrouble: (error) =>
        judge.check('the service fails of what failed, and of nothing else', false, () => String(error)),
      later: (run, ms) => void simulation.after(lane, ms, run),
    });
    simulation.after(lane, settleMs, () => {
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
    const [near, far] = channel<ToShard, FromShard>(simulation, this.#lane, thread.lane);
    thread.connect(far);
    simulation.soon(this.#lane, () => {
      this.#ports.get(number)?.close();
      this.#ports.set(number, near);
      near.on('message', (message) => {
        if (!(message instanceof ArrayBuffer) && 'outbox' in message)
          this.#dispatcher.take(number, message.outbox);
      });
      this.#dispatcher.connected(number);
    });
  }

  resume(): void {
    this.#world.simulation.soon(this.#lane, () => this.#dispatcher.start());
  }

  cut(): void {
    this.#world.simulation.cut(this.#lane);
    this.#world.receivers.disconnected(this.#thread);
  }
}
