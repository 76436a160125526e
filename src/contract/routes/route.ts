// The shape of a row of the table of routes.

import type { TObject, TSchema } from 'typebox';
import type { ErrorCode } from '../errors/table.ts';
import type { Bucket } from '../limits.ts';

export interface Route {
  readonly operation: string;
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** `{id}` stands for one path segment. */
  readonly path: string;
  /**
   * A command changes state, a query reads, an export sends all objects, a stream sends events as
   * they happen.
   */
  readonly kind: 'command' | 'query' | 'export' | 'stream';
  readonly idempotency: 'required' | 'optional' | 'ignored';
  /**
   * The bucket that is spent besides `all` and, for commands, `writes`; `filter` means `search` if
   * the list is filtered.
   */
  readonly spends: Bucket | 'filter' | null;
  /** Test helpers refuse live keys. */
  readonly testOnly?: true;
  /** Body of a POST, query string of a GET. */
  readonly params: TObject;
  /** A request must have one of these parameters, and not both. */
  readonly exactlyOne?: readonly [string, string];
  readonly result: TSchema;
  /** Refusals on the merits, for the documentation, without those that every route has. */
  readonly refusals: readonly ErrorCode[];
  /** What the operation is called: half a sentence. */
  readonly summary: string;
  /** What it does, in whole sentences, with backquotes around code. */
  readonly description: string;
}
