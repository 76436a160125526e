// Compares answers of the API with its description: the status, headers and body of every answer that a test gets over HTTP
// must match the OpenAPI document. A test that gets another answer fails, whatever it tests.

import assert from 'node:assert/strict';
import Schema from 'typebox/schema';
import { openapiDocument } from '../src/contract/openapi/document.ts';
import { routeTable } from '../src/contract/routes/table.ts';
import { matchRoute } from '../src/edge/http/router.ts';

interface Reference {
  readonly $ref: string;
}
interface Described {
  readonly headers?: Readonly<Record<string, Reference>>;
  readonly content?: Readonly<Record<string, { readonly schema: object }>>;
}
type Operations = Readonly<
  Record<string, { readonly responses: Readonly<Record<string, Described | Reference>> }>
>;

interface SeenAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

const document = openapiDocument('http://any.example') as unknown as {
  readonly paths: Readonly<Record<string, Operations>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, object>>>>;
};
/** Clients must survive new fields, so the description's objects are open. A field that it does not have is a fault here. */
const components: typeof document.components = {
  ...document.components,
  schemas: closed(document.components.schemas!),
};
const errorContent = { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } };

/** A copy in which no object may have other properties than those that are described. */
function closed<T>(schema: T): T {
  if (Array.isArray(schema)) return schema.map(closed) as T;
  if (typeof schema !== 'object' || schema === null) return schema;
  const parts = Object.entries(schema).map(([name, part]) => [name, closed(part)]);
  const open = 'properties' in schema && 'type' in schema && !('additionalProperties' in schema);
  return { ...Object.fromEntries(parts), ...(open && { additionalProperties: false }) };
}

/** What the reference names: `#/components/headers/Request-Id`. */
function lookUp<T>(reference: Reference): T {
  const [, , kind, name] = reference.$ref.split('/') as [string, string, string, string];
  const found = components[kind]?.[name];
  assert.ok(found, reference.$ref);
  return found as T;
}

const validators = new WeakMap<object, ReturnType<typeof Schema.Compile>>();

function assertFits(schema: object, value: unknown, what: string): void {
  let validator = validators.get(schema);
  if (validator === undefined) {
    validator = Schema.Compile({ components, ...schema });
    validators.set(schema, validator);
  }
  if (validator.Check(value)) return;
  const [, errors] = validator.Errors(value);
  const first = errors.slice(0, 3).map(({ instancePath, message }) => `${instancePath} ${message}`);
  assert.fail(`${what} is not as described: ${first.join('; ')}`);
}

/** Fails unless the answer to `method` `path` (with its query string) is described. */
export function assertDescribed(method: string, path: string, answer: SeenAnswer): void {
  const what = `${method} ${path} ${answer.status}`;
  const match = matchRoute(method, path.split('?')[0]!);
  if (match === null) {
    assert.ok(answer.status >= 400, `${what}: there is no such route`);
    assertBody(errorContent, method, answer, what);
    // The refusals of requests that were not counted, which are the same for all routes.
    const { Unauthorized, Forbidden } = components.responses as Readonly<Record<string, Described>>;
    assertHeaders((answer.status === 401 ? Unauthorized : Forbidden)!.headers!, answer, what);
    return;
  }
  const route = routeTable[match.route]!;
  const { responses } = document.paths[route.path]![method.toLowerCase()]!;
  const found = responses[answer.status];
  assert.ok(found, `${what}: no such status is described`);
  const described = '$ref' in found ? lookUp<Described>(found) : found;
  assertBody(described.content ?? {}, method, answer, what);
  assertHeaders(described.headers ?? {}, answer, what);
}

function assertBody(content: object, method: string, { headers, text }: SeenAnswer, what: string): void {
  const type = headers.get('content-type')?.split(';')[0] ?? '';
  const described = (content as Record<string, { schema: object }>)[type];
  assert.ok(described, `${what}: ${type} is not described`);
  if (method === 'HEAD') assert.equal(text, '', what);
  if (method === 'HEAD' || type !== 'application/json') return;
  const json = JSON.parse(text);
  assertFits(described.schema, json, `${what}: ${text.slice(0, 300)}`);
  if (json.error === undefined) return;
  const requestId = headers.get('original-request') ?? headers.get('request-id');
  assert.equal(json.error.request_id, requestId, `${what}: the id in the body`);
}

const knownHeaders = Object.keys(components.headers!);

function assertHeaders(described: NonNullable<Described['headers']>, answer: SeenAnswer, what: string): void {
  for (const name of knownHeaders) {
    const text = answer.headers.get(name);
    const reference = described[name];
    if (reference === undefined) {
      assert.equal(text, null, `${what}: ${name} is not described`);
      continue;
    }
    const { required, schema } = lookUp<{ required?: boolean; schema: { type: string } }>(reference);
    if (text !== null)
      assertFits(schema, schema.type === 'integer' ? Number(text) : text, `${what}: ${name}`);
    else assert.notEqual(required, true, `${what}: ${name} is missing`);
  }
}
