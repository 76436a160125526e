// A connection between a process of the service and a server of PostgreSQL, seen from the server: it answers one statement
// after the other.

import type { Way } from '../net/links.ts';
import type { PostgresServer } from './server.ts';
import { type Changes, Tables } from './tables.ts';

export interface Query {
  readonly name: string | undefined;
  readonly text: string;
  readonly values: readonly unknown[];
}

/** The other side of a session. */
export interface ClientSide {
  answered(rows: readonly object[], warning: string | null): void;
  /** The server has ended the connection. */
  ended(): void;
}

class SessionTransaction {
  readonly tables: Tables;
  readonly changes: Changes[] = [];

  constructor(tables: Tables) {
    this.tables = new Tables(tables);
  }

  add(changes: Changes): void {
    this.tables.apply(changes);
    this.changes.push(changes);
  }
}

export class Session {
  readonly #server: PostgresServer;
  readonly #back: Way;
  readonly #client: ClientSide;
  transaction: SessionTransaction | null = null;
  /** The next answer is lost, and the connection with it. */
  losesAnswer = false;
  /** A number of its own. */
  readonly process: number;
  isAtWork = false;
  #isOver = false;

  constructor(server: PostgresServer, back: Way, client: ClientSide) {
    this.#server = server;
    this.#back = back;
    this.#client = client;
    this.process = ++server.processes;
    server.sessions.add(this);
  }

  handle({ name, text, values }: Query): void {
    if (this.#isOver) {
      this.#back.send(() => this.#client.ended());
      return;
    }
    const server = this.#server;
    this.isAtWork = true;
    if (text.startsWith('select pg_is_in_recovery()')) {
      const isStandby = server.upstream !== null;
      const wal = isStandby ? null : server.walFile;
      this.#answer([{ standby: isStandby, wal, database: server.name }], null);
    } else if (text.startsWith("select current_setting('synchronous_standby_names')")) {
      server.run(this, undefined, 'settings', [], ({ rows, warning }) => this.#answer(rows, warning));
    } else if (text.startsWith('select 1 from pg_stat_activity')) {
      const isAtWork = [...server.sessions].some((each) => each.process === values[0] && each.isAtWork);
      this.#answer(isAtWork ? [{}] : [], null);
    } else if (text === 'begin') {
      this.transaction = new SessionTransaction(server.tables);
      this.#answer([], null);
    } else if (text === 'commit') {
      const { changes } = this.transaction!;
      this.transaction = null;
      server.commitAll(changes, (warning) => this.#answer([], warning));
    } else {
      server.run(this, name, text, values, ({ rows, warning }) => {
        this.#answer(rows, warning);
        if (name === 'beat' && rows.length > 0) server.beaten();
      });
    }
  }

  #answer(rows: readonly object[], warning: string | null): void {
    this.isAtWork = false;
    if (this.#isOver) return;
    if (this.losesAnswer) this.serverEnded(false);
    else this.#back.send(() => this.#client.answered(rows, warning));
  }

  /** The server's side is over. `isSilent`: the client is not told, unless it sends something once the server is back. */
  serverEnded(isSilent: boolean): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#server.sessions.delete(this);
    if (!isSilent) this.#back.send(() => this.#client.ended());
  }
}
