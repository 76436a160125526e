// A whole data folder as lines of JSON, which `payments export` writes and `payments import` reads:
// a head, the directory, every record, the stored responses that may still be replayed, the
// metadata, and an end with counts and a digest. Records have the names of their fields. Signing
// secrets are sealed and API keys are digests, as in the folder.

import type { ApiKey } from '../directory/api-key.ts';
import type { Member } from '../directory/members.ts';
import type { Organization } from '../directory/organization.ts';
import type { ApiRequest, Change, StoredRecord } from '../domain/record.ts';
import { type IdempotencyRecord, nowhere, type StoredResponse } from '../journal/journal.ts';
import type { ClockState, RetentionMarks } from '../shard/metadata.ts';
import type { Paused } from './data-folder.ts';

export const linesFormat = 1;

/** The first line: the format, what wrote it, and the folder that it is from. */
export interface Head {
  readonly export: 'payments-service';
  readonly format: number;
  readonly version: string;
  readonly written: string;
  readonly folder: { readonly id: string; readonly generation: number; readonly shards: number };
  /** The version of each kind of record. */
  readonly layouts: Readonly<Record<string, number>>;
  readonly revision: number;
  /** A sealed value by which the secrets key is recognized. */
  readonly secrets_key_check: string | null;
  readonly clock: ClockState;
  readonly retention: RetentionMarks;
  /** Why the folder is paused; absent when it is not. */
  readonly paused?: Paused | undefined;
}

export const counted = [
  'organizations',
  'api_keys',
  'members',
  'records',
  'responses',
  'small_values',
] as const;
export type Counts = Readonly<Record<(typeof counted)[number], number>>;

export function noCounts(): { -readonly [K in keyof Counts]: Counts[K] } {
  return { organizations: 0, api_keys: 0, members: 0, records: 0, responses: 0, small_values: 0 };
}

/** A stored response. Without `answer` it is lost, but its key stays known. */
interface ResponseLine {
  readonly key_digest: string;
  readonly fingerprint: string;
  readonly slot: number;
  readonly used_at_ms: number;
  readonly answer: {
    readonly status: number;
    readonly request_id: string;
    readonly defaults: string;
    readonly body: string;
  } | null;
}

/** A line between the first and the last. */
export type Line =
  | { readonly organization: Organization }
  | { readonly api_key: ApiKey }
  | { readonly member: Member }
  | { readonly record: object }
  | { readonly response: ResponseLine }
  | { readonly small_value: { readonly name: string; readonly base64: string } };

/** The last line. The digest is the SHA-256 of everything before it. */
export interface End {
  readonly end: Counts & { readonly sha256: string };
}

/** A record as a line. The only bytes in a record are the digests of a network call's request. */
export function recordLine(record: StoredRecord): object {
  if (record.kind !== 'network_call' || record.request === null) return record;
  const { key_digest, fingerprint } = record.request;
  return {
    ...record,
    request: {
      ...record.request,
      key_digest: key_digest && hex(key_digest),
      fingerprint: fingerprint && hex(fingerprint),
    },
  };
}

/** `fields` are those of each kind of record. Throws `SyntaxError` for what is no record. */
export function recordOfLine(line: object, fields: ReadonlyMap<string, readonly string[]>): Change {
  const { kind } = line as { kind?: unknown };
  const expected = typeof kind === 'string' ? fields.get(kind) : undefined;
  if (expected === undefined) throw new SyntaxError(`there is no kind of record ${JSON.stringify(kind)}`);
  const missing = expected.find((name) => !(name in line));
  if (missing !== undefined) throw new SyntaxError(`the ${kind} has no ${missing}`);
  const unknown = Object.keys(line).find((name) => name !== 'kind' && !expected.includes(name));
  if (unknown !== undefined) throw new SyntaxError(`a ${kind} has no field ${unknown}`);
  const record = line as Change;
  if (record.kind !== 'network_call' || record.request === null) return record;
  const { key_digest, fingerprint } = record.request as unknown as Record<string, string | null>;
  const request: ApiRequest = {
    ...record.request,
    key_digest: key_digest ? bytesOf(key_digest) : null,
    fingerprint: fingerprint ? bytesOf(fingerprint) : null,
  };
  return { ...record, request };
}

export function responseLine(key: IdempotencyRecord, response: StoredResponse | null): ResponseLine {
  return {
    key_digest: hex(key.keyDigest),
    fingerprint: hex(key.fingerprint),
    slot: key.slot,
    used_at_ms: key.usedAtMs,
    answer: response && {
      status: response.status,
      request_id: response.requestId,
      defaults: response.defaults,
      body: typeof response.body === 'string' ? response.body : Buffer.from(response.body).toString(),
    },
  };
}

export function responseOfLine({ key_digest, fingerprint, slot, used_at_ms, answer }: ResponseLine): {
  key: IdempotencyRecord;
  response: StoredResponse | null;
} {
  const digests = { keyDigest: bytesOf(key_digest), fingerprint: bytesOf(fingerprint) };
  const key = { ...digests, slot, usedAtMs: used_at_ms, location: nowhere };
  if (answer === null) return { key, response: null };
  const { status, request_id: requestId, defaults, body } = answer;
  return { key, response: { status, requestId, defaults, body } };
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}

function bytesOf(text: string): Uint8Array {
  return Uint8Array.from(Buffer.from(text, 'hex'));
}
