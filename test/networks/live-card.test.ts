// Cards in live mode, through CMI: a real service and the stand-in for the gateway, each a process of its own. Whatever the
// gateway does, and whenever the service is killed: a payment is credited at most once and never for a callback that is forged
// or unequal, what is credited is captured, a refund is made once, and no money is lost.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { browserTest, launchBrowser } from '../edge/checkout/browser.ts';
import { pasteBlock } from '../main/payments-command.ts';
import { amount, CardShop, type Said, type Started, secrets } from './card-shop.ts';
import type { Form } from './cmi-stand-in/client.ts';
import type { ApiFault, CallbackFault, Decision } from './cmi-stand-in/gateway.ts';

let shop: CardShop;
before(async () => {
  shop = await CardShop.open();
});
after(() => shop.close());

/** Every payment of this file. */
const all: Started[] = [];
async function start(): Promise<Started> {
  const started = await shop.start();
  all.push(started);
  return started;
}

async function paid(): Promise<Started> {
  const started = await shop.paid();
  all.push(started);
  return started;
}

async function killAndStartAgain(): Promise<void> {
  await shop.service.kill();
  await shop.startAgain();
}

/** Waits until a condition holds; fails by the assertion that it threw last. */
async function eventually(assertion: () => Promise<void>): Promise<void> {
  let last: unknown;
  const holds = async () => {
    try {
      await assertion();
      return true;
    } catch (error) {
      last = error;
      // The service needs the processor more than the question does.
      await wait(50);
      return undefined;
    }
  };
  await shop.service.until(holds).catch((error) => {
    throw last ?? error;
  });
}

const untouched = { status: 'requires_action', received: 0, reviews: [] } as const;
const credited = { status: 'succeeded', received: amount, reviews: [] } as const;

/** Authorized, captured and voided centimes of the gateway's ledger. */
type Sums = readonly [authorized: number, captured: number, voided: number];
const taken: Sums = [amount, amount, 0];
const held: Sums = [amount, 0, 0];
const nothing: Sums = [0, 0, 0];

async function assertIs({ id, charge }: Started, what: string, said: Said, sums: Sums): Promise<void> {
  assert.deepEqual(await shop.said(id), said, what);
  const { authorized, captured, voided } = await shop.order(charge);
  assert.deepEqual([authorized, captured, voided], sums, what);
}

const page = 'docs/networks/cmi.md';

browserTest('the walk of the documentation, with the customer in real Chromium', async () => {
  const variables = {
    PAYMENTS_LOG_LEVEL: 'silent',
    PAYMENTS_DATA_DIR: shop.dataDir,
    URL: shop.service.url,
    GATEWAY: shop.standIn.url,
    CMI: shop.standIn.folder,
  };
  const begun = await pasteBlock(page, '### A payment through the stand-in', variables);
  assert.equal(begun.code, 0, begun.error);
  const [, ORG = '', KEY = '', PI = ''] = /^export ORG=(\w+) KEY=(\w+) PI=(\w+)$/m.exec(begun.out)!;
  const browser = (await launchBrowser())!;
  try {
    const customer = await browser.newPage();
    await customer.goto(begun.out.trim().split('\n').at(-1)!);
    await customer.locator(`form[action^="${shop.standIn.url}"] button`).click();
    await customer.getByRole('button', { name: 'Approve' }).click();
    await customer.waitForURL(`${shop.service.url}/**`);
    // It is there, whether it is seen or not: after a way through two origins headless Chromium may lay out nothing for long.
    await customer.getByRole('heading', { name: 'Payment complete' }).waitFor({ state: 'attached' });
  } finally {
    await browser.close();
  }
  const ended = await pasteBlock(page, '### The refund and the statement', { ...variables, ORG, KEY, PI });
  assert.equal(ended.code, 0, `${ended.out}${ended.error}`);
  assert.match(ended.out, /^ch_\w+,refund,100\.00,/m);
  const shown = [begun.out, ended.out, shop.service.output()];
  for (const secret of Object.values(secrets))
    assert(!shown.some((text) => text.includes(secret)), 'no secret is shown');
});

