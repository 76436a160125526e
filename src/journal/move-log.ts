// Moves the log of a stopped shard to other machines (see remote-log.ts) and back, and compares
// what both hold. A move that was interrupted can be begun again. The remote log begins behind the
// first batch, because the checkpoint may have what no log has, as after a reshard or a restore: so
// an empty folder is never taken for the beginning of what was moved.

import { defined } from '../core/assert.ts';
import { tagOf } from '../disk/identity.ts';
import { JournalDamaged, type LogEnd } from './journal.ts';
import { checkedHeader, endOfBatch } from './log/codec.ts';
import { EpochFile } from './log/epoch-file.ts';
import { isMirror, markMirror, unmarkMirror } from './log/mirror-mark.ts';
import { type FoundBatch, isDefect, LogReader } from './log-reader.ts';
import { foldersOfJournal, type JournalOptions, openJournal } from './open-journal.ts';
import type { AppendedBatch, RemoteLog } from './remote-log.ts';
import { readStoppedJournal } from './stopped-journal.ts';

/** Called with the last sequence that was moved or compared. */
type ReportSequence = (sequence: number) => void;

/**
 * Appends what the folder has to the remote log, which has nothing or its beginning. Resolves with
 * the last sequence. Rejects with `JournalDamaged` or `JournalFailure`. `nowMs`: the wall time.
 */
export async function moveLogTo(
  remote: RemoteLog,
  options: JournalOptions,
  report: ReportSequence,
  nowMs: number,
): Promise<number> {
  const { dir, identity } = options;
  const reader = new LogReader(foldersOfJournal(dir).log, identity);
  // All of it is looked at before anything is moved, one batch at a time.
  let lastEpoch = 0;
  let first: LogEnd | null = null;
  for (const found of reader.read()) {
    const { epoch, bytes } = soundBatch(found);
    lastEpoch = epoch;
    first ??= endOfBatch(bytes);
  }
  const { epoch, end } = await remote.acquire(Math.max(lastEpoch, new EpochFile(dir).stored));
  let last = end.sequence;
  if (last === 0) {
    const beginning = first ?? (await appendFirst(options, reader, nowMs));
    await remote.begin(epoch, beginning);
    last = beginning.sequence;
  } else refuseOther(reader, end);
  for (const found of reader.read({ after: last })) {
    const { bytes, ...batch } = soundBatch(found);
    await remote.append(epoch, { ...batch, bytes, end: endOfBatch(bytes) } satisfies AppendedBatch);
    last = batch.lastSequence;
    report(last);
  }
  const metadata = await readStoppedJournal(options, ({ checkpoint }) => checkpoint.metadata());
  await remote.note(epoch, metadata, last);
  new EpochFile(dir).store(epoch);
  markMirror(dir);
  return last;
}

/** Gives an empty log a first batch, of one entry that changes nothing. Resolves with its end. */
async function appendFirst(options: JournalOptions, reader: LogReader, wallMs: number): Promise<LogEnd> {
  // The log of a mirror is moved when what it was the mirror of is lost.
  const isOfMirror = isMirror(options.dir);
  unmarkMirror(options.dir);
  const journal = await openJournal(options);
  try {
    const { log } = journal;
    const entries = [{ changes: [], idempotency: null, cause: null }];
    // It is no service time, which must not go by the machine's clock alone.
    await log.append({ firstSequence: log.nextSequence, timeMs: 0, wallMs, entries }).durable;
  } finally {
    await journal.close();
    if (isOfMirror) markMirror(options.dir);
  }
  const [appended] = reader.read();
  return endOfBatch(soundBatch(defined(appended, 'the log has a batch')).bytes);
}

function soundBatch(
  found: ReturnType<LogReader['read']> extends Iterable<infer Found> ? Found : never,
): FoundBatch {
  if (!isDefect(found)) return found;
  throw new JournalDamaged(
    `the log is damaged at sequence ${found.fromSequence} (${found.file}): ${found.defect}. Run "payments verify"`,
  );
}

/** Throws unless the batch that ends with `sequence` has this checksum here, too. */
function refuseOther(reader: LogReader, { sequence, checksum }: LogEnd): void {
  for (const found of reader.read({ after: sequence - 1, upTo: sequence })) {
    const end = endOfBatch(soundBatch(found).bytes);
    if (end.sequence === sequence && end.checksum === checksum) return;
  }
  throw new JournalDamaged(
    `PostgreSQL has another log, which ends with sequence ${sequence} (checksum ${checksum.toString(16)}): name an empty database`,
  );
}

/**
 * Brings the mirror in the folder up to date, and makes it the log. The remote log is acquired, so
 * that nobody else appends to it. Resolves with the last sequence.
 */
export async function moveLogFrom(remote: RemoteLog, options: JournalOptions): Promise<number> {
  const journal = await openJournal({ ...options, remote });
  try {
    for await (const _ of journal.replay());
    new EpochFile(options.dir).store(journal.ownership.epoch);
    return journal.log.nextSequence - 1;
  } finally {
    await journal.close();
    unmarkMirror(options.dir);
  }
}

/** What is wrong with the remote log, or differs from the mirror in the folder. */
export async function compareLogs(
  remote: RemoteLog,
  { dir, identity }: JournalOptions,
  report: ReportSequence,
): Promise<string[]> {
  const { firstSequence, end } = await remote.inspect();
  const reader = new LogReader(foldersOfJournal(dir).log, identity);
  const [tag, defects] = [tagOf(identity), [] as string[]];
  const mirrored = reader.read({ after: firstSequence - 1 })[Symbol.iterator]();
  let last = { sequence: firstSequence - 1, checksum: 0, epoch: 0 };
  for await (const portion of remote.read(firstSequence - 1))
    for (const bytes of portion) {
      const header = checkedHeader(bytes, last.sequence + 1, tag);
      if (typeof header === 'string')
        return [...defects, `PostgreSQL's batch behind sequence ${last.sequence}: ${header}`];
      if (header.epoch < last.epoch)
        defects.push(
          `PostgreSQL's batch ${header.firstSequence} is of epoch ${header.epoch}, behind ${last.epoch}`,
        );
      last = { ...endOfBatch(bytes), epoch: header.epoch };
      const mirror = mirrored.next();
      if (mirror.done === true) continue;
      if (!soundBatch(mirror.value).bytes.equals(bytes))
        return [...defects, `the batch ${header.firstSequence} is another in the mirror than in PostgreSQL`];
      report(last.sequence);
    }
  if (last.sequence !== end.sequence || (end.sequence >= firstSequence && last.checksum !== end.checksum))
    defects.push(
      `PostgreSQL's log ends with sequence ${last.sequence}, and its partition says ${end.sequence}`,
    );
  const ahead = mirrored.next();
  if (ahead.done !== true)
    defects.push(`the mirror goes on behind sequence ${last.sequence}, where PostgreSQL's log ends`);
  return defects;
}
