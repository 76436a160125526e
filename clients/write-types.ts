// Writes what the clients know of the API, from its description: objects, and for each route its
// parameters and its answer. It is the part of `npm run docs` that is for clients/.

import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { openapiDocument } from '../src/contract/openapi/document.ts';
import type { Json } from '../src/contract/openapi/schemas.ts';

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly schema: Json;
}
interface Operation {
  readonly parameters: readonly (Parameter | { readonly $ref: string })[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Json }>> };
  readonly responses: Readonly<
    Record<string, { readonly content: Readonly<Record<string, { readonly schema: Json }>> }>
  >;
}
interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Json>> };
}

/** How a language writes types. */
interface Notation {
  readonly scalars: Readonly<Record<string, string>>;
  readonly literal: (value: unknown) => string;
  readonly list: (item: string) => string;
  readonly map: (item: string) => string;
  readonly object: (
    fields: readonly { readonly name: string; readonly type: string; readonly isRequired: boolean }[],
  ) => string;
}

/** A name as a key of an object, which may have dots or brackets in it. */
const keyName = (name: string) => (/^\w+$/.test(name) ? name : `'${name}'`);

const typescript: Notation = {
  scalars: {
    string: 'string',
    integer: 'number',
    number: 'number',
    boolean: 'boolean',
    null: 'null',
    any: 'unknown',
  },
  literal: (value) => (typeof value === 'string' ? `'${value}'` : String(value)),
  list: (item) => (/[ |]/.test(item) && !item.startsWith('{') ? `(${item})[]` : `${item}[]`),
  map: (item) => `Record<string, ${item}>`,
  object: (fields) =>
    fields.length === 0
      ? 'Record<string, never>'
      : `{ ${fields.map(({ name, type, isRequired }) => `${keyName(name)}${isRequired ? '' : '?'}: ${type}`).join('; ')} }`,
};

const php: Notation = {
  scalars: { string: 'string', integer: 'int', number: 'float', boolean: 'bool', null: 'null', any: 'mixed' },
  literal: (value) => (typeof value === 'string' ? `'${value}'` : String(value)),
  list: (item) => `list<${item}>`,
  map: (item) => `array<string, ${item}>`,
  object: (fields) =>
    `array{${fields.map(({ name, type, isRequired }) => `${keyName(name)}${isRequired ? '' : '?'}: ${type}`).join(', ')}}`,
};

const union = (types: readonly string[]) => [...new Set(types)].join(' | ');

function typeOf(schema: Json, notation: Notation): string {
  const {
    $ref,
    enum: choices,
    const: constant,
    oneOf,
    anyOf,
    allOf,
    items,
    properties,
    additionalProperties,
  } = schema;
  if (typeof $ref === 'string') return $ref.slice($ref.lastIndexOf('/') + 1);
  if (constant !== undefined) return notation.literal(constant);
  if (Array.isArray(choices)) return union(choices.map((choice) => notation.literal(choice)));
  const kinds = (oneOf ?? anyOf ?? allOf) as readonly Json[] | undefined;
  if (kinds !== undefined) return union(kinds.map((kind) => typeOf(kind, notation)));
  const orNull = [schema.type].flat().includes('null') ? ['null'] : [];
  if (items !== undefined) return union([notation.list(typeOf(items as Json, notation)), ...orNull]);
  if (properties !== undefined) {
    const required = (schema.required ?? []) as readonly string[];
    const fields = Object.entries(properties).map(([name, field]) => ({
      name,
      type: typeOf(field as Json, notation),
      isRequired: required.includes(name),
    }));
    return union([notation.object(fields), ...orNull]);
  }
  if (additionalProperties instanceof Object) {
    return union([notation.map(typeOf(additionalProperties as Json, notation)), ...orNull]);
  }
  const types = [schema.type].flat().filter((type) => type !== undefined);
  return types.length === 0
    ? notation.scalars.any!
    : union(types.map((type) => notation.scalars[String(type)]!));
}

interface Route {
  readonly name: string;
  readonly params: string;
  readonly answer: string;
  /** Whether an `Idempotency-Key` must, may or can't be sent. */
  readonly key: 'required' | 'optional' | 'none';
}

function routesOf({ paths }: Description, notation: Notation): Route[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { parameters, requestBody, responses }]) => {
      const refs = parameters.flatMap((parameter) => ('$ref' in parameter ? [parameter.$ref] : []));
      const own = parameters.flatMap((parameter) => ('name' in parameter ? [parameter] : []));
      const body = requestBody?.content['application/json']?.schema;
      const required = (body?.required ?? []) as readonly string[];
      const fields = [
        ...own.map(({ name, schema, required: isRequired = false }) => ({
          name,
          type: typeOf(schema, notation),
          isRequired,
        })),
        ...Object.entries((body?.properties ?? {}) as Record<string, Json>).map(([name, schema]) => ({
          name,
          type: typeOf(schema, notation),
          isRequired: required.includes(name),
        })),
      ];
      const json = responses[200]!.content['application/json'];
      const key = refs.some((ref) => ref.endsWith('KeyRequired'))
        ? 'required'
        : refs.some((ref) => ref.endsWith('Key'))
          ? 'optional'
          : 'none';
      return {
        name: `${method.toUpperCase()} ${path}`,
        params: notation.object(fields),
        answer: json === undefined ? notation.scalars.string! : typeOf(json.schema, notation),
        key,
      } as const;
    }),
  );
}

const said = 'Written by `npm run docs` from the description of the API: change that instead.';

/** The files, by their paths below clients/. */
export function typeFiles(description = openapiDocument('https://payments.example')): Record<string, string> {
  const api = description as unknown as Description;
  const schemas = Object.entries(api.components.schemas);
  const types = schemas.map(([name, schema]) => `export type ${name} = ${typeOf(schema, typescript)};`);
  const routes = routesOf(api, typescript).map(
    ({ name, params, answer, key }) =>
      `  '${name}': { params: ${params}; answer: ${answer}; key: '${key}' };`,
  );
  const phpTypes = schemas.map(([name, schema]) => ` * @phpstan-type ${name} ${typeOf(schema, php)}`);
  const required = routesOf(api, php).filter(({ key }) => key === 'required');
  return {
    'node/types.d.ts': `// ${said}\n\n${types.join('\n\n')}\n\nexport interface Routes {\n${routes.join('\n')}\n}\n`,
    'php/src/Types.php': `<?php\n// ${said}\n\ndeclare(strict_types=1);\n\nnamespace Payments;\n\n/**\n${phpTypes.join('\n')}\n */\nfinal class Types\n{\n    /** The routes that refuse a request without an idempotency key. */\n    public const KEY_REQUIRED = [\n${required.map(({ name }) => `        '${name}',\n`).join('')}    ];\n}\n`,
  };
}

if (import.meta.main) {
  for (const [path, text] of Object.entries(typeFiles())) {
    const file = join(import.meta.dirname, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
}
