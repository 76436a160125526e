// A channel between two lanes, as the service has between its threads: messages arrive in order, a buffer belongs to the
// receiver alone afterwards, and everything else arrives as a copy.

import type { Lane, Simulation } from '../kernel/simulation.ts';

export class End<Out, In> {
  readonly #simulation: Simulation;
  readonly #lane: Lane;
  #other!: End<In, Out>;
  readonly #onMessage: ((message: In) => void)[] = [];
  readonly #onClose: (() => void)[] = [];
  #isClosed = false;

  constructor(simulation: Simulation, lane: Lane) {
    this.#simulation = simulation;
    this.#lane = lane;
  }

  join(other: End<In, Out>): void {
    this.#other = other;
  }

  postMessage(message: Out): void {
    if (this.#isClosed) return;
    const sent = message instanceof ArrayBuffer ? message.transfer() : structuredClone(message);
    this.#other.#receive(sent as Out);
  }

  #receive(message: In): void {
    this.#simulation.soon(this.#lane, () => {
      if (!this.#isClosed) for (const listener of this.#onMessage) listener(message);
    });
  }

  on(event: 'message', listener: (message: In) => void): void;
  on(event: 'close', listener: () => void): void;
  on(event: string, listener: (message: In) => void): void {
    if (event === 'message') this.#onMessage.push(listener);
    else this.#onClose.push(listener as () => void);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#other.#ended();
  }

  #ended(): void {
    this.#simulation.soon(this.#lane, () => {
      if (this.#isClosed) return;
      this.#isClosed = true;
      for (const listener of this.#onClose) listener();
    });
  }
}

export function channel<A, B>(simulation: Simulation, near: Lane, far: Lane): [End<A, B>, End<B, A>] {
  const ends: [End<A, B>, End<B, A>] = [new End<A, B>(simulation, near), new End<B, A>(simulation, far)];
  ends[0].join(ends[1]);
  ends[1].join(ends[0]);
  return ends;
}
