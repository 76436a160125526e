// An exception that is caused by a request, a form, a network's report or a receiver's answer is a
// bug. It ends what was sent and no thread: it is logged and counted, and who waits is told that
// the service failed. A broken invariant in a shard is none of these: it ends the shard
// (core/assert.ts).

/** Where it comes into a thread. */
export type VisitEntry =
  | 'connection'
  | 'api'
  | 'site'
  | 'page'
  | 'dashboard'
  | 'network_callback'
  | 'refused_keys'
  | 'request_log'
  | 'webhook_attempt';

/** Whether it is one of the language, as code throws that meets bytes it was not written for. */
export function isOfLanguage(error: unknown): boolean {
  return [TypeError, RangeError, SyntaxError, URIError].some((kind) => error instanceof kind);
}

/** Hears what failed. `requestId` is null where the failure belongs to no single request. */
export type OnVisitFailed = (error: unknown, entry: VisitEntry, requestId: string | null) => void;
