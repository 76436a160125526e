// What clients, customers and operators do, one function for each kind of step. Whom it concerns is chosen among what is
// known by then; where there is nothing suitable, the step makes something or comes to nothing.

import { causes } from '../../../src/domain/cause.ts';
import type { PageOperation } from '../../../src/edge/checkout/page-port.ts';
import { testCards } from '../../../src/networks/test-cards.ts';
import type { InternalRequest } from '../../../src/shard/protocol.ts';
import { Random } from '../kernel/random.ts';
import type { ActKind } from '../plan.ts';
import { badRequest, inOtherWords } from './bad-requests.ts';
import type { Clients, Link, Shop } from './clients.ts';
import { reading } from './edge.ts';
import { exportSome } from './exports.ts';
import type { Fact } from './facts.ts';
import { invitePeople } from './invitations.ts';
import { lookAround } from './look-around.ts';
import { oddBody } from './odd-bodies.ts';
import { oddRequest } from './odd-requests.ts';
import { filterOf, type Operators } from './operators.ts';
import { member } from './people.ts';
import type { Entrance } from './service.ts';
import { settleCalls } from './settled-calls.ts';
import { canceledAmid, paidLive, wholePayment } from './whole-payments.ts';
import type { World } from './world.ts';

export interface ActContext {
  readonly world: World;
  readonly clients: Clients;
  readonly operators: Operators;
  readonly shops: readonly Shop[];
  readonly service: () => Entrance | null;
}

export interface Act extends ActContext {
  readonly random: Random;
  readonly shop: Shop;
}

/** Begins what a step says. */
export function act(context: ActContext, what: ActKind, number: number): void {
  const random = new Random(`${context.world.simulation.seed}/act ${number}`);
  const shop = random.pick(context.shops);
  context.clients.run(() => acts[what]({ ...context, random, shop }));
}

/** An object that the shop knows and that is as wanted. */
export function known(
  { world, shop, random }: Act,
  object: string,
  isWanted: (fact: Fact) => boolean = () => true,
): Fact | null {
  const facts = world.facts.of(shop.org, shop.livemode, object).filter(isWanted);
  // Mostly one of the newest: there is more to do with those.
  return facts.length === 0 ? null : random.pick(random.chance(0.7) ? facts.slice(-6) : facts);
}

const amountOf = (random: Random) => random.between(10_000, 90_000);

async function createIntent(acting: Act): Promise<void> {
  const { clients, shop, random } = acting;
  const customer = random.chance(0.3) ? known(acting, 'customer', ({ end }) => end === null) : null;
  const methods = random.pick([['card'], ['card', 'cash'], ['card', 'cash']]);
  const params = {
    amount: amountOf(random),
    currency: 'mad',
    payment_method_types: methods,
    ...(customer && { customer: customer.id }),
  };
  const answer = await clients.post(shop, '/v1/payment_intents', params, { isCreation: true });
  if (answer?.status === 200 && random.chance(0.5))
    await confirm(acting, (JSON.parse(answer.text) as { id: string }).id);
}

async function confirm({ clients, shop, random }: Act, id: string): Promise<void> {
  await clients.post(shop, `/v1/payment_intents/${id}/confirm`, {
    payment_method_type: random.chance(0.75) ? 'card' : 'cash',
    return_url: 'https://shop.example/back',
  });
}

/** A customer's page asks; nobody asks again. */
export function page(
  { service, world, clients }: Act,
  shop: Shop,
  operation: PageOperation,
  id: string,
  params: object,
): Promise<void> {
  return new Promise((resolve) => {
    world.note(`customer: ${operation} ${id}`);
    const running = service();
    if (running === null) return resolve();
    const command = {
      kind: 'command',
      operation,
      id,
      params,
      language: 'en',
      cause: causes.customer,
    } as const;
    running.ask(shop.org, command, () => {});
    void clients.wait(200).then(resolve);
  });
}

