// The router finds the row of the table of routes for a method and a path, in a tree of path
// segments that is built once. A path with a trailing slash or an empty segment has no route.

import { echo } from '../../contract/echo.ts';
import { type Refusal, refuse } from '../../contract/errors/table.ts';
import { routeTable } from '../../contract/routes/table.ts';
import type { RequestHead } from './request-head.ts';

interface Node {
  readonly children: Map<string, Node>;
  /** The node for `{id}`. */
  wildcard: Node | null;
  /** Route numbers by method. */
  readonly routes: Map<string, number>;
}

const newNode = (): Node => ({ children: new Map(), wildcard: null, routes: new Map() });

export interface Match {
  /** Position in the table of routes. */
  readonly route: number;
  /** The segment in the place of `{id}`, as it was sent; empty when the route has none. */
  readonly id: string;
}

const root = newNode();
routeTable.forEach((route, number) => {
  let node = root;
  for (const segment of route.path.slice(1).split('/')) {
    if (segment === '{id}') {
      node.wildcard ??= newNode();
      node = node.wildcard;
    } else {
      let child = node.children.get(segment);
      if (child === undefined) {
        child = newNode();
        node.children.set(segment, child);
      }
      node = child;
    }
  }
  node.routes.set(route.method, number);
});

/** The route for a method and a path without its query string, or null. */
export function matchRoute(method: string, path: string): Match | null {
  let node: Node = root;
  let id = '';
  for (let start = 1; start <= path.length; ) {
    const slash = path.indexOf('/', start);
    const end = slash < 0 ? path.length : slash;
    const segment = path.slice(start, end);
    const child = node.children.get(segment);
    if (child !== undefined) node = child;
    else if (node.wildcard !== null && segment !== '') {
      node = node.wildcard;
      id = segment;
    } else return null;
    start = end + 1;
    if (slash === path.length - 1) return null;
  }
  const route = node.routes.get(method);
  return route === undefined ? null : { route, id };
}

/** The refusal of a request without a route. */
export function unknownAddress({ method, path }: Pick<RequestHead, 'method' | 'path'>): Refusal {
  const values = { method: echo(method), path: echo(path) };
  return refuse('unrecognized_request_url', { values });
}
