// What the operators' commands need from the running process, which passes it to the server when it starts. An
// implementation refuses with an `OperatorFailure` of kind `refused`, or a `DirectoryRefusal`.

import type { CommandOperation } from '../../contract/routes/table.ts';
import type { Clock } from '../../core/clock.ts';
import type { Directory } from '../../directory/directory.ts';
import type { SecretBox } from '../../journal/secret-box.ts';
import type { Availability } from '../../shard/account.ts';
import type { InternalRequest } from '../../shard/protocol.ts';

export interface OperatorServices {
  readonly now: Clock;
  readonly directory: Directory;
  /** The payment methods that have a network, in each mode: no other can be used, whatever is switched on. */
  readonly availability: Availability;
  /** Opens the signing secrets. */
  readonly secrets: Pick<SecretBox, 'open'>;
  /** The secret that `listen` signs an organization's forwarded events with. */
  listenSecret(org: string): Promise<string>;
  /** The metrics of the whole process in the Prometheus text format. */
  metricsText(): Promise<string>;
  /** What there is to check about the running service, and what was found. */
  checks(): Promise<readonly Check[]>;
  /** The configuration in force, secrets hidden. */
  config(): readonly ConfigLine[];
  /** Asks the shard that an organization, or the object with this id, lives in. */
  askShard(orgOrId: string, request: InternalRequest): Promise<ShardAnswer>;
  /** Sends an organization's own request in test mode, as if it had come over HTTP, and returns the answer's body. */
  callApi(org: string, operation: CommandOperation, id: string, params: object): Promise<unknown>;
}

export interface ShardAnswer {
  /** JSON text. */
  readonly body: string;
  readonly cursor?: string | null;
}

/** One thing that was checked. */
export interface Check {
  readonly name: string;
  readonly ok: boolean;
  /** What was found, and what to do when something is wrong. */
  readonly detail: string;
}

/** One key of the configuration with its value in force. */
export interface ConfigLine {
  readonly key: string;
  readonly variable: string;
  readonly value: unknown;
  readonly description: string;
}
