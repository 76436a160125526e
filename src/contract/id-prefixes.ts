// The prefix of the ids of each kind of object. The API shows the first ten kinds, and the
// dashboard deliveries and payment links, too. The others appear to operators and in the journal.

export const idPrefixes = {
  payment_intent: 'pi',
  checkout_session: 'cs',
  customer: 'cus',
  refund: 're',
  event: 'evt',
  webhook_endpoint: 'we',
  charge: 'ch',
  organization: 'org',
  request: 'req',
  review: 'prv',
  delivery: 'whd',
  attempt: 'wha',
  network_call: 'op',
  day_total: 'day',
  payment_link: 'pl',
} as const;

/** What the ids of members begin with, which are in no shard. */
export const memberPrefix = 'mem_';

export type IdKind = keyof typeof idPrefixes;

const kinds: ReadonlyMap<string, IdKind> = new Map(
  (Object.keys(idPrefixes) as IdKind[]).map((kind) => [idPrefixes[kind], kind]),
);

/** The kind of object that an id belongs to; undefined when its prefix is unknown. */
export function kindOfId(id: string): IdKind | undefined {
  return kinds.get(id.slice(0, id.indexOf('_')));
}
