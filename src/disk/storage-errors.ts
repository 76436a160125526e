// What goes wrong with a disk: it does not take what is written, or what lies on it is damaged.
//
// When the disk refuses a write, `mdb_page_flush` of lmdb 3.5.6 writes its message past the end of
// 100 bytes on the heap. Nobody can trust the memory of such a process: so the service ends, all
// shards at once, and is started again. A command ends of the error by itself.

/**
 * What became of a write that was not acknowledged. `failed`: it is not stored. `fenced`: it is not
 * stored, because somebody else owns the partition now. `unknown`: it may be stored, and that must
 * be found out before anything else is written.
 */
export type WriteOutcome = 'failed' | 'fenced' | 'unknown';

/** An append or a checkpoint could not be made durable (disk full, I/O error). */
export class JournalFailure extends Error {
  override name = 'JournalFailure';
  /** The disk is full: the shard may be tried again, read-only until there is room. */
  readonly diskFull: boolean;
  readonly outcome: WriteOutcome;
  /**
   * Other machines have failed, or say that somebody else is the owner now: it would have been no
   * other on another node than this one.
   */
  readonly isRemote: boolean;
  constructor(
    message: string,
    options: { diskFull: boolean; outcome?: WriteOutcome; isRemote?: boolean; cause?: unknown },
  ) {
    super(message, { cause: options.cause });
    this.isRemote = options.isRemote ?? false;
    this.diskFull = options.diskFull;
    this.outcome = options.outcome ?? 'failed';
  }
}

/** The message names the place, and says what an operator can do. */
export class JournalDamaged extends Error {
  override name = 'JournalDamaged';
  /**
   * No file here is damaged: other machines have lost what this one has, or hold what no node of
   * this service may go on with.
   */
  readonly isRemote: boolean;
  constructor(message: string, { isRemote = false, cause }: { isRemote?: boolean; cause?: unknown } = {}) {
    super(message, { cause });
    this.isRemote = isRemote;
  }
}

/** What `read` finds; undefined when it comes upon damage. */
export function unlessDamaged<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof JournalDamaged) return undefined;
    throw error;
  }
}

/** What this thread does at a write error inside the library, before anybody else hears of it. */
export const atWriteError: { run: (failure: JournalFailure) => void } = { run: () => {} };

/** LMDB's answer to everything, from a failed commit until all have closed the environment. */
export const panicCode = -30795;

/** Whether the library has met an error of the disk: now, with its number, or before. */
export function isWriteError(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return typeof code === 'number' && (code > 0 || code === panicCode);
}
