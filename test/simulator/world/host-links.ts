// The links of a node with others that run partitions and edges for the same one, as src/threads/host-links.ts and
// src/cluster/wires.ts make them: what their edges and shards say to each other does not pass the node with the lease.

import type { Lane } from '../kernel/simulation.ts';
import type { Links } from '../net/links.ts';
import { LinkEnd, type Side } from '../net/node-link.ts';
import { timing } from './timing.ts';

/** That of the node that has made the link is first. */
export type HostEnds = readonly [here: LinkEnd, there: LinkEnd];

/** Hears that a link with the process is there; null: not any more. */
export type OnTogether = (process: string, ends: HostEnds | null) => void;

export class HostLinks {
  readonly #links: Links;
  readonly #here: Side;
  readonly #process: string;
  /** Those that this node has made, by the other processes. */
  readonly #made = new Map<string, LinkEnd>();
  readonly #accepted = new Set<LinkEnd>();

  constructor(links: Links, machine: string, lane: Lane, process: string) {
    this.#links = links;
    this.#here = { name: machine, lane };
    this.#process = process;
  }

  /** Links with another host, and does so again when that link is lost and it is told again. */
  make(other: HostLinks, onTogether: OnTogether): void {
    const process = other.#process;
    if (this.#made.has(process)) return;
    const ends = LinkEnd.pair(this.#links, this.#here, other.#here, timing.trustMs);
    const [here, there] = ends;
    this.#made.set(process, here);
    here.onEnded = () => {
      this.#made.delete(process);
      onTogether(process, null);
    };
    this.#beat(here);
    here.send(() => {
      other.#accepted.add(there);
      there.onEnded = () => other.#accepted.delete(there);
      other.#beat(there);
      there.send(() => onTogether(process, ends));
    });
  }

  #beat(end: LinkEnd): void {
    if (end.isEnded) return;
    end.send(() => {});
    this.#links.simulation.after(this.#here.lane, timing.beatMs, () => this.#beat(end));
  }

  /** Those that others have made go on until these end them. */
  end(): void {
    for (const end of this.#made.values()) end.end();
  }

  /** The process is gone. `isSilent`: its machine is, and nobody hears of it. */
  cut(isSilent: boolean): void {
    for (const end of [...this.#made.values(), ...this.#accepted]) end.cut(isSilent);
  }
}
