// Questions to the request logs, which the thread that writes them answers for the threads that must not wait for a disk.

import type { LoggedRequest } from './logged-request.ts';
import type { LogScope } from './request-logs.ts';
import { findRequest, type LogFilter, type LogPage, newestPlace, searchLog } from './search.ts';

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

export function answerLogQuery(folder: string, query: LogQuery): LogAnswer {
  const { scope } = query;
  switch (query.ask) {
    case 'search':
      return searchLog(folder, scope, query.filter, query.limit, query.before);
    case 'find':
      return findRequest(folder, scope, query.request);
    case 'newest':
      return newestPlace(folder, scope);
  }
}
