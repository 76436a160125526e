// What a node does with the connections of clients while no edge of its own takes them, as src/cluster/relay.ts does it: each is
// passed on to the node that serves, over a connection beside all others, both ways of which can be slow, cut or lost.

import { type Links, Way } from './links.ts';
import type { Side } from './node-link.ts';

/** The node that serves, as the relay knows it. */
export interface Target<E> {
  readonly side: Side;
  /** What listens there; null: nothing does. */
  readonly edge: () => E | null;
}

/** Gives a request to an edge. Returns what to do there when its client goes. */
type Give<E, T> = (edge: E, answer: (answer: T) => void) => () => void;

interface PassedOn {
  /** To another node, or to nobody any more. */
  end(): void;
  /** Nobody hears of it. */
  forget(): void;
}

export class Relay<E> {
  readonly #links: Links;
  readonly #here: Side;
  readonly #open = new Set<PassedOn>();
  #target: Target<E> | null = null;

  constructor(links: Links, here: Side) {
    this.#links = links;
    this.#here = here;
  }

  /** Connections go to this node from now on; those to another one end. Null: to none. */
  passTo(target: Target<E> | null): void {
    if (target?.side === this.#target?.side) return;
    this.#target = target;
    for (const each of [...this.#open]) each.end();
  }

  /** The process is gone. `isSilent`: with its machine, and nobody hears of it. */
  cut(isSilent: boolean): void {
    for (const each of [...this.#open])
      if (isSilent) each.forget();
      else each.end();
    this.#target = null;
  }

  /** Passes on what a client asks. `refused` follows when nobody serves. Returns what to do when the client goes. */
  take<T>(give: Give<E, T>, done: (answer: T) => void, refused: () => void): () => void {
    const { simulation } = this.#links;
    let leave = () => {};
    simulation.soon(this.#here.lane, () => {
      if (this.#target === null) refused();
      else leave = this.#pass(this.#target, give, done, refused);
    });
    return () => simulation.soon(this.#here.lane, () => leave());
  }

  #pass<T>(target: Target<E>, give: Give<E, T>, done: (answer: T) => void, refused: () => void): () => void {
    const [links, here] = [this.#links, this.#here];
    const there = new Way(links, here.name, target.side.name, target.side.lane);
    const back = new Way(links, target.side.name, here.name, here.lane);
    let withdraw = () => {};
    const forget = () => {
      this.#open.delete(passed);
      there.close();
      back.close();
    };
    const over = (tell: () => void) => () => {
      forget();
      tell();
    };
    const leave = () => {
      this.#open.delete(passed);
      back.close();
      there.send(() => {
        there.close();
        withdraw();
      });
    };
    const passed: PassedOn = {
      forget,
      end: () => {
        leave();
        links.simulation.soon(here.lane, refused);
      },
    };
    this.#open.add(passed);
    there.send(() => {
      const edge = target.edge();
      if (edge === null) back.send(over(refused));
      else
        withdraw = give(edge, (answer) => {
          if (links.losesAnswer(target.side.name, here.name)) back.close();
          else back.send(over(() => done(answer)));
        });
    });
    return leave;
  }
}
