// Which process is to run each partition, and which one ran it last: it follows from who is there,
// who is linked to this node, what operators want, who has failed lately, and whose files of a
// partition are damaged. Whoever asks carries it out (threads/lending.ts), and says what came of
// it.

import { behindMax, type ReachableNode } from '../cluster/node.ts';
import { spread } from '../cluster/spread.ts';
import { elementAt } from '../core/assert.ts';
import { BackOff } from './back-off.ts';

interface LinkedNode {
  readonly node: string;
  readonly linkNumber: number;
  /** How many edges it can run. */
  readonly edges: number;
}

/** A node that has failed is given nothing for so long, and twice as long each time. */
const unfit = { minMs: 2_000, maxMs: 120_000 };

export class Placement {
  /** This node's process. */
  readonly #here: string;
  /** The other processes that are there, as PostgreSQL knows, and are to run partitions. */
  #known: readonly string[] = [];
  /** Those that have once had nearly everything of all partitions that others run and they can. */
  readonly #caughtUp = new Set<string>();
  /** Those that were drained, going by what was last heard of each. */
  readonly #drained = new Set<string>();
  /** Those that this node is connected to. */
  readonly #linked = new Map<string, LinkedNode>();
  /**
   * Of nodes whose link was lost, or that could not run what they were given: by their names,
   * because one that has crashed comes back as another process.
   */
  readonly #failures: BackOff;
  /** The partitions that a process can't run, because its files of them are damaged. */
  readonly #damaged = new Map<string, ReadonlySet<number>>();
  /** The process that operators want each partition to run at; null: any. */
  #wanted: readonly (string | null)[];
  /** Between whom the partitions were spread last. */
  #spreadOver: readonly string[] = [];
  /** The process that is to run each. */
  #placed: readonly string[];
  /** The process that each was last run by. */
  readonly #ranAt: string[];

  /** Everything runs here at first. `nowMs`: of the monotonic clock. */
  constructor(here: string, partitions: number, nowMs: () => number) {
    this.#here = here;
    this.#failures = new BackOff(unfit, nowMs);
    this.#placed = Array.from({ length: partitions }, () => here);
    this.#ranAt = [...this.#placed];
    this.#wanted = this.#placed.map(() => null);
  }

  /**
   * The nodes as they are now, this one among them. Returns when the partitions are to be spread
   * anew: nodes that come at about the same time are given some together. Null: they stay.
   */
  know(
    nodes: readonly Pick<
      ReachableNode,
      'process' | 'drained' | 'leaving' | 'wanted' | 'damaged' | 'behind'
    >[],
  ): 'now' | 'soon' | null {
    this.#known = nodes
      .filter(({ process, drained, leaving }) => process !== this.#here && !drained && !leaving)
      .map(({ process }) => process);
    for (const { process, behind } of nodes) if (behind <= behindMax) this.#caughtUp.add(process);
    for (const { process, damaged } of nodes) for (const number of damaged) this.damaged(process, number);
    for (const { process, drained } of nodes)
      if (drained) this.#drained.add(process);
      else this.#drained.delete(process);
    const before = this.#wanted;
    this.#wanted = before.map(
      (_, number) => nodes.find(({ wanted }) => wanted.includes(number))?.process ?? null,
    );
    const candidates = this.#candidates;
    const isGone = this.#spreadOver.some((process) => !candidates.includes(process));
    if (isGone || this.#wanted.some((process, number) => process !== before[number])) return 'now';
    return candidates.length === this.#spreadOver.length ? null : 'soon';
  }

  linked(process: string, node: LinkedNode): void {
    this.#linked.set(process, node);
  }

  unlinked(process: string): void {
    this.failed(process);
    this.#linked.delete(process);
    this.#caughtUp.delete(process);
    this.#damaged.delete(process);
  }

  /** The processes that this one is connected to. */
  get hosts(): readonly (readonly [process: string, node: LinkedNode])[] {
    return [...this.#linked];
  }

  /** How many nodes this one is connected to. */
  get links(): number {
    return this.#linked.size;
  }

  /** Null: it is not linked. */
  linkedNode(process: string): LinkedNode | null {
    return this.#linked.get(process) ?? null;
  }

  /** Its node is given no partition for a while; `forLong`: for as long as ever, at once. */
  failed(process: string, forLong = false): void {
    const linked = this.#linked.get(process);
    if (linked !== undefined) this.#failures.failed(linked.node, forLong);
  }

  /** The process is not to run the partition any more: its files of it are damaged. */
  damaged(process: string, number: number): void {
    this.#damaged.set(process, new Set(this.#damaged.get(process)).add(number));
  }

  #canRun(process: string, number: number): boolean {
    return this.#damaged.get(process)?.has(number) !== true;
  }

  /** Whether this node could run the partition. */
  isWhole(number: number): boolean {
    return this.#canRun(this.#here, number);
  }

  /** Whether the process that is to run the partition can: none may be there that does. */
  isRunnable(number: number): boolean {
    return this.#canRun(elementAt(this.#placed, number), number);
  }

  /**
   * The other processes that run edges: linked and not drained. What PostgreSQL has not heard of
   * for a moment goes on to answer.
   */
  get edgeTakers(): readonly (readonly [process: string, node: LinkedNode])[] {
    return [...this.#linked].filter(([process]) => !this.#drained.has(process));
  }

  /** Those that can be given partitions. */
  get #candidates(): readonly string[] {
    const usable = [...this.#linked].filter(
      ([process]) => this.#known.includes(process) && this.#caughtUp.has(process),
    );
    return usable.filter(([, { node }]) => this.#failures.isOver(node)).map(([process]) => process);
  }

  spread(): void {
    this.#spreadOver = this.#candidates;
    const candidates = [this.#here, ...this.#spreadOver];
    this.#placed = spread(candidates, this.#placed, this.#fixed(candidates));
  }

  /**
   * The candidate that each partition is to run at: the one that operators want, if that can; one
   * of those that can where others can't, and this node where none can. Null: any.
   */
  #fixed(candidates: readonly string[]): readonly (string | null)[] {
    const fixed: (string | null)[] = [];
    for (const [number, wanted] of this.#wanted.entries()) {
      const able = candidates.filter((process) => this.#canRun(process, number));
      const placed = elementAt(this.#placed, number);
      const countOf = (process: string) => fixed.filter((each) => each === process).length;
      const [least = this.#here] = able.toSorted((one, other) => countOf(one) - countOf(other));
      if (wanted !== null && able.includes(wanted)) fixed.push(wanted);
      else if (able.length === candidates.length) fixed.push(null);
      else fixed.push(able.includes(placed) ? placed : least);
    }
    return fixed;
  }

  /** The partition is started where it is to run: returns that process, and who ran it before. */
  start(number: number): { readonly process: string; readonly before: string } {
    const [process, before] = [elementAt(this.#placed, number), this.ranAt(number)];
    this.#ranAt[number] = process;
    return { process, before };
  }

  ranAt(number: number): string {
    return elementAt(this.#ranAt, number);
  }

  /**
   * The first partition from `from` on that runs elsewhere than it is to; null: none. Those of a
   * node whose link is lost are not moved: whoever supervises them starts them anew.
   */
  misplaced(from: number): number | null {
    const found = this.#ranAt.findIndex(
      (process, number) =>
        number >= from &&
        process !== this.#placed[number] &&
        (process === this.#here || this.#linked.has(process)),
    );
    return found < 0 ? null : found;
  }
}
