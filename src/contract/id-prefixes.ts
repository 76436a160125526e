// What the id of each kind of object starts with, and which kind an id is of. Merchants meet the first nine; the others
// are for operators and the journal.

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
} as const;

export type IdKind = keyof typeof idPrefixes;

const kinds: ReadonlyMap<string, IdKind> = new Map(
  (Object.keys(idPrefixes) as IdKind[]).map((kind) => [idPrefixes[kind], kind]),
);

/** The kind of object that an id is of, by its prefix; undefined when the prefix is none of ours. */
export function kindOfId(id: string): IdKind | undefined {
  return kinds.get(id.slice(0, id.indexOf('_')));
}
