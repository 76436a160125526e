// Proxies on loopback between the service and PostgreSQL, or between nodes, which can be cut in one direction or in both.

import { connect, createServer, type Server, type Socket } from 'node:net';
import type { TestContext } from 'node:test';

type Direction = 'requests' | 'answers';

export class Link {
  port = 0;
  readonly #target: number;
  readonly #server: Server;
  readonly #pairs = new Set<readonly [client: Socket, server: Socket]>();
  readonly #cut = new Set<Direction>();
  /** Whose bytes go nowhere. */
  readonly #forgotten = new Set<readonly [client: Socket, server: Socket]>();

  constructor(target: number) {
    this.#target = target;
    this.#server = createServer((client) => this.#connect(client));
  }

  async open(context: Pick<TestContext, 'after'>, at = { host: '127.0.0.1', port: 0 }): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(at, resolve));
    this.port = (this.#server.address() as { port: number }).port;
    context.after(() => this.#close());
    return this;
  }

  #connect(client: Socket): void {
    const server = connect(this.#target, '127.0.0.1');
    const pair = [client, server] as const;
    this.#pairs.add(pair);
    const isLost = (direction: Direction) => this.#cut.has(direction) || this.#forgotten.has(pair);
    client.on('data', (bytes) => isLost('requests') || server.write(bytes));
    server.on('data', (bytes) => isLost('answers') || client.write(bytes));
    for (const socket of pair) {
      socket.on('error', () => {});
      // Nobody hears through a cut link that the other end has closed.
      socket.on('close', () => {
        if (this.#cut.size > 0 || this.#forgotten.has(pair)) return;
        for (const each of pair) each.destroy();
        this.#pairs.delete(pair);
      });
    }
  }

  /** What goes that way is lost from now on. */
  cut(...directions: Direction[]): void {
    for (const direction of directions) this.#cut.add(direction);
  }

  /**
   * What goes over the connections that are open is lost, from the `from`th on, and neither end hears of it; new ones work.
   */
  forget(from = 0): void {
    for (const pair of [...this.#pairs].slice(from)) this.#forgotten.add(pair);
  }

  /** What comes over the connections that are open waits until the function that is returned is called; new ones work. */
  hold(): () => void {
    const servers = [...this.#pairs].map(([, server]) => server.pause());
    return () => {
      for (const server of servers) server.resume();
    };
  }

  /** New connections work again; those that have lost something stay lost. */
  mend(): void {
    this.#cut.clear();
    for (const pair of this.#pairs) for (const socket of pair) socket.destroy();
    this.#pairs.clear();
  }

  #close(): void {
    this.mend();
    this.#forgotten.clear();
    this.#server.close();
  }
}
