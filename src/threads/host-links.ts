// The links of a node with others that run partitions and edges for the same one, over which wires
// lead. It is told every second which nodes these are. Of two nodes one connects to the other, and
// tries that again for as long as it takes.

import { Link } from '../cluster/link.ts';
import { configuredAddress } from '../cluster/node.ts';
import { connectToNode, type LinkProof } from '../cluster/node-tls.ts';
import { isDialer } from '../cluster/wires.ts';
import { errorText } from '../core/errors.ts';
import type { Logger } from '../telemetry/logger.ts';
import { BackOff, redialTimes } from './back-off.ts';
import type { FromOtherHost, OtherHost } from './lending-protocol.ts';

interface HostLinksOptions {
  /** This node's process. */
  readonly here: string;
  /** What it shows others now. */
  readonly proof: () => LinkProof;
  readonly beatMs: number;
  readonly silentMsMax: number;
  readonly logger: Logger;
  /** Wires can be offered to the process from now on, or can't any more. */
  readonly onChange: (process: string, areTogether: boolean) => void;
}

/** Lets the other host know that this one is there, until the returned function is called. */
export function sayHere(link: Link, beatMs: number): () => void {
  const beating = setInterval(() => link.tell({ type: 'here' } satisfies FromOtherHost), beatMs);
  return () => clearInterval(beating);
}

export class HostLinks {
  readonly #options: HostLinksOptions;
  /** By process. Null: the connection is being made. */
  readonly #links = new Map<string, Link | null>();
  readonly #backOff = new BackOff(redialTimes, () => performance.now());
  #isEnded = false;

  constructor(options: HostLinksOptions) {
    this.#options = options;
  }

  know(hosts: readonly OtherHost[]): void {
    const there = new Set(hosts.map(({ process }) => process));
    for (const [process, link] of this.#links) if (!there.has(process)) link?.end();
    for (const host of hosts) {
      const isMine = isDialer(this.#options.here, host.process) && !this.#links.has(host.process);
      if (isMine && this.#backOff.isOver(host.process)) void this.#dial(host);
    }
  }

  /** Null: it is not linked with this node, or connects itself. */
  to(process: string): Link | null {
    return this.#links.get(process) ?? null;
  }

  async #dial({ node, process, link: address }: OtherHost): Promise<void> {
    const { here, proof, beatMs, silentMsMax, logger, onChange } = this.#options;
    this.#links.set(process, null);
    try {
      const socket = await connectToNode(configuredAddress(address), node, proof());
      const link = new Link(socket, 'dialed', {
        onControl() {},
        silentMsMax,
        onEnded: (closeOpened) => {
          beSilent();
          closeOpened();
          this.#lost(process);
          if (!this.#isEnded) logger.warn(`the link to node ${node} is lost`);
        },
      });
      const beSilent = sayHere(link, beatMs);
      link.tell({ type: 'host', process: here } satisfies FromOtherHost);
      this.#links.set(process, link);
      if (this.#isEnded) link.end();
      else onChange(process, true);
    } catch (error) {
      logger.warn(`node ${node} can't be reached at ${address}: ${errorText(error)}`);
      this.#lost(process);
    }
  }

  #lost(process: string): void {
    this.#links.delete(process);
    this.#backOff.failed(process);
    if (!this.#isEnded) this.#options.onChange(process, false);
  }

  end(): void {
    this.#isEnded = true;
    for (const link of this.#links.values()) link?.end();
  }
}
