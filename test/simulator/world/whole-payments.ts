// Payments from their beginning to their end, by one customer and one merchant who go on without pauses, and what people do to
// endpoints that way: so that every run comes upon what a chain of chances seldom reaches.

import { causes } from '../../../src/domain/cause.ts';
import { type Act, enter, makeLink, page, remove, tell } from './acts.ts';
import type { Resource } from './facts.ts';
import { lookAt } from './look-around.ts';

const amount = 50_000;
const card = { brand: 'visa', last4: '4242', exp_month: 12, exp_year: 2030 };
const askedTriesMax = 40;

/** What a command answers when it is not refused. */
async function done(
  { clients, shop }: Act,
  path: string,
  params: object = {},
  arrives = 0,
): Promise<Resource | null> {
  const answer = await clients.post(shop, path, { ...params }, { arrives });
  return answer?.status === 200 ? JSON.parse(answer.text) : null;
}

async function shown({ clients, shop }: Act, path: string): Promise<Resource | null> {
  const answer = await clients.get(shop, path);
  return answer?.status === 200 ? JSON.parse(answer.text) : null;
}

/** A session of which its customer has chosen a method; its open charge. */
async function opened(acting: Act, method: 'card' | 'cash'): Promise<Resource | null> {
  const { random } = acting;
  const session = await done(acting, '/v1/checkout/sessions', {
    ...{ amount, currency: 'mad', payment_method_types: ['card', 'cash'] },
    ...{ success_url: 'https://shop.example/done', client_reference_id: `r${random.below(9)}` },
    ...{ description: `Order ${random.below(9)}`, metadata: { order: `o${random.below(9)}` } },
  });
  return session === null ? null : chosen(acting, session.id, method);
}

/** The customer of a session chooses a method; its open charge. */
async function chosen(acting: Act, id: string, method: 'card' | 'cash'): Promise<Resource | null> {
  await page(acting, acting.shop, 'choose_method', id, { method });
  await tell(acting, { kind: 'view_payment', id });
  const session = await shown(acting, `/v1/checkout/sessions/${id}`);
  const intent = session && (await shown(acting, `/v1/payment_intents/${session.payment_intent}`));
  return intent?.latest_charge ? shown(acting, `/v1/charges/${intent.latest_charge}`) : null;
}

const helper = (charge: Resource, what: string) => `/v1/test_helpers/charges/${charge.id}/${what}`;

/** Paid by card, and paid back in parts; then there is no more to pay back. */
async function paidBack(acting: Act): Promise<void> {
  const charge = await opened(acting, 'card');
  if (charge === null || (await done(acting, helper(charge, 'complete'), {}, amount)) === null) return;
  const about = { charge: charge.id, reason: 'requested_by_customer' };
  for (const part of [20_000, 30_001, undefined]) {
    const refund = await done(acting, '/v1/refunds', { ...about, amount: part });
    // What the network says of it later changes nothing.
    if (refund !== null && acting.random.chance(0.3))
      await done(acting, `/v1/test_helpers/refunds/${refund.id}/${acting.random.pick(['fail', 'succeed'])}`);
  }
  await done(acting, '/v1/refunds', about);
  await lookAt(acting, charge);
}

/** The customer pays by card: on the service's page, or on the network's own, unless somebody has chosen cash meanwhile. */
async function pays(acting: Act, charge: Resource, token: string): Promise<void> {
  const { world, shop, service } = acting;
  if (charge.payment_method_details?.type !== 'card') return;
  if (shop.livemode && world.hostedCards !== null)
    world.hostedCards.pay(shop.org, charge.id, amount, service);
  else await page(acting, shop, 'submit_card', charge.id, { token, card, challenge: false });
}

/** Paid by card in live mode, and paid back in two parts. */
export async function paidLive(acting: Act): Promise<void> {
  const charge = await opened(acting, 'card');
  if (charge === null) return;
  await pays(acting, charge, 'sim_now_succeeds');
  await acting.clients.wait(1_000);
  for (const part of [20_000, undefined])
    await done(acting, '/v1/refunds', { charge: charge.id, amount: part });
}

