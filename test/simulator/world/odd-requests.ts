// Requests as few clients send them: every parameter that there is, values at their bounds and beyond, and what the state of an
// object forbids. The model says what must become of each.

import { causes } from '../../../src/domain/cause.ts';
import { fieldIndex, scopeOf } from '../../../src/domain/indexes.ts';
import { type Act, known, listPaths, tell } from './acts.ts';
import type { Resource } from './facts.ts';

type Params = { readonly [name: string]: unknown; readonly metadata?: object };

const text = ({ random }: Act) => random.pick(['', 'Order 7', 'réf; "x"', '=1+1', `t${random.below(50)}`]);
const names = ['note0', 'note1', '__proto__'];
const metadata = (acting: Act) => ({ [acting.random.pick(names)]: text(acting), order: text(acting) });
const amounts = [1, 99, 100, 101, 9_999, 10_000, 25_000, 99_999_999];
const methods = [['card'], ['cash'], ['card', 'cash'], ['cash', 'card']];
const declineCodes = ['insufficient_funds', 'lost_card', 'do_not_honor', undefined] as const;
const cancellations = ['duplicate', 'fraudulent', 'requested_by_customer', 'abandoned', undefined] as const;
const address = ({ random }: Act) =>
  `${random.pick(['http', 'https', 'HTTPS'])}://shop.example/${random.below(9)}`;

/** Any object of a kind, mostly one of the shop's own. */
function any(acting: Act, object: string): Resource {
  const { world, random } = acting;
  if (random.chance(0.1)) {
    const all = [...world.facts.all.values()].filter((fact) => fact.object === object);
    if (all.length > 0) return random.pick(all).last;
  }
  return known(acting, object)?.last ?? { id: `${object}_unknown` };
}

/** Some of the parameters. */
function some(acting: Act, params: object): Params {
  return Object.fromEntries(Object.entries(params).filter(() => acting.random.chance(0.6)));
}

function order(acting: Act): Params {
  const { random } = acting;
  const customer = any(acting, 'customer').id;
  return {
    amount: random.pick(amounts),
    currency: 'mad',
    ...some(acting, { payment_method_types: random.pick(methods), description: text(acting) }),
    ...(random.chance(0.4) && { customer }),
    metadata: metadata(acting),
  };
}