/** A member asks in the dashboard, or a customer on a page; the answer's body, or null without one. */
function ask(
  acting: Act,
  shop: Shop,
  command: object,
  onRefused: (code: string) => void = () => {},
): Promise<string | null> {
  return tell({ ...acting, shop }, { kind: 'command', language: 'en', ...command }, onRefused);
}

/** Tells the shop's shard something beside the API, and nobody says it again. */
export function tell(
  { service, clients, shop }: Pick<Act, 'service' | 'clients' | 'shop'>,
  request: object,
  onRefused: (code: string) => void = () => {},
): Promise<string | null> {
  return new Promise((resolve) => {
    const running = service();
    if (running === null) return resolve(null);
    running.ask(shop.org, request as InternalRequest, (answer) => {
      if (!answer.ok) onRefused(answer.code);
      resolve(answer.ok ? answer.body : null);
    });
    void clients.wait(3_000).then(() => resolve(null));
  });
}

async function createLink(acting: Act): Promise<void> {
  await makeLink(acting, acting.random.chance(0.6));
}

/** Null without an answer. */
export async function makeLink(acting: Act, isForOne: boolean): Promise<Link | null> {
  const { clients, shop, random } = acting;
  const params = {
    order: {
      amount: amountOf(random),
      currency: 'mad',
      payment_method_types: random.pick([['card'], ['card', 'cash']]),
      success_url: 'https://shop.example/done',
    },
    single_use: isForOne,
    lasts_ms: random.pick([null, 3_600_000]),
    made_with: `form-${random.word()}`,
  };
  const scope = { org: shop.org, livemode: shop.livemode };
  const command = { operation: 'create_payment_link', id: '', params, scope, cause: causes.operator };
  // A form that gets no answer is sent again.
  for (let tries = 0; tries < 3; tries++) {
    const body = await ask(acting, shop, command);
    if (body === null) continue;
    const { id } = JSON.parse(body) as { id: string };
    acting.world.note(`member: makes the link ${id}`);
    const link = { id, shop, isForOne, staysOpen: !isForOne && params.lasts_ms === null };
    clients.links.push(link);
    if (random.chance(0.3)) await ask(acting, shop, command);
    return link;
  }
  return null;
}

/** A customer opens a link; the session that it gets, or null. */
export async function enter(acting: Act, link: Link): Promise<string | null> {
  const command = { operation: 'open_payment_link', id: link.id, params: {}, cause: causes.customer };
  const body = await ask(acting, link.shop, command, (code) =>
    acting.world.judge.check(
      'a link that many may pay stays open',
      !(link.staysOpen && code === 'invalid_request'),
      () => `${link.id} is open to nobody`,
    ),
  );
  return body === null ? null : (JSON.parse(body) as { session: string }).session;
}

/** Some customers open a link at once; each goes on with the session that it gets. */
async function openLink(acting: Act): Promise<void> {
  const { clients, random } = acting;
  if (clients.links.length === 0) return;
  const link = random.pick(clients.links);
  const { shop } = link;
  await Promise.all(
    Array.from({ length: random.between(1, 3) }, async () => {
      await tell({ ...acting, shop }, { kind: 'view_link', id: link.id });
      const session = await enter(acting, link);
      if (session === null) return;
      await page(acting, shop, 'choose_method', session, { method: random.pick(['card', 'cash']) });
      const shown = await clients.get(shop, `/v1/checkout/sessions/${session}`);
      if (shown?.status !== 200) return;
      await clients.get(shop, `/v1/payment_intents/${JSON.parse(shown.text).payment_intent}`);
    }),
  );
}

async function changeLink(acting: Act): Promise<void> {
  const { clients, random } = acting;
  if (clients.links.length === 0) return;
  const link = random.pick(clients.links);
  const { id, shop } = link;
  link.staysOpen = false;
  const command = random.chance(0.9)
    ? { operation: 'pause_payment_link', id, params: { paused: random.chance(0.4) }, cause: causes.operator }
    : { operation: 'remove_payment_link', id, params: {}, cause: causes.operator };
  await ask(acting, shop, command);
}

