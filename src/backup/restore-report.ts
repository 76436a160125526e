// The report of a restore: what happened after the moment that the folder was restored to, as far
// as the backup and the archive have it. Customers, networks and merchants have seen these
// payments, refunds and deliveries, and the folder does not know them, so an operator goes through
// them by hand. A row of the report is an object in its last state, with ids and amounts only.

import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs';
import type { Change, RecordKind, RecordOf } from '../domain/record.ts';
import { entriesOf, type FiledBatch } from '../journal/log-files.ts';

/** The records that are seen outside, with the fields by which people find them there. */
const shownFields = {
  payment_intent: ['amount', 'amount_received', 'currency'],
  charge: ['amount', 'currency', 'payment_intent'],
  refund: ['amount', 'currency', 'charge'],
  attempt: ['delivery'],
  network_call: ['payment_intent', 'charge', 'refund'],
} satisfies { [K in RecordKind]?: (keyof RecordOf<K>)[] };
type Seen = RecordOf<keyof typeof shownFields>;

interface LaterChanges {
  /** The number of log entries and directory changes that were left out. */
  readonly entries: number;
  readonly directoryChanges: number;
  /** How many objects of each kind and status they change: `charge succeeded`. */
  readonly objects: Readonly<Record<string, number>>;
}

export class LaterReport {
  readonly #path: string;
  readonly #last = new Map<string, string>();
  readonly #rows = new Map<string, string>();
  /** The log entries that were left out. */
  entries = 0;
  directoryChanges = 0;

  constructor(path: string) {
    this.#path = path;
  }

  /** The batch has entries after `after` that were left out. */
  add(batch: FiledBatch, after: number, shard: number): void {
    const at = new Date(batch.wallMs).toISOString();
    for (const { sequence, changes, requestId } of entriesOf(batch, after)) {
      this.entries++;
      for (const change of changes) {
        if (!isSeen(change)) continue;
        this.#last.set(change.id, `${change.kind}${statusOf(change)}`);
        const row = { at, shard, sequence, request: requestId, ...shown(change) };
        this.#rows.set(change.id, JSON.stringify(row));
      }
    }
  }

  /** Writes a row for each object, and returns the numbers. */
  finish(): LaterChanges {
    const file = openSync(this.#path, 'w', 0o600);
    try {
      for (const row of this.#rows.values()) writeSync(file, `${row}\n`);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    const objects: Record<string, number> = {};
    for (const name of [...this.#last.values()].sort()) objects[name] = (objects[name] ?? 0) + 1;
    return { entries: this.entries, directoryChanges: this.directoryChanges, objects };
  }
}

function isSeen(change: Change): change is Seen {
  return change.kind in shownFields;
}

function statusOf(change: Seen): string {
  if (change.removed === true) return ' removed';
  if (change.kind === 'attempt') return change.failure === null ? ' delivered' : ' failed';
  return change.kind === 'network_call' ? ` ${change.action}` : ` ${change.status}`;
}

function shown(change: Seen): object {
  const { kind, id, org, livemode } = change;
  const names: readonly string[] = shownFields[kind];
  const fields = Object.entries(change).filter(([name]) => names.includes(name));
  return { kind, id, org, livemode, status: statusOf(change).trim(), ...Object.fromEntries(fields) };
}
