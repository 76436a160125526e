// A link between two nodes, as src/cluster/link.ts makes it of a connection: what one side sends comes to the other in order,
// and a side that hears nothing for a while gives it up.

import type { Lane } from '../kernel/simulation.ts';
import { type Links, Way } from './links.ts';

/** Where a side of a link is. */
export interface Side {
  /** The machine. */
  readonly name: string;
  readonly lane: Lane;
}

export class LinkEnd {
  readonly #links: Links;
  readonly #lane: Lane;
  readonly from: string;
  readonly to: string;
  readonly #way: Way;
  readonly #silentMsMax: number;
  #other!: LinkEnd;
  #calm = () => {};
  #isEnded = false;
  /** Hears, in the lane of this side, that the link is lost. */
  onEnded = () => {};

  private constructor(links: Links, here: Side, there: Side, silentMsMax: number) {
    this.#links = links;
    this.#lane = here.lane;
    this.from = here.name;
    this.to = there.name;
    links.ends.add(this);
    this.#way = new Way(links, here.name, there.name, there.lane);
    this.#silentMsMax = silentMsMax;
    this.#heard();
  }

  /** The two ends of a new link. */
  static pair(links: Links, one: Side, other: Side, silentMsMax: number): readonly [LinkEnd, LinkEnd] {
    const ends = [
      new LinkEnd(links, one, other, silentMsMax),
      new LinkEnd(links, other, one, silentMsMax),
    ] as const;
    [ends[0].#other, ends[1].#other] = [ends[1], ends[0]];
    return ends;
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** Has the other side do something when this has arrived there. */
  send(action: () => void): void {
    if (this.#isEnded) return;
    const other = this.#other;
    this.#way.send(() => {
      if (other.#isEnded) return;
      other.#heard();
      action();
    });
  }

  #heard(): void {
    this.#calm();
    this.#calm = this.#links.simulation.after(this.#lane, this.#silentMsMax, () => this.end());
  }

  /** The connection is closed, of which the other side hears. */
  end(): void {
    if (this.#isEnded) return;
    this.#way.send(() => {
      this.#way.close();
      this.#other.end();
    });
    this.#over();
    this.onEnded();
  }

  /** The process of this side is gone. `isSilent`: its machine is, and the other side hears of nothing. */
  cut(isSilent: boolean): void {
    if (this.#isEnded) return;
    if (isSilent) this.#way.close();
    else
      this.#way.send(() => {
        this.#way.close();
        this.#other.end();
      });
    this.#over();
  }

  /** Something between ends the connection, of which this side hears, and the other one does not. */
  reset(): void {
    if (this.#isEnded) return;
    this.#way.close();
    this.#other.#way.close();
    this.#over();
    this.#links.simulation.soon(this.#lane, () => this.onEnded());
  }

  #over(): void {
    this.#isEnded = true;
    this.#links.ends.delete(this);
    this.#calm();
  }
}