/** A code for cash: refused by the agents, or paid too late, or with other money. */
async function cashAstray(acting: Act): Promise<void> {
  const charge = await opened(acting, 'cash');
  const number = charge?.payment_method_details?.cash?.number;
  if (number === undefined) return;
  const pay = (paid: number) =>
    done(acting, '/v1/test_helpers/cash_payments', { number, amount: paid }, paid);
  if (acting.random.chance(0.5)) await done(acting, helper(charge, 'fail'));
  else await pay(amount - 1);
  await pay(amount);
  await done(acting, '/v1/refunds', { charge: charge.id });
  const reviews = await shown(acting, '/v1/reviews');
  const open = (reviews?.data ?? []).filter((review: Resource) => review.charge === charge.id);
  for (const { id } of open) {
    const command = { operation: 'close_review', id, params: { as: 'approved' }, cause: causes.operator };
    await tell(acting, { kind: 'command', language: 'en', ...command });
  }
  await lookAt(acting, charge);
}

/** A customer opens a link for one payment while another one’s payment is on its way, and tries to pay, too. */
async function linkForTwo(acting: Act): Promise<void> {
  const link = await makeLink(acting, true);
  if (link === null) return;
  for (let customers = 0; customers < 2; customers++) {
    const session = await enter(acting, link);
    const charge = session && (await chosen(acting, session, 'card'));
    if (charge) await pays(acting, charge, 'sim_later_succeeds');
  }
}

/** The merchant cancels what its customer is paying: the network has been asked, and says later what became of it. */
export async function canceledAmid(acting: Act): Promise<void> {
  const { world, clients, shop, random } = acting;
  const method = !shop.livemode && random.chance(0.3) ? 'cash' : 'card';
  const charge = await opened(acting, method);
  if (charge === null) return;
  const number = charge.payment_method_details?.cash?.number;
  const isOnOwnPage = method === 'card' && !(shop.livemode && world.hostedCards !== null);
  const paid =
    method === 'card'
      ? pays(acting, charge, 'sim_later_succeeds')
      : done(acting, '/v1/test_helpers/cash_payments', { number, amount }, amount);
  for (let tries = 0; isOnOwnPage && !world.bank.wasAsked(charge.id) && tries < askedTriesMax; tries++)
    await clients.wait(20);
  await clients.wait(random.skewed(1, isOnOwnPage ? 2_000 : 100));
  await done(acting, `/v1/payment_intents/${charge.payment_intent}/cancel`);
  await paid;
  await lookAt(acting, charge);
}

/** Card after card is declined, until the payment takes no more. */
async function declined(acting: Act): Promise<void> {
  const intent = await done(acting, '/v1/payment_intents', {
    ...{ amount, currency: 'mad', payment_method_types: ['card', 'cash'] },
  });
  if (intent === null) return;
  const path = `/v1/payment_intents/${intent.id}`;
  for (let tries = 0; tries < 11; tries++) {
    const confirmed = await done(acting, `${path}/confirm`, { payment_method_type: 'card' });
    if (confirmed === null) break;
    await done(acting, helper({ id: confirmed.latest_charge }, 'fail'), { decline_code: 'lost_card' });
  }
  await done(acting, `${path}/cancel`, { cancellation_reason: 'abandoned' });
  await lookAt(acting, intent);
}

/** More is sent to an endpoint by hand than it takes, and two change it at once. */
async function endpoint(acting: Act): Promise<void> {
  const url = `https://hooks.example/${acting.random.below(9)}`;
  const made = await done(acting, '/v1/webhook_endpoints', { url, enabled_events: ['review.closed'] });
  if (made === null) return;
  const { id } = made;
  const give = (operation: string, params: object) =>
    tell(acting, { kind: 'command', language: 'en', id, operation, params, cause: causes.operator });
  const sample = () => give('send_sample', { type: 'charge.failed' });
  await give('roll_secret', { overlapSeconds: acting.random.pick([1, 60]) });
  // Both secrets count for a while.
  if (!acting.shop.livemode) await sample();
  await acting.clients.wait(1_100);
  if (!acting.shop.livemode) await Promise.all(Array.from({ length: 32 }, sample));
  await give('resend_failed', {});
  await give('resend_failed', {});
  const path = `/v1/webhook_endpoints/${id}`;
  const change = (at: string) => done(acting, path, { url: `${url}${at}`, metadata: { changed: 'yes' } });
  await Promise.all([change('/a'), change('/b')]);
  const fact = acting.world.facts.all.get(id);
  if (fact !== undefined) await remove(acting, fact);
  await done(acting, path, { disabled: true });
}

export async function wholePayment(acting: Act): Promise<void> {
  const { random, shop } = acting;
  if (shop.livemode) return endpoint(acting);
  await random.pick([paidBack, paidBack, cashAstray, cashAstray, declined, endpoint, linkForTwo, linkForTwo])(
    acting,
  );
}
