// Schemas as the API description shows them, in forms that code generators handle well. They accept
// the same values. One that has a name is described once; other places refer to it.
//
//   {enum: ['a']}                                → {type: 'string', enum: ['a']}
//   {anyOf: [{type: 'string'}, {type: 'null'}]}  → {type: ['string', 'null']}
//   {patternProperties: {P: S}}                  → {additionalProperties: S, propertyNames: …}
//   {anyOf: [A, B], discriminator: …}            → {oneOf: [A, B], discriminator: …}

import { type TSchema, Type } from 'typebox';
import { elementAt } from '../../core/assert.ts';
import { type ErrorType, errorCodes, errors } from '../errors/table.ts';
import * as resources from '../routes/resources.ts';
import { declineCodes } from '../vocabulary.ts';

/** A JSON value of the description. */
export interface Json {
  [name: string]: unknown;
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Json[];
  readonly oneOf?: readonly Json[];
  readonly items?: Json;
  /** An object's required properties; for a parameter, whether it is required. */
  readonly required?: readonly string[] | boolean;
  readonly properties?: Readonly<Record<string, Json>>;
  readonly patternProperties?: Readonly<Record<string, Json>>;
  readonly discriminator?: { readonly propertyName: string; readonly mapping?: object };
}

/** The names of the properties that an object must have. */
export function requiredNames({ required }: Json): readonly string[] {
  return typeof required === 'object' ? required : [];
}

const errorTypes = [...new Set(errorCodes.map((code) => errors[code].type))] as ErrorType[];
const nullable = <T extends TSchema>(schema: T, description: string) =>
  Type.Union([schema, Type.Null()], { description });

/** The body of every refused request. */
export const ErrorAnswer = Type.Object(
  {
    error: Type.Object(
      {
        type: Type.Enum(errorTypes, { description: 'The kind of error.' }),
        code: Type.Enum([...errorCodes], { description: 'The precise, stable reason: branch on it.' }),
        decline_code: nullable(Type.Enum([...declineCodes]), "For a declined card, the bank's reason."),
        param: nullable(Type.String(), 'The parameter at fault, as a path such as `metadata.order_id`.'),
        message: Type.String({
          description:
            'A text for people, in the language of `Accept-Language`. It may change: never branch on it.',
        }),
        doc_url: Type.String({ description: 'The page that explains the code.' }),
        request_id: Type.String({
          description: 'Identifier of the request. In a replay, that of the first request.',
        }),
      },
      { description: 'What was wrong, where, and what to do.' },
    ),
  },
  { description: 'The body of every refused request.' },
);

const named = new Map<unknown, string>([
  ...Object.entries(resources).map(([name, schema]) => [schema, name] as const),
  [ErrorAnswer, 'Error'],
]);

/** The components of a description, by name. */
export type SchemaComponents = Map<string, Json>;

/** The schema for the description: a reference to its component if it has a name. */
export function describeSchema(given: TSchema | Json, components: SchemaComponents): Json {
  const schema = given as Json;
  const name = nameOf(schema);
  if (name === undefined) return rewrite(schema, components);
  if (!components.has(name)) {
    // The name comes before its parts: components are in the order of their first use.
    components.set(name, {});
    components.set(name, { title: name, ...rewrite(schema, components) });
  }
  return { $ref: `#/components/schemas/${name}` };
}

/** The name of a resource, of a list (`RefundList`), or of what was deleted (`DeletedCustomer`). */
function nameOf(schema: Json): string | undefined {
  const own = named.get(schema);
  if (own !== undefined) return own;
  const { properties = {} } = schema;
  if (properties.object?.const === 'list') return `${named.get(properties.data?.items ?? {})}List`;
  if (properties.deleted?.const === true) return `Deleted${pascalCase(String(properties.object?.const))}`;
  return undefined;
}

const pascalCase = (text: string) =>
  text.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());

function rewrite(schema: Json, components: SchemaComponents): Json {
  const describe = (part: Json) => describeSchema(part, components);
  const { enum: choices, anyOf, discriminator, patternProperties, properties, items, ...rest } = schema;
  if (choices !== undefined) return { type: 'string', enum: choices, ...rest };
  if (discriminator !== undefined && anyOf !== undefined)
    return { ...rest, ...discriminated(discriminator.propertyName, anyOf, describe) };
  if (anyOf !== undefined) return { ...union(anyOf.map(describe)), ...rest };
  if (items !== undefined) return { ...rest, items: describe(items) };
  if (patternProperties !== undefined) {
    return { ...rest, ...mapOf(patternProperties, describe) };
  }
  if (properties === undefined) return { ...rest };
  const described = Object.entries(properties).map(([key, value]) => [key, describe(value)] as const);
  return { ...rest, properties: Object.fromEntries(described) };
}

/** Named objects, each with a value of its own in one property, by which a client knows it. */
function discriminated(propertyName: string, members: readonly Json[], describe: (part: Json) => Json): Json {
  const oneOf = members.map(describe);
  const values = members.map(({ properties }) => String(properties?.[propertyName]?.const));
  const mapping = Object.fromEntries(values.map((value, i) => [value, elementAt(oneOf, i).$ref]));
  return { oneOf, discriminator: { propertyName, mapping } };
}

/** A map from texts to values of one kind. Any text can be a key unless the pattern excludes it. */
function mapOf(patternProperties: Readonly<Record<string, Json>>, describe: (part: Json) => Json): Json {
  const [pattern, value] = elementAt(Object.entries(patternProperties), 0);
  const additionalProperties = describe(value);
  return pattern === '^.*$' ? { additionalProperties } : { additionalProperties, propertyNames: { pattern } };
}

/** The parameters as a request can have them: an optional one can be null, which means absent. */
export function withNulls(described: Json): Json {
  const required = requiredNames(described);
  const properties = Object.entries(described.properties ?? {}).map(([name, property]) => {
    const sent = property.properties === undefined ? property : withNulls(property);
    return [name, required.includes(name) ? sent : orNull(sent)] as const;
  });
  return { ...described, properties: Object.fromEntries(properties) };
}

function orNull({ anyOf, ...schema }: Json): Json {
  const none = { type: 'null' };
  return anyOf === undefined ? union([schema, none]) : { ...schema, anyOf: [...anyOf, none] };
}

function union(members: readonly Json[]): Json {
  const [first, second, ...others] = members;
  const simple = others.length === 0 && second?.type === 'null' && typeof first?.type === 'string';
  if (!simple) return { anyOf: members };
  const choices = first.enum === undefined ? {} : { enum: [...first.enum, null] };
  return { ...first, ...choices, type: [first.type, 'null'] };
}
