// Parses the query string of a request into parameters, which validate.ts then checks like those of
// a body.

import { paramPath } from '../echo.ts';
import { type Refusal, refuse } from '../errors/table.ts';
import { page } from './parameters.ts';
import { type Params, propertiesOf, refuseUnknown } from './parsed-params.ts';
import type { Route } from './route.ts';

type ParsedQuery = { readonly params: Params } | { readonly refusal: Refusal };

/**
 * The parameters of a query string. A text is a number where the route's schema has an integer and
 * the text is one. Refuses unknown names, then broken percent-encoding and repeated names.
 */
export function parseQuery(route: Route, query: string): ParsedQuery {
  const params: Params = {};
  if (query === '') return { params };
  let invalid: Refusal | null = null;
  const properties = takenIn(route);
  for (const pair of pairsIn(route, query)) {
    const [name, value] = decodePair(pair);
    if (name !== null && !Object.hasOwn(properties, name)) {
      return { refusal: refuseUnknown([name], 'query') };
    }
    if (name === null || value === null) {
      invalid ??= refuse('parameter_invalid', {
        param: paramPath([name ?? pair.replace(/=.*$/s, '')], 'query'),
        message: 'parameter_invalid.percent_encoding',
      });
    } else if (Object.hasOwn(params, name)) {
      invalid ??= refuse('parameter_invalid', { param: name, message: 'parameter_invalid.repeated' });
    } else {
      const integer = properties[name]?.type === 'integer' && /^-?\d{1,15}$/.test(value);
      params[name] = integer ? Number(value) : value;
    }
  }
  return invalid === null ? { params } : { refusal: invalid };
}

/** Whether a list is asked for with any parameter besides the limit and the cursors. */
export function isFiltered(route: Route, query: string): boolean {
  if (query === '') return false;
  return pairsIn(route, query).some((pair) => {
    const [name] = decodePair(pair);
    return name === null || !Object.hasOwn(page, name);
  });
}

/** Only a GET has parameters in its query string. */
function takenIn(route: Route): ReturnType<typeof propertiesOf> {
  return route.method === 'GET' ? propertiesOf(route) : {};
}

/**
 * The pairs of a query string, up to one more than the route has parameters: of so many, one is
 * refused. Decoding broken ones takes long, because each is an exception.
 */
function pairsIn(route: Route, query: string): string[] {
  const pairs = query.split('&').filter((pair) => pair !== '');
  return pairs.slice(0, Object.keys(takenIn(route)).length + 1);
}

function decodePair(pair: string): readonly [string | null, string | null] {
  const equals = pair.indexOf('=');
  const name = equals < 0 ? pair : pair.slice(0, equals);
  return [decodePart(name), decodePart(equals < 0 ? '' : pair.slice(equals + 1))];
}

function decodePart(text: string): string | null {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return null;
  }
}
