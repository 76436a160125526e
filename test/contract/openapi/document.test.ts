// The OpenAPI document is complete, matches the schemas that it is derived from, passes a strict linter, and is the same as
// the copy in docs/.

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { type ErrorCode, errorCodes, errors } from '../../../src/contract/errors/table.ts';
import { eventResource, openapiDocument } from '../../../src/contract/openapi/document.ts';
import { exampleEvent, exampleObjects } from '../../../src/contract/openapi/examples.ts';
import { exampleAnswers, exampleRequests } from '../../../src/contract/openapi/operations.ts';
import { exampleRefusal } from '../../../src/contract/openapi/refusals.ts';
import { describeSchema, ErrorAnswer, type Json } from '../../../src/contract/openapi/schemas.ts';
import { Event } from '../../../src/contract/routes/resources.ts';
import type { Route } from '../../../src/contract/routes/route.ts';
import { type Operation, routeTable } from '../../../src/contract/routes/table.ts';
import { validateParams } from '../../../src/contract/routes/validate.ts';
import { type EventType, sentEventTypes } from '../../../src/contract/vocabulary.ts';
import { temporaryFolder } from '../../temporary-folder.ts';

interface Response {
  readonly headers: Json;
  readonly content: Record<
    string,
    { readonly schema: Json; readonly example?: string; readonly examples?: Record<string, Json> }
  >;
}
interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly schema: { readonly pattern?: string };
}
interface Described {
  readonly operationId: string;
  readonly parameters: readonly Parameter[];
  readonly requestBody?: { readonly required: boolean; readonly content: Record<string, { schema: Json }> };
  readonly responses: Record<string, Response>;
}

const root = fileURLToPath(new URL('../../..', import.meta.url));
const baseUrl = 'https://payments.example';
const document = openapiDocument(baseUrl);
const objects = exampleObjects(baseUrl);
const answers = exampleAnswers(objects);
const folder = temporaryFolder();

function resolve(reference: string): unknown {
  assert.ok(reference.startsWith('#/'), reference);
  const path = reference.slice(2).split('/');
  return path.reduce<unknown>((value, name) => (value as Json | undefined)?.[name], document);
}

/** A copy in which every reference to a component other than a schema is replaced with what it names. */
function resolved<T>(value: unknown): T {
  if (Array.isArray(value)) return value.map((item) => resolved(item)) as T;
  if (typeof value !== 'object' || value === null) return value as T;
  const reference = (value as Json).$ref;
  if (typeof reference === 'string' && !reference.startsWith('#/components/schemas/')) {
    return resolved(resolve(reference));
  }
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, resolved(item)])) as T;
}

const paths = document.paths as Record<string, Record<string, unknown>>;
const describedOf = (route: Route) => resolved<Described>(paths[route.path]?.[route.method.toLowerCase()]);

test('the copies in docs/ are what is generated', () => {
  execFileSync(process.execPath, [join(root, 'src/main/write-docs.ts'), folder]);
  for (const name of ['openapi.json', 'errors.md', 'settings.md']) {
    const same = readFileSync(join(folder, name), 'utf8') === readFileSync(join(root, 'docs', name), 'utf8');
    assert.ok(same, `docs/${name} is out of step with the source: run \`npm run docs\` and commit it`);
  }
});

/** What the linter says about a description, or null when it has nothing to say. */
function lint(description: unknown): string | null {
  const file = join(folder, 'linted.json');
  writeFileSync(file, JSON.stringify(description));
  const cli = join(root, 'node_modules/@redocly/cli/bin/cli.js');
  const run = spawnSync(
    process.execPath,
    [cli, 'lint', file, '--config', join(root, '.redocly.yaml'), '--format', 'stylish'],
    {
      encoding: 'utf8',
      env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
    },
  );
  return run.status === 0 ? null : run.stdout + run.stderr;
}

test('the linter finds nothing', () => {
  assert.equal(lint(document), null);
});

test('the linter finds what is wrong', () => {
  const { operationId: _, ...anonymous } = paths['/v1/account']!.get as Json;
  const said = lint({ ...document, paths: { ...paths, '/v1/account': { get: anonymous } } });
  assert.match(said ?? '', /operation-operationId/);
});

test('every reference leads somewhere', () => {
  let count = 0;
  JSON.stringify(document, (name, value) => {
    if (name === '$ref') {
      count += 1;
      assert.notEqual(resolve(value), undefined, value);
    }
    return value;
  });
  assert.ok(count > routeTable.length);
});

test('nothing but the routes is described', () => {
  const count = Object.values(paths).reduce((sum, item) => sum + Object.keys(item).length, 0);
  assert.equal(count, routeTable.length);
});

