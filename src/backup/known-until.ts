// Up to when a backup and an archive know of each part of a data folder, and what a restore warns
// of: a part that ends before the moment that is wanted, or long before others do, may lack what
// the service acknowledged there.

export interface KnownPart {
  /** As an operator calls it: `shard 0`. */
  readonly name: string;
  /** When its last change was made, Unix milliseconds; null: the backup has it. */
  readonly lastMs: number | null;
  /** Up to when the archive says that it has all of it; null: it does not say. */
  readonly archivedMs: number | null;
  /** Something behind the moment was left out, so all before it is known. */
  readonly isCut: boolean;
}

/** The archives of parts that are written in turns end so far apart at most. */
const apartMs = 600_000;

/**
 * What to warn of when everything up to `toMs` is restored (Unix milliseconds; infinity: all that
 * there is) from a backup that was made at `backupMs`; null: nothing.
 */
export function endWarning(parts: readonly KnownPart[], toMs: number, backupMs: number): string | null {
  const ends = parts.flatMap(({ lastMs, archivedMs }) => [lastMs ?? backupMs, archivedMs ?? backupMs]);
  const newestMs = Math.max(backupMs, ...ends);
  const isAll = toMs === Number.POSITIVE_INFINITY;
  const wantedMs = isAll ? newestMs - apartMs : toMs;
  const isAnyCut = parts.some(({ isCut }) => isCut);
  const endOf = ({ lastMs, archivedMs, isCut }: KnownPart): number => {
    if (isCut) return Number.POSITIVE_INFINITY;
    if (archivedMs !== null) return Math.max(backupMs, archivedMs, lastMs ?? 0);
    // A part that is idle ends where the others do.
    return isAnyCut ? Number.POSITIVE_INFINITY : newestMs;
  };
  const short = parts.filter((part) => endOf(part) < wantedMs);
  if (short.length === 0) return null;
  const until = new Date(Math.min(...short.map(endOf))).toISOString();
  const of = short.length === parts.length ? '' : ` of ${short.map(({ name }) => name).join(', ')}`;
  return (
    `the backup and the archive have nothing${of} that is later than ${until}: what the service did from then until ` +
    `${isAll ? `${new Date(newestMs).toISOString()}, where others end` : 'this moment'}, if anything, is missing. ` +
    'Look for an archive that goes on, such as that of another node'
  );
}