/** The open charge of a payment that the customer is to pay. */
function openCharge(acting: Act): string | null {
  const isOpen = ({ last }: Fact) => last.status === 'requires_action' && last.latest_charge !== null;
  return known(acting, 'payment_intent', isOpen)?.last.latest_charge ?? null;
}

/** A customer pays on the network's page, mostly for what is still to be paid; then it does not ask the service. */
async function payOnNetworkPage(acting: Act): Promise<void> {
  const { world, clients, shop, service, random } = acting;
  const isTried = ({ last }: Fact) => last.latest_charge !== null;
  const charge = random.chance(0.8)
    ? openCharge(acting)
    : (known(acting, 'payment_intent', isTried)?.last.latest_charge ?? null);
  if (charge === null) return paidLive(acting);
  const shown = await clients.get(shop, `/v1/charges/${charge}`);
  const { amount, payment_method_details: details } = shown?.status === 200 ? JSON.parse(shown.text) : {};
  if (details?.type === 'card') world.hostedCards!.pay(shop.org, charge, amount, service);
}

/** The money of a review was given to the merchant, or back to the customer. */
async function decideReview({ clients, shop, service, random, world }: Act): Promise<void> {
  const listed = await clients.get(shop, '/v1/reviews', 'limit=20');
  const reviews =
    listed?.status === 200 ? (JSON.parse(listed.text).data as { id: string; open: boolean }[]) : [];
  const open = reviews.filter((review) => review.open);
  const running = service();
  if (open.length === 0 || running === null) return;
  const { id } = random.pick(open);
  world.note(`operator: closes ${id}`);
  const as = random.pick(['approved', 'refunded']);
  const operation = 'close_review';
  const cause = causes.operator;
  running.ask(shop.org, { kind: 'command', operation, id, params: { as }, language: 'en', cause }, () => {});
  await clients.wait(200);
}

async function payByCard(acting: Act): Promise<void> {
  const { random, shop, world } = acting;
  if (shop.livemode && world.hostedCards !== null) return payOnNetworkPage(acting);
  const charge = openCharge(acting);
  if (charge === null && shop.livemode && world.settings.decidesLate) return paidLive(acting);
  if (charge === null) return;
  const { brand, number, challenge, lingers, decline } = random.pick(testCards);
  const token = `sim_${lingers ? 'later' : 'now'}_${decline ?? 'succeeds'}`;
  const card = { brand, last4: number.slice(-4), exp_month: 12, exp_year: 2030 };
  await page(acting, shop, 'submit_card', charge, { token, card, challenge });
  if (challenge) await page(acting, shop, 'answer_challenge', charge, { passed: random.chance(0.8) });
}

async function payCash(acting: Act): Promise<void> {
  const { clients, shop, random } = acting;
  const charge = openCharge(acting);
  if (charge === null || shop.livemode) return;
  const shown = await clients.get(shop, `/v1/charges/${charge}`);
  const details = shown?.status === 200 ? JSON.parse(shown.text) : null;
  const number = details?.payment_method_details?.cash?.number;
  if (number === undefined) return;
  const amount = random.chance(0.8) ? details.amount : details.amount + 100;
  await clients.post(shop, '/v1/test_helpers/cash_payments', { number, amount }, { arrives: amount });
}

/** A test helper about the open charge of a payment. */
async function help(acting: Act, what: 'complete' | 'fail' | 'expire'): Promise<void> {
  const { clients, shop } = acting;
  const isOpen = ({ last }: Fact) => last.status === 'requires_action' && last.latest_charge !== null;
  const intent = known(acting, 'payment_intent', isOpen)?.last;
  if (intent === undefined || shop.livemode) return;
  const arrives = what === 'complete' ? intent.amount : 0;
  await clients.post(shop, `/v1/test_helpers/charges/${intent.latest_charge}/${what}`, {}, { arrives });
}

