// Stands in for `pg` in the sources: the part of its client that they use, over the simulated links to the simulated servers.
// A client sends a statement when the one before is answered. It hears of the end of its connection when the other side says so,
// and otherwise never.

import { theMachine } from '../disk/machine.ts';
import type { Lane } from '../kernel/simulation.ts';
import { Way } from '../net/links.ts';
import type { Databases } from './databases.ts';
import { type Query, Session } from './session.ts';

interface ClientConfig {
  readonly host: string;
  readonly connectionTimeoutMillis: number;
}

interface Asked {
  readonly query: Query;
  readonly resolve: (result: { readonly rows: readonly object[] }) => void;
  readonly reject: (error: Error) => void;
}

class DatabaseError extends Error {
  override name = 'DatabaseError';
  readonly code?: string;
}

let inUse: Databases | null = null;

/** What clients connect to from now on. */
export function useDatabases(databases: Databases): void {
  inUse = databases;
}

class Client {
  readonly #config: ClientConfig;
  readonly #databases: Databases;
  readonly #machine: string;
  readonly #lane: Lane;
  readonly #noticed: ((notice: { readonly severity: string; readonly message: string }) => void)[] = [];
  readonly #asked: Asked[] = [];
  /** Of the process that answers at the server. */
  processID = 0;
  #there: Way | null = null;
  #back: Way | null = null;
  #session: Session | null = null;
  #end: Error | null = null;
  #onEnd: (error: Error) => void = () => {};

  readonly connection = { stream: { destroy: () => this.#ended(new Error('Connection terminated')) } };

  constructor(config: ClientConfig) {
    const machine = theMachine();
    this.#config = config;
    this.#databases = inUse!;
    this.#machine = machine.name;
    this.#lane = machine.simulation.current;
  }

  on(
    event: string,
    listener: (notice: { readonly severity: string; readonly message: string }) => void,
  ): this {
    if (event === 'notice') this.#noticed.push(listener);
    return this;
  }

  connect(): Promise<void> {
    const { links } = this.#databases;
    const server = this.#databases.named(this.#config.host);
    const there = new Way(links, this.#machine, server.name, server.lane);
    const back = new Way(links, server.name, this.#machine, this.#lane);
    [this.#there, this.#back] = [there, back];
    return new Promise((resolve, reject) => {
      this.#onEnd = reject;
      const { connectionTimeoutMillis } = this.#config;
      const cancel = links.simulation.after(this.#lane, connectionTimeoutMillis, () =>
        this.#ended(new Error('timeout expired')),
      );
      there.send(() => {
        if (!server.isRunning) {
          back.send(() => this.#ended(new Error('connect ECONNREFUSED')));
          return;
        }
        this.#session = new Session(server, back, {
          answered: (rows, warning) => this.#answered(rows, warning),
          ended: () => this.#ended(new Error('Connection terminated unexpectedly')),
        });
        this.processID = this.#session.process;
        back.send(() => {
          cancel();
          this.#onEnd = () => {};
          resolve();
        });
      });
    });
  }

  query(
    config: string | Query,
    values: readonly unknown[] = [],
  ): Promise<{ readonly rows: readonly object[] }> {
    const query = typeof config === 'string' ? { name: undefined, text: config, values } : config;
    if (this.#end !== null)
      return Promise.reject(new Error('Client has encountered a connection error and is not queryable'));
    return new Promise((resolve, reject) => {
      this.#asked.push({ query: { ...query, values: query.values ?? [] }, resolve, reject });
      if (this.#asked.length === 1) this.#sendNext();
    });
  }

  #sendNext(): void {
    const [next] = this.#asked;
    if (next === undefined) return;
    const session = this.#session!;
    this.#there!.send(() => session.handle(next.query));
  }

  #answered(rows: readonly object[], warning: string | null): void {
    if (this.#end !== null) return;
    if (warning !== null)
      for (const listener of this.#noticed) listener({ severity: 'WARNING', message: warning });
    this.#asked.shift()!.resolve({ rows });
    this.#sendNext();
  }

  /** The connection is over on this side. */
  #ended(error: Error): void {
    if (this.#end !== null) return;
    this.#end = error;
    this.#there?.close();
    this.#back?.close();
    this.#onEnd(error);
    for (const { reject } of this.#asked.splice(0)) reject(error);
  }
}

export default { Client, DatabaseError };
