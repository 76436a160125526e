// A list with a filter shows those of the whole list that fit, as they are shown there: whatever the indexes behind it are.

import type { Random } from '../kernel/random.ts';
import type { Clients, Shop } from './clients.ts';
import type { Resource } from './facts.ts';
import type { World } from './world.ts';

interface Filtered {
  readonly path: string;
  /** Fields of the resource that are filters of its list, too. */
  readonly fields: readonly string[];
}

const lists: readonly Filtered[] = [
  { path: '/v1/payment_intents', fields: ['status', 'customer'] },
  { path: '/v1/charges', fields: ['status', 'payment_intent'] },
  { path: '/v1/refunds', fields: ['status', 'payment_intent'] },
  { path: '/v1/customers', fields: ['email'] },
  { path: '/v1/events', fields: ['type'] },
];
const ranges: Readonly<Record<string, (created: number, bound: number) => boolean>> = {
  created: (created, bound) => created === bound,
  'created[gte]': (created, bound) => created >= bound,
  'created[gt]': (created, bound) => created > bound,
  'created[lte]': (created, bound) => created <= bound,
  'created[lt]': (created, bound) => created < bound,
};
const filtersMax = 3;

/** Compares one list of a shop, with some filters. It must not change meanwhile; then nothing is compared. */
export async function compareFilters(
  world: World,
  clients: Clients,
  shop: Shop,
  random: Random,
): Promise<void> {
  const { path, fields } = random.pick(lists);
  const whole = await shownBy(clients, shop, path, '');
  if (whole === null || whole.length === 0) return;
  const compared: { query: string; ids: string; expected: string }[] = [];
  for (let count = 0; count < filtersMax; count++) {
    const like = random.pick(whole);
    const equal = fields.filter((field) => like[field] !== null && random.chance(0.6));
    const range = path !== '/v1/customers' && random.chance(0.4) ? random.pick(Object.keys(ranges)) : null;
    const fits = (resource: Resource) =>
      equal.every((field) => resource[field] === like[field]) &&
      (range === null || ranges[range]!(resource.created, like.created));
    const parts = equal.map((field) => `${field}=${encodeURIComponent(like[field])}`);
    if (range !== null) parts.push(`${encodeURIComponent(range)}=${like.created}`);
    const query = parts.map((part) => `&${part}`).join('');
    const shown = await shownBy(clients, shop, path, query);
    if (shown !== null) compared.push({ query, ids: idsOf(shown), expected: idsOf(whole.filter(fits)) });
  }
  const after = await shownBy(clients, shop, path, '');
  if (JSON.stringify(after) !== JSON.stringify(whole)) return;
  for (const { query, ids, expected } of compared)
    world.judge.check(
      'a filter shows what fits, and nothing else',
      ids === expected,
      () => `${path} of ${shop.org} by ${query}: ${ids}, and what fits is ${expected}`,
    );
}

const idsOf = (resources: readonly Resource[]) => resources.map(({ id }) => id).join(' ');

/** All pages; null where one is not answered as it should be. */
async function shownBy(
  clients: Clients,
  shop: Shop,
  path: string,
  query: string,
): Promise<Resource[] | null> {
  const shown: Resource[] = [];
  for (let hasMore = true; hasMore; ) {
    const after = shown.length === 0 ? '' : `&starting_after=${shown.at(-1).id}`;
    const answer = await clients.get(shop, path, `limit=100${after}${query}`);
    if (answer?.status !== 200) return null;
    const page = JSON.parse(answer.text) as { readonly data: Resource[]; readonly has_more: boolean };
    shown.push(...page.data);
    hasMore = page.has_more && page.data.length > 0;
  }
  return shown;
}
