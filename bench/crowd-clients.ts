// Clients that take connections and hardly use them, in a process of their own, so that those that are measured have another
// one to themselves. A parent tells how many there shall be of a kind, and is told when all are connected and how many
// connections were opened and requests answered so far. A client whose connection has ended opens another one.

import { connect, type Socket } from 'node:net';

/** Idle: say nothing. Readers: take their answers slowly. Writers: send their bodies slowly. */
export const crowds = ['idle', 'readers', 'writers'] as const;
export type Crowd = (typeof crowds)[number];

export interface CrowdOrder {
  readonly crowd: Crowd;
  readonly count: number;
  readonly port: number;
  /** What each client sends; null: nothing. Readers send it again after each answer. */
  readonly request: string | null;
  /** What writers send behind it, a piece at a time. */
  readonly body: string;
}

/** How many are connected now; the other numbers are since the start. */
export interface CrowdNews {
  readonly connected: number;
  readonly opened: number;
  readonly answered: number;
  readonly refused: number;
}

const tickMs = 200;
/** A reader takes 20 KB a second, and a writer sends 20 bytes a second. */
const readBytes = 4 * 1024;
const writtenBytes = 4;
/** The clients take turns within a tick, so that they don't all do the same at the same moment. */
const slices = 20;
/** Clients that open their connections in one slice. A list costs a reader's service more than a connection. */
const openedAtOnce = { idle: 25, readers: 3, writers: 12 };

type Counts = { -readonly [Name in keyof CrowdNews]: number };

class Client {
  readonly #order: CrowdOrder;
  readonly #counts: Counts;
  #socket: Socket | null = null;
  #isConnected = false;
  #sent = 0;
  /** What is left of the answer; null before its head has come. */
  #left: number | null = null;
  #ticksToWait = 0;

  constructor(order: CrowdOrder, counts: Counts) {
    this.#order = order;
    this.#counts = counts;
  }

  get isOpen(): boolean {
    return this.#socket !== null;
  }

  open(): void {
    const socket = connect({ port: this.#order.port, host: '127.0.0.1', noDelay: true });
    this.#socket = socket;
    this.#counts.opened++;
    socket.on('connect', () => {
      this.#isConnected = true;
      this.#counts.connected++;
      this.#begin();
    });
    // The connection is read by `tick` only.
    if (this.#order.crowd === 'readers') socket.on('readable', () => {});
    else socket.on('data', (bytes) => this.#answered(bytes.toString('latin1')));
    socket.on('error', () => {});
    socket.on('close', () => {
      if (this.#isConnected) this.#counts.connected--;
      this.#isConnected = false;
      this.#socket = null;
    });
  }

  #begin(): void {
    this.#sent = 0;
    this.#left = null;
    if (this.#order.request !== null) this.#socket?.write(this.#order.request);
  }

  #answered(head: string): void {
    if (!head.startsWith('HTTP/1.1 ')) return;
    if (head.startsWith('HTTP/1.1 200')) this.#counts.answered++;
    else this.#counts.refused++;
    if (this.#order.crowd === 'writers') this.#begin();
  }

  tick(): void {
    if (!this.#isConnected) return;
    if (this.#order.crowd === 'readers') this.#read();
    if (this.#order.crowd === 'writers' && this.#sent < this.#order.body.length) {
      this.#socket!.write(this.#order.body.slice(this.#sent, this.#sent + writtenBytes));
      this.#sent += writtenBytes;
    }
  }

  #read(): void {
    if (this.#ticksToWait > 0) {
      if (--this.#ticksToWait === 0) this.#begin();
      return;
    }
    const socket = this.#socket!;
    const bytes: Buffer | null = socket.read(Math.min(readBytes, socket.readableLength)) ?? null;
    if (bytes === null) return;
    let { length } = bytes;
    if (this.#left === null) {
      const head = bytes.toString('latin1');
      this.#answered(head);
      const bodyAt = head.indexOf('\r\n\r\n') + 4;
      this.#left = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0);
      length -= bodyAt;
      // One that is refused waits for a second.
      if (!head.startsWith('HTTP/1.1 200')) this.#ticksToWait = 1_000 / tickMs;
    }
    this.#left -= length;
    if (this.#left <= 0 && this.#ticksToWait === 0) this.#begin();
  }
}

process.once('message', (order: CrowdOrder) => {
  const counts = { connected: 0, opened: 0, answered: 0, refused: 0 };
  const clients = Array.from({ length: order.count }, () => new Client(order, counts));
  let slice = 0;
  setInterval(() => {
    let opened = 0;
    for (let i = slice; i < clients.length; i += slices) {
      const client = clients[i]!;
      if (client.isOpen) client.tick();
      else if (opened++ < openedAtOnce[order.crowd]) client.open();
    }
    slice = (slice + 1) % slices;
    if (slice === 0) process.send!({ ...counts } satisfies CrowdNews);
  }, tickMs / slices);
});
process.once('disconnect', () => process.exit(0));
