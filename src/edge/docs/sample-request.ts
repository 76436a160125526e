// What a sample sends: the request of an operation, and before it those that make what it needs.

import { stepsBefore } from './sample-steps.ts';

/** A request to show. In its path and its body, `{name}` stands for what a step has taken. */
export interface SampleRequest {
  readonly method: string;
  /** With the query string. */
  readonly path: string;
  readonly idempotencyKey: string | null;
  /** JSON; null for a request without a body. */
  readonly body: unknown;
}

/** A request that is sent first, and what it takes from its answer. */
export interface PreparingRequest extends SampleRequest {
  readonly takes: { readonly name: string; readonly at: readonly (string | number)[] } | null;
}

export interface Sample {
  readonly steps: readonly PreparingRequest[];
  readonly request: SampleRequest;
  /** Whether the answer is text that comes piece by piece, as an export is, and not JSON. */
  readonly answersText: boolean;
}

/**
 * The sample of an operation whose example is `request`. Each of its requests has an idempotency
 * key of its own.
 */
export function prepared(operation: string, request: SampleRequest, answersText: boolean): Sample {
  const before = stepsBefore(operation);
  const key = operation.replaceAll('_', '-');
  const steps = before.map(({ method, path, body, takes }, i) => {
    const idempotencyKey = method === 'POST' ? `${key}-${i + 1}` : null;
    return { method, path, body, takes, idempotencyKey };
  });
  const named = (text: string) =>
    before.reduce(
      (said, { takes }) => (takes === null ? said : said.replaceAll(takes.insteadOf, `{${takes.name}}`)),
      text,
    );
  const body: unknown = request.body === null ? null : JSON.parse(named(JSON.stringify(request.body)));
  const idempotencyKey = request.idempotencyKey === null ? null : key;
  return { steps, request: { ...request, path: named(request.path), idempotencyKey, body }, answersText };
}

/** The headers besides the key's, which each language reads from the environment. */
export function headersOf({ idempotencyKey, body }: SampleRequest): [name: string, value: string][] {
  const headers: [string, string][] = [];
  if (idempotencyKey !== null) headers.push(['Idempotency-Key', idempotencyKey]);
  if (body !== null) headers.push(['Content-Type', 'application/json']);
  return headers;
}

/** A text as pieces; every second one is the name of what a step has taken. */
export const piecesOf = (text: string): readonly string[] => text.split(/\{([a-z_]+)\}/);
