// Questions to the request logs, which the thread that writes them answers for the threads that must not wait for a disk.

import type { LoggedRequest } from './logged-request.ts';
import type { LogScope } from './request-logs.ts';
import {
  findInParts,
  type InParts,
  type LogFilter,
  type LogPage,
  newestPlace,
  searchInParts,
} from './search.ts';

export type LogQuery = { readonly scope: LogScope } & (
  | {
      readonly ask: 'search';
      readonly filter: LogFilter;
      readonly limit: number;
      readonly before: string | null;
    }
  /** One request, by its id. */
  | { readonly ask: 'find'; readonly request: string }
  /** The place of the newest entry, which changes with each that is written. */
  | { readonly ask: 'newest' }
);

interface Answers {
  readonly search: LogPage;
  readonly find: LoggedRequest | null;
  readonly newest: string;
}
export type LogAnswer<Q extends LogQuery = LogQuery> = Answers[Q['ask']];

/** Resolves with null while the thread is away, and where no request logs are kept. */
export type AskLogs = <Q extends LogQuery>(query: Q) => Promise<LogAnswer<Q> | null>;

/** Answers a question. `pause` is awaited between the parts of a search, so that entries are written meanwhile. */
export async function answerLogQuery(
  folder: string,
  query: LogQuery,
  pause: () => Promise<unknown>,
): Promise<LogAnswer> {
  const parts = answerInParts(folder, query);
  for (;;) {
    const { done, value } = parts.next();
    if (done) return value;
    await pause();
  }
}

function* answerInParts(folder: string, query: LogQuery): InParts<LogAnswer> {
  const { scope } = query;
  switch (query.ask) {
    case 'search':
      return yield* searchInParts(folder, scope, query.filter, query.limit, query.before);
    case 'find':
      return yield* findInParts(folder, scope, query.request);
    case 'newest':
      return newestPlace(folder, scope);
  }
}
