// Parameters as they were parsed: what the schema of their route says of each name, and the
// defaults of those that are absent. All who take requests need this; validate.ts then checks them.

import { elementAt } from '../../core/assert.ts';
import { findCardNumber } from '../../core/card-number.ts';
import { remembering } from '../../core/remembering.ts';
import { paramPath } from '../echo.ts';
import { type Refusal, refuse } from '../errors/table.ts';
import { urlCharactersMax } from '../limits.ts';
import type { Route } from './route.ts';
import { routeTable } from './table.ts';
import type { LengthSchema } from './text-lengths.ts';

/** Parsed parameters: names to JSON values. */
export type Params = Record<string, unknown>;

/** What the absence of each parameter means. */
interface Absence {
  /** Parameters that may be absent; null means absent. */
  readonly optional: ReadonlySet<string>;
  readonly defaults: readonly (readonly [string, unknown])[];
  /** Parameters that are objects with parameters of their own. */
  readonly nested: readonly (readonly [string, Absence])[];
}

/** The parts of a JSON schema that decide the message for a wrong value. */
export interface Schema extends LengthSchema {
  readonly enum?: readonly unknown[];
  readonly format?: string;
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly maxProperties?: number;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly patternProperties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  /** The last alternative gives the message. */
  readonly anyOf?: readonly Schema[];
}

/** Remembers what follows from a route. */
export const ofRoute = <T>(find: (route: Route) => T) => remembering(routeTable.length, find);

const absenceOf = ofRoute(({ params }) => absenceIn(propertiesOf({ params }), params.required));

function absenceIn(properties: Readonly<Record<string, Schema>>, required: readonly string[] = []): Absence {
  const entries = Object.entries(properties);
  return {
    optional: new Set(Object.keys(properties).filter((name) => !required.includes(name))),
    defaults: entries.flatMap(([name, schema]) =>
      schema.default === undefined ? [] : [[name, schema.default] as const],
    ),
    nested: entries.flatMap(([name, schema]) =>
      schema.properties === undefined ? [] : [[name, absenceIn(schema.properties, schema.required)] as const],
    ),
  };
}

/** Fills the route's defaults into `params` for absent parameters, and for those that are null. */
export function fillDefaults(route: Route, params: Params): void {
  fillIn(absenceOf(route), params);
}

function fillIn({ optional, defaults, nested }: Absence, params: Params): void {
  for (const name in params) {
    if (params[name] === null && optional.has(name)) delete params[name];
  }
  for (const [name, value] of defaults) {
    if (!Object.hasOwn(params, name)) params[name] = value;
  }
  for (const [name, absence] of nested) {
    const value = params[name];
    if (isObject(value)) fillIn(absence, value);
  }
}

/** Whether a value is a JSON object. */
export function isObject(value: unknown): value is Params {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The schemas of a route's parameters, by name. */
export function propertiesOf({ params }: Pick<Route, 'params'>): Readonly<Record<string, Schema>> {
  return params.properties as Record<string, Schema>;
}

/** Refuses an unknown parameter by its name, unless that looks like a card number. */
export function refuseUnknown(path: readonly string[], whole: 'body' | 'query'): Refusal {
  const param = paramPath(path, whole);
  return findCardNumber(elementAt(path, path.length - 1).slice(0, urlCharactersMax))
    ? refuse('parameter_invalid', { param, message: 'parameter_invalid.card_number' })
    : refuse('parameter_unknown', { param });
}
