// A channel between two lanes, as the service has between its threads: messages arrive in order, a buffer belongs to the
// receiver alone afterwards, and everything else arrives as a copy.

import type { Lane, Simulation } from '../kernel/simulation.ts';
import type { LinkEnd } from '../net/node-link.ts';

/** Has something done where a message arrives. */
type Carry = (action: () => void) => void;

export class End<Out, In> {
  /** What comes for this end. */
  readonly #carry: Carry;
  #other!: End<In, Out>;
  readonly #onMessage: ((message: In) => void)[] = [];
  readonly #onClose: (() => void)[] = [];
  #isClosed = false;

  constructor(carry: Carry) {
    this.#carry = carry;
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
    this.#carry(() => {
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
    const other = this.#other;
    other.#carry(() => other.ended());
  }

  /** The other end is closed, or its thread has ended. */
  ended(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const listener of this.#onClose) listener();
  }
}

/** `near` and `far`: what carries messages to either end. */
function joined<A, B>(near: Carry, far: Carry): [End<A, B>, End<B, A>] {
  const ends: [End<A, B>, End<B, A>] = [new End<A, B>(near), new End<B, A>(far)];
  ends[0].join(ends[1]);
  ends[1].join(ends[0]);
  return ends;
}

/** The ends of links that messages go out by, one after the other, on their way there and back; none within a node. */
export interface Path {
  readonly there: readonly LinkEnd[];
  readonly back: readonly LinkEnd[];
}

export const within: Path = { there: [], back: [] };

/** A channel between lanes, of two nodes where there is a path. */
export function channel<A, B>(
  simulation: Simulation,
  near: Lane,
  far: Lane,
  { there, back }: Path = within,
): [End<A, B>, End<B, A>] {
  const carry = (path: readonly LinkEnd[], lane: Lane) => (action: () => void) =>
    path.reduceRight<() => void>(
      (next, end) => () => end.send(next),
      () => simulation.soon(lane, action),
    )();
  return joined(carry(back, near), carry(there, far));
}