/** Every property and parameter of the description below `value`, with the path that leads there. */
function fieldsBelow(value: unknown, path: string): [path: string, field: Json][] {
  if (Array.isArray(value)) return value.flatMap((item, i) => fieldsBelow(item, `${path}/${i}`));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, part]): [string, Json][] => {
    const here = `${path}/${name}`;
    // A part that narrows a schema with a name repeats the fields that it narrows.
    if (name === 'allOf' || name === 'example' || name === 'examples') return [];
    const isMap = name === 'properties' || name === 'headers' || name === 'parameters';
    const own = isMap ? Object.entries(part as Json).map(([key, field]) => [`${here}/${key}`, field]) : [];
    return [...(own as [string, Json][]), ...fieldsBelow(part, here)];
  });
}

test('every field, parameter and header is described, and every operation says what it does', () => {
  const fields = fieldsBelow(document, '').filter(([, field]) => {
    const reference = field.$ref as string | undefined;
    return reference === undefined || reference.startsWith('#/components/schemas/');
  });
  assert.ok(fields.length > 300, String(fields.length));
  const silent = fields.filter(([, field]) => !/\S{2}/.test(String(field.description ?? '')));
  assert.deepEqual(
    silent.map(([path]) => path),
    [],
  );
  for (const { operation, summary, description } of routeTable) {
    assert.match(description, /^[A-Z].{30,}\.$/, operation);
    assert.notEqual(description, summary);
  }
});

test('answers are open: a client must survive a field that it does not know', () => {
  const { schemas } = document.components as { schemas: Record<string, Json> };
  const closed: string[] = [];
  JSON.stringify(schemas, (name, value) => {
    if (name === 'additionalProperties' && value === false) closed.push(name);
    return value;
  });
  assert.deepEqual(closed, []);
});

test('where an answer has one of several objects, a property tells which', () => {
  const unions: string[] = [];
  JSON.stringify((document.components as Json).schemas, (_, value) => {
    if (value?.discriminator === undefined) return value;
    const { oneOf, discriminator } = value as {
      oneOf: { $ref: string }[];
      discriminator: { propertyName: string; mapping: Record<string, string> };
    };
    unions.push(discriminator.propertyName);
    assert.deepEqual(
      Object.values(discriminator.mapping),
      oneOf.map(({ $ref }) => $ref),
    );
    for (const [value, reference] of Object.entries(discriminator.mapping)) {
      const { properties, required } = resolve(reference) as { properties: Json; required: string[] };
      assert.equal((properties[discriminator.propertyName] as Json).const, value);
      assert.ok(required.includes(discriminator.propertyName));
    }
    return value;
  });
  assert.deepEqual(unions.toSorted(), ['object', 'type', 'type']);
});

test('every error code has an example, on a route or with the schema', () => {
  const schemas = (document.components as Json).schemas as Record<string, Json>;
  const unanswered = schemas.Error!.examples as { error: { code: ErrorCode } }[];
  const answered = Object.keys((document.components as Json).examples as Json);
  const all = [...answered, ...unanswered.map(({ error }) => error.code)];
  assert.deepEqual(all.toSorted(), errorCodes.toSorted());
});

const errorAnswer = Compile(ErrorAnswer);
for (const code of errorCodes) {
  test(`the example of ${code} is such an error`, () => {
    const refusal = exampleRefusal(code, baseUrl) as { error: { code: string; doc_url: string } };
    assert.ok(errorAnswer.Check(refusal), JSON.stringify(errorAnswer.Errors(refusal)));
    assert.equal(refusal.error.code, code);
    assert.equal(refusal.error.doc_url, `${baseUrl}/docs/errors#${code}`);
  });
}