test('live cards need CMI, and then its page takes them', async () => {
  const params = { amount, currency: 'mad', payment_method_types: ['card'] };
  const none = await shop.call('/v1/payment_intents', params);
  assert.deepEqual([none.status, none.json.error.code], [400, 'payment_method_unavailable']);
  await shop.connect();
  const [checked] = await shop.service.operate<{ problem: string | null }[]>('network.check', {
    org: shop.org,
  });
  assert.equal(checked!.problem, null);
});

interface Row {
  readonly what: string;
  readonly fault?: CallbackFault;
  readonly decision?: Decision;
  /** What is done when the customer is on CMI's page. */
  readonly first?: (started: Started) => Promise<unknown>;
  readonly now: readonly [Said, Sums];
  /** When the gateway was asked, if that changes anything: money that was found so is captured a while later. */
  readonly asked?: readonly [Said, Sums];
}

const review = (reason: string, received: number, status = 'requires_action'): Said => ({
  status,
  received: 0,
  reviews: [[reason, received]],
});

const rows: readonly Row[] = [
  { what: 'is approved', now: [credited, taken] },
  { what: 'is declined', decision: 'decline', now: [untouched, nothing] },
  { what: "fails the bank's challenge", decision: 'fail_challenge', now: [untouched, nothing] },
  {
    what: 'is approved after another card was declined',
    first: (started) => shop.decide(started, 'decline'),
    now: [credited, taken],
  },
  { what: 'is told twice', fault: 'twice', now: [credited, taken] },
  { what: 'is told twice at the same time', fault: 'twice_at_once', now: [credited, taken] },
  { what: 'is told to nobody', fault: 'dropped', now: [untouched, held], asked: [credited, held] },
  { what: 'loses its answer', fault: 'answer_lost', now: [credited, held], asked: [credited, taken] },
  {
    what: 'is told with another amount',
    fault: 'another_amount',
    now: [review('amount_mismatch', amount + 100), held],
    asked: [
      {
        ...untouched,
        reviews: [
          ['late_payment', amount],
          ['amount_mismatch', amount + 100],
        ],
      },
      held,
    ],
  },
  {
    what: 'is told in another currency',
    fault: 'another_currency',
    now: [review('amount_mismatch', amount), held],
  },
  {
    what: 'is of another amount',
    fault: 'charged_more',
    now: [review('amount_mismatch', amount + 100), [amount + 100, 0, 0]],
  },
  {
    what: 'is told of an order that nobody knows',
    fault: 'another_order',
    now: [untouched, held],
    asked: [credited, held],
  },
  {
    what: 'is made twice',
    fault: 'second_payment',
    now: [{ ...credited, reviews: [['late_payment', amount]] }, [2 * amount, amount, 0]],
  },
  {
    what: 'comes after the payment was canceled',
    first: ({ id }) => shop.call(`/v1/payment_intents/${id}/cancel`, {}),
    now: [review('late_payment', amount, 'canceled'), held],
  },
];
/** Each row's payment. */
const made = new Map<Row, Started>();

for (const row of rows) {
  test(`a payment that ${row.what}`, async () => {
    const started = await start();
    made.set(row, started);
    await row.first?.(started);
    if (row.fault !== undefined) await shop.standIn.misbehave({ oid: started.charge, callback: row.fault });
    await shop.decide(started, row.decision ?? 'approve');
    await assertIs(started, row.what, ...row.now);
  });
}

test('a callback that nobody signed is not believed', async () => {
  const started = await start();
  await shop.standIn.post(started.form);
  for (const change of ['forged', 'another_store_key', 'without_hash'] as const)
    await shop.standIn.callBack(started.charge, change);
  const { callbacks } = await shop.order(started.charge);
  assert.deepEqual(
    callbacks.map(({ answer }) => answer),
    ['FAILURE', 'FAILURE', 'FAILURE'],
  );
  await assertIs(started, 'forged', untouched, nothing);
});

/** The browser brings the customer back from CMI's page. */
async function comeBack({ action, fields }: Form): Promise<Response> {
  const headers = { Origin: shop.standIn.url, 'Sec-Fetch-Site': 'cross-site' };
  const body = new URLSearchParams(fields);
  const returned = await fetch(action, { method: 'POST', body, headers, redirect: 'manual' });
  assert.equal(returned.status, 303);
  return fetch(new URL(returned.headers.get('location')!, action));
}

