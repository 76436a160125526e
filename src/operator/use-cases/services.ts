// What operators' commands use of the running process. A refusal is an `OperatorFailure` of kind
// `refused`, or a `DirectoryRefusal`.

import type { ErrorCode } from '../../contract/errors/table.ts';
import type { Operation } from '../../contract/routes/table.ts';
import type { Language, Mode, PaymentMethodType } from '../../contract/vocabulary.ts';
import type { Clock } from '../../core/clock.ts';
import type { SecretBox } from '../../crypto/secret-box.ts';
import type { Directory } from '../../directory/directory.ts';
import type { Cause } from '../../domain/cause.ts';
import type { NetworkOutcome } from '../../domain/network-outcomes.ts';
import type { MailOutbox } from '../../mail/outbox.ts';
import type { NotSettled } from '../../networks/runner.ts';
import type { AskLogs } from '../../request-logs/query.ts';
import type { InternalRequest, OpenCall } from '../../shard/protocol.ts';
import type { Compacted } from '../results/folder-results.ts';
import type { PresentedEndpoint } from './present.ts';

export interface OperatorServices {
  /** Who gives the commands: an operator (the machine's user), or a member in the dashboard. */
  readonly author: Cause;
  /** The author's language, in which the shards refuse. */
  readonly language: Language;
  /** The public address of the service, without a final slash. */
  readonly baseUrl: string;
  readonly now: Clock;
  readonly directory: Directory;
  readonly secrets: Pick<SecretBox, 'open' | 'seal'>;
  /** Where mails are queued; null: none are sent. */
  readonly mail: Pick<MailOutbox, 'plan'> | null;
  /** Why an address can't be that of a payment network, in short; null when it can. */
  networkAddressFault(url: string): string | null;
  /** Asks a payment network whether it can be used. Rejects with an error that says why not. */
  checkNetwork(org: string, mode: Mode, method: PaymentMethodType): Promise<void>;
  /** Calls to networks without a final outcome, at most `limit` of each shard; null: of all. */
  openNetworkCalls(org: string | null, limit: number): Promise<OpenCall[]>;
  /** Settles a call of which its network can't tell; null when that is done. */
  settleNetworkCall(id: string, outcome: NetworkOutcome, cause: Cause): Promise<NotSettled | null>;
  /** The secret with which `listen` signs the forwarded events of an organization. */
  listenSecret(org: string): Promise<string>;
  /** The metrics of all threads: in the Prometheus text format, and for programs. */
  metrics(): Promise<{ readonly text: string; readonly metrics: readonly Metric[] }>;
  checks(): Promise<readonly Check[]>;
  /** The status of the service. It takes a second, because its rates are those of that second. */
  status(): Promise<Status>;
  /** Ends the pause of the data folder; says why it was paused, null when it was not. */
  resume(): Promise<{ readonly paused: { readonly since: string; readonly reason: string } | null }>;
  /** Gives unused disk space back: items with the progress, and one with the result. */
  compact(): AsyncIterable<CompactItem>;
  /** Keeps a shard's checkpoint as it is, in the folder of the one item, until the signal comes. */
  holdCheckpoint(shard: number, signal: AbortSignal): AsyncIterable<{ readonly folder: string }>;
  /** The active configuration, secrets hidden. */
  config(): readonly ConfigLine[];
  /** Asks the request logs; null when they can't be read now, or where none are kept. */
  requestLogs: AskLogs;
  /** Asks the shard of an organization, or of the object with this id. */
  askShard(orgOrId: string, request: InternalRequest): Promise<ShardAnswer>;
  /** Sends a request of the API on behalf of an organization, as if it had come over HTTP. */
  callApi(call: ApiCall): Promise<ApiAnswer>;
}

/** A metric with its samples; those of a histogram have names of their own. */
export interface Metric {
  readonly name: string;
  readonly type: string;
  readonly help: string;
  readonly samples: readonly {
    readonly name: string;
    readonly labels: Readonly<Record<string, string | number | undefined>>;
    readonly value: number;
  }[];
}

