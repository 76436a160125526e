// What members look at in the dashboard, customers on their pages, and operators who read a network's statement. The model says
// what each must be told.

import { routeTable } from '../../../src/contract/routes/table.ts';
import { type Sheet, sheetColumns, sheetWords } from '../../../src/domain/export-sheet.ts';
import { fieldIndex, scopeOf } from '../../../src/domain/indexes.ts';
import type { PaymentSearch } from '../../../src/domain/payment-search.ts';
import { paymentStates } from '../../../src/domain/payment-state.ts';
import type { InternalRequest } from '../../../src/shard/protocol.ts';
import { type Act, type ActContext, known, tell } from './acts.ts';

const tableOf = <Name extends string>(names: readonly Name[]) =>
  Object.fromEntries(names.map((name) => [name, `(${name})`])) as Record<Name, string>;
export const sheetOf = (separator: Sheet['separator']): Sheet => ({
  headings: tableOf(sheetColumns),
  words: tableOf(sheetWords),
  separator,
});

const followedMax = 4;

const idOf = (acting: Act, object: string) => known(acting, object)?.id ?? null;

function searchOf(acting: Act): PaymentSearch {
  const { random, world } = acting;
  const seconds = Math.floor(world.clocks.wall() / 1000);
  const sometimes = <T>(value: T) => (random.chance(0.3) ? value : null);
  const intent = known(acting, 'payment_intent')?.last;
  const texts = ['Order 7', 'order', 'note1=Order 7', '4242', `${(intent?.amount ?? 100) / 100}`, 'réf; "x"'];
  const customer = idOf(acting, 'customer');
  const other = idOf(acting, 'customer');
  return {
    state: sometimes(random.pick(paymentStates)),
    method: sometimes(random.pick(['card', 'cash'])),
    customers: customer === null || other === null ? null : sometimes([...new Set([customer, other])]),
    fromSeconds: sometimes(seconds - random.below(30)),
    toSeconds: sometimes(seconds - random.below(15)),
    text: sometimes(random.pick(texts)),
    before: sometimes(intent?.id ?? null),
    limit: random.pick([1, 3, 20, 50]),
  };
}

function questionOf(acting: Act): InternalRequest {
  const { random, shop, world } = acting;
  const { org, livemode } = shop;
  const scope = { org, livemode };
  const charge = known(acting, 'charge')?.last ?? known(acting, 'payment_intent')?.last;
  const code: string | undefined = charge?.payment_method_details?.cash?.number;
  const references = ['payment_intent', 'charge', 'checkout.session', 'refund'].map((kind) =>
    idOf(acting, kind),
  );
  const named = [...references, code].filter((each) => typeof each === 'string');
  const [pageOf] = [references[2], charge?.latest_charge, references[1]].filter(
    (each) => typeof each === 'string',
  );
  const nowMs = world.clocks.wall();
  const link = acting.clients.links.at(-1)?.id;
  switch (random.below(16)) {
    case 0:
    case 1:
      return { kind: 'search_payments', ...scope, search: searchOf(acting) };
    case 2:
    case 3:
      return { kind: 'payment_story', ...scope, reference: random.pick([...named, 'nothing']) };
    case 4:
      return { kind: 'view_payment', id: pageOf ?? 'nothing' };
    case 5:
      return link === undefined || random.chance(0.5)
        ? { kind: 'payment_links', ...scope }
        : { kind: 'view_link', id: link };
    case 6:
      return { kind: 'charges_named', ...scope, names: [...named, 'nothing'] };
    case 7: {
      const methods = random.pick([['card'], ['cash'], ['card', 'cash']] as const);
      const [fromMs, toMs] = [nowMs - random.below(60_000), nowMs - random.below(9_000)];
      const filter = { kind: random.pick(['charge', 'refund'] as const), methods, fromMs, toMs };
      return { kind: 'settled_page', ...scope, filter, start: null };
    }
    case 8:
    case 9:
      return { kind: 'endpoint_health', ...scope };
    case 10:
      return { kind: 'failing_endpoints', limit: random.pick([1, 20]) };
    case 11:
      return { kind: 'limit_levels', ...scope };
    case 12:
      return {
        kind: 'events_after',
        ...scope,
        after: random.pick(['', null]),
        limit: random.pick([1, 5, 100]),
      };
    case 13: {
      const endpoint = idOf(acting, 'webhook_endpoint') ?? 'nothing';
      const index = fieldIndex('delivery', scopeOf(org, livemode), 'endpoint', endpoint);
      return { kind: 'records', index, limit: random.pick([1, 50]) };
    }
    case 14:
      return { kind: 'now' };
    default:
      return exportOf(acting, scope);
  }
}

function exportOf(acting: Act, scope: { readonly org: string; readonly livemode: boolean }): InternalRequest {
  const { random, world } = acting;
  const routes = routeTable.flatMap(({ kind }, at) => (kind === 'export' ? [at] : []));
  const seconds = Math.floor(world.clocks.wall() / 1000);
  const queries = [
    '',
    'format=csv',
    'format=ndjson',
    `format=csv&created%5Bgte%5D=${seconds - random.below(30)}`,
  ];
  const about = { kind: 'export_page', ...scope, route: random.pick(routes), cursor: '' } as const;
  if (random.chance(0.5)) return { ...about, query: random.pick(queries) };
  const search = random.chance(0.5) ? { ...searchOf(acting), before: null } : undefined;
  return { ...about, query: '', search, sheet: sheetOf(random.pick([',', ';'])) };
}

export async function lookAround(acting: Act): Promise<void> {
  for (let i = acting.random.between(1, 6); i > 0; i--) {
    const question = questionOf(acting);
    const told = await tell(acting, question);
    if (question.kind === 'events_after' && told !== null) await followEvents(acting, question, told);
  }
}

/** Everybody looks how the endpoints fare. */
export async function lookAtEndpoints(context: ActContext): Promise<void> {
  for (const shop of context.shops) {
    const { org, livemode } = shop;
    await tell({ ...context, shop }, { kind: 'endpoint_health', org, livemode });
    await tell({ ...context, shop }, { kind: 'failing_endpoints', limit: 20 });
  }
}

/** Goes on behind one of the events that were told, as a stream does behind the last one that its client has. */
async function followEvents(
  acting: Act,
  question: Extract<InternalRequest, { kind: 'events_after' }>,
  told: string,
): Promise<void> {
  let events = JSON.parse(told) as { readonly id: string }[];
  for (let i = 0; i < followedMax && events.length > 0; i++) {
    const after = acting.random.pick(events).id;
    events = JSON.parse((await tell(acting, { ...question, after })) ?? '[]');
  }
}

/** All that people are told of one payment. */
export async function lookAt(acting: Act, { id }: { readonly id: string }): Promise<void> {
  const { org, livemode } = acting.shop;
  const scope = { org, livemode };
  await tell(acting, { kind: 'payment_story', ...scope, reference: id });
  await tell(acting, { kind: 'charges_named', ...scope, names: [id] });
  await tell(acting, { kind: 'search_payments', ...scope, search: searchOf(acting) });
  const nowMs = acting.world.clocks.wall();
  const [fromMs, toMs] = [nowMs - 60_000, nowMs + 1_000];
  for (const kind of ['charge', 'refund'] as const) {
    const filter = { kind, methods: ['card', 'cash'] as const, fromMs, toMs };
    await tell(acting, { kind: 'settled_page', ...scope, filter, start: null });
  }
  await tell(acting, exportOf(acting, scope));
}
