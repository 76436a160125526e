// The port to a text that other machines hold, too, as disk/remote-rows.ts is the port to such
// rows. It is only appended to, and its oldest parts may be forgotten. A place is a number of bytes
// from the text's beginning.

/** What is left of the text. Both are 0 before anything was appended. */
export interface TextBounds {
  readonly start: number;
  readonly end: number;
}

export interface TextPart {
  readonly place: number;
  readonly bytes: Buffer;
}

export interface RemoteText {
  /** What there is, without taking it. */
  bounds(): Promise<TextBounds>;
  /**
   * Takes the text from whoever had it, and tries again until it succeeds or `close` is called.
   * Rejects with `JournalFailure`, or with `JournalDamaged` where trying again can't help.
   */
  acquire(): Promise<TextBounds>;
  /** What was appended at once and has the byte before a place; null: that is not there. */
  partBefore(place: number): Promise<TextPart | null>;
  /** What follows a place, one append after the other; of the first one what lies behind it. */
  readAfter(place: number): AsyncIterable<TextPart>;
  /** A text to which nothing was ever appended begins at that place. */
  begin(place: number): Promise<void>;
  /**
   * Resolves when enough machines have the bytes on disk. While nobody can say, it tries again: the
   * same bytes are never appended twice. Rejects with `JournalFailure` when somebody else has taken
   * the text, or when `close` is called.
   */
  append(place: number, bytes: Uint8Array): Promise<void>;
  /** Lets go of whole parts that end at a place or before it. */
  forget(place: number): Promise<void>;
  /** Waits a moment for the append under way; one that is not acknowledged then fails. */
  close(): Promise<void>;
}