async function refund(acting: Act): Promise<void> {
  const { clients, shop, random } = acting;
  const intent = known(acting, 'payment_intent', ({ last }) => last.status === 'succeeded');
  if (intent === null) return help(acting, 'complete');
  const amount = random.chance(0.3) ? {} : { amount: random.between(1_000, 60_000) };
  await clients.post(shop, '/v1/refunds', { payment_intent: intent.id, ...amount }, { isCreation: true });
}

async function flood(acting: Act): Promise<void> {
  const { clients, shop } = acting;
  const requests = Array.from({ length: 60 }, () => clients.send(reading(shop.apiKey, '/v1/account')));
  await Promise.all(requests);
}

/**
 * More at once than a shard is sent, mostly of people who go soon; some of others; and lists meanwhile, which must not show
 * what could still be lost.
 */
async function crowd(acting: Act): Promise<void> {
  const { clients, shop, shops, random, world } = acting;
  if (clients.limits.has(shop.apiKey)) return;
  const other = random.pick(shops.filter(({ org }) => org !== shop.org)) ?? shop;
  const name = `crowd-${world.simulation.tasks}`;
  const ask = (by: Shop, number: number) => {
    const isRead = random.chance(0.3);
    const [notes, note] = sizeOf(random);
    const metadata = Object.fromEntries(Array.from({ length: notes }, (_, i) => [`note${i}`, note]));
    const params = {
      amount: amountOf(random),
      currency: 'mad',
      metadata: { ...metadata, tag: `${name}-${number}` },
    };
    return clients.impatient(
      by,
      {
        apiKey: by.apiKey,
        method: isRead ? 'GET' : 'POST',
        path: '/v1/payment_intents',
        query: isRead ? 'limit=5' : '',
        key: isRead ? null : `${name}-${number}`,
        body: isRead ? '' : JSON.stringify(params),
      },
      random.skewed(1, 8_000),
    );
  };
  const size = random.between(20, 200);
  const asked: Promise<unknown>[] = Array.from({ length: size }, (_, number) =>
    ask(random.chance(0.04) && !clients.limits.has(other.apiKey) ? other : shop, number),
  );
  // Members look at their pages meanwhile.
  for (let i = random.between(0, 40); i > 0; i--) {
    const by = random.pick(shops);
    const kind = random.pick(['limit_levels', 'endpoint_health', 'payment_links'] as const);
    asked.push(tell({ ...acting, shop: by }, { kind, org: by.org, livemode: by.livemode }));
  }
  for (let i = random.between(0, 12); i > 0; i--) {
    await clients.wait(random.skewed(1, 300));
    asked.push(ask(shop, size + i));
  }
  await Promise.all(asked);
}

/** The texts in a request of a crowd: how many, and one of them. In few it takes more than a queue may have. */
function sizeOf(random: Random): readonly [notes: number, note: string] {
  const size = random.unit();
  if (size < 0.02) return [45, 'é'.repeat(490)];
  return [8, 'x'.repeat(size < 0.2 ? 400 : 1)];
}

/** Reads now and then, as people do who look at their payments while the disk is slow. */
async function readOn({ clients, shops, random, world }: Act): Promise<void> {
  const unlimited = shops.filter(({ apiKey }) => !clients.limits.has(apiKey));
  const asked: Promise<void>[] = [];
  for (let i = random.between(5, 25); i > 0; i--) {
    await clients.wait(random.skewed(1, 400));
    const shop = random.pick(unlimited);
    const object = random.pick(Object.keys(listed));
    const fact = random.pick([null, ...world.facts.of(shop.org, shop.livemode, object)]);
    const path = fact === null ? listed[object]! : `${listed[object]}/${fact.id}`;
    const request = reading(shop.apiKey, path);
    asked.push(clients.impatient(shop, request, random.skewed(100, 8_000)));
  }
  await Promise.all(asked);
}

