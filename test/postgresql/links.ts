// Proxies on loopback between the service and PostgreSQL, which can be cut in one direction or in both.

import { connect, createServer, type Server, type Socket } from 'node:net';
import type { TestContext } from 'node:test';

type Direction = 'requests' | 'answers';

export class Link {
  port = 0;
  readonly #target: number;
  readonly #server: Server;
  readonly #pairs = new Set<readonly [client: Socket, server: Socket]>();
  readonly #cut = new Set<Direction>();

  constructor(target: number) {
    this.#target = target;
    this.#server = createServer((client) => this.#connect(client));
  }

  async open(context: Pick<TestContext, 'after'>): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    this.port = (this.#server.address() as { port: number }).port;
    context.after(() => this.#close());
    return this;
  }

  #connect(client: Socket): void {
    const server = connect(this.#target, '127.0.0.1');
    const pair = [client, server] as const;
    this.#pairs.add(pair);
    client.on('data', (bytes) => this.#cut.has('requests') || server.write(bytes));
    server.on('data', (bytes) => this.#cut.has('answers') || client.write(bytes));
    for (const socket of pair) {
      socket.on('error', () => {});
      // Nobody hears through a cut link that the other end has closed.
      socket.on('close', () => {
        if (this.#cut.size > 0) return;
        for (const each of pair) each.destroy();
        this.#pairs.delete(pair);
      });
    }
  }

  /** What goes that way is lost from now on. */
  cut(...directions: Direction[]): void {
    for (const direction of directions) this.#cut.add(direction);
  }

  /** New connections work again; those that have lost something stay lost. */
  mend(): void {
    this.#cut.clear();
    for (const pair of this.#pairs) for (const socket of pair) socket.destroy();
    this.#pairs.clear();
  }

  #close(): void {
    this.mend();
    this.#server.close();
  }
}
