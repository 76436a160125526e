// What must hold when all is over: nothing is injected any more, every request was answered, and the service has had the
// time to do what it owes. The world outside is compared with what the service says, by the API and by its records.

import { isDeepStrictEqual } from 'node:util';
import { expectedEvents } from '../../../src/domain/expected-events.ts';
import { indexRowsOf } from '../../../src/domain/indexes.ts';
import { subjectOf } from '../../../src/domain/invariants.ts';
import type { StoredRecord } from '../../../src/domain/record.ts';
import { dayTotals, ofKind } from '../../domain/invariants.ts';
import { listPaths } from './acts.ts';
import type { Clients, Shop } from './clients.ts';
import type { Resource } from './facts.ts';
import { followLists } from './followed-lists.ts';
import type { Operators } from './operators.ts';
import { auditPeople } from './people.ts';
import { webhookRetryMs } from './shard-thread.ts';
import type { World } from './world.ts';

export type Records = ReadonlyMap<string, StoredRecord>;

/** By the API: lists, replays, and that each creation made one object. */
export async function auditAnswers(
  world: World,
  clients: Clients,
  operators: Operators,
  shops: readonly Shop[],
): Promise<void> {
  const { judge } = world;
  const random = world.simulation.random('pages');
  const made = new Map<string, string[]>();
  for (const shop of shops) {
    for (const object of Object.keys(listPaths)) {
      const shown: Resource[] = await operators.walk(shop, object, 20);
      for (const { id, metadata } of shown) {
        if (metadata?.tag === undefined || object === 'checkout.session') continue;
        made.set(metadata.tag, [...(made.get(metadata.tag) ?? []), id]);
      }
    }
    await followLists(world, clients, shop, random);
  }
  for (const [tag, ids] of made)
    judge.check('nothing runs twice', ids.length === 1, () => `${tag} made ${ids.join(' and ')}`);
  for (const keyed of clients.keyed) {
    if (keyed.isCreation && keyed.answered !== null && keyed.answered.status !== 200) {
      const ids = made.get(keyed.tag);
      judge.check('nothing runs twice', ids === undefined, () => `${keyed.tag} was refused and made ${ids}`);
    }
    // A key is free when the name of an address was not known.
    const isFree = keyed.answered === null && keyed.operation.startsWith('/v1/webhook_endpoints');
    if (isFree || (keyed.answered !== null && keyed.beganMs % 3 < 1)) await clients.again(keyed);
  }
  await operators.tryKeys(100);
  await auditPeople(world, operators);
}

/** After damage: what is still shown is as it was. */
export async function auditDamaged(
  { facts }: World,
  clients: Clients,
  shops: readonly Shop[],
): Promise<void> {
  for (const shop of shops) {
    for (const [object, path] of Object.entries(listPaths))
      for (const { id } of facts.of(shop.org, shop.livemode, object))
        await clients.get(shop, `${path}/${id}`);
  }
}

/** By the records of all shards. */
export function auditRecordsAtEnd(world: World, clients: Clients, records: Records): void {
  auditMoney(world, clients, records);
  auditHostedCards(world, records);
  auditCancels(world, records);
  auditDayTotals(world, records);
  auditEvents(world, records);
  auditDeliveries(world, records);
  auditCreations(world, clients, records);
  auditLinks(world, clients, records);
}

/** A code that a customer could still pay is taken back from the agents. */
function auditCancels({ judge, bank }: World, records: Records): void {
  const cancels = [...bank.effects.values()].filter(({ action }) => action === 'cancel_cash_code');
  const toldOf = new Set(cancels.map(({ charge }) => charge));
  for (const { id, method, failure_code } of ofKind(records, 'charge')) {
    const isTakenBack = method === 'cash' && failure_code === 'payment_attempt_canceled';
    const isTold = !isTakenBack || toldOf.has(id);
    judge.check('a code that is given up is taken back', isTold, () => `no agent is told of ${id}`);
  }
}

function auditLinks({ judge }: World, clients: Clients, records: Records): void {
  const sessions = ofKind(records, 'checkout_session');
  for (const { id, isForOne } of clients.links) {
    const ofLink = sessions.filter(({ metadata }) => metadata.payment_link === id);
    const paid = ofLink.filter(({ status }) => status === 'complete').map((session) => session.id);
    if (isForOne)
      judge.check(
        'a link for one payment is paid once',
        paid.length <= 1,
        () => `${id}: ${paid.join(' and ')}`,
      );
  }
}

