// Questions to the request logs, which the thread that writes them answers for the threads that
// must not wait for a disk, and for those of other nodes.

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

interface FoundEntry {
  readonly entry: LoggedRequest | null;
}

/** To the log of one node. */
export interface LogOfNodeQuestions {
  search: { asks: Search & { readonly before: string | null }; answers: LogPage };
  /** The entries behind a place, oldest first, and the place behind them. */
  after: { asks: Search & { readonly after: string }; answers: LogStep };
  find: { asks: { readonly scope: LogScope; readonly request: string }; answers: FoundEntry };
  /** The place of the newest entry, which changes with each that is written. */
  newest: { asks: { readonly scope: LogScope }; answers: string };
}

/** What was found in the logs of all nodes. */
export interface FoundPage extends Pick<LogPage, 'found' | 'older' | 'newest'> {
  /** The nodes whose entries are missing, because they did not answer. */
  readonly unanswered: readonly string[];
}

/** Null: no node that has answered has it. */
export interface FoundRequest extends FoundEntry, Pick<FoundPage, 'unanswered'> {}

/**
 * To the logs of all nodes. Up to `limit` entries of each node follow a place, so what follows
 * after a long while is in order within a step alone.
 */
export interface LogQuestions extends Omit<LogOfNodeQuestions, 'search' | 'find'> {
  search: { asks: LogOfNodeQuestions['search']['asks']; answers: FoundPage };
  find: { asks: LogOfNodeQuestions['find']['asks']; answers: FoundRequest };
}

type Ask<T extends { readonly [N in keyof T]: { readonly asks: unknown; readonly answers: unknown } }> = <
  N extends keyof T,
>(
  name: N,
  asks: T[N]['asks'],
) => Promise<T[N]['answers'] | null>;

/** Resolves with null when the node does not answer. */
export type AskLog = Ask<LogOfNodeQuestions>;

/** Resolves with null while the thread is away, and where no request logs can be read. */
export type AskLogs = Ask<LogQuestions>;

/**
 * `pause` is awaited between the parts of a search, so that entries are written meanwhile. The
 * searches of an organization run one after the other, so that those of others have their turns.
 */
export function answerLogQuestions(
  folder: string,
  pause: () => Promise<unknown>,
): Answers<LogOfNodeQuestions> {
  async function finish<T>(parts: InParts<T>): Promise<T> {
    for (;;) {
      const { done, value } = parts.next();
      if (done) return value;
      await pause();
    }
  }
  /** By organization, when the last of its searches is over. */
  const last = new Map<string, Promise<void>>();
  function inTurn<T>({ org }: LogScope, parts: InParts<T>): Promise<T> {
    const result = (last.get(org) ?? Promise.resolve()).then(() => finish(parts));
    const end = () => {
      if (last.get(org) === over) last.delete(org);
    };
    const over = result.then(end, end);
    last.set(org, over);
    return result;
  }
  return {
    search: ({ scope, filter, limit, before }) =>
      inTurn(scope, searchInParts(folder, scope, filter, limit, before)),
    after: ({ scope, filter, limit, after }) =>
      inTurn(scope, entriesAfterInParts(folder, scope, filter, limit, after)),
    find: async ({ scope, request }) => ({ entry: await inTurn(scope, findInParts(folder, scope, request)) }),
    newest: ({ scope }) => newestPlace(folder, scope),
  };
}
