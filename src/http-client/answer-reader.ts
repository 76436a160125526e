// Reads the answer to one POST from the bytes of its connection (RFC 9112). What keeps to the
// protocol is taken, everything else is refused: a receiver may send what it likes. Memory is
// bounded, because a head and a line have an end, and only the beginning of the body is kept.

import { StringDecoder } from 'node:string_decoder';
import { remembering } from '../core/remembering.ts';

/** Of the status line with all headers, and of all trailers. */
const headBytesMax = 16 * 1024;
/** Of the line before a chunk. */
const lineBytesMax = 1024;
/** What an interim answer and a line take to read, as so many bytes of a body do. */
const interimBytes = 1024;
const lineBytes = 32;

const protocolName = 'HTTP/1.';
const headEnd = '\r\n\r\n';
const statusLine = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: [\t\x20-\x7e\x80-\xff]*)?$/;
/** No space can belong to two parts, so a line that is none is known as such in one pass. */
const headerLine = /^([!#$%&'*+\-.^_`|~\dA-Za-z]+):[ \t]*((?:[\x21-\x7e\x80-\xff][\t\x20-\x7e\x80-\xff]*)?)$/;
const chunkLine = /^([\da-f]{1,12})[ \t]*(?:;[\t\x20-\x7e\x80-\xff]*)?$/i;
const closeToken = /(?:^|[,\s])close(?:[,\s]|$)/i;

/** The answer can't be read; the message is a short English reason. */
export class AnswerFault extends Error {
  override name = 'AnswerFault';
}

/** What the next byte belongs to. */
type Part =
  | 'head'
  | 'counted'
  | 'until close'
  | 'chunk line'
  | 'chunk'
  | 'chunk end'
  | 'trailers'
  | 'nothing';

export class AnswerReader {
  /** Null until the head is read; interim answers (1xx) are passed over. */
  status: number | null = null;
  /** The value of the header `Keep-Alive`. */
  keepAlive = '';
  /** What was read. Interim answers and lines count as more bytes than they have. */
  readBytes = 0;
  /** Bytes came behind the answer. Nobody knows what they belong to. */
  isSpoiled = false;
  /** The receiver will close the connection after the answer. */
  isLast = true;
  #part: Part = 'head';
  /** The beginning of a head or of a line. */
  #text = '';
  #trailerBytes = 0;
  /** Bytes of the body, or of the chunk, that are still to come. */
  #left = 0;
  readonly #keptBytesMax: number;
  readonly #kept: Buffer[] = [];
  #keptBytes = 0;

  constructor(keptBytesMax: number) {
    this.#keptBytesMax = keptBytesMax;
  }

  get isWhole(): boolean {
    return this.#part === 'nothing';
  }

  /** The beginning of the body, without a character that was cut in the middle. */
  get body(): string {
    const bytes = Buffer.concat(this.#kept);
    const isCut = !this.isWhole || this.#keptBytes === this.#keptBytesMax;
    return isCut ? new StringDecoder('utf8').write(bytes) : bytes.toString();
  }

  /** Takes the next bytes, which may be used again then. Throws `AnswerFault`. */
  take(bytes: Buffer): void {
    this.readBytes += bytes.length;
    let at = 0;
    while (at < bytes.length) at = this.#takePart(bytes, at);
  }

  /** The receiver sends no more. */
  end(): void {
    if (this.#part === 'until close') this.#part = 'nothing';
  }

  /** Takes what belongs to the part; returns the position of what follows. */
  #takePart(bytes: Buffer, at: number): number {
    switch (this.#part) {
      case 'head':
        return this.#takeHead(bytes, at);
      case 'counted':
        return this.#takeBody(bytes, at, 'nothing');
      case 'until close':
        this.#keep(bytes.subarray(at));
        return bytes.length;
      case 'chunk line':
        return this.#takeLine(bytes, at, (line) => this.#beginChunk(line));
      case 'chunk':
        return this.#takeBody(bytes, at, 'chunk end');
      case 'chunk end':
        return this.#takeLine(bytes, at, (line) => this.#endChunk(line));
      case 'trailers':
        return this.#takeLine(bytes, at, (line) => this.#passTrailer(line));
      case 'nothing':
        this.isSpoiled = true;
        return bytes.length;
    }
  }

  #takeHead(bytes: Buffer, at: number): number {
    const had = this.#text.length;
    const text =
      this.#text + bytes.toString('latin1', at, Math.min(bytes.length, at + headBytesMax - had + 1));
    const begin = text.slice(0, protocolName.length);
    if (!protocolName.startsWith(begin)) throw notHttp('another protocol');
    const end = text.indexOf(headEnd, Math.max(0, had - headEnd.length));
    if (end === -1) {
      if (text.length > headBytesMax) throw new AnswerFault('answer headers too large');
      this.#text = text;
      return bytes.length;
    }
    this.#text = '';
    this.#readHead(text.slice(0, end));
    return at + end + headEnd.length - had;
  }

  #readHead(text: string): void {
    const { status, keepAlive, body, bodyBytes, isLast } = headOf(text);
    if (status < 200) {
      this.readBytes += interimBytes;
      return;
    }
    this.status = status;
    this.keepAlive = keepAlive;
    this.isLast = isLast;
    this.#part = body;
    this.#left = bodyBytes;
  }

  #takeBody(bytes: Buffer, at: number, next: Part): number {
    const end = Math.min(bytes.length, at + this.#left);
    this.#keep(bytes.subarray(at, end));
    this.#left -= end - at;
    if (this.#left === 0) this.#part = next;
    return end;
  }

  #keep(bytes: Buffer): void {
    const part = bytes.subarray(0, this.#keptBytesMax - this.#keptBytes);
    if (part.length === 0) return;
    this.#kept.push(Buffer.from(part));
    this.#keptBytes += part.length;
  }

  #takeLine(bytes: Buffer, at: number, read: (line: string) => void): number {
    const feed = bytes.indexOf(10, at);
    const end = feed === -1 ? bytes.length : feed;
    if (this.#text.length + end - at > lineBytesMax) throw notHttp('line');
    const text = this.#text + bytes.toString('latin1', at, end);
    this.#text = feed === -1 ? text : '';
    if (feed === -1) return end;
    this.readBytes += lineBytes;
    if (!text.endsWith('\r')) throw notHttp('line');
    read(text.slice(0, -1));
    return feed + 1;
  }

  #beginChunk(line: string): void {
    const [, digits] = chunkLine.exec(line) ?? [];
    if (digits === undefined) throw notHttp('chunk');
    this.#left = Number.parseInt(digits, 16);
    this.#part = this.#left === 0 ? 'trailers' : 'chunk';
  }

  #endChunk(line: string): void {
    if (line !== '') throw notHttp('chunk');
    this.#part = 'chunk line';
  }

  #passTrailer(line: string): void {
    if (line === '') {
      this.#part = 'nothing';
      return;
    }
    this.#trailerBytes += line.length;
    if (this.#trailerBytes > headBytesMax) throw new AnswerFault('answer headers too large');
    if (!headerLine.test(line)) throw notHttp('header');
  }
}

