// A link between two nodes: message ports whose other ends are on the other node, over one
// connection. What is posted at one end comes out at the other in the same order, a port that a
// message carries included. So a thread of another node is talked to as one of this process. In
// place of a port a message may name the end of a wire (wires.ts).
//
//   frame:  u32 bytes that follow · u32 channel · u8 kind · payload
//
// A channel is an end of a port at each node. What waits to be sent is bounded by those who post:
// the client of a shard sends so many requests ahead of their answers, and no more.

import type { Socket } from 'node:net';
import { deserialize, serialize } from 'node:v8';
import { MessageChannel, MessagePort } from 'node:worker_threads';
import type { WireEnd } from './wires.ts';

const kinds = {
  /** A channel begins, with a greeting. */
  opened: 0,
  /** A message that is an ArrayBuffer. */
  bytes: 1,
  message: 2,
  /** A message with a port in its field `port`: the number of that one's channel comes first. */
  messageWithPort: 3,
  closed: 4,
  /** Of the nodes themselves, on no channel. */
  control: 5,
} as const;

/** What was sent last has so long to go out. */
const flushMs = 1_000;
const lengthBytes = 4;
const headBytes = 9;
const portBytes = 4;
/** Nothing that nodes say is so long: more is a fault. */
const frameBytesMax = 256 * 1024 * 1024;
/** A payload that is shorter is copied behind its head, which is cheaper than a second write. */
const copiedBytesMax = 16 * 1024;

export interface LinkOptions {
  /** The other node has opened a channel: `port` is its end here. */
  readonly onOpened?: (greeting: unknown, port: MessagePort) => void;
  /** A message has come with the end of a wire: it is passed on when `give` is called. */
  readonly onWire?: (end: WireEnd, give: (port: MessagePort) => void) => void;
  readonly onControl: (message: unknown) => void;
  /** A node that tells this one nothing for so long is given up, like one that closes. */
  readonly silentMsMax: number;
  /**
   * The link is lost, and the ports that came by it are closed. Those of channels that this node
   * has opened stay until `closeOpened` is called.
   */
  readonly onEnded: (closeOpened: () => void) => void;
}

/** The number of the ports of one side, so that both can begin channels. */
type LinkSide = 'dialed' | 'listened';

/** An end of a channel at this node. */
interface End {
  readonly port: MessagePort;
  /** This node has opened the channel. */
  readonly isOpened: boolean;
}

export class Link {
  readonly #socket: Socket;
  readonly #options: LinkOptions;
  /** By channel. */
  readonly #ends = new Map<number, End>();
  readonly #frames = new FrameReader();
  #nextChannel: number;
  readonly #silence: NodeJS.Timeout;
  #isEnded = false;
  #isCorked = false;

  constructor(socket: Socket, side: LinkSide, options: LinkOptions) {
    this.#socket = socket;
    this.#options = options;
    this.#nextChannel = side === 'dialed' ? 1 : 2;
    socket.setNoDelay(true);
    socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    // The other side learns of a fault by the end of the connection.
    socket.on('error', () => {});
    socket.once('close', () => this.end());
    this.#silence = setTimeout(() => this.end(), options.silentMsMax);
  }

  /** Begins a channel between `port` and one that the other node is given with the greeting. */
  open(greeting: unknown, port: MessagePort): void {
    const channel = this.#takeNumber();
    this.#send(channel, kinds.opened, serialize(greeting));
    this.#join(channel, port, true);
  }

  /** Says something to the other node itself. */
  tell(message: unknown): void {
    this.#send(0, kinds.control, serialize(message));
  }

  /** No channel is open. */
  get isIdle(): boolean {
    return this.#ends.size === 0;
  }

  /** Ends the link, and the connection with it once what was sent has gone out. */
  end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    clearTimeout(this.#silence);
    this.#socket.destroySoon();
    // Nobody may be there to take it.
    setTimeout(() => this.#socket.destroy(), flushMs).unref();
    const ends = [...this.#ends.values()];
    this.#ends.clear();
    for (const { port, isOpened } of ends) if (!isOpened) port.close();
    this.#options.onEnded(() => {
      for (const { port, isOpened } of ends) if (isOpened) port.close();
    });
  }

