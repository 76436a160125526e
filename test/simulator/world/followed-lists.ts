// A list that is followed both ways, by pages of one size or of several and with a filter or none, shows those of the whole list
// that fit, as they are shown there, and says rightly whether others follow: whatever the indexes behind it are.

import { created, page } from '../../../src/contract/routes/parameters.ts';
import type { Route } from '../../../src/contract/routes/route.ts';
import { routeTable } from '../../../src/contract/routes/table.ts';
import type { Random } from '../kernel/random.ts';
import type { Clients, Shop } from './clients.ts';
import type { Resource } from './facts.ts';
import type { World } from './world.ts';

const lists = routeTable.filter(({ operation }) => operation.startsWith('list_'));
const ranges: Readonly<Record<keyof typeof created, (created: number, bound: number) => boolean>> = {
  created: (created, bound) => created === bound,
  'created[gte]': (created, bound) => created >= bound,
  'created[gt]': (created, bound) => created > bound,
  'created[lte]': (created, bound) => created <= bound,
  'created[lt]': (created, bound) => created < bound,
};
const largest = 100;
const newest = 4;
/** Pages each way: a minute has room for 30 requests with a filter. */
const pagesMax = { filtered: 10, whole: 30 };
const sizes = [1, 2, 3, 7];

/** What a list is narrowed down to: what is like one of its objects. */
interface Filter {
  readonly query: string;
  fits(resource: Resource): boolean;
}

interface Page {
  readonly limit: number;
  readonly count: number;
  readonly hasMore: boolean;
}

/** A list in pages, from one end to the other. */
interface Followed {
  /** Newest first, whichever way the list was followed. */
  readonly shown: readonly Resource[];
  readonly pages: readonly Page[];
}

/** Follows each list of a shop. It must not change meanwhile; then nothing is compared. `byTime`: so often by the time of creation. */
export async function followLists(
  world: World,
  clients: Clients,
  shop: Shop,
  random: Random,
  byTime = 0.4,
): Promise<void> {
  for (const route of lists) await followBothWays({ world, clients, shop, random, byTime }, route);
}

interface Following {
  readonly world: World;
  readonly clients: Clients;
  readonly shop: Shop;
  readonly random: Random;
  readonly byTime: number;
}

async function followBothWays(following: Following, { path, params }: Route): Promise<void> {
  const { world, clients, shop, random, byTime } = following;
  const follow = (limit: () => number, query: string, before: string | null) =>
    followed(clients, shop, path, { limit, query, before });
  const whole = await follow(() => largest, '', null);
  if (whole === null || whole.shown.length === 0) return;
  const like = random.pick(random.chance(0.5) ? whole.shown : whole.shown.slice(0, newest));
  const { query, fits } = filterFor(Object.keys(params.properties), like, random, byTime);
  const expected = whole.shown.filter(fits).map(idOf);
  const most = query === '' ? pagesMax.whole : pagesMax.filtered;
  const sizeMin = Math.ceil(expected.length / most);
  const size = () => Math.max(sizeMin, random.pick([...sizes, random.between(1, largest)]));
  const first = size();
  const limit = random.chance(0.5) ? size : () => first;
  const down = await follow(limit, query, null);
  const up = await follow(limit, query, expected.at(-1) ?? null);
  const after = await follow(() => largest, '', null);
  if (down === null || up === null || JSON.stringify(after) !== JSON.stringify(whole)) return;
  const check = (way: string, { shown, pages }: Followed, ids: readonly string[]) => {
    const told = () =>
      `${path} of ${shop.org}${query} ${way}: ${shown.map(idOf).join(' ')} in ${JSON.stringify(pages)}, and there are ${ids.join(' ')}`;
    const isSame = String(shown.map(idOf)) === String(ids);
    if (query !== '') world.judge.check('a filter shows what fits, and nothing else', isSame, told);
    world.judge.check(
      'a list has the same objects by pages of every size, both ways',
      isSame && isPaged(pages, ids.length),
      told,
    );
  };
  check('down', down, expected);
  check('up', up, expected.slice(0, -1));
}

/** Some of the parameters that a list has for it, with what `like` has. */
function filterFor(parameters: readonly string[], like: Resource, random: Random, byTime: number): Filter {
  const fields = parameters.filter((name) => !(name in page || name in created));
  const equal = fields.filter((field) => like[field] !== null && random.chance(0.6));
  const bounds = Object.entries(ranges).filter(([name]) => parameters.includes(name));
  const range = bounds.length > 0 && random.chance(byTime) ? random.pick(bounds) : null;
  const values = equal.map((field) => [field, like[field]]);
  if (range !== null) values.push([range[0], like.created]);
  return {
    query: values
      .map(([name, value]) => `&${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
      .join(''),
    fits: (resource) =>
      equal.every((field) => resource[field] === like[field]) &&
      (range === null || range[1](resource.created, like.created)),
  };
}

const idOf = ({ id }: Resource): string => id;

/** `before`: upwards from there; null: downwards from the newest. Null where a page is not answered as it should be. */
async function followed(
  clients: Clients,
  shop: Shop,
  path: string,
  {
    limit,
    query,
    before,
  }: { readonly limit: () => number; readonly query: string; readonly before: string | null },
): Promise<Followed | null> {
  const [shown, pages]: [Resource[], Page[]] = [[], []];
  for (let hasMore = true; hasMore; ) {
    const cursor = before === null ? shown.at(-1)?.id : (shown[0]?.id ?? before);
    const at =
      cursor === undefined ? '' : `&${before === null ? 'starting_after' : 'ending_before'}=${cursor}`;
    const asked = limit();
    const answer = await clients.get(shop, path, `limit=${asked}${at}${query}`);
    if (answer?.status !== 200) return null;
    const { data, has_more }: { data: Resource[]; has_more: boolean } = JSON.parse(answer.text);
    if (before === null) shown.push(...data);
    else shown.unshift(...data);
    hasMore = has_more && data.length > 0;
    pages.push({ limit: asked, count: data.length, hasMore: has_more });
  }
  return { shown, pages };
}

/** Whether the pages hold `count` objects, as many as they have room for, and each says whether others follow. */
function isPaged(pages: readonly Page[], count: number): boolean {
  let left = count;
  for (const page of pages) {
    if (page.count !== Math.min(page.limit, left)) return false;
    left -= page.count;
    if (page.hasMore !== left > 0) return false;
  }
  return left === 0;
}
