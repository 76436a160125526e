// The messages between a shard's thread and its checkpoint thread. The tasks are those of the
// journal's `Checkpointer`, and are asked as questions (rpc/questions.ts). The shard sends none
// before it has opened its journal.

import type { Config } from '../config/config-schema.ts';
import type { ShardIdentity } from '../disk/identity.ts';
import { type CheckpointSizes, type Compacting, JournalDamaged, JournalFailure } from '../journal/journal.ts';
import type { ScrubState } from '../journal/scrubber.ts';
import type { Answer } from '../rpc/questions.ts';
import type { ThreadGauge } from '../telemetry/thread-time.ts';

/** The shard whose checkpoint a thread writes. */
export interface CheckpointTarget {
  readonly dir: string;
  readonly identity: ShardIdentity;
  /** This process has just checked the journal's files. */
  readonly isChecked?: boolean;
  readonly config: Config;
}

/** The tasks, which the shard asks for. */
export interface CheckpointTasks {
  write: { asks: { readonly sequence: number }; answers: number };
  put_metadata: { asks: { readonly values: ReadonlyMap<string, Uint8Array> } };
  note_segment: { asks: { readonly firstSequence: number } };
  drop: { asks: { readonly olderThanMs: number }; answers: number };
  compact: { asks: object; answers: CheckpointSizes; reports: Compacting };
  /** Close everything, then end. */
  close: { asks: object };
}

/** To the shard. */
export type FromCheckpointThread =
  /** The first message. */
  | { readonly gauge: ThreadGauge }
  /** How far the scrubber has come, of how many bytes. */
  | { readonly scrubbed: ScrubState; readonly totalBytes: number }
  | Answer;

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
