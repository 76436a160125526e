// The shape of a row of the table of routes, and the parts that several rows have in common.

import { type TObject, type TSchema, Type } from 'typebox';
import type { ErrorCode } from '../errors/table.ts';
import type { Bucket } from '../limits.ts';
import * as p from './parameters.ts';

export interface Route {
  readonly operation: string;
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** `{id}` stands for one path segment. */
  readonly path: string;
  /** A command changes state, a query reads, an export sends all objects, a stream sends events. */
  readonly kind: 'command' | 'query' | 'export' | 'stream';
  readonly idempotency: 'required' | 'optional' | 'ignored';
  /** Spent besides `all` and, for commands, `writes`. `filter`: `search` when it is filtered. */
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

const none = Type.Object({}, { additionalProperties: false });
export const params = <T extends Parameters<typeof Type.Object>[0]>(properties: T) =>
  Type.Object(properties, { additionalProperties: false });

export const command = { kind: 'command', method: 'POST', spends: null, params: none } as const;
export const query = {
  kind: 'query',
  method: 'GET',
  idempotency: 'ignored',
  spends: null,
  params: none,
  refusals: ['resource_missing'],
} as const;
export const list = { ...query, spends: 'filter', params: params({ ...p.page }) } as const;
export const streamed = { ...query, kind: 'stream', testOnly: true, refusals: [] } as const;
export const helper = { ...command, idempotency: 'optional', testOnly: true } as const;

const exported = {
  kind: 'export',
  method: 'GET',
  idempotency: 'ignored',
  spends: 'search',
  params: params({ format: Type.Optional(Type.Enum(['csv', 'ndjson'], { default: 'csv' })), ...p.created }),
  refusals: [],
} as const;

export const exportOf = <const K extends string, R extends TSchema>(kind: K, result: R) =>
  ({
    ...exported,
    operation: `export_${kind}`,
    path: `/v1/exports/${kind}`,
    result,
    summary: `Export ${kind.replace('_', ' ')} as CSV or NDJSON`,
    description: `Streams all ${kind.replace('_', ' ')}, newest first, or those of a time, as CSV or as a line of JSON each. Four exports can be under way at once.`,
  }) as const;

export const paymentListFilters = (statuses: readonly string[]) => ({
  ...p.page,
  payment_intent: Type.Optional(p.id),
  status: Type.Optional(Type.Enum([...statuses])),
  ...p.created,
});
