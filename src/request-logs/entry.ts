// An entry of the request logs: one API request with its answer. An edge writes it, and the
// same bytes are stored.
//
//   u32 length · u16 sender · u16 status · f64 answered at (Unix ms) · u32 duration (ms)
//   · u8 route · u8 flags · u16 bytes of the texts, of the request, of the answer · the texts, each
//   with a line feed behind it · the request's body · the answer's body
//
// Numbers are little-endian, text is UTF-8. An entry's length counts the whole entry. The sender is
// a number within the batch of an edge, and means nothing on the disk. A gap is an entry without
// texts and bodies, whose duration is how many entries were not kept before it.

/** What an edge knows of an answered request. */
export interface AnsweredRequest {
  /** Unix milliseconds. */
  readonly answeredAtMs: number;
  readonly durationMs: number;
  readonly requestId: string;
  readonly livemode: boolean;
  readonly address: string;
  /** The id of the key, or of the member who made it in the dashboard; null for an operator. */
  readonly key: string | null;
  /** The position of the route in the table of routes; null when there is none. */
  readonly routeNumber: number | null;
  readonly method: string;
  readonly path: string;
  /** Without the question mark. */
  readonly query: string;
  /** The id in the path; empty when there is none. */
  readonly objectId: string;
  readonly idempotencyKey: string | undefined;
  readonly version: string | undefined;
  readonly status: number;
  readonly code: string | null;
  readonly replayed: boolean;
  /** The id of the first request, on a replay. */
  readonly originalRequest: string;
  readonly requestBody: Uint8Array;
  readonly answerBody: Uint8Array | string;
}

/** The most that is kept of each body. */
export const bodyKeptBytesMax = 8 * 1024;

export const entryFlags = {
  replayed: 1,
  requestCut: 2,
  answerCut: 4,
  masked: 8,
  gap: 16,
} as const;

const at = {
  length: 0,
  sender: 4,
  status: 6,
  time: 8,
  duration: 16,
  route: 20,
  flags: 21,
  textBytes: 22,
  requestBytes: 24,
  answerBytes: 26,
} as const;
const headBytes = 28;
const noRoute = 255;
/** Longer paths and query strings are cut, so that all texts together fit their length. */
const textCharactersMax = 8 * 1024;
/** What is longer is no id of an object. */
const idCharactersMax = 64;
const bytesPerUnitMax = 3;
/** An id that the service made: `req_` and 25 characters. */
const requestIdBytes = 29;
const lineFeed = 10;

/** Writes entries one behind the other into a buffer that has room for them. */
export class EntryWriter {
  #buffer: Buffer;
  #view: DataView;
  #used = 0;

  constructor(buffer: Buffer) {
    this.#buffer = buffer;
    this.#view = viewOf(buffer);
  }

  get used(): number {
    return this.#used;
  }

  get buffer(): Buffer {
    return this.#buffer;
  }

  /** Goes on at the start of another buffer. */
  begin(buffer: Buffer): void {
    this.#buffer = buffer;
    this.#view = viewOf(buffer);
    this.#used = 0;
  }

