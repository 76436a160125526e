// The entries of the log that a command selects, and reading them: from one shard, if the
// organization or the object says which, or from all in the order of time. Damage is reported where
// it was met.

import { type Command, InvalidArgumentError, Option } from 'commander';
import { type IdKind, idPrefixes, kindOfId } from '../../contract/id-prefixes.ts';
import { type Mode, modes } from '../../contract/vocabulary.ts';
import { slotOfId } from '../../core/ids.ts';
import { slotOf } from '../../core/slot.ts';
import { scopeOf } from '../../domain/indexes.ts';
import {
  entriesOf,
  type FoundBatch,
  type FoundEntry,
  isDefect,
  type LogDefect,
  type LogFolder,
  type LogSource,
} from '../../journal/log-reader.ts';
import { digestKey } from '../../shard/fingerprint.ts';
import { shardOfSlot } from '../../shard/shard-map.ts';
import { requestsOf } from '../results/log-entry.ts';
import { CommandFailure } from '../use-cases/failures.ts';
import { type CliContext, dateOrTime, wholeNumber } from './context.ts';

/** Where a log lies: a data folder, a backup, an archive, or a backup and its archive. */
export interface PlaceOptions {
  readonly from?: string;
  readonly archive?: string;
  readonly identity?: string;
}

export function addPlaceOptions(command: Command): Command {
  return command
    .option('--from <folder>', 'a backup instead of a data folder')
    .option('--archive <folder>', 'an archive of the log: alone, or after the backup')
    .option('--identity <file>', 'secret keys of age, for what is encrypted');
}

export function openPlace(options: PlaceOptions, { host, folder }: CliContext): Promise<LogFolder> {
  const { from = null, archive = null, identity: identityFile = null } = options;
  return host.openLog({ dataDir: folder, from, archive, identityFile });
}

export interface LogOptions extends PlaceOptions {
  readonly since?: number;
  readonly until?: number;
  readonly sequence?: SequenceRange;
  readonly shard?: number;
  readonly org?: string;
  readonly object?: string;
  readonly request?: string;
  readonly key?: string;
  readonly mode?: Mode;
}

interface SequenceRange {
  readonly from: number;
  readonly to: number;
}

/** Wall time may step back: entries out of order by this much are found all the same. */
const disorderMs = 3_600_000;

const millisecondsOf: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

export function addSelectionOptions(command: Command): Command {
  return command
    .option('--since <time>', `entries from this time on: ${timeForms}`, timeOf)
    .option('--until <time>', 'entries up to this time', timeOf)
    .option('--sequence <range>', 'entries with these sequences: 17, 17-90 or 17-', sequenceRange)
    .option('--shard <number>', 'entries of this shard', wholeNumber(0, 65_535))
    .option('--org <id>', 'entries of this organization', idOf('organization'))
    .option('--object <id>', 'entries that change this object, or an object that names it')
    .option('--request <id>', 'the entries of this request', idOf('request'))
    .option('--key <key>', 'the entries of this idempotency key; needs --org and --mode, too')
    .addOption(new Option('--mode <mode>', 'entries of this mode').choices(modes));
}

/** Reads an id of a kind: a log has nothing of another text, which would look like no entries. */
function idOf(kind: IdKind): (text: string) => string {
  return (text) => {
    if (kindOfId(text) === kind) return text;
    throw new InvalidArgumentError(`It must be an id that begins with ${idPrefixes[kind]}_.`);
  };
}

export const timeForms = 'ISO 8601, or how long ago, such as 90s, 15m, 2h or 3d';

/** A time, or a duration before now, in Unix milliseconds. */
export function timeOf(text: string): number {
  const [, count, unit = ''] = /^(\d+)([smhd])$/.exec(text) ?? [];
  const unitMs = millisecondsOf[unit];
  if (unitMs !== undefined) return Date.now() - Number(count) * unitMs;
  try {
    return dateOrTime(text);
  } catch {
    throw new InvalidArgumentError(
      'It must be a time such as 2026-12-31T18:00:00Z, or how long ago, such as 90s, 15m, 2h or 3d.',
    );
  }
}

function sequenceRange(text: string): SequenceRange {
  const [, from, rest, to] = /^(\d+)(-(\d+)?)?$/.exec(text) ?? [];
  const range = {
    from: Number(from),
    to: rest === undefined ? Number(from) : to === undefined ? Number.MAX_SAFE_INTEGER : Number(to),
  };
  if (from !== undefined && range.from <= range.to) return range;
  throw new InvalidArgumentError('It must be a sequence such as 17, or a range such as 17-90 or 17-.');
}

export function shardsOf({ name, shards }: LogFolder, options: LogOptions): readonly LogSource[] {
  const { shard, org, object } = options;
  const slot = org !== undefined ? slotOf(org) : object !== undefined ? slotOfId(object) : -1;
  const number = shard ?? (slot < 0 ? undefined : shardOfSlot(slot, shards.length));
  if (number === undefined) return shards;
  const found = shards.find(({ identity }) => identity.shard === number);
  if (found === undefined)
    throw new CommandFailure(`${name} has no shard ${number}: its shards are 0 to ${shards.length - 1}`);
  return [found];
}

