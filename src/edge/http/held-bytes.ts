// Counts what the edge holds for slow clients: of answers what they have not taken yet, and of
// bodies what has come before the rest. The bytes of all clients together are bounded. Each holder
// (an organization, or all strangers) may have a part of them, so that its slow clients slow down
// nobody else.

/** The part of the bytes that one holder may have. */
const holderShare = 1 / 8;

/** Whom bytes are held for. Its holder stays the same while they are. */
interface Client {
  readonly holder: string;
}

export class HeldBytes {
  readonly #bytesMax: number;
  readonly #byClient = new Map<Client, number>();
  readonly #byHolder = new Map<string, number>();
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get bytes(): number {
    return this.#bytes;
  }

  #more(client: Client, bytes: number): number {
    return bytes - (this.#byClient.get(client) ?? 0);
  }

  /**
   * Whether so many bytes may be held for a client, in all. The first ones of a holder may be of
   * any number.
   */
  hasRoom(client: Client, bytes: number): boolean {
    const more = this.#more(client, bytes);
    const held = this.#byHolder.get(client.holder);
    if (more <= 0) return true;
    if (held === undefined) return this.#bytes < this.#bytesMax;
    return this.#bytes + more <= this.#bytesMax && held + more <= this.#bytesMax * holderShare;
  }

  /** Counts so many bytes for a client from now on, in place of those before. */
  set(client: Client, bytes: number): void {
    const more = this.#more(client, bytes);
    if (more === 0) return;
    this.#bytes += more;
    put(this.#byClient, client, bytes);
    put(this.#byHolder, client.holder, (this.#byHolder.get(client.holder) ?? 0) + more);
  }

  /** Counts them as `set` does if there is room. False: there is none. */
  take(client: Client, bytes: number): boolean {
    const hasRoom = this.hasRoom(client, bytes);
    if (hasRoom) this.set(client, bytes);
    return hasRoom;
  }
}

/** What holds nothing takes no memory. */
function put<K>(counts: Map<K, number>, key: K, bytes: number): void {
  if (bytes === 0) counts.delete(key);
  else counts.set(key, bytes);
}