  /** Appends an entry; false when there may not be enough room for it. */
  put(sender: number, entry: AnsweredRequest, flags = 0): boolean {
    const { requestBody, answerBody, path, query, code, key, version } = entry;
    const shownPath = path.length > textCharactersMax ? path.slice(0, textCharactersMax) : path;
    const shownQuery = query.length > textCharactersMax ? query.slice(0, textCharactersMax) : query;
    const objectId = entry.objectId.length > idCharactersMax ? '' : entry.objectId;
    const texts = `${entry.requestId}\n${entry.idempotencyKey ?? ''}\n${objectId}\n${key ?? ''}\n${entry.address}\n${entry.method}\n${shownPath}\n${shownQuery}\n${version ?? ''}\n${code ?? ''}\n${entry.originalRequest}\n`;
    const bytesMax = headBytes + texts.length * bytesPerUnitMax + bytesOf(requestBody) + bytesOf(answerBody);
    const start = this.#used;
    const buffer = this.#buffer;
    if (buffer.length - start < bytesMax) return false;
    const view = this.#view;
    const textBytes = buffer.write(texts, start + headBytes);
    let end = start + headBytes + textBytes;
    const requestBytes = putBody(buffer, requestBody, end);
    end += requestBytes;
    const answerBytes = putBody(buffer, answerBody, end);
    end += answerBytes;
    view.setUint32(start + at.length, end - start, true);
    view.setUint16(start + at.sender, sender, true);
    view.setUint16(start + at.status, entry.status, true);
    view.setFloat64(start + at.time, entry.answeredAtMs, true);
    view.setUint32(start + at.duration, entry.durationMs, true);
    buffer[start + at.route] = entry.routeNumber ?? noRoute;
    buffer[start + at.flags] =
      flags |
      (entry.replayed ? entryFlags.replayed : 0) |
      (isCut(requestBody) ? entryFlags.requestCut : 0) |
      (isCut(answerBody) ? entryFlags.answerCut : 0);
    view.setUint16(start + at.textBytes, textBytes, true);
    view.setUint16(start + at.requestBytes, requestBytes, true);
    view.setUint16(start + at.answerBytes, answerBytes, true);
    this.#used = end;
    return true;
  }

  /** Appends a gap, for which there must be room. */
  putGap(sender: number, atMs: number, missing: number): void {
    const start = this.#used;
    this.#buffer.fill(0, start, start + headBytes);
    this.#view.setUint32(start + at.length, headBytes, true);
    this.#view.setUint16(start + at.sender, sender, true);
    this.#view.setFloat64(start + at.time, atMs, true);
    this.#view.setUint32(start + at.duration, missing, true);
    this.#buffer[start + at.route] = noRoute;
    this.#buffer[start + at.flags] = entryFlags.gap;
    this.#used += headBytes;
  }
}

/** No entry takes more: its texts and its bodies have lengths of 16 bits. */
export const entryBytesMax = headBytes + 3 * 65_535;
export const gapBytes = headBytes;

function bytesOf(body: Uint8Array | string): number {
  return Math.min(bodyKeptBytesMax, typeof body === 'string' ? body.length * bytesPerUnitMax : body.length);
}

function isCut(body: Uint8Array | string): boolean {
  if (typeof body !== 'string') return body.length > bodyKeptBytesMax;
  return body.length * bytesPerUnitMax > bodyKeptBytesMax && Buffer.byteLength(body) > bodyKeptBytesMax;
}

/** Writes the beginning of a body; returns how many bytes. */
function putBody(buffer: Buffer, body: Uint8Array | string, start: number): number {
  if (body.length === 0) return 0;
  if (typeof body === 'string') return buffer.write(body, start, bodyKeptBytesMax);
  const kept = body.length > bodyKeptBytesMax ? body.subarray(0, bodyKeptBytesMax) : body;
  buffer.set(kept, start);
  return kept.length;
}

/** An entry, whose fields are read as they are asked for. One object goes through a whole batch. */
export class EntryReader {
  readonly buffer: Buffer;
  readonly #view: DataView;
  start = 0;
  end = 0;

  constructor(buffer: Buffer) {
    this.buffer = buffer;
    this.#view = viewOf(buffer);
  }