function auditMoney({ judge, bank, hostedCards }: World, clients: Clients, records: Records): void {
  // A test helper that decides a charge takes the place of what the simulated network would have said.
  const helped = new Set(
    clients.keyed.flatMap(({ answered, request: { path } }) =>
      path.startsWith('/v1/test_helpers/charges/') && answered?.status === 200
        ? path.split('/').slice(-2, -1)
        : [],
    ),
  );
  const overruled = new Set(
    ofKind(records, 'charge').flatMap(({ id, authorization }) => (helped.has(id) ? [authorization] : [])),
  );
  const effects = [...bank.effects.values()].filter(
    ({ call, final, livemode }) => final.result === 'done' && (livemode || !overruled.has(call)),
  );
  const sum = (amounts: readonly number[]) => amounts.reduce((total, amount) => total + amount, 0);
  for (const livemode of [false, true]) {
    const ofMode = <T extends { readonly livemode: boolean }>(list: readonly T[]) =>
      list.filter((each) => each.livemode === livemode);
    const charged = ofMode(effects).filter(({ action }) => action === 'authorize_card');
    const done = clients.keyed.filter(
      ({ shop, answered }) => shop.livemode === livemode && answered?.status === 200,
    );
    const paid = livemode && hostedCards !== null ? hostedCards.payments : [];
    const arrived =
      sum([...charged, ...paid].map(({ amount }) => amount)) + sum(done.map(({ arrives }) => arrives));
    const credited = sum(ofMode(ofKind(records, 'payment_intent')).map((intent) => intent.amount_received));
    const underReview = sum(ofMode(ofKind(records, 'review')).map((review) => review.amount_received));
    judge.check(
      'money is conserved',
      credited + underReview === arrived,
      () =>
        `${arrived} centimes arrived in ${livemode ? 'live' : 'test'} mode, ${credited} are credited and ${underReview} under review`,
    );
    if (!livemode) continue;
    const refunded = ofMode(effects).filter(({ action }) => action === 'refund_charge');
    const given = sum(refunded.map(({ amount }) => amount));
    const noted = sum(ofMode(ofKind(records, 'charge')).map(({ amount_refunded }) => amount_refunded));
    judge.check(
      'money is conserved',
      given === noted,
      () => `the network refunded ${given} centimes and the charges say ${noted}`,
    );
  }
}

/** What customers paid on a network's own page: what is credited was paid, and the network has taken it; nothing else has it taken. */
function auditHostedCards({ judge, hostedCards }: World, records: Records): void {
  if (hostedCards === null) return;
  for (const { charge: id, reference, amount, currency, isCaptured, told } of hostedCards.payments) {
    const charge = records.get(id) as Extract<StoredRecord, { kind: 'charge' }>;
    const receipt = charge.receipts.find((each) => each.reference === reference);
    const isCredited = receipt?.credited === true;
    const isWhole = amount === charge.amount && currency === charge.currency;
    const check = (holds: boolean, what: string) =>
      judge.check(
        'what is credited was paid in full, and is captured',
        holds,
        () => `${reference}, ${amount} ${currency}, for ${id}: ${what}`,
      );
    check(receipt !== undefined, 'the service does not know of it');
    check(!isCredited || isWhole, `credited, and ${charge.amount} was to be paid`);
    check(!isCaptured || isWhole, `captured, and ${charge.amount} was to be paid`);
    if (told !== null) check((told === 'review') !== isCredited, `the network was told: ${told}`);
  }
  // A call names the charge, not the payment: of two that are the same the network may take either.
  for (const { id, receipts } of ofKind(records, 'charge')) {
    const credited = receipts.filter((receipt) => receipt.credited).length;
    const captured = hostedCards.payments.filter(
      (payment) => payment.charge === id && payment.isCaptured,
    ).length;
    judge.check(
      'what is credited was paid in full, and is captured',
      credited <= 1 && captured === credited,
      () => `${id} is credited ${credited} times, and captured ${captured} times`,
    );
  }
}

function auditDayTotals({ judge }: World, records: Records): void {
  const { counted, told } = dayTotals(records);
  judge.check(
    'a day’s total is the sum of what was settled',
    isDeepStrictEqual(counted, told),
    () => `the charges and refunds come to ${counted.join(' ')}, and the totals say ${told.join(' ')}`,
  );
}

