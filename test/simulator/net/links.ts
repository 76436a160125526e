// The network between the machines: nodes, and the servers of PostgreSQL. A link has two ways, and each can be cut. What is
// sent on a connection arrives in order, after a while, or when the way is open again; connections overtake each other.

import type { Random } from '../kernel/random.ts';
import type { Lane, Simulation } from '../kernel/simulation.ts';

/** After a cut, what was sent meanwhile is sent again by and by. */
const resentMsMax = 400;

/** A side of a link between two nodes. */
export interface LinkSide {
  readonly from: string;
  readonly to: string;
  reset(): void;
}

export class Links {
  readonly simulation: Simulation;
  readonly random: Random;
  /** How many times longer than usual everything takes on the ways from and to a machine. */
  readonly #slowness = new Map<string, number>();
  readonly #cuts = new Set<string>();
  /** The share of answers that are lost on a way, with their connections. */
  readonly #losses = new Map<string, number>();
  readonly #open = new Set<Way>();
  /** The sides of the links between nodes. */
  readonly ends = new Set<LinkSide>();

  constructor(simulation: Simulation) {
    this.simulation = simulation;
    this.random = simulation.random('links');
  }

  isCut(from: string, to: string): boolean {
    return this.#cuts.has(wayOf(from, to));
  }

  /** Nothing arrives at `to` any more of what `from` sends. */
  cut(from: string, to: string): void {
    this.#cuts.add(wayOf(from, to));
  }

  heal(from: string, to: string): void {
    this.#cuts.delete(wayOf(from, to));
    for (const way of this.#open) if (way.isHeldBack && way.goes(from, to)) way.resend();
  }

  healAll(): void {
    this.#cuts.clear();
    this.#losses.clear();
    this.#slowness.clear();
    for (const way of this.#open) if (way.isHeldBack) way.resend();
  }

  /** So many answers are lost from now on that a node gives a client by way of another one. */
  loseAnswers(from: string, to: string, share: number): void {
    this.#losses.set(wayOf(from, to), share);
  }

  losesAnswer(from: string, to: string): boolean {
    return this.random.chance(this.#losses.get(wayOf(from, to)) ?? 0);
  }

  slow(machine: string, times: number): void {
    this.#slowness.set(machine, times);
  }

  delayMs(from: string, to: string): number {
    const times = Math.max(this.#slowness.get(from) ?? 1, this.#slowness.get(to) ?? 1);
    return this.random.skewed(0.1, 2) * times;
  }

  /** Some connections between two machines go on without the other side, and neither hears of it. */
  breakSilently(from: string, to: string, share: number): number {
    let broken = 0;
    const chosen = [...this.#open].filter((way) => way.goes(from, to) && this.random.chance(share));
    for (const way of chosen) {
      broken++;
      way.close();
    }
    return broken;
  }

  /** A link from one node to another breaks, and only that node hears of it at once. */
  reset(from: string, to: string): void {
    for (const end of [...this.ends]) if (end.from === from && end.to === to) end.reset();
  }

  open(way: Way): void {
    this.#open.add(way);
  }

  closed(way: Way): void {
    this.#open.delete(way);
  }
}

function wayOf(from: string, to: string): string {
  return `${from} to ${to}`;
}

/** One way of a connection. */
export class Way {
  readonly #links: Links;
  readonly #from: string;
  readonly #to: string;
  /** Where what arrives is taken. */
  readonly #lane: Lane;
  readonly #held: (() => void)[] = [];
  #lastAtMs = 0;
  #isClosed = false;

  constructor(links: Links, from: string, to: string, lane: Lane) {
    this.#links = links;
    this.#from = from;
    this.#to = to;
    this.#lane = lane;
    links.open(this);
  }

  goes(from: string, to: string): boolean {
    return this.#from === from && this.#to === to;
  }

  get isHeldBack(): boolean {
    return this.#held.length > 0;
  }

  send(action: () => void): void {
    if (this.#isClosed) return;
    if (this.isHeldBack) this.#held.push(action);
    else this.#sendIn(this.#links.delayMs(this.#from, this.#to), action);
  }

  #sendIn(delayMs: number, action: () => void): void {
    const { simulation } = this.#links;
    this.#lastAtMs = Math.max(this.#lastAtMs, simulation.nowMs + delayMs);
    simulation.after(this.#lane, this.#lastAtMs - simulation.nowMs, () => {
      if (this.#isClosed) return;
      if (this.isHeldBack || this.#links.isCut(this.#from, this.#to)) this.#held.push(action);
      else action();
    });
  }

  resend(): void {
    if (this.#links.isCut(this.#from, this.#to)) return;
    const delayMs = this.#links.random.below(resentMsMax);
    for (const action of this.#held.splice(0)) this.#sendIn(delayMs, action);
  }

  /** Nothing arrives any more. */
  close(): void {
    this.#isClosed = true;
    this.#links.closed(this);
  }
}