for (const route of routeTable) {
  const name = route.operation;
  const described = describedOf(route);

  test(`${name}: method, path and parameters`, () => {
    assert.equal(described.operationId, name);
    const inPath = described.parameters.filter((parameter) => parameter.in === 'path');
    assert.deepEqual(
      inPath.map((parameter) => [`{${parameter.name}}`, parameter.required]),
      (route.path.match(/\{\w+\}/g) ?? []).map((parameter) => [parameter, true]),
    );
    const inQuery = described.parameters.filter((parameter) => parameter.in === 'query');
    const inBody = described.requestBody?.content['application/json']?.schema.properties ?? {};
    const names = Object.keys(route.params.properties);
    assert.deepEqual(
      inQuery.map((parameter) => parameter.name),
      route.method === 'GET' ? names : [],
    );
    assert.deepEqual(Object.keys(inBody), route.method === 'GET' ? [] : names);
  });

  test(`${name}: headers`, () => {
    const required = new Map(
      described.parameters
        .filter((parameter) => parameter.in === 'header')
        .map((parameter) => [parameter.name, parameter.required === true]),
    );
    assert.ok(required.has('X-Service-Version') && required.has('Accept-Language'));
    const keys = { required: true, optional: false, ignored: undefined };
    assert.equal(required.get('Idempotency-Key'), keys[route.idempotency]);

    const success = Object.keys(described.responses[200]!.headers);
    for (const header of ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset']) {
      assert.ok(success.includes(header), header);
    }
    for (const header of ['Idempotent-Replayed', 'Original-Request']) {
      assert.equal(success.includes(header), route.idempotency !== 'ignored', header);
    }
    for (const response of Object.values(described.responses)) assert.ok('Request-Id' in response.headers);
    assert.ok('Retry-After' in described.responses[429]!.headers);
    assert.ok('Retry-After' in described.responses[503]!.headers);
  });

  test(`${name}: refusals, each under its status`, () => {
    const shown = Object.entries(described.responses)
      .filter(([status]) => status !== '200')
      .flatMap(([status, response]) => {
        const { examples } = response.content['application/json']!;
        return Object.keys(examples!).map((code) => `${status} ${code}`);
      });
    const certain: ErrorCode[] = ['api_key_missing', 'rate_limit_exceeded', 'parameter_unknown', 'api_error'];
    for (const code of [...certain, ...route.refusals]) {
      assert.ok(shown.includes(`${errors[code].status} ${code}`), code);
    }
    assert.equal(shown.includes('403 test_mode_only'), route.testOnly === true);
    assert.equal(shown.includes('400 idempotency_key_missing'), route.idempotency === 'required');
    assert.equal(shown.includes('400 idempotency_key_reused'), route.idempotency !== 'ignored');
    assert.equal(shown.includes('413 invalid_request'), route.method === 'POST');
  });

  test(`${name}: examples fit the schemas`, () => {
    const request = exampleRequests[name as Operation];
    assert.equal(validateParams(route, { ...request }), null);
    const answer = answers[name as Operation];
    const result = Compile(route.result);
    for (const item of route.kind === 'export' ? (answer as unknown[]) : [answer]) {
      assert.ok(result.Check(item), JSON.stringify(result.Errors(item)));
    }
  });

  test(`${name}: content`, () => {
    const content = Object.keys(described.responses[200]!.content);
    assert.deepEqual(
      content,
      {
        command: ['application/json'],
        query: ['application/json'],
        export: ['text/csv', 'application/x-ndjson'],
        stream: ['text/event-stream'],
      }[route.kind],
    );
  });

  if (route.kind !== 'stream') continue;
  test(`${name}: it goes on after each id that it sends`, () => {
    const header = described.parameters.find((parameter) => parameter.name === 'Last-Event-ID');
    const { example } = described.responses[200]!.content['text/event-stream']!;
    const ids = [...example!.matchAll(/^id: (.*)$/gm)];
    assert.notEqual(ids.length, 0);
    for (const [, id] of ids) assert.match(id!, new RegExp(header!.schema.pattern!));
  });
}

test('there is a webhook for each event type that is sent', () => {
  assert.deepEqual(Object.keys(document.webhooks as Json), [...sentEventTypes]);
});

for (const type of sentEventTypes) {
  test(`webhook ${type}: carries its object`, () => {
    const event = exampleEvent(type, objects);
    assert.ok(Compile(Event).Check(event));
    assert.ok(Compile(eventResource(type)).Check(event.data.object));
    const { post } = resolved<Record<EventType, { post: Described }>>(document.webhooks)[type];
    const schema = JSON.stringify(post.requestBody?.content['application/json']?.schema);
    assert.ok(schema.includes(`"const":"${type}"`));
    assert.ok(schema.includes(`#/components/schemas/${(eventResource(type) as { title?: string }).title}"`));
  });
}

const rewritings: [given: string, schema: Json, then: Json][] = [
  ['a choice', { enum: ['a', 'b'] }, { type: 'string', enum: ['a', 'b'] }],
  [
    'a text or nothing',
    { anyOf: [{ type: 'string', maxLength: 5 }, { type: 'null' }] },
    { type: ['string', 'null'], maxLength: 5 },
  ],
  [
    'a choice or nothing',
    { anyOf: [{ enum: ['a'] }, { type: 'null' }] },
    { type: ['string', 'null'], enum: ['a', null] },
  ],
  [
    'one of two objects, or nothing',
    { anyOf: [{ type: 'object' }, { type: 'object' }, { type: 'null' }] },
    { anyOf: [{ type: 'object' }, { type: 'object' }, { type: 'null' }] },
  ],
  [
    'a map',
    { type: 'object', patternProperties: { '^.*$': { type: 'string' } } },
    { type: 'object', additionalProperties: { type: 'string' } },
  ],
  [
    'a map whose keys have a pattern',
    { type: 'object', patternProperties: { '^a': { enum: ['b'] } }, additionalProperties: false },
    {
      type: 'object',
      additionalProperties: { type: 'string', enum: ['b'] },
      propertyNames: { pattern: '^a' },
    },
  ],
  [
    'parts of a whole',
    { type: 'object', properties: { a: { type: 'array', items: { enum: ['b'] } } } },
    { type: 'object', properties: { a: { type: 'array', items: { type: 'string', enum: ['b'] } } } },
  ],
];
for (const [given, schema, then] of rewritings) {
  test(`a schema is rewritten: ${given}`, () => {
    assert.deepEqual(describeSchema(schema as TSchema, new Map()), then);
  });
}
