// Questions to the request logs, which the thread that writes them answers for the threads that
// must not wait for a disk.

import type { LoggedRequest } from '../contract/routes/logged-request.ts';
import type { Answers } from '../rpc/questions.ts';
import type { LogScope } from './request-logs.ts';
import {
  entriesAfterInParts,
  findInParts,
  type InParts,
  type LogFilter,
  type LogPage,
  type LogStep,
  newestPlace,
  searchInParts,
} from './search.ts';

interface Search {
  readonly scope: LogScope;
  readonly filter: LogFilter;
  readonly limit: number;
}

export interface LogQuestions {
  search: { asks: Search & { readonly before: string | null }; answers: LogPage };
  /** The entries behind a place, oldest first, and the place behind them. */
  after: { asks: Search & { readonly after: string }; answers: LogStep };
  find: { asks: { readonly scope: LogScope; readonly request: string }; answers: LoggedRequest | null };
  /** The place of the newest entry, which changes with each that is written. */
  newest: { asks: { readonly scope: LogScope }; answers: string };
}

/** Resolves with null while the thread is away, and where no request logs can be read. */
export type AskLogs = <N extends keyof LogQuestions>(
  name: N,
  asks: LogQuestions[N]['asks'],
) => Promise<LogQuestions[N]['answers'] | null>;

/** `pause` is awaited between the parts of a search, so that entries are written meanwhile. */
export function answerLogQuestions(folder: string, pause: () => Promise<unknown>): Answers<LogQuestions> {
  async function finish<T>(parts: InParts<T>): Promise<T> {
    for (;;) {
      const { done, value } = parts.next();
      if (done) return value;
      await pause();
    }
  }
  return {
    search: ({ scope, filter, limit, before }) => finish(searchInParts(folder, scope, filter, limit, before)),
    after: ({ scope, filter, limit, after }) =>
      finish(entriesAfterInParts(folder, scope, filter, limit, after)),
    find: ({ scope, request }) => finish(findInParts(folder, scope, request)),
    newest: ({ scope }) => newestPlace(folder, scope),
  };
}
