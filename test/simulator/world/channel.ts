// A channel between two lanes, as the service has between its threads: messages arrive in order, a buffer belongs to the
// receiver alone afterwards, and everything else arrives as a copy.

import type { Lane, Simulation } from '../kernel/simulation.ts';
import type { LinkEnd } from '../net/node-link.ts';

/** Has something done where a message arrives. */
type Carry = (action: () => void) => void;

export class End<Out, In> {
  /** What comes for this end. */
  readonly #carry: Carry;
  /** What this end does by itself. */
  readonly #soon: Carry;
  #other!: End<In, Out>;
  readonly #onMessage: ((message: In) => void)[] = [];
  readonly #onClose: (() => void)[] = [];
  #isClosed = false;

  constructor(carry: Carry, soon: Carry) {
    this.#carry = carry;
    this.#soon = soon;
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

  /** Both ends hear of it. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#soon(() => this.#tell());
    const other = this.#other;
    other.#carry(() => other.hangUp());
  }

  /** The thread at the other end has ended. */
  hangUp(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#tell();
  }

  #tell(): void {
    for (const listener of this.#onClose) listener();
  }
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
  const ends: [End<A, B>, End<B, A>] = [
    new End<A, B>(carry(back, near), carry([], near)),
    new End<B, A>(carry(there, far), carry([], far)),
  ];
  ends[0].join(ends[1]);
  ends[1].join(ends[0]);
  return ends;
}