/** What the status line and the headers of an answer say. */
interface Head {
  readonly status: number;
  readonly keepAlive: string;
  /** What the body is, and how long if that is known. */
  readonly body: Part;
  readonly bodyBytes: number;
  readonly isLast: boolean;
}

/** A receiver's answers mostly begin alike, at least those of the same second. */
const rememberedHeads = 256;
const rememberedLengthMax = 1024;
const knownHead = remembering(rememberedHeads, readHead);

/** Throws `AnswerFault`. */
function headOf(text: string): Head {
  return text.length <= rememberedLengthMax ? knownHead(text) : readHead(text);
}

function readHead(text: string): Head {
  const [first = '', ...lines] = text.split('\r\n');
  const [, minor, digits] = statusLine.exec(first) ?? [];
  if (digits === undefined) throw notHttp('status line');
  let [length, coding, connection, keepAlive]: (string | undefined)[] = [];
  for (const line of lines) {
    const [, name, value = ''] = headerLine.exec(line) ?? [];
    if (name === undefined) throw notHttp('header');
    const lowerName = name.toLowerCase();
    if (lowerName === 'content-length') {
      if (length !== undefined) throw notHttp('two lengths');
      length = value.trimEnd();
    } else if (lowerName === 'transfer-encoding') coding = joined(coding, value);
    else if (lowerName === 'connection') connection = joined(connection, value);
    else if (lowerName === 'keep-alive') keepAlive = joined(keepAlive, value);
  }
  const status = Number(digits);
  if (status === 101) throw notHttp('another protocol');
  const body = firstOfBody(status, length, coding);
  const isLast = minor === '0' || body === 'until close' || closeToken.test(connection ?? '');
  return { status, keepAlive: keepAlive ?? '', body, bodyBytes: Number(length ?? 0), isLast };
}

function firstOfBody(status: number, length: string | undefined, coding: string | undefined): Part {
  if (status < 200) return 'head';
  if (length !== undefined && coding !== undefined) throw notHttp('two lengths');
  if (length !== undefined && !/^\d{1,15}$/.test(length)) throw notHttp('length');
  if (status === 204 || status === 304 || Number(length) === 0) return 'nothing';
  if (coding !== undefined) return /(?:^|[,\s])chunked\s*$/i.test(coding) ? 'chunk line' : 'until close';
  return length === undefined ? 'until close' : 'counted';
}

function joined(before: string | undefined, value: string): string {
  return before === undefined ? value : `${before}, ${value}`;
}

function notHttp(part: string): AnswerFault {
  return new AnswerFault(`answer is not HTTP (${part})`);
}
