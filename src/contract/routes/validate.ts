// Validates parameters with a check that is compiled from the route's schema when a thread first
// needs it: a start does not wait for checks of routes that nobody asks for. Only when the check
// fails, the first fault is searched for.
//
// Of several faults the first one is reported: unknown parameters come before missing ones, missing
// before invalid ones, and within each the order of the document decides.

import { IsUri, IsUriTemplate, Set as setFormat } from 'typebox/format';
import { Compile, Errors } from 'typebox/schema';
import { elementAt } from '../../core/assert.ts';
import { paramPath } from '../echo.ts';
import { type Refusal, refuse } from '../errors/table.ts';
import * as limits from '../limits.ts';
import { withSession } from '../page-paths.ts';
import { isObject, ofRoute, type Params, propertiesOf, refuseUnknown, type Schema } from './parsed-params.ts';
import type { Route } from './route.ts';
import { compileLengths, isWithin, textLengthMax } from './text-lengths.ts';

// The library looks at the characters of an address only. Nobody can be sent to one that browsers
// don't take, such as one with the port 99999.
setFormat('uri', (text) => IsUri(text) && URL.canParse(text));
setFormat('uri-template', (text) => IsUriTemplate(text) && URL.canParse(withSession(text, 'cs_0')));

const checkOf = ofRoute(({ params }): ((given: Params) => boolean) => {
  const properties = Object.entries(propertiesOf({ params }));
  const sets = properties.filter(([, { uniqueItems }]) => uniqueItems === true).map(([name]) => name);
  const fits = compileLengths(params);
  const rest = Compile(withoutOwnChecks(params) as object);
  return (given) => fits(given) && rest.Check(given) && sets.every((name) => isSet(given[name]));
});

/**
 * The schema without the parts that this file checks itself, because the library is slow at them:
 * it hashes every item of a list to find out whether they differ, and counts all characters of a
 * text that is far too long.
 */
function withoutOwnChecks(schema: unknown): unknown {
  if (typeof schema !== 'object' || schema === null) return schema;
  if (Array.isArray(schema)) return schema.map(withoutOwnChecks);
  const rest = Object.entries(schema).filter(([key]) => key !== 'maxLength' && key !== 'uniqueItems');
  return Object.fromEntries(rest.map(([key, member]) => [key, withoutOwnChecks(member)]));
}

/** Whether the texts of a list differ, or there is no list. For short ones a set costs more. */
function isSet(items: unknown): boolean {
  if (!Array.isArray(items)) return true;
  if (items.length > shortListMax) return new Set(items).size === items.length;
  return items.every((item, at) => items.indexOf(item) === at);
}

const shortListMax = 8;

/** Null when `params` fit the route, else the first refusal by precedence. */
export function validateParams(route: Route, params: Params): Refusal | null {
  if (checkOf(route)(params)) {
    return refuseNone(route, params) ?? refuseBoth(route, params) ?? refuseCursors(params);
  }
  const unknown = firstUnknown(propertiesOf(route), params);
  if (unknown !== null) return refuseUnknown(unknown, 'body');
  const required = route.params.required ?? [];
  for (const name of required) {
    if (!Object.hasOwn(params, name)) return refuse('parameter_missing', { param: name });
  }
  return refuseNone(route, params) ?? firstInvalid(route, params);
}

/** The path of the first name that the route does not take. */
function firstUnknown(
  properties: Readonly<Record<string, Schema>>,
  params: Params,
): readonly string[] | null {
  for (const [name, value] of Object.entries(params)) {
    if (!Object.hasOwn(properties, name)) return [name];
    const nested = properties[name]?.properties;
    const unknown = nested !== undefined && isObject(value) ? firstUnknown(nested, value) : null;
    if (unknown !== null) return [name, ...unknown];
  }
  return null;
}

function refuseNone({ exactlyOne }: Route, params: Params): Refusal | null {
  if (exactlyOne === undefined || exactlyOne.some((name) => Object.hasOwn(params, name))) return null;
  return refuse('parameter_missing', { param: exactlyOne[0], ...oneOf(exactlyOne) });
}

function refuseBoth({ exactlyOne }: Route, params: Params): Refusal | null {
  if (exactlyOne === undefined || !exactlyOne.every((name) => Object.hasOwn(params, name))) return null;
  return refuse('parameter_invalid', { param: exactlyOne[1], ...oneOf(exactlyOne) });
}

function oneOf(names: readonly string[]) {
  return { message: 'parameter_invalid.exactly_one', values: { names: names.join(', ') } } as const;
}

function refuseCursors(params: Params): Refusal | null {
  if (!('starting_after' in params && 'ending_before' in params)) return null;
  return refuse('parameter_invalid', { param: 'ending_before', message: 'parameter_invalid.cursors' });
}