/** A request of the API from somebody who has no key. */
export interface ApiCall {
  readonly org: string;
  readonly livemode: boolean;
  readonly operation: Operation;
  readonly id?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly params?: object;
  readonly idempotencyKey?: string;
  readonly language: Language;
  /** The id of the member who gives it, who spends no rate limit; null for an operator. */
  readonly member: string | null;
  /** The address that the member's browser has; '' for an operator. */
  readonly address: string;
}

/** The `error` object of a refused request. */
interface ApiError {
  readonly type: string;
  readonly code: ErrorCode;
  readonly decline_code: string | null;
  readonly param: string | null;
  readonly message: string;
}

export type ApiAnswer<Body = unknown> =
  | { readonly ok: true; readonly body: Body }
  | { readonly ok: false; readonly status: number; readonly error: ApiError };

/** An item of `payments compact`. */
export interface CompactItem {
  /** The rows of the shard under way that were copied, of about so many. */
  readonly progress: {
    readonly shard: number;
    readonly shards: number;
    readonly rows: number;
    readonly total: number;
  } | null;
  readonly result: Compacted | null;
}

export interface ShardAnswer {
  /** JSON text. */
  readonly body: string;
  readonly cursor?: string | null;
}

export interface Check {
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string;
}

/** What `payments status --json` prints. Rates are those of the last second. */
export interface Status {
  readonly version: string;
  readonly node: string;
  readonly pid: number;
  readonly url: string;
  /** ISO 8601. */
  readonly started: string;
  readonly uptime_seconds: number;
  readonly paused: { readonly since: string; readonly reason: string } | null;
  readonly folder: {
    readonly path: string;
    readonly id: string;
    readonly generation: number;
    readonly free_bytes: number;
  };
  readonly shards: readonly ShardStatus[];
  /**
   * What PostgreSQL says that holds the log, too, as `payments doctor` tells it; null where the
   * data folder alone does.
   */
  readonly postgresql: { readonly ok: boolean; readonly detail: string } | null;
  readonly edges: {
    readonly count: number;
    readonly connections: number;
    readonly connections_max: number;
  };
  readonly requests: {
    readonly total: number;
    readonly failed_total: number;
    readonly per_second: number;
    /** Null in a second without any. */
    readonly mean_ms: number | null;
  };
  readonly webhooks: {
    readonly waiting: number;
    readonly oldest_seconds: number;
    readonly in_flight: number;
    readonly endpoints_failing: number;
    /** Those of them that have failed for longest, as `webhooks list` shows them. */
    readonly failing: readonly PresentedEndpoint[];
    readonly attempts_per_second: number;
  };
  /** Where the log is archived; null: nowhere. */
  readonly archive: {
    readonly path: string;
    /** The age of the oldest change that is not archived; null when that is not known. */
    readonly lag_seconds: number | null;
    readonly failures: number;
  } | null;
  /** Null: none are sent. `failed_total`: given up since the start. */
  readonly mails: {
    readonly waiting: number;
    readonly oldest_seconds: number;
    readonly failed_total: number;
  } | null;
  readonly memory: { readonly resident_bytes: number };
  /** The share of a processor that each thread takes; empty on systems that don't tell. */
  readonly threads: readonly { readonly thread: string; readonly cpu: number }[];
}

export interface ShardStatus {
  readonly shard: number;
  readonly serves: boolean;
  readonly read_only: boolean;
  readonly restarts: number;
  /** The last sequence of the log, and that of the checkpoint; null: the shard does not serve. */
  readonly log_sequence: number | null;
  readonly checkpoint_sequence: number | null;
  /** The share that the scrubber has read in this pass, its last full pass, damaged places. */
  readonly scrubbed: number | null;
  readonly scrub_completed: string | null;
  readonly damaged: number | null;
  readonly log_bytes: number;
  readonly checkpoint_bytes: number;
  readonly resident_bytes: number | null;
  readonly resident_bytes_max: number | null;
  readonly queued: number | null;
  /** For how long the oldest commit under way has waited for the disk. */
  readonly oldest_commit_seconds: number | null;
  /** Entries of the log each second, and how long a commit took; null in a second without any. */
  readonly writes_per_second: number;
  readonly commit_mean_ms: number | null;
}

/** A key of the active configuration, for people. */
export interface ConfigLine {
  readonly key: string;
  readonly variable: string;
  readonly value: unknown;
  readonly description: string;
}
