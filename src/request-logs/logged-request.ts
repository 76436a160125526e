// An entry of the request logs as people are shown it.

import { memberPrefix } from '../contract/id-prefixes.ts';
import type { LoggedRequest } from '../contract/routes/logged-request.ts';
import { type EntryReader, entryFlags } from './entry.ts';

/** Entries that were not kept, because there were too many at once or the disk took none. */
export interface Gap {
  readonly time: string;
  readonly missing: number;
}

export function loggedRequestOf(entry: EntryReader): LoggedRequest {
  const { flags } = entry;
  const request = entry.answered(false);
  const answer = Buffer.from(request.answerBody as Uint8Array).toString();
  const isMember = request.key?.startsWith(memberPrefix) === true;
  return {
    request: request.requestId,
    time: new Date(request.answeredAtMs).toISOString(),
    duration_ms: request.durationMs,
    status: request.status,
    code: request.code,
    method: request.method,
    path: request.path,
    query: request.query,
    idempotency_key: request.idempotencyKey ?? null,
    replayed: request.replayed,
    original_request: request.originalRequest || null,
    api_version: request.version ?? null,
    key: isMember ? null : request.key,
    member: isMember ? request.key : null,
    address: request.address,
    object: request.objectId || (/^\{"id":"(\w{1,64})"/.exec(answer)?.[1] ?? null),
    request_body: Buffer.from(request.requestBody).toString(),
    request_cut: (flags & entryFlags.requestCut) !== 0,
    answer_body: answer,
    answer_cut: (flags & entryFlags.answerCut) !== 0,
    masked: (flags & entryFlags.masked) !== 0,
  };
}

export function gapOf(entry: EntryReader): Gap {
  return { time: new Date(entry.answeredAtMs).toISOString(), missing: entry.duration };
}