function firstInvalid(route: Route, params: Params): Refusal {
  const properties = propertiesOf(route);
  const names = Object.keys(params);
  const short: Params = Object.fromEntries(
    names.map((name) => [name, shortened(properties[name]!, params[name])]),
  );
  const [, errors] = Errors(route.params, short);
  // What is told of a whole object with unknown names is told of each name, too.
  const paths = errors.filter(({ keyword }) => keyword !== 'additionalProperties').map(pathOf);
  const wrong = names.find((name) => paths.some(([first]) => first === name)) ?? elementAt(names, 0);
  const [path = [wrong]] = paths
    .filter(([first]) => first === wrong)
    .sort((a, b) => compareInDocument(short[wrong], a.slice(1), b.slice(1)));
  return describe(properties[wrong]!, path);
}

/** Which of two paths below `value` comes first in the document. */
function compareInDocument(
  value: unknown,
  [a = '', ...pastA]: string[],
  [b = '', ...pastB]: string[],
): number {
  const members = Object.keys(Object(value));
  if (a !== b || pastA.length + pastB.length === 0) return members.indexOf(a) - members.indexOf(b);
  return compareInDocument((value as Params)[a], pastA, pastB);
}

/** The first of two refusals. Between invalid values the order of the document decides. */
export function firstRefusal(params: Params, a: Refusal | null, b: Refusal | null): Refusal | null {
  if (a === null || b === null) return a ?? b;
  if (a.code !== b.code) return a;
  const names = Object.keys(params);
  const position = ({ param }: Refusal) => names.indexOf(param?.split('.')[0] ?? '');
  return position(b) < position(a) ? b : a;
}

/**
 * A value that is too long, cut to just beyond the limit. The refusal stays the same, and the
 * search for the fault, whose time grows with the length (for lists with its square), stays short.
 */
function shortened(schema: Schema, value: unknown): unknown {
  if (typeof value === 'string') {
    const max = textLengthMax(schema);
    return max === null || isWithin(value, max) ? value : 'x'.repeat(max + 1);
  }
  const { maxItems, maxProperties } = schema;
  if (Array.isArray(value)) return maxItems === undefined ? value : value.slice(0, maxItems + 1);
  if (!isObject(value)) return value;
  const [texts] = Object.values(schema.patternProperties ?? {});
  const members = Object.entries(value).slice(0, maxProperties === undefined ? undefined : maxProperties + 1);
  return Object.fromEntries(
    members.map(([name, member]) => [name, shortened(texts ?? schema.properties?.[name] ?? {}, member)]),
  );
}

function pathOf(error: { readonly instancePath: string }): string[] {
  return error.instancePath
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** What is wrong at `path`; `depth` of its parts lead to `schema`. */
function describe(schema: Schema, path: readonly string[], depth = 1): Refusal {
  const param = paramPath(path);
  const invalid = (message: NonNullable<Refusal['message']>, values: Refusal['values'] = {}): Refusal =>
    refuse('parameter_invalid', { param, message, values });
  if (schema.anyOf !== undefined) return describe(elementAt(schema.anyOf, schema.anyOf.length - 1), path);
  const member = schema.properties?.[path[depth] ?? ''];
  if (member !== undefined) return describe(member, path, depth + 1);
  if (schema.enum !== undefined) {
    return invalid('parameter_invalid.choice', { choices: schema.enum.join(', ') });
  }
  switch (schema.type) {
    case 'integer':
      return invalid('parameter_invalid.integer', { min: schema.minimum ?? 0, max: schema.maximum ?? '' });
    case 'boolean':
      return invalid('parameter_invalid.boolean');
    case 'array':
      return path.length > 1 && schema.items?.enum !== undefined
        ? invalid('parameter_invalid.choice', { choices: schema.items.enum.join(', ') })
        : invalid('parameter_invalid.list', { min: schema.minItems ?? 0, max: schema.maxItems ?? '' });
    case 'object':
      return schema.properties === undefined ? invalidMetadata(param) : invalid('parameter_invalid.object');
    default:
      return describeText(schema, invalid);
  }
}

/** The refusal of metadata, or of one of its keys. */
export function invalidMetadata(param: string): Refusal {
  const values = {
    keys: limits.metadataKeysMax,
    keyLength: limits.metadataKeyCharactersMax,
    valueLength: limits.metadataValueCharactersMax,
  };
  return refuse('parameter_invalid', { param, message: 'parameter_invalid.metadata', values });
}

function describeText(
  schema: Schema,
  invalid: (message: NonNullable<Refusal['message']>, values?: Refusal['values']) => Refusal,
): Refusal {
  const max = schema.maxLength ?? '';
  if (schema.format?.startsWith('uri')) return invalid('parameter_invalid.address', { max });
  if (schema.format === 'email') return invalid('parameter_invalid.email', { max });
  return invalid('parameter_invalid.text', { min: schema.minLength ?? 0, max });
}