  /** Goes to the entry at `start`. Returns false when no whole entry lies there. */
  moveTo(start: number): boolean {
    if (start + headBytes > this.buffer.length) return false;
    const length = this.#view.getUint32(start, true);
    this.start = start;
    this.end = start + length;
    const isWhole = length >= headBytes && this.end <= this.buffer.length && this.#bodiesAt <= this.end;
    // A crash of the machine may leave zeros in the place of the end.
    return isWhole && (this.isGap || this.buffer[this.#bodiesAt - 1] === lineFeed);
  }

  get #bodiesAt(): number {
    return this.start + headBytes + this.#view.getUint16(this.start + at.textBytes, true);
  }

  get sender(): number {
    return this.#view.getUint16(this.start + at.sender, true);
  }
  get status(): number {
    return this.#view.getUint16(this.start + at.status, true);
  }
  get answeredAtMs(): number {
    return this.#view.getFloat64(this.start + at.time, true);
  }
  /** Milliseconds; of a gap, how many entries are missing. */
  get duration(): number {
    return this.#view.getUint32(this.start + at.duration, true);
  }
  get route(): number {
    return this.buffer[this.start + at.route]!;
  }
  get flags(): number {
    return this.buffer[this.start + at.flags]!;
  }
  get isGap(): boolean {
    return (this.flags & entryFlags.gap) !== 0;
  }
  /** Where the texts begin, behind which only what clients and the service have written follows. */
  get textsAt(): number {
    return this.start + headBytes;
  }

  /** Tags by which an entry is found without reading it: 0 for a gap. Two texts may share one. */
  tagsInto(tags: EntryTags): void {
    tags.request = 0;
    tags.key = 0;
    tags.object = 0;
    if (this.isGap) return;
    const { buffer, end } = this;
    let i = this.textsAt + requestIdBytes + 1;
    if (i > end) return;
    tags.request = tagAt(this.#view, i - 1);
    let hash = hashStart;
    for (; i < end && buffer[i] !== lineFeed; i++) hash = hashStep(hash, buffer[i]!);
    tags.key = hash >>> 0;
    const objectAt = i + 1;
    for (i = objectAt; i < end && buffer[i] !== lineFeed; i++);
    if (i > objectAt) tags.object = i - objectAt >= 4 ? tagAt(this.#view, i) : 0;
    else tags.object = this.#answerTag();
  }

  /** The tag of the id of the object that the answer is. */
  #answerTag(): number {
    const bodiesAt = this.#bodiesAt;
    const start = bodiesAt + this.#view.getUint16(this.start + at.requestBytes, true);
    const idAt = start + answerIdStart.length;
    const [end, quote] = [Math.min(this.end, idAt + 64), 34];
    for (let i = 0; i < answerIdStart.length; i++) if (this.buffer[start + i] !== answerIdStart[i]) return 0;
    for (let i = idAt; i < end; i++)
      if (this.buffer[i] === quote) return i - idAt >= 4 ? tagAt(this.#view, i) : 0;
    return 0;
  }

  /** All of it, as an edge gave it. */
  answered(livemode: boolean): AnsweredRequest {
    const { buffer, flags } = this;
    const bodiesAt = this.#bodiesAt;
    const answerAt = bodiesAt + this.#view.getUint16(this.start + at.requestBytes, true);
    const texts = buffer.toString('utf8', this.textsAt, bodiesAt).split('\n');
    const [requestId = '', idempotencyKey, objectId = '', key, address = ''] = texts;
    const [method = '', path = '', query = '', version, code, originalRequest = ''] = texts.slice(5);
    return {
      answeredAtMs: this.answeredAtMs,
      durationMs: this.duration,
      requestId,
      livemode,
      address,
      key: key || null,
      routeNumber: this.route === noRoute ? null : this.route,
      method,
      path,
      query,
      objectId,
      idempotencyKey: idempotencyKey || undefined,
      version: version || undefined,
      status: this.status,
      code: code || null,
      replayed: (flags & entryFlags.replayed) !== 0,
      originalRequest,
      requestBody: buffer.subarray(bodiesAt, answerAt),
      answerBody: buffer.subarray(answerAt, this.end),
    };
  }
}

export interface EntryTags {
  request: number;
  key: number;
  object: number;
}

/** How an answer begins that is an object with an id. */
const answerIdStart = Buffer.from('{"id":"');
const hashStart = 0x811c9dc5;

function hashStep(hash: number, byte: number): number {
  return Math.imul(hash ^ byte, 0x01000193);
}

/** The last four characters of an id, which are random, are its tag. */
function tagAt(view: DataView, end: number): number {
  return view.getUint32(end - 4, true);
}

export function tagOfId(id: string): number {
  const bytes = Buffer.from(id);
  return bytes.length < 4 ? 0 : bytes.readUInt32LE(bytes.length - 4);
}

export function tagOfKey(key: string): number {
  return Buffer.from(key).reduce(hashStep, hashStart) >>> 0;
}

function viewOf(buffer: Buffer): DataView {
  return new DataView(buffer.buffer, buffer.byteOffset, buffer.byteLength);
}
