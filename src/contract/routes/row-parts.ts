// The parts that several rows of the table of routes have in common.

import { Type } from 'typebox';
import * as p from './parameters.ts';

export const none = Type.Object({}, { additionalProperties: false });
export const params = <T extends Parameters<typeof Type.Object>[0]>(properties: T) =>
  Type.Object(properties, { additionalProperties: false });

export const command = { kind: 'command', method: 'POST', spends: null } as const;
export const query = {
  kind: 'query',
  method: 'GET',
  idempotency: 'ignored',
  spends: null,
  params: none,
} as const;
export const list = { ...query, spends: 'filter' } as const;
export const exported = { kind: 'export', method: 'GET', idempotency: 'ignored', spends: 'search' } as const;
export const streamed = { ...query, kind: 'stream', testOnly: true } as const;
export const helper = { ...command, idempotency: 'optional', testOnly: true } as const;

export const exportParams = params({
  format: Type.Optional(Type.Enum(['csv', 'ndjson'], { default: 'csv' })),
  ...p.created,
});
export const paymentListFilters = (statuses: readonly string[]) => ({
  ...p.page,
  payment_intent: Type.Optional(p.id),
  status: Type.Optional(Type.Enum([...statuses])),
  ...p.created,
});