const listed: Readonly<Record<string, string>> = {
  payment_intent: '/v1/payment_intents',
  charge: '/v1/charges',
  refund: '/v1/refunds',
  customer: '/v1/customers',
  'checkout.session': '/v1/checkout/sessions',
  webhook_endpoint: '/v1/webhook_endpoints',
};
export const listPaths = listed;

export async function remove({ clients, shop }: Act, fact: Fact): Promise<void> {
  fact.mayBeDeleted = true;
  await clients.delete(shop, `${listed[fact.object]}/${fact.id}`);
}

const acts: Readonly<Record<ActKind, (acting: Act) => Promise<void>>> = {
  'create intent': createIntent,
  async 'create session'({ clients, shop, random }) {
    const params = { amount: amountOf(random), currency: 'mad', success_url: 'https://shop.example/done' };
    await clients.post(shop, '/v1/checkout/sessions', params, { isCreation: true });
  },
  async 'create customer'({ clients, shop, random }) {
    const params = { email: `c${random.below(4)}@shop.example` };
    await clients.post(shop, '/v1/customers', params, { isCreation: true });
  },
  async 'create endpoint'({ clients, shop, random }) {
    const url = `https://${random.chance(0.1) ? 'private' : 'hooks'}.example/${random.below(1_000)}`;
    const events = random.chance(0.7)
      ? ['*']
      : ['payment_intent.succeeded', 'charge.succeeded', 'refund.created'];
    await clients.post(shop, '/v1/webhook_endpoints', { url, enabled_events: events }, { isCreation: true });
  },
  'create link': createLink,
  'open link': openLink,
  'change link': changeLink,
  async confirm(acting) {
    const intent = known(acting, 'payment_intent', ({ last }) => last.status === 'requires_payment_method');
    if (intent === null) await createIntent(acting);
    else await confirm(acting, intent.id);
  },
  'pay by card': payByCard,
  async 'choose method'(acting) {
    const session = known(acting, 'checkout.session', ({ end }) => end === null);
    if (session !== null)
      await page(acting, acting.shop, 'choose_method', session.id, {
        method: acting.random.pick(['card', 'cash']),
      });
  },
  async 'abandon charge'(acting) {
    const charge = openCharge(acting);
    if (charge !== null) await page(acting, acting.shop, 'abandon_charge', charge, {});
  },
  'complete charge': (acting) => help(acting, 'complete'),
  'fail charge': (acting) => help(acting, acting.random.pick(['fail', 'expire'])),
  'pay cash': payCash,
  async 'update intent'(acting) {
    const { clients, shop, random, world } = acting;
    const intent = known(acting, 'payment_intent');
    if (intent === null) return createIntent(acting);
    const [key, value] = [`k${random.word()}`, `v${random.below(1_000)}`];
    const answer = await clients.post(shop, `/v1/payment_intents/${intent.id}`, {
      metadata: { [key]: value },
    });
    if (answer?.status === 200) world.facts.added(intent.id, key, value);
  },
  async 'cancel intent'(acting) {
    const intent = known(acting, 'payment_intent', ({ end }) => end === null);
    if (intent !== null)
      await acting.clients.post(acting.shop, `/v1/payment_intents/${intent.id}/cancel`, {});
  },
  async 'expire session'(acting) {
    const session = known(acting, 'checkout.session', ({ end }) => end === null);
    if (session !== null)
      await acting.clients.post(acting.shop, `/v1/checkout/sessions/${session.id}/expire`, {});
  },
  async 'update customer'(acting) {
    const customer = known(acting, 'customer', ({ end }) => end === null);
    if (customer === null) return;
    const name = `N${acting.random.below(1_000)}`;
    await acting.clients.post(acting.shop, `/v1/customers/${customer.id}`, { name });
  },
  async 'delete customer'(acting) {
    const customer = known(acting, 'customer', ({ end }) => end === null);
    if (customer !== null) await remove(acting, customer);
  },
  refund,
  async 'decide refund'(acting) {
    const pending = known(acting, 'refund', ({ end }) => end === null);
    if (pending === null || acting.shop.livemode) return;
    const what = acting.random.pick(['succeed', 'fail']);
    await acting.clients.post(acting.shop, `/v1/test_helpers/refunds/${pending.id}/${what}`, {});
  },
  'decide review': decideReview,
  async 'change endpoint'(acting) {
    const endpoint = known(acting, 'webhook_endpoint', ({ end }) => end === null);
    if (endpoint === null) return;
    const params = { disabled: acting.random.chance(0.5), metadata: { changed: 'yes' } };
    await acting.clients.post(acting.shop, `/v1/webhook_endpoints/${endpoint.id}`, params);
  },
  async 'delete endpoint'(acting) {
    const endpoint = known(acting, 'webhook_endpoint', ({ end }) => end === null);
    if (endpoint !== null) await remove(acting, endpoint);
  },
  async retrieve(acting) {
    const object = acting.random.pick([
      'payment_intent',
      'payment_intent',
      'refund',
      'checkout.session',
      'customer',
    ]);
    const fact = known(acting, object);
    if (fact === null) return;
    const answer = await acting.clients.get(acting.shop, `${listed[object]}/${fact.id}`);
    acting.world.judge.check(
      'nothing acknowledged is lost',
      answer === null || answer.status === 200 || acting.world.isDamaged,
      () => `${fact.id} is answered ${answer!.status} ${answer!.text}`,
    );
  },
  async list(acting) {
    const object = acting.random.pick(Object.keys(listed));
    const facts = acting.world.facts.of(acting.shop.org, acting.shop.livemode, object);
    const filter = filterOf(object, acting.random, facts);
    await acting.operators.walk(acting.shop, object, acting.random.between(1, 100), filter);
  },
  async 'send again'({ clients, random }) {
    const settled = clients.keyed.filter(({ answered }) => answered !== null);
    if (settled.length > 0) await clients.again(random.pick(settled));
  },
  async 'use a key again'({ clients, random }) {
    const settled = clients.keyed.filter(({ answered }) => answered !== null);
    if (settled.length > 0) await clients.reuse(random.pick(settled), false);
  },
  async 'reach for another'(acting) {
    const { clients, random, shop, world } = acting;
    const others = [...world.facts.all.values()].filter(
      ({ org, livemode, object }) =>
        (org !== shop.org || livemode !== shop.livemode) && listed[object] !== undefined,
    );
    if (others.length === 0) return;
    const other = random.pick(others);
    const answer = await clients.get(shop, `${listed[other.object]}/${other.id}`);
    world.judge.check(
      'every organization sees only its own',
      answer === null || answer.status !== 200,
      () => `${shop.org} is shown ${other.id} of ${other.org}`,
    );
  },
  flood,
  crowd,
  'read on': readOn,
  'odd request': oddRequest,
  'look around': lookAround,
  export: exportSome,
  'change limit': ({ operators, random, shop }) => operators.changeLimit(shop, random),
  'bad request': badRequest,
  'odd body': oddBody,
  'whole payment': wholePayment,
  'cancel amid payment': canceledAmid,
  'send in other words': inOtherWords,
  operator: ({ operators, random, shop }) => operators.command(shop, random),
  'invite people': ({ operators, random, shop }) => invitePeople(operators, shop, random),
  member,
  async 'settle call'(acting) {
    const { random, shops, clients } = acting;
    const shop = random.pick(shops.filter(({ livemode }) => livemode));
    if (random.chance(0.6)) await paidLive({ ...acting, shop });
    await clients.wait(random.skewed(10, 8_000));
    await settleCalls(acting, shop);
  },
};
