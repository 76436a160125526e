// A visit is what somebody outside has sent: a request, a form, a network's report, and what the service does because of it. An
// exception that it causes is a bug. It ends the visit and no thread: it is logged with the request's id and counted, and who
// waits is told that the service failed. A broken invariant in a shard is none of these: it ends the shard (core/assert.ts).

/** Where a visit comes into a thread. */
export const visitEntries = [
  'connection',
  'api',
  'site',
  'page',
  'dashboard',
  'network_callback',
  'refused_keys',
  'request_log',
  'webhook_attempt',
] as const;

export type VisitEntry = (typeof visitEntries)[number];

/** Whether an exception is one of the language, as code throws that meets bytes it was not written for. */
export function isOfLanguage(error: unknown): boolean {
  return [TypeError, RangeError, SyntaxError, URIError].some((kind) => error instanceof kind);
}

/** Hears what failed. `requestId` is null where the failure belongs to no single request. */
export type OnVisitFailed = (error: unknown, entry: VisitEntry, requestId: string | null) => void;
