// Questions to the request logs, which the thread that writes them answers for the threads that
// must not wait for a disk.

import type { Answers } from '../rpc/questions.ts';
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

export interface LogQuestions {
  search: {
    asks: {
      readonly scope: LogScope;
      readonly filter: LogFilter;
      readonly limit: number;
      readonly before: string | null;
    };
    answers: LogPage;
  };
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
    find: ({ scope, request }) => finish(findInParts(folder, scope, request)),
    newest: ({ scope }) => newestPlace(folder, scope),
  };
}
