// An entry of the log as people and programs are shown it. Signing secrets stay hidden, and so do a
// network's names for cards, with which one could charge them.

import { plain } from '../../core/shown-text.ts';
import type { Change, RecordKind } from '../../domain/record.ts';
import type { FoundEntry, LogDefect } from '../../journal/log-reader.ts';
import type { DamagedEnd } from '../../journal/stopped-journal.ts';
import { CommandFailure } from '../use-cases/failures.ts';

const hiddenFields: Readonly<Partial<Record<RecordKind, readonly string[]>>> = {
  webhook_endpoint: ['secrets'],
  charge: ['challenge_token'],
  network_call: ['card_token'],
};
const hidden = '(hidden)';

/** Shard and sequence of a place in the log, such as `0:17`. */
export function placeOf(text: string): { readonly shard: number; readonly sequence: number } {
  const [, shard, sequence] = /^(\d+):(\d+)$/.exec(text) ?? [];
  if (sequence === undefined)
    throw new CommandFailure(`${text} is no place in the log: name shard and sequence, such as 0:17`);
  return { shard: Number(shard), sequence: Number(sequence) };
}

type EntrySummary = ReturnType<typeof summaryOf>;

/** A summary of an entry, as `--json` prints it. */
export function summaryOf(entry: FoundEntry) {
  const { shard, sequence, wallMs, cause, changes, response } = entry;
  const [first] = changes;
  const events = changes.filter((change) => change.kind === 'event');
  return {
    shard,
    sequence,
    time: new Date(wallMs).toISOString(),
    // Who gave the command; null where that is not known. Operators and members have names.
    by: cause?.by ?? null,
    name: cause?.by === 'operator' || cause?.by === 'member' ? cause.name : null,
    requests: requestsOf(entry),
    idempotency_key: events.find(({ idempotency_key }) => idempotency_key !== null)?.idempotency_key ?? null,
    // The status of the response that is stored for the key.
    status: response?.status ?? null,
    organization: first?.org ?? null,
    livemode: first?.livemode ?? null,
    events: events.map(({ type }) => type),
    objects: changes.filter(({ kind }) => kind !== 'event').map(({ id }) => id),
  };
}

export function wholeOf(entry: FoundEntry) {
  const { changes, response } = entry;
  const { objects: _, ...summary } = summaryOf(entry);
  return {
    ...summary,
    changes: changes.map(shownRecord),
    response: response && {
      status: response.status,
      request: response.requestId,
      body: jsonOrText(Buffer.from(response.body).toString()),
    },
  };
}

export function shownRecord(record: Change): Record<string, unknown> {
  const names = hiddenFields[record.kind] ?? [];
  const shown = Object.entries(record).map(([name, value]) => {
    if (names.includes(name)) return [name, isEmpty(value) ? value : hidden];
    if (name === 'object_json') return ['object', jsonOrText(String(value))];
    return [name, withoutDigests(value)];
  });
  return Object.fromEntries(shown);
}

function isEmpty(value: unknown): boolean {
  return value === null || (Array.isArray(value) && value.length === 0);
}

function withoutDigests(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, withoutDigests(field)]));
}

function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

export function causeInWords({ by, name, requests }: Pick<EntrySummary, 'by' | 'name' | 'requests'>): string {
  const isPerson = by === 'operator' || by === 'member';
  const who = by === null ? 'not known' : isPerson ? `${by} ${name ?? '-'}` : by;
  return [who, ...requests].join(' ');
}

export function lineOf(entry: FoundEntry): string {
  const summary = summaryOf(entry);
  const { shard, sequence, time, events, objects, status } = summary;
  const what = events.length > 0 ? events.join(', ') : kindsOf(entry);
  const answer = status === null || status < 400 ? '' : ` (refused with ${status})`;
  const cells = [
    time,
    `${shard}:${sequence}`.padEnd(10),
    `${what}${answer}`.padEnd(32),
    causeInWords(summary),
  ];
  return [...cells, objects.join(' ')].map(plain).join('  ').trimEnd();
}

function kindsOf({ changes }: FoundEntry): string {
  return [...new Set(changes.map(({ kind }) => kind))].join(', ') || 'a stored response';
}

export function entryInWords(entry: FoundEntry): string {
  const { changes, response } = wholeOf(entry);
  const lines = [lineOf(entry)];
  for (const { kind, id, ...fields } of changes) {
    lines.push('', `${kind} ${id}${fields.removed === true ? ' (removed)' : ''}`);
    for (const [name, value] of Object.entries(fields)) lines.push(`  ${name}: ${inJson(value)}`);
  }
  if (response !== null) {
    lines.push('', `stored response ${response.status} of ${response.request}`, `  ${inJson(response.body)}`);
  }
  return lines.map(plain).join('\n');
}

export function inJson(value: unknown): string {
  return value === hidden ? hidden : JSON.stringify(value);
}

export function defectLine({ shard, file, byte, fromSequence, toSequence, defect }: LogDefect): string {
  const where = byte === null ? file : `${file}, byte ${byte}`;
  return `shard ${shard}, ${where}: ${defect}; entries ${fromSequence} to ${toSequence ?? 'the end of the segment, at most'}`;
}

/** The request that caused an entry, and those that its events and network calls name. */
export function requestsOf({ cause, response, changes }: FoundEntry): string[] {
  const found = new Set<string>();
  if (cause?.by === 'request' && cause.name !== null) found.add(cause.name);
  if (response !== null) found.add(response.requestId);
  for (const change of changes) {
    if (change.kind === 'event' && change.request_id !== null) found.add(change.request_id);
    if (change.kind === 'network_call' && change.request !== null) found.add(change.request.request_id);
  }
  return [...found];
}

export type LostBatch = ReturnType<typeof lostBatchOf>;

/** What is given up with a damaged end of the log, as far as it can be read. */
export function lostBatchOf(shard: number, end: DamagedEnd) {
  const { sequence, segment, bytes, defect, entries, damagedRecords } = end;
  return {
    // Shard and sequence of its first entry.
    place: `${shard}:${sequence}`,
    segment,
    bytes,
    defect,
    entries: entries.map(summaryOf),
    damaged_records: damagedRecords,
    lines: entries.map(lineOf),
  };
}

export interface LogTruncation {
  readonly shard: number;
  readonly sequence: number;
  /** Asks whether the batch shall go. Throws `CommandFailure` when it shall not. */
  confirm(lost: LostBatch): Promise<void>;
}

export interface LogPlaceOptions {
  /** The data folder, when neither a backup nor an archive is named. */
  dataDir(): string;
  readonly from: string | null;
  readonly archive: string | null;
  /** The file with the secret keys of age. */
  readonly identityFile: string | null;
}
