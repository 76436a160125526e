// The messages between a shard's thread and its checkpoint thread. The tasks are those of the journal's `Checkpointer`, and
// each has one answer with the same number. The shard sends none before it has opened its journal.

import type { Config } from '../config/config-schema.ts';
import type { ScrubState } from '../journal/checkpoint/scrubber.ts';
import type { ShardIdentity } from '../journal/files/identity.ts';
import { type CheckpointSizes, type Compacting, JournalDamaged, JournalFailure } from '../journal/journal.ts';
import type { ThreadGauge } from '../telemetry/thread-time.ts';

/** The shard whose checkpoint a thread writes. */
export interface CheckpointTarget {
  readonly number: number;
  readonly dir: string;
  readonly identity: ShardIdentity;
  /** This process has just checked the journal's files. */
  readonly isChecked?: boolean;
  readonly config: Config;
}

/** How a checkpoint thread is started. */
export interface CheckpointThreadData extends CheckpointTarget {
  /** The memory of the gate for its tasks, see task-gate.ts. */
  readonly gate: SharedArrayBuffer;
}

/** From the shard. */
export type Task =
  | { readonly type: 'write'; readonly sequence: number }
  | { readonly type: 'put_small_values'; readonly values: ReadonlyMap<string, Uint8Array> }
  | { readonly type: 'note_segment'; readonly firstSequence: number }
  | { readonly type: 'drop'; readonly olderThanMs: number }
  | { readonly type: 'compact' }
  /** Close everything, then end. */
  | { readonly type: 'close' };

export type NumberedTask = Task & { readonly number: number };

/** The result of a task; 0 for a task without one. */
export type TaskResult = number | CheckpointSizes;

/** To the shard. */
export type FromCheckpointThread =
  /** The first message. */
  | { readonly gauge: ThreadGauge }
  /** How far the scrubber has come, of how many bytes. */
  | { readonly scrubbed: ScrubState; readonly totalBytes: number }
  | { readonly number: number; readonly progress: Compacting }
  | { readonly number: number; readonly result: TaskResult }
  | { readonly number: number; readonly failure: TaskFailure };

/** An error as plain data, because it loses its class on the way between threads. */
export interface TaskFailure {
  readonly name: string;
  readonly message: string;
  readonly diskFull: boolean;
}

export function failureOf(error: unknown): TaskFailure {
  const { name, message } = error instanceof Error ? error : new Error(String(error));
  const diskFull = error instanceof JournalFailure && error.diskFull;
  return { name, message, diskFull };
}

export function errorOf({ name, message, diskFull }: TaskFailure): Error {
  if (name === 'JournalDamaged') return new JournalDamaged(message);
  if (name === 'JournalFailure') return new JournalFailure(message, { diskFull });
  return new Error(`${name}: ${message}`);
}
