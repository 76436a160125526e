// `payments history` tells each change of one object: what, when, and who caused it. The log has
// all of that as far back as it reaches; before that there are the object's events and its record.

import type { Command } from 'commander';
import { kindOfId } from '../../contract/id-prefixes.ts';
import { defined, elementAt } from '../../core/assert.ts';
import { plain } from '../../core/shown-text.ts';
import { subjectOf } from '../../domain/invariants.ts';
import type { Change, EventRecord } from '../../domain/record.ts';
import { JournalDamaged } from '../../journal/journal.ts';
import {
  entriesOf,
  type FoundEntry,
  isDefect,
  type LogDefect,
  type LogFolder,
  type LogSource,
} from '../../journal/log-reader.ts';
import { causeInWords, defectLine, inJson, shownRecord, summaryOf } from '../results/log-entry.ts';
import { CommandFailure } from '../use-cases/failures.ts';
import { addCommand, type CliContext } from './context.ts';
import { addPlaceOptions, openPlace, type PlaceOptions, shardsOf } from './log-selection.ts';
import { formatTime } from './table.ts';

/** A change of a field; `from` is left out where the value before is not known. */
interface FieldChange {
  readonly field: string;
  readonly from?: unknown;
  readonly to: unknown;
}

type Told = 'time' | 'by' | 'name' | 'requests' | 'idempotency_key' | 'events';

interface Step extends Pick<ReturnType<typeof summaryOf>, Told> {
  /** Shard and sequence in the log; null for what is known from an event only. */
  readonly place: string | null;
  readonly what: 'created' | 'changed' | 'removed' | 'first seen' | 'event';
  readonly changes: readonly FieldChange[];
}

export function addHistoryCommand(program: Command, context: CliContext): void {
  const history = addCommand(
    program,
    'history',
    'tell every change of an object, and who or what caused it',
  ).argument('<object>', 'its id');
  addPlaceOptions(history).action(async (id: string, options: PlaceOptions) => {
    if (kindOfId(id) === undefined) throw new CommandFailure(`${id} is no id of an object`);
    const onDamage = (defect: LogDefect) => context.host.writeError(`damaged: ${defectLine(defect)}\n`);
    try {
      context.print(await historyOf(await openPlace(options, context), id, onDamage), inWords);
    } catch (error) {
      throw error instanceof JournalDamaged
        ? new CommandFailure(`the checkpoint is damaged: ${error.message}`)
        : error;
    }
  });
}

type History = Awaited<ReturnType<typeof historyOf>>;

async function historyOf(folder: LogFolder, id: string, onDamage: (defect: LogDefect) => void) {
  const source = elementAt(shardsOf(folder, { object: id }), 0);
  // Read before the log, so that the log has what the checkpoint lacks.
  const before = await stored(folder, source.identity.shard, id);
  const log = await logged(source, id, onDamage);
  const [first] = log.entries;
  if (first === undefined && before.record === null)
    throw new CommandFailure(`${folder.name} has nothing of ${id}`);
  const since = log.sinceMs;
  const early = before.events.filter(
    ({ created }) => since === null || created * 1000 < Math.floor(since / 1000) * 1000,
  );
  const known =
    first !== undefined && before.record !== null && before.sequence < first.sequence ? before.record : null;
  const steps = [...early.map(stepOfEvent), ...stepsOf(log.entries, id, known)];
  const newest = log.entries.at(-1);
  const last = newest === undefined ? before.record : changeIn(newest, id);
  return {
    object: id,
    // Since when the log has everything; null when it is empty.
    log_since: since === null ? null : new Date(since).toISOString(),
    steps,
    record: last === null || last.removed === true ? null : shownRecord(last),
  };
}

async function stored(folder: LogFolder, shard: number, id: string) {
  const state = folder.stateOf(shard);
  let record: Change | null = null;
  const events: EventRecord[] = [];
  if (state === null) return { sequence: 0, record, events };
  const { sequence } = state;
  for await (const found of state.recordsFrom(id)) {
    if (found.id === id) record = found;
    else if (found.kind === 'event' && subjectOf(found) === id) events.push(found);
  }
  return { sequence, record, events };
}