test('what the browser brings back is shown, not believed; the callback may come after it', async () => {
  const started = await start();
  await shop.standIn.misbehave({ oid: started.charge, callback: 'dropped' });
  const back = await shop.decide(started, 'approve');
  assert.equal(new Map(back.fields).get('ProcReturnCode'), '00');
  assert.equal((await comeBack(back)).status, 200);
  await assertIs(started, 'returned', untouched, held);
  await shop.standIn.callBack(started.charge);
  await assertIs(started, 'told', credited, taken);
});

test('a customer whose card was declined, and who comes back, can pay another way', async () => {
  const started = await start();
  const page = await comeBack(await shop.decide(started, 'decline'));
  assert.equal(page.status, 200);
  await assertIs(started, 'came back', { ...untouched, status: 'requires_payment_method' }, nothing);
  const { json } = await shop.call(`/v1/payment_intents/${started.id}`);
  assert.equal(json.last_payment_error.decline_code, 'insufficient_funds');
});

/** Money that is held, and what goes wrong when it is captured. */
const captures: readonly (readonly [fault: ApiFault, times: number])[] = [
  ['error', 2],
  ['nonsense', 1],
  ['cut_off', 1],
  ['refused', 2],
];

test('killed before it captured or asked: each payment ends as it should', async () => {
  const unanswered = new Map<ApiFault, Started>();
  for (const [fault] of captures) {
    const started = await start();
    unanswered.set(fault, started);
    await shop.standIn.misbehave({ oid: started.charge, callback: 'answer_lost' });
    await shop.standIn.misbehave({ oid: started.charge, api: 'PostAuth', fault });
    await shop.decide(started, 'approve');
    await assertIs(started, fault, credited, held);
  }
  await killAndStartAgain();
  for (const row of rows)
    await eventually(() => assertIs(made.get(row)!, row.what, ...(row.asked ?? row.now)));
  for (const [fault, times] of captures) {
    const started = unanswered.get(fault)!;
    await eventually(() => assertIs(started, fault, credited, taken));
    assert.equal((await shop.order(started.charge)).requests.PostAuth, times, fault);
  }
});

/** What is refunded. */
const part = 10_000;

const refund = ({ id }: Started, key?: string) =>
  shop.call('/v1/refunds', { payment_intent: id, amount: part }, key);

async function assertRefund(
  { charge }: Started,
  refundId: string,
  status: string,
  refunds: number,
  what: string,
): Promise<void> {
  const { json } = await shop.call(`/v1/refunds/${refundId}`);
  const order = await shop.order(charge);
  assert.deepEqual([json.status, order.refunds, order.refunded], [status, refunds, refunds * part], what);
}

const refunds: readonly {
  readonly fault: ApiFault | null;
  readonly status: string;
  readonly made: number;
  readonly sent: number;
}[] = [
  { fault: null, status: 'succeeded', made: 1, sent: 1 },
  { fault: 'error', status: 'succeeded', made: 1, sent: 2 },
  { fault: 'nonsense', status: 'succeeded', made: 1, sent: 1 },
  { fault: 'cut_off', status: 'succeeded', made: 1, sent: 1 },
  { fault: 'refused', status: 'failed', made: 0, sent: 1 },
];

for (const { fault, status, made, sent } of refunds) {
  test(`a refund that is answered with "${fault ?? 'done'}" is made as often as the service says`, async () => {
    const started = await paid();
    if (fault !== null) await shop.standIn.misbehave({ oid: started.charge, api: 'Credit', fault });
    const { status: answered, json, text } = await refund(started);
    assert.equal(answered, 200, text);
    await eventually(() => assertRefund(started, json.id, status, made, fault ?? 'done'));
    assert.equal((await shop.order(started.charge)).requests.Credit, sent);
  });
}

/** The refunds of the calls that wait. */
const waiting = async () =>
  (await shop.service.operate<{ payment_intent: string; action: string }[]>('network.waiting', {}))
    .filter(({ action }) => action === 'refund_charge')
    .map((call) => call.payment_intent);

