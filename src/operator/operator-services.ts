// What the operators' commands need from the running process, which passes it to the server when it starts. An
// implementation refuses with an `OperatorFailure` of kind `refused`, or a `DirectoryRefusal`.

import type { Clock } from '../core/clock.ts';
import type { Directory } from '../directory/directory.ts';
import type { Mode, ReviewRecord } from '../domain/record.ts';

export interface OperatorServices {
  readonly now: Clock;
  readonly directory: Directory;
  /** The metrics of the whole process in the Prometheus text format. */
  metricsText(): Promise<string>;
  /** The configuration in force, secrets hidden. */
  config(): readonly ConfigLine[];
  readonly reviews: {
    /** Reviews of an organization, newest first; `mode` null means both. */
    list(
      org: string,
      filter: { readonly mode: Mode | null; readonly openOnly: boolean },
    ): Promise<readonly ReviewRecord[]>;
    /** Closes an open review and settles when that is durable. */
    close(id: string, as: 'approved' | 'refunded'): Promise<ReviewRecord>;
  };
  /** Sends a command to the shard that an organization, or the object with this id, lives in, and returns its outcome. */
  shardCommand(orgOrId: string, command: unknown): Promise<unknown>;
}

/** One key of the configuration with its value in force. */
export interface ConfigLine {
  readonly key: string;
  readonly variable: string;
  readonly value: unknown;
  readonly description: string;
}