export function matcherOf(options: LogOptions): (entry: FoundEntry) => boolean {
  const {
    since = Number.NEGATIVE_INFINITY,
    until = Number.POSITIVE_INFINITY,
    sequence,
    org,
    object,
    request,
    mode,
  } = options;
  const digest = digestOf(options);
  const tests: ((entry: FoundEntry) => boolean)[] = [({ wallMs }) => wallMs >= since && wallMs <= until];
  if (sequence !== undefined)
    tests.push((entry) => entry.sequence >= sequence.from && entry.sequence <= sequence.to);
  if (org !== undefined) tests.push((entry) => isOf(entry, org));
  if (mode !== undefined && digest === null)
    tests.push(({ changes }) => changes.some(({ livemode }) => livemode === (mode === 'live')));
  if (object !== undefined)
    tests.push(({ changes }) => changes.some((change) => Object.values(change).includes(object)));
  if (request !== undefined) tests.push((entry) => requestsOf(entry).includes(request));
  if (digest !== null)
    tests.push(
      ({ idempotency }) => idempotency !== null && Buffer.compare(idempotency.keyDigest, digest) === 0,
    );
  return (entry) => tests.every((test) => test(entry));
}

/** An entry without changes, a refusal that is stored, tells the slot of its organization only. */
function isOf({ changes, idempotency }: FoundEntry, org: string): boolean {
  return changes.length > 0
    ? changes.some((change) => change.org === org)
    : idempotency?.slot === slotOf(org);
}

function digestOf({ key, org, mode }: LogOptions): Uint8Array | null {
  if (key === undefined) return null;
  if (org !== undefined && mode !== undefined) return digestKey(scopeOf(org, mode === 'live'), key);
  throw new CommandFailure('--key needs --org and --mode, too: the log has only a digest of the three');
}

export async function* selected(
  folder: LogFolder,
  options: LogOptions,
): AsyncGenerator<FoundEntry | LogDefect> {
  const streams = shardsOf(folder, options).map((source) => entriesIn(source, options, false));
  yield* inOrder(streams);
}

/** The newest entries that are selected, oldest first, and the damage that was met. */
export async function newest(
  folder: LogFolder,
  options: LogOptions,
  count: number,
): Promise<(FoundEntry | LogDefect)[]> {
  const entries: FoundEntry[] = [];
  const defects: LogDefect[] = [];
  for (const source of shardsOf(folder, options)) {
    let left = count;
    for await (const found of entriesIn(source, options, true)) {
      if (isDefect(found)) defects.push(found);
      else if (left-- > 0) entries.push(found);
      if (left <= 0) break;
    }
  }
  entries.sort((a, b) => a.wallMs - b.wallMs || a.shard - b.shard || a.sequence - b.sequence);
  return [...defects, ...entries.slice(-count)];
}

async function* entriesIn(
  source: LogSource,
  options: LogOptions,
  reverse: boolean,
): AsyncGenerator<FoundEntry | LogDefect> {
  const { since = Number.NEGATIVE_INFINITY, until = Number.POSITIVE_INFINITY, sequence } = options;
  const isSelected = matcherOf(options);
  const from =
    sequence !== undefined ? sequence.from - 1 : since > 0 ? source.sequenceBefore(since - disorderMs) : 0;
  let begun: FoundBatch | null = null;
  for await (const found of source.read({
    after: Math.max(0, from),
    upTo: sequence?.to ?? Number.POSITIVE_INFINITY,
    reverse,
  })) {
    if (isDefect(found)) {
      yield found;
      continue;
    }
    const { wallMs, timeMs } = found;
    begun ??= found;
    // As the clock would say without having been set since the first that was read.
    const steadyMs = begun.wallMs + timeMs - begun.timeMs;
    if (reverse && Math.max(wallMs, steadyMs) < since - disorderMs) return;
    if (!reverse && Math.min(wallMs, steadyMs) > until + disorderMs) return;
    if (wallMs < since || wallMs > until) continue;
    const entries = entriesOf(found).filter(isSelected);
    yield* reverse ? entries.reverse() : entries;
  }
}

/** Merges streams by the time of what each gives next. */
async function* inOrder(
  streams: readonly AsyncGenerator<FoundEntry | LogDefect>[],
): AsyncGenerator<FoundEntry | LogDefect> {
  let heads: { readonly stream: (typeof streams)[number]; readonly found: FoundEntry | LogDefect }[] = [];
  const advance = async (stream: (typeof streams)[number]) => {
    const next = await stream.next();
    if (next.done !== true) heads.push({ stream, found: next.value });
  };
  for (const stream of streams) await advance(stream);
  while (heads.length > 0) {
    const first = heads.reduce((a, b) => (isBefore(b.found, a.found) ? b : a));
    heads = heads.filter((head) => head !== first);
    yield first.found;
    await advance(first.stream);
  }
}

/** Damage comes at once; what is of one time, in the order of the shards. */
function isBefore(a: FoundEntry | LogDefect, b: FoundEntry | LogDefect): boolean {
  const timeOf = (found: FoundEntry | LogDefect) => (isDefect(found) ? 0 : found.wallMs);
  return timeOf(a) === timeOf(b) ? a.shard < b.shard : timeOf(a) < timeOf(b);
}