test('killed again: what was found is captured, what a closed review holds is given up, refunds are made once', async () => {
  const late = rows.find(({ what }) => what === 'comes after the payment was canceled')!;
  const [review] = await shop.reviewsOf(made.get(late)!.id);
  await shop.service.operate('review.close', { review: review!.id, as: 'refunded' });
  const [lost, early, slow] = [await paid(), await paid(), await paid()];
  await shop.standIn.set({ keepsTransId: false });
  await shop.standIn.misbehave({ oid: lost.charge, api: 'Credit', fault: 'cut_off' });
  const lostRefund = (await refund(lost)).json.id;
  await eventually(async () => assert.equal((await shop.order(lost.charge)).refunds, 1));
  await shop.standIn.set({ keepsTransId: true, settled: false });
  const earlyRefund = (await refund(early)).json.id;
  await eventually(async () => assert.equal((await shop.order(early.charge)).requests.Credit, 1));
  await shop.standIn.set({ settled: true });
  await shop.standIn.misbehave({ oid: slow.charge, api: 'Credit', fault: 'held' });
  const slowRefund = (await refund(slow)).json.id;
  await eventually(async () => assert.equal((await shop.order(slow.charge)).refunds, 1));
  await assertRefund(slow, slowRefund, 'pending', 1, 'slow');
  await killAndStartAgain();
  await shop.standIn.release();
  for (const row of rows.filter(({ asked }) => asked?.[0] === credited))
    await eventually(() => assertIs(made.get(row)!, row.what, credited, taken));
  await eventually(() => assertIs(made.get(late)!, 'released', late.now[0], [0, 0, amount]));
  await eventually(() => assertRefund(slow, slowRefund, 'succeeded', 1, 'slow'));
  await eventually(() => assertRefund(early, earlyRefund, 'succeeded', 1, 'before the day was closed'));
  await eventually(async () => {
    const { requests } = await shop.order(lost.charge);
    assert.ok(requests.ORDERHISTORY! > 1, 'it was asked about');
  });
  await assertRefund(lost, lostRefund, 'pending', 1, 'nobody can tell');
  assert.deepEqual(await waiting(), [lost.id]);
});

test('killed at any moment of a callback and of a refund: credited, captured and refunded once', async () => {
  const killed: Started[] = [];
  for (const [afterMs, isTold] of [
    [0, false],
    [6, true],
  ] as const) {
    const [bought, returned] = [await start(), await paid()];
    killed.push(bought);
    const answers = [shop.decide(bought, 'approve'), refund(returned, `refund-${afterMs}`).catch(() => null)];
    await wait(afterMs);
    await shop.service.kill();
    await Promise.all(answers);
    await shop.startAgain();
    if (isTold) await shop.standIn.callBack(bought.charge);
    const again = await refund(returned, `refund-${afterMs}`);
    assert.equal(again.status, 200, again.text);
    await eventually(async () => assert.deepEqual(await shop.said(bought.id), credited, `${afterMs} ms`));
    await eventually(() => assertRefund(returned, again.json.id, 'succeeded', 1, `${afterMs} ms`));
  }
  await killAndStartAgain();
  for (const bought of killed) await eventually(() => assertIs(bought, 'captured', credited, taken));
});

test('in the end every payment is as the gateway has it, and was told to have succeeded once', async () => {
  const told = new Map<string, number>();
  for (let after = ''; ; ) {
    const { json } = await shop.call(`/v1/events?type=payment_intent.succeeded&limit=100${after}`);
    for (const { data } of json.data) told.set(data.object.id, (told.get(data.object.id) ?? 0) + 1);
    if (!json.has_more) break;
    after = `&starting_after=${json.data.at(-1).id}`;
  }
  assert.ok(all.length > 25);
  for (const { id, charge } of all) {
    const said = await shop.said(id);
    const order = await shop.order(charge);
    const isCredited = said.status === 'succeeded';
    assert.deepEqual([order.captured, told.get(id) ?? 0], isCredited ? [amount, 1] : [0, 0], id);
    if (order.authorized > order.captured) assert.ok(said.reviews.length > 0, `${id}: somebody looks at it`);
  }
});