const requests: readonly ((acting: Act) => Promise<unknown>)[] = [
  (acting) => acting.clients.post(acting.shop, '/v1/payment_intents', order(acting), { isCreation: true }),
  (acting) => {
    const options = { isCreation: true, member: 'mem_1' };
    return acting.clients.post(acting.shop, '/v1/payment_intents', order(acting), options);
  },
  (acting) => {
    const { clients, shop, random, world } = acting;
    const seconds = Math.floor(world.clocks.wall() / 1000);
    const lasts = random.pick([1_799, 1_800, 1_801, 7_200, 86_399, 86_400, 86_401]);
    const details = {
      cancel_url: address(acting),
      client_reference_id: text(acting),
      locale: random.pick(['en', 'fr', 'ar']),
      expires_at: seconds + lasts,
      payment_intent_data: some(acting, { description: text(acting), metadata: metadata(acting) }),
    };
    const params = { ...order(acting), success_url: address(acting), ...some(acting, details) };
    return clients.post(shop, '/v1/checkout/sessions', params, { isCreation: true });
  },
  (acting) => {
    const { clients, shop, random } = acting;
    const email = `c${random.below(4)}@shop.example`;
    const params = { email, name: text(acting), phone: '+212600000000', description: text(acting) };
    return clients.post(
      shop,
      '/v1/customers',
      { ...some(acting, params), metadata: metadata(acting) },
      {
        isCreation: true,
      },
    );
  },
  (acting) => {
    const params = {
      email: text(acting),
      name: text(acting),
      description: text(acting),
      metadata: metadata(acting),
    };
    return acting.clients.post(
      acting.shop,
      `/v1/customers/${any(acting, 'customer').id}`,
      some(acting, params),
    );
  },
  (acting) => {
    const params = some(acting, { description: text(acting), metadata: metadata(acting) });
    return acting.clients.post(
      acting.shop,
      `/v1/payment_intents/${any(acting, 'payment_intent').id}`,
      params,
    );
  },
  (acting) => {
    const many = Object.fromEntries(
      Array.from({ length: 30 }, (_, i) => [`m${acting.random.below(4)}-${i}`, 'x']),
    );
    const path = `/v1/payment_intents/${any(acting, 'payment_intent').id}`;
    return acting.clients.post(acting.shop, path, { metadata: many });
  },
  (acting) => {
    const params = { payment_method_type: acting.random.pick(['card', 'cash']), return_url: address(acting) };
    const path = `/v1/payment_intents/${any(acting, 'payment_intent').id}/confirm`;
    return acting.clients.post(acting.shop, path, some(acting, params));
  },
  (acting) => {
    const cancellation_reason = acting.random.pick(cancellations);
    const path = `/v1/payment_intents/${any(acting, 'payment_intent').id}/cancel`;
    return acting.clients.post(acting.shop, path, { cancellation_reason });
  },
  (acting) =>
    acting.clients.post(
      acting.shop,
      `/v1/checkout/sessions/${any(acting, 'checkout.session').id}/expire`,
      {},
    ),
  (acting) => {
    const { clients, shop, random } = acting;
    const about = random.chance(0.5)
      ? { payment_intent: any(acting, 'payment_intent').id }
      : { charge: any(acting, 'charge').id };
    const details = { amount: random.pick(amounts), reason: random.pick(['duplicate', 'fraudulent']) };
    const params = { ...about, ...some(acting, details), metadata: metadata(acting) };
    return clients.post(shop, '/v1/refunds', params, { isCreation: true });
  },
  async (acting) => {
    const { clients, shop, random } = acting;
    const refund = any(acting, 'refund').id;
    const succeeds = random.chance(0.4);
    const reason = succeeds ? {} : some(acting, { failure_reason: text(acting) });
    if (!shop.livemode)
      await clients.post(shop, `/v1/test_helpers/refunds/${refund}/${succeeds ? 'succeed' : 'fail'}`, reason);
  },
  async (acting) => {
    const { clients, shop, random } = acting;
    const { id, amount = 0 } = any(acting, 'charge');
    if (shop.livemode) return;
    const path = `/v1/test_helpers/charges/${id}`;
    const other = random.chance(0.3) ? { amount: random.pick(amounts) } : {};
    const arrives = other.amount ?? amount;
    if (random.chance(0.5)) await clients.post(shop, `${path}/complete`, other, { arrives });
    else if (random.chance(0.7))
      await clients.post(shop, `${path}/fail`, { decline_code: random.pick(declineCodes) });
    else await clients.post(shop, `${path}/expire`, {});
  },
  async (acting) => {
    const { clients, shop, random } = acting;
    const { payment_method_details: details, amount } = any(acting, 'charge');
    const number: string | undefined = details?.cash?.number;
    if (shop.livemode || number === undefined) return;
    const spaced = random.chance(0.5) ? number.replace(/(....)/g, '$1 ').trim() : number;
    const paid = random.chance(0.5) ? amount : random.pick(amounts);
    await clients.post(
      shop,
      '/v1/test_helpers/cash_payments',
      { number: spaced, amount: paid },
      { arrives: paid },
    );
  },
  (acting) => {
    const { clients, shop, random } = acting;
    const enabled_events = random.pick([['*'], ['*', 'charge.failed'], ['charge.failed', 'review.opened']]);
    const url = `https://${random.pick(['hooks', 'private', 'unknown'])}.example/${random.below(9)}`;
    if (random.chance(0.4))
      return clients.post(shop, '/v1/webhook_endpoints', { url, enabled_events }, { isCreation: true });
    const changed = some(acting, { url, enabled_events, disabled: random.chance(0.5) });
    const path = `/v1/webhook_endpoints/${any(acting, 'webhook_endpoint').id}`;
    return clients.post(shop, path, { ...changed, metadata: { changed: 'yes', ...metadata(acting) } });
  },
  (acting) => {
    const { id } = any(acting, 'webhook_endpoint');
    const { random } = acting;
    const cause = causes.operator;
    const commands = [
      { operation: 'roll_secret', params: { overlapSeconds: random.pick([0, 1, 60]) } },
      {
        operation: 'send_sample',
        params: { type: random.pick(['charge.failed', 'payment_intent.succeeded']) },
      },
      { operation: 'resend_failed', params: {} },
    ];
    return tell(acting, { kind: 'command', language: 'en', id, cause, ...random.pick(commands) });
  },
  async (acting) => {
    const { org, livemode } = acting.shop;
    const endpoint = any(acting, 'webhook_endpoint').id;
    const index = fieldIndex('delivery', scopeOf(org, livemode), 'endpoint', endpoint);
    const found = await tell(acting, { kind: 'records', index, limit: 20 });
    const deliveries = JSON.parse(found ?? '[]') as { id: string }[];
    if (deliveries.length === 0) return;
    const { id } = acting.random.pick(deliveries);
    const command = { operation: 'resend_delivery', params: { delivery: id }, cause: causes.operator };
    // Who sees that it has failed again asks once more.
    for (let times = 0; times < 2; times++) {
      await tell(acting, { kind: 'command', language: 'en', id, ...command });
      await acting.clients.wait(acting.random.skewed(10, 3_000));
    }
  },
  (acting) => {
    const { random, world } = acting;
    const object = random.pick(Object.keys(listPaths));
    const seconds = Math.floor(world.clocks.wall() / 1000);
    const filters = {
      limit: random.pick([1, 2, 5, 100]),
      starting_after: any(acting, object).id,
      'created[gte]': seconds - random.below(20),
      'created[gt]': seconds - random.below(20),
      'created[lte]': seconds - random.below(9),
      'created[lt]': seconds - random.below(9),
      created: seconds - random.below(20),
    };
    const given = Object.entries(filters).filter(() => random.chance(0.3));
    const query = given.map(([name, value]) => `${encodeURIComponent(name)}=${value}`).join('&');
    return acting.clients.get(acting.shop, listPaths[object] ?? '', query);
  },
  (acting) => {
    const { random } = acting;
    const path = random.pick(['/v1/events', '/v1/reviews', '/v1/charges', '/v1/refunds', '/v1/account']);
    const before = path === '/v1/charges' ? `&ending_before=${any(acting, 'charge').id}` : '';
    const query = path === '/v1/account' ? '' : `limit=${random.between(1, 20)}${before}`;
    return acting.clients.get(acting.shop, path, query);
  },
];

export async function oddRequest(acting: Act): Promise<void> {
  await acting.random.pick(requests)(acting);
}