function auditEvents({ judge }: World, records: Records): void {
  const told = new Map<string, number>();
  for (const event of ofKind(records, 'event')) {
    if (event.sample) continue;
    const name = String([event.type, subjectOf(event)]);
    told.set(name, (told.get(name) ?? 0) + 1);
  }
  for (const record of records.values()) {
    for (const name of expectedEvents(record).map(String)) {
      const count = told.get(name) ?? 0;
      judge.check('every event is there once', count > 0, () => `${record.id} lacks its event ${name}`);
      told.set(name, count - 1);
    }
  }
  for (const [name, left] of told)
    judge.check('every event is there once', left === 0, () => `${left} events ${name} too many`);
}

function auditDeliveries({ judge, receivers, settings }: World, records: Records): void {
  const deliveries = ofKind(records, 'delivery');
  const sent = new Map(deliveries.map((delivery) => [`${delivery.endpoint} ${delivery.event}`, delivery]));
  const attempts = new Map<string, number>();
  for (const { delivery } of ofKind(records, 'attempt'))
    attempts.set(delivery, (attempts.get(delivery) ?? 0) + 1);
  const endpoints = ofKind(records, 'webhook_endpoint');
  for (const [name, delivery] of sent) {
    const { id, status, tries, attempt_count, due_at_ms } = delivery;
    const has = (attempts.get(id) ?? 0) + (delivery.first_at_ms === null ? 0 : 1);
    const endpoint = records.get(delivery.endpoint) as Extract<StoredRecord, { kind: 'webhook_endpoint' }>;
    const isPending = status === 'pending' && endpoint.status !== 'disabled';
    judge.check('every event is delivered', !isPending, () => `${id} is pending still, due at ${due_at_ms}`);
    if (status === 'succeeded')
      judge.check(
        'every event is delivered',
        receivers.accepted.has(name),
        () => `${id} succeeded and nobody got it`,
      );
    judge.check(
      'a delivery is tried as often as its schedule says',
      // Of those that receivers refuse, the oldest go.
      has === attempt_count || (settings.receiversRefuse === true && has < attempt_count),
      () => `${id} counts ${attempt_count} attempts and has ${has}`,
    );
    const most = webhookRetryMs.length + 1;
    const isRight = tries <= most && (status !== 'failed' || tries === most);
    judge.check(
      'a delivery is tried as often as its schedule says',
      isRight,
      () => `${id} is ${status} after ${tries} tries`,
    );
  }
  // An endpoint that was never changed has a delivery of every event since.
  for (const endpoint of endpoints) {
    if (endpoint.status !== 'enabled' || endpoint.metadata.changed !== undefined) continue;
    const { org, livemode, enabled_events, id } = endpoint;
    for (const event of ofKind(records, 'event')) {
      if (event.sample || event.org !== org || event.livemode !== livemode) continue;
      if (event.id.slice(4) < id.slice(3)) continue;
      if (!enabled_events.includes('*') && !enabled_events.includes(event.type)) continue;
      judge.check(
        'every event is delivered',
        sent.has(`${id} ${event.id}`),
        () => `${event.type} ${event.id} has no delivery to ${id}`,
      );
    }
  }
}

/** Each creation that was acknowledged made one record, and no other did. */
function auditCreations({ judge }: World, clients: Clients, records: Records): void {
  const byTag = new Map<string, string[]>();
  for (const record of records.values()) {
    const tag = (record as { metadata?: Record<string, string> }).metadata?.tag;
    // The intent of a session has the session's metadata or none.
    if (tag === undefined || (record.kind === 'payment_intent' && record.checkout_session !== null)) continue;
    byTag.set(tag, [...(byTag.get(tag) ?? []), record.id]);
  }
  for (const { isCreation, answered, tag } of clients.keyed) {
    if (!isCreation || answered === null) continue;
    const made = byTag.get(tag) ?? [];
    const wanted = answered.status === 200 ? 1 : 0;
    const isDeleted = answered.status === 200 && isGone(records, answered.text);
    judge.check(
      'nothing runs twice',
      made.length === wanted || (isDeleted && made.length === 0),
      () => `${tag} was answered ${answered.status} and made ${made.join(' and ') || 'nothing'}`,
    );
  }
}

/** What was deleted keeps no metadata. */
function isGone(records: Records, text: string): boolean {
  const record = records.get((JSON.parse(text) as { id: string }).id);
  return record !== undefined && indexRowsOf(record).length <= 1;
}