  #takeNumber(): number {
    const channel = this.#nextChannel;
    this.#nextChannel += 2;
    return channel;
  }

  #join(channel: number, port: MessagePort, isOpened: boolean): void {
    if (this.#isEnded) {
      port.close();
      return;
    }
    this.#ends.set(channel, { port, isOpened });
    port.on('message', (message) => this.#post(channel, message));
    port.on('close', () => {
      if (this.#ends.delete(channel)) this.#send(channel, kinds.closed, none);
    });
  }

  #post(channel: number, message: unknown): void {
    if (message instanceof ArrayBuffer) this.#send(channel, kinds.bytes, usedOf(message));
    else if (carriesPort(message)) this.#postWithPort(channel, message);
    else this.#send(channel, kinds.message, serialize(message));
  }

  #postWithPort(channel: number, { port, ...others }: { readonly port: MessagePort }): void {
    const carried = this.#takeNumber();
    const number = Buffer.alloc(portBytes);
    number.writeUInt32LE(carried);
    this.#send(channel, kinds.messageWithPort, Buffer.concat([number, serialize(others)]));
    this.#join(carried, port, false);
  }

  #send(channel: number, kind: number, payload: Uint8Array): void {
    if (this.#isEnded) return;
    const isCopied = payload.length <= copiedBytesMax;
    const head = Buffer.allocUnsafe(headBytes + (isCopied ? payload.length : 0));
    head.writeUInt32LE(headBytes - lengthBytes + payload.length, 0);
    head.writeUInt32LE(channel, lengthBytes);
    head[headBytes - 1] = kind;
    if (isCopied) head.set(payload, headBytes);
    this.#corkForNow();
    this.#socket.write(head);
    if (!isCopied) this.#socket.write(payload);
  }

  /** What is sent in one turn goes out together. */
  #corkForNow(): void {
    if (this.#isCorked) return;
    this.#isCorked = true;
    this.#socket.cork();
    process.nextTick(() => {
      this.#isCorked = false;
      this.#socket.uncork();
    });
  }

  #receive(chunk: Buffer): void {
    if (!this.#isEnded) this.#silence.refresh();
    this.#frames.add(chunk);
    for (let frame = this.#frames.next(); frame !== null; frame = this.#frames.next()) {
      if (frame === 'a fault') this.end();
      else if (!this.#isEnded) this.#takeFrame(frame);
    }
  }

  #takeFrame(frame: Buffer): void {
    try {
      this.#take(frame.readUInt32LE(0), frame.readUInt8(4), frame.subarray(headBytes - lengthBytes));
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error;
      this.end();
    }
  }

  #take(channel: number, kind: number, payload: Buffer): void {
    if (kind === kinds.control) this.#options.onControl(read(payload));
    else if (kind === kinds.opened) this.#options.onOpened?.(read(payload), this.#newPort(channel));
    else {
      const end = this.#ends.get(channel);
      if (end !== undefined) this.#takeFor(end.port, channel, kind, payload);
      // What comes for a channel that was closed here meanwhile has nobody to hear it.
      else if (kind === kinds.messageWithPort) this.#newPort(channelIn(payload)).close();
    }
  }

  #takeFor(port: MessagePort, channel: number, kind: number, payload: Buffer): void {
    if (kind === kinds.closed) {
      this.#ends.delete(channel);
      port.close();
    } else if (kind === kinds.bytes) {
      const bytes = new Uint8Array(payload).buffer;
      port.postMessage(bytes, [bytes]);
    } else if (kind === kinds.messageWithPort) {
      const carried = this.#newPort(channelIn(payload));
      const message = read(payload.subarray(portBytes)) as object;
      port.postMessage({ ...message, port: carried }, [carried]);
    } else this.#pass(port, read(payload));
  }

  #pass(port: MessagePort, message: unknown): void {
    if (!carriesWire(message)) {
      port.postMessage(message);
      return;
    }
    const { wire, ...others } = message;
    this.#options.onWire?.(wire, (carried) => port.postMessage({ ...others, port: carried }, [carried]));
  }

  /** The end for this node of a channel that the other one has begun. */
  #newPort(channel: number): MessagePort {
    const { port1, port2 } = new MessageChannel();
    this.#join(channel, port1, false);
    return port2;
  }
}

const none = new Uint8Array(0);

/** The other node has sent what this one can't read: its release or its runtime is another one. */
class Unreadable extends Error {}

/** Throws `Unreadable`. */
function read(payload: Buffer): unknown {
  try {
    return deserialize(payload);
  } catch (error) {
    throw new Unreadable('what came can not be read', { cause: error });
  }
}

/** The channel that a payload begins with. Throws `Unreadable`. */
function channelIn(payload: Buffer): number {
  if (payload.length < portBytes) throw new Unreadable('the number of the channel is cut short');
  return payload.readUInt32LE(0);
}

function carriesPort(message: unknown): message is { readonly port: MessagePort } {
  return (
    typeof message === 'object' &&
    message !== null &&
    'port' in message &&
    message.port instanceof MessagePort
  );
}

/** In place of a port. */
function carriesWire(message: unknown): message is { readonly wire: WireEnd } {
  return typeof message === 'object' && message !== null && 'wire' in message;
}

/** Frames between edges and shards say how much of their buffer they use (shard/frames.ts). */
function usedOf(buffer: ArrayBuffer): Uint8Array {
  return new Uint8Array(buffer, 0, Math.min(buffer.byteLength, new DataView(buffer).getUint32(0, true)));
}

/** Cuts what comes into frames, without their lengths. */
class FrameReader {
  #rest: Buffer[] = [];
  #bytes = 0;

  add(chunk: Buffer): void {
    this.#rest.push(chunk);
    this.#bytes += chunk.length;
  }

  /** Null: there is no whole one. A fault: it would be longer than any, or shorter. */
  next(): Buffer | 'a fault' | null {
    if (this.#bytes < lengthBytes) return null;
    const length = this.#gather(lengthBytes).readUInt32LE(0);
    if (length > frameBytesMax || length < headBytes - lengthBytes) {
      this.#bytes = 0;
      return 'a fault';
    }
    if (this.#bytes < lengthBytes + length) return null;
    const all = this.#gather(lengthBytes + length);
    const end = lengthBytes + length;
    this.#rest[0] = all.subarray(end);
    this.#bytes -= end;
    return all.subarray(lengthBytes, end);
  }

  /** The first of what is left, of at least so many bytes. */
  #gather(bytes: number): Buffer {
    const first = this.#rest[0]!;
    if (first.length >= bytes) return first;
    const all = Buffer.concat(this.#rest, this.#bytes);
    this.#rest = [all];
    return all;
  }
}
