// Wires: channels between two threads that other nodes run for the one with the lease, so that what
// these say to each other does not pass that one. It tells each of the two which end of which wire
// it gets, in place of a port; the ends meet where the threads run.

import { MessageChannel, type MessagePort } from 'node:worker_threads';
import type { Timers } from '../core/scheduler.ts';

export interface WireEnd {
  /** No other wire has this name. */
  readonly wire: string;
  /** The process to which the other end is offered. Null: the other end is offered here. */
  readonly offeredTo: string | null;
  /** The process that offers it here. Null: none does, or a thread of this process has it. */
  readonly offeredBy: string | null;
}

/** Hands out wires, on the node that has the lease. */
export class Wiring {
  readonly #epoch: number;
  /** Pairs of other processes that are linked with each other. */
  #together: readonly (readonly [string, string])[] = [];
  #count = 0;

  /** `epoch`: that of the lease. */
  constructor(epoch: number) {
    this.#epoch = epoch;
  }

  together(process: string, other: string): void {
    this.apart(process, other);
    this.#together = [...this.#together, [process, other]];
  }

  /** Returns whether they were together. */
  apart(process: string, other: string): boolean {
    const wereTogether = this.#areTogether(process, other);
    this.#together = this.#together.filter((pair) => !pair.includes(process) || !pair.includes(other));
    return wereTogether;
  }

  gone(process: string): void {
    this.#together = this.#together.filter((pair) => !pair.includes(process));
  }

  #areTogether(process: string, other: string): boolean {
    return this.#together.some((pair) => pair.includes(process) && pair.includes(other));
  }

  /** The ends for a thread of each process. Null: these can't reach each other. */
  between(process: string, other: string): readonly [WireEnd, WireEnd] | null {
    if (process !== other && !this.#areTogether(process, other)) return null;
    const wire = `${this.#epoch}.${++this.#count}`;
    const end = (here: string, there: string): WireEnd => ({
      wire,
      offeredTo: isDialer(here, there) ? there : null,
      offeredBy: isDialer(there, here) ? there : null,
    });
    return [end(process, other), end(other, process)];
  }
}

/** Of two processes one connects to the other, and offers it the wires. */
export function isDialer(process: string, other: string): boolean {
  return process < other;
}

/** Called with the thread's port. */
type Give = (port: MessagePort) => void;

/** A thread that is to get an end. */
interface Waiting {
  readonly give: Give;
  readonly offeredBy: string | null;
}

interface WireEndsOptions {
  /** Null: it is not linked with this node now. */
  readonly linkTo: (process: string) => { open(wire: string, port: MessagePort): void } | null;
  /** Hears of a process that a wire was to lead to, and that is not linked. */
  readonly onApart: (process: string) => void;
  /** Hears of a process that has not offered here what a thread waits for. */
  readonly onUnmet: (process: string) => void;
  /**
   * An end waits so long for the other one. Threads are told of both at the same time, over links
   * that may be silent for as long.
   */
  readonly unmetMsMax: number;
  readonly timers: Timers;
}

/** Where the ends of wires meet, on a node that runs threads for the one with the lease. */
export class WireEnds {
  readonly #options: WireEndsOptions;
  readonly #waiting = new Map<string, MessagePort | Waiting>();

  constructor(options: WireEndsOptions) {
    this.#options = options;
  }

  /** A thread of this node is to get an end. `give` is called when there is a port. */
  take({ wire, offeredTo, offeredBy }: WireEnd, give: Give): void {
    if (offeredTo === null) {
      this.#meet(wire, { give, offeredBy });
      return;
    }
    const link = this.#options.linkTo(offeredTo);
    if (link === null) {
      this.#options.onApart(offeredTo);
      return;
    }
    const { port1, port2 } = new MessageChannel();
    link.open(wire, port1);
    give(port2);
  }

  /** Another node offers the other end of a wire. */
  offered(wire: string, port: MessagePort): void {
    this.#meet(wire, port);
  }

  #meet(wire: string, end: MessagePort | Waiting): void {
    const other = this.#waiting.get(wire);
    if (other === undefined) {
      this.#waiting.set(wire, end);
      this.#options.timers.after(this.#options.unmetMsMax, () => this.#miss(wire));
      return;
    }
    this.#waiting.delete(wire);
    if ('give' in other && 'give' in end) {
      const { port1, port2 } = new MessageChannel();
      other.give(port1);
      end.give(port2);
    } else if ('give' in other) {
      if (!('give' in end)) other.give(end);
    } else if ('give' in end) end.give(other);
    else for (const port of [other, end]) port.close();
  }

  /**
   * The thread that waits has nobody to ask. Whoever offers an end hears by its end that nobody has
   * taken it.
   */
  #miss(wire: string): void {
    const end = this.#waiting.get(wire);
    this.#drop(wire);
    if (end !== undefined && 'give' in end && end.offeredBy !== null) this.#options.onUnmet(end.offeredBy);
  }

  #drop(wire: string): void {
    const end = this.#waiting.get(wire);
    this.#waiting.delete(wire);
    if (end !== undefined && !('give' in end)) end.close();
  }

  /** Nothing that waits meets any more. */
  end(): void {
    for (const wire of [...this.#waiting.keys()]) this.#drop(wire);
  }
}