async function logged(source: LogSource, id: string, onDamage: (defect: LogDefect) => void) {
  const entries: FoundEntry[] = [];
  let sinceMs: number | null = null;
  for await (const found of source.read()) {
    if (isDefect(found)) {
      onDamage(found);
      continue;
    }
    sinceMs ??= found.wallMs;
    entries.push(...entriesOf(found).filter(({ changes }) => changes.some((change) => change.id === id)));
  }
  return { entries, sinceMs };
}

function changeIn({ changes }: FoundEntry, id: string): Change {
  return defined(
    changes.find((change) => change.id === id),
    `the entry changes ${id}`,
  );
}

/** `known` is the record before the first of the entries; null when it is not known. */
function stepsOf(entries: readonly FoundEntry[], id: string, known: Change | null): Step[] {
  const steps: Step[] = [];
  let before = known;
  for (const entry of entries) {
    const change = changeIn(entry, id);
    const { time, by, name, requests, idempotency_key, shard, sequence } = summaryOf(entry);
    const events = entry.changes.flatMap((each) =>
      each.kind === 'event' && subjectOf(each) === id ? [each.type] : [],
    );
    const isNew = before === null && change.created === Math.floor(entry.wallMs / 1000);
    const what =
      change.removed === true ? 'removed' : isNew ? 'created' : before === null ? 'first seen' : 'changed';
    const place = `${shard}:${sequence}`;
    const changes = what === 'removed' ? [] : fieldChanges(before, change, isNew);
    steps.push({ time, place, what, by, name, requests, idempotency_key, events, changes });
    before = change;
  }
  return steps;
}

function stepOfEvent({ created, type, request_id, idempotency_key, by, by_name }: EventRecord): Step {
  return {
    time: new Date(created * 1000).toISOString(),
    place: null,
    what: 'event',
    by: by ?? (request_id === null ? null : 'request'),
    name: by_name,
    requests: request_id === null ? [] : [request_id],
    idempotency_key,
    events: [type],
    changes: [],
  };
}

/** What differs; all that has a value when there is no record before. */
function fieldChanges(before: Change | null, after: Change, isNew: boolean): FieldChange[] {
  const [old, now] = [before === null ? null : flat(shownRecord(before)), flat(shownRecord(after))];
  const changes: FieldChange[] = [];
  for (const field of new Set([...Object.keys(old ?? {}), ...Object.keys(now)])) {
    if (field === 'kind' || field === 'id') continue;
    const [from, to] = [old?.[field] ?? null, now[field] ?? null];
    if (JSON.stringify(from) === JSON.stringify(to)) continue;
    changes.push(old === null && !isNew ? { field, to } : { field, from, to });
  }
  return changes;
}

function flat(record: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(record)) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) fields[name] = value;
    else for (const [inner, each] of Object.entries(value)) fields[`${name}.${inner}`] = each;
  }
  return fields;
}

function inWords({ object, log_since, steps, record }: History): string {
  const lines = [`${object}${record === null ? ', which was removed' : ''}`];
  if (steps[0]?.what !== 'created') {
    const reach =
      log_since === null ? 'The log is empty' : `The log has everything since ${formatTime(log_since)}`;
    lines.push(`${reach}: what was before that is told by the object's events, as far as they are kept.`);
  }
  for (const step of steps) {
    const events = step.events.length === 0 ? '' : `: ${step.events.join(', ')}`;
    const key = step.idempotency_key === null ? '' : ` (key ${step.idempotency_key})`;
    const by = step.what === 'event' && step.by === null ? 'no request' : causeInWords(step);
    lines.push('', `${step.time}  ${step.place ?? '-'}  ${step.what}${events}, by ${by}${key}`);
    for (const change of step.changes) {
      const to = inJson(change.to);
      lines.push(
        `  ${change.field}: ${!('from' in change) || step.what === 'created' ? to : `${inJson(change.from)} → ${to}`}`,
      );
    }
  }
  if (steps.length === 0 && record !== null) {
    lines.push('', 'It has not changed since. It is:');
    for (const [field, value] of Object.entries(record)) lines.push(`  ${field}: ${inJson(value)}`);
  }
  return lines.map(plain).join('\n');
}
