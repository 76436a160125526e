// Cash in live mode, through the generic connector: a real service and the reference integrator. Whatever the integrator
// does, money is credited at most once, none is lost, and nothing is credited for a report that is forged or does not match.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { payments } from '../main/payments-command.ts';
import { limitedOrganization, liveKey, type Service, sampleIn, startService } from '../service.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { webhookEnv } from '../webhooks/service-webhooks.ts';
import { type Misbehaviour, type Payment, ReferenceIntegrator } from './reference-integrator.ts';

const amount = 25_000;
const dataDir = temporaryFolder();
/** The integrator is on this machine, which only development allows. */
const env = { ...webhookEnv, PAYMENTS_SHARDS: '1' };

let service: Service;
let integrator: ReferenceIntegrator;
let org: string;
let key: string;
let count = 0;

const callbackAddress = (to = org, mode = 'live') => `${service.url}/networks/http/${to}/${mode}`;

async function startAgain(): Promise<void> {
  service = await startService({ dataDir, env });
}

before(async () => {
  await startAgain();
  integrator = await ReferenceIntegrator.start();
  ({ id: org } = await limitedOrganization(service, 'Épicerie'));
  key = await liveKey(service, org);
  await service.operate('org.methods', { org, mode: 'live', methods: { cash: true } });
});

/** A live payment intent. */
async function create() {
  return service.call('/v1/payment_intents', {
    key,
    idempotencyKey: `create-${++count}`,
    body: { amount, currency: 'mad', payment_method_types: ['cash'] },
  });
}

/** Confirms a payment, which asks the integrator to issue a code; the answer may come after a restart. */
const confirm = (id: string) =>
  service.call(`/v1/payment_intents/${id}/confirm`, { key, idempotencyKey: `confirm-${id}`, body: {} });

/** A payment whose code can be paid. */
async function issued(): Promise<{ id: string; code: string; voucher: string }> {
  const { json } = await create();
  const { status, json: confirmed } = await confirm(json.id);
  assert.equal(status, 200);
  const { number: code, hosted_voucher_url: voucher } = confirmed.next_action.cash_display_details;
  return { id: json.id, code, voucher };
}

const intentOf = async (id: string) => (await service.call(`/v1/payment_intents/${id}`, { key })).json;

async function reviewsOf(id: string): Promise<{ reason: string; amount_received: number }[]> {
  const { json } = await service.call('/v1/reviews?limit=100', { key });
  return json.data.filter((review: { payment_intent: string }) => review.payment_intent === id);
}

async function pay(payment: Payment, to = callbackAddress()) {
  const response = await integrator.report(to, payment);
  return { status: response.status, json: (await response.json()) as { status?: string; error?: string } };
}

test('without a network there is no live cash, and with one there is', async () => {
  const none = await create();
  assert.deepEqual([none.status, none.json.error.code], [400, 'payment_method_unavailable']);
  const file = join(temporaryFolder(), 'secret');
  writeFileSync(file, `${integrator.secret}\n`);
  const command = ['network', 'set', org, '--mode', 'live', '--network', 'http'];
  const set = await payments(
    '--data-dir',
    dataDir,
    ...command,
    '--address',
    integrator.address,
    '--secret-file',
    file,
    '--agents',
    'Agence Fès, Tabac du Port',
  );
  assert.equal(set.code, 0, set.error);
  assert.match(
    set.out,
    /live +cash +http +0 +address=http:\S+ agents=Agence Fès, Tabac du Port secret=\(sealed\)/,
  );
  const said = [set.out, service.output(), JSON.stringify(await service.operate('network.show', { org }))];
  assert(!said.some((text) => text.includes(integrator.secret)), 'the secret is not shown');
  const checked = await payments('--data-dir', dataDir, '--json', 'network', 'check', org);
  assert.equal(JSON.parse(checked.out).at(-1).problem, null);
  const { json } = await service.call('/v1/account', { key });
  assert.deepEqual(json.payment_methods, { card: 'unavailable', cash: 'available' });
  assert.equal((await create()).status, 200);
});

test('the audit record names the network and not its secret', async () => {
  const { out: output } = await payments('--data-dir', dataDir, '--json', 'audit');
  assert.match(output, /network\.set/);
  assert(!output.includes(integrator.secret));
});

test('a code is issued, paid and credited once, however often it is reported', async () => {
  const { id, code, voucher } = await issued();
  const response = await fetch(voucher, { headers: { 'Accept-Language': 'fr' } });
  assert.match(await response.text(), /Où payer<\/dt>\s*<dd><bdi>Agence Fès, Tabac du Port</);
  assert.equal(integrator.codes.get(code)?.amount, amount);
  const payment = { reference: 'R1', code, amount };
  for (let times = 0; times < 3; times++)
    assert.deepEqual(await pay(payment).then(({ status, json }) => [status, json.status]), [200, 'credited']);
  const intent = await intentOf(id);
  assert.deepEqual([intent.status, intent.amount_received], ['succeeded', amount]);
  const { json: charge } = await service.call(`/v1/charges/${intent.latest_charge}`, { key });
  assert.equal(charge.payment_method_details.cash.agent, 'Agence 12, Fès');
  assert.deepEqual(await reviewsOf(id), []);
});

interface Row {
  readonly what: string;
  readonly paid: number;
  readonly before?: (id: string, code: string) => Promise<unknown>;
  readonly review: string;
  readonly status: string;
}

const rows: readonly Row[] = [
  { what: 'less', paid: amount - 1, review: 'amount_mismatch', status: 'requires_action' },
  { what: 'more', paid: amount + 1, review: 'amount_mismatch', status: 'requires_action' },
  {
    what: 'more than may be asked for',
    paid: 99_999_999_999_999,
    review: 'amount_mismatch',
    status: 'requires_action',
  },
  {
    what: 'a second time, under another reference',
    paid: amount,
    before: (_, code) => pay({ reference: 'first', code, amount }),
    review: 'late_payment',
    status: 'succeeded',
  },
  {
    what: 'after the payment was canceled',
    paid: amount,
    before: (id) =>
      service.call(`/v1/payment_intents/${id}/cancel`, { key, idempotencyKey: `cancel-${id}`, body: {} }),
    review: 'late_payment',
    status: 'canceled',
  },
];

for (const { what, paid, before: first, review, status } of rows) {
  test(`cash that is paid ${what}: one review, nothing credited`, async () => {
    const { id, code } = await issued();
    await first?.(id, code);
    const received = (await intentOf(id)).amount_received;
    const payment = { reference: `odd-${id}`, code, amount: paid };
    for (let times = 0; times < 2; times++)
      assert.deepEqual(await pay(payment).then(({ status, json }) => [status, json.status]), [200, 'review']);
    const intent = await intentOf(id);
    assert.deepEqual([intent.status, intent.amount_received], [status, received]);
    assert.deepEqual(
      (await reviewsOf(id)).map(({ reason, amount_received }) => [reason, amount_received]),
      [[review, paid]],
    );
  });
}

test('a reference that was counted for one payment credits no other one', async () => {
  const [first, second] = [await issued(), await issued()];
  const reference = 'R-twice';
  assert.equal((await pay({ reference, code: first.code, amount })).json.status, 'credited');
  for (let times = 0; times < 2; times++)
    assert.equal((await pay({ reference, code: second.code, amount })).json.status, 'review');
  const intent = await intentOf(second.id);
  assert.deepEqual([intent.status, intent.amount_received], ['requires_action', 0]);
  assert.deepEqual(
    (await reviewsOf(second.id)).map(({ reason, amount_received }) => [reason, amount_received]),
    [['late_payment', amount]],
  );
  assert.equal((await pay({ reference: 'R-own', code: second.code, amount })).json.status, 'credited');
});

test('a canceled code is taken back from the agents', async () => {
  const { id, code } = await issued();
  await service.call(`/v1/payment_intents/${id}/cancel`, { key, idempotencyKey: `cancel-${id}`, body: {} });
  await service.until(() => (integrator.codes.get(code)!.payable ? undefined : true));
  await service.until(async () => {
    const waiting = await service.operate<object[]>('network.waiting', {});
    return waiting.length === 0 ? true : undefined;
  });
});

test('nothing is believed that is not genuine, recent, complete and about a code of this organization', async () => {
  const { id, code } = await issued();
  const paid = { type: 'paid', reference: 'F', code, amount, currency: 'mad', agent: 'x', paid_at: 1 };
  const body = JSON.stringify(paid);
  const old = Math.floor(Date.now() / 1000) - 400;
  const forger = await ReferenceIntegrator.start('another-secret');
  const answers: [string, Promise<Response>][] = [
    ['not_genuine', integrator.post(callbackAddress(), body, forger.sign(body))],
    ['not_genuine', integrator.post(callbackAddress(), body, '')],
    ['not_genuine', integrator.post(callbackAddress(), `${body} `, integrator.sign(body))],
    ['not_genuine', integrator.post(callbackAddress(), body, integrator.sign(body, old))],
    ['invalid', integrator.post(callbackAddress(), '{}', integrator.sign('{}'))],
    ['invalid', integrator.post(callbackAddress(), 'no JSON', integrator.sign('no JSON'))],
    ['unknown_code', integrator.report(callbackAddress(), { reference: 'F', code: '000000000000', amount })],
    [
      'unknown_organization',
      integrator.report(callbackAddress('org_000000000000000000000000'), { reference: 'F', code, amount }),
    ],
  ];
  for (const [error, answer] of answers)
    assert.equal(((await (await answer).json()) as { error: string }).error, error);
  const elsewhere = await integrator.report(callbackAddress(org, 'test'), { reference: 'F', code, amount });
  assert.equal(elsewhere.status, 503);
  await forger.stop();
  assert.equal((await intentOf(id)).status, 'requires_action');
  assert.deepEqual(await reviewsOf(id), []);
});

const tried: readonly Misbehaviour[] = ['down', 'drop', 'error', 'nonsense', 'another'];

for (const misbehaviour of tried) {
  test(`an operation that is answered with "${misbehaviour}" decides nothing: it is asked about, and has one effect`, async () => {
    const effects = integrator.effects('issue');
    integrator.misbehaviours.push(misbehaviour);
    const { code } = await issued();
    assert.equal(integrator.effects('issue'), effects + 1);
    assert.equal(integrator.codes.get(code)?.payable, true);
  });
}

test('an issue that is refused is told, and the payment can be tried again', async () => {
  integrator.misbehaviours.push('refuse');
  const { json } = await create();
  const refused = await confirm(json.id);
  assert.deepEqual([refused.status, refused.json.error.code], [503, 'api_error']);
  assert.equal((await confirm(json.id)).status, 200);
});

interface Waiting {
  readonly payment_intent: string;
  readonly last_error: string | null;
}

test('a network that is removed or gets another address while a call is open: what waits says why, and goes on there', async () => {
  const use = (address: string) =>
    service.operate<{ open_calls: number }[]>('network.set', {
      ...integrator.connecting(org),
      settings: { address },
    });
  await use('http://127.0.0.1:9/operations');
  const { json } = await create();
  const confirmed = confirm(json.id);
  const error = await service.until(async () => {
    const waiting = await service.operate<Waiting[]>('network.waiting', {});
    return waiting.find((call) => call.payment_intent === json.id)?.last_error ?? undefined;
  });
  assert.equal(error, 'connection refused');
  const text = await service.metrics();
  const count = (name: string, label: string) =>
    sampleIn(text, `payments_network_${name}{shard="0",connector="http",mode="live"${label}}`);
  assert.equal(count('calls_waiting', ',state="sent"'), 1);
  assert(count('oldest_call_seconds', ',state="sent"') >= 0);
  assert(count('failures_total', '') >= 1);
  for (const outcome of ['credited', 'repeated', 'review', 'unknown', 'refused'])
    assert(count('callbacks_total', `,outcome="${outcome}"`) >= 1, outcome);
  assert.equal(count('callbacks_total', ',outcome="later"'), 0);
  const left = await service.operate<object[]>('network.remove', { org, mode: 'live', network: 'http' });
  const none = { mode: 'live', method: 'cash', network: 'none', settings: {}, secrets: [], open_calls: 1 };
  assert.deepEqual(left.at(-1), none);
  assert.equal((await use(integrator.address)).at(-1)!.open_calls, 1);
  const { status, json: opened } = await confirmed;
  assert.equal(status, 200);
  const code = opened.next_action.cash_display_details.number;
  assert.equal((await pay({ reference: 'moved', code, amount })).json.status, 'credited');
});

test('killed while an issue is under way: it is asked about, and the code can be paid', async () => {
  const effects = integrator.effects('issue');
  integrator.misbehaviours.push('hang');
  const { json } = await create();
  const answer = confirm(json.id).catch(() => null);
  await service.until(() => (integrator.effects('issue') > effects ? true : undefined));
  await service.kill();
  await answer;
  await startAgain();
  const intent = await service.until(async () => {
    const { status, latest_charge, next_action } = await intentOf(json.id);
    return status === 'requires_action' ? { latest_charge, next_action } : undefined;
  });
  assert.equal(integrator.effects('issue'), effects + 1, 'it had one effect');
  const code = intent.next_action.cash_display_details.number;
  assert.equal((await pay({ reference: 'K1', code, amount })).json.status, 'credited');
});

test('killed at any moment of a report: credited once, and never lost', async () => {
  for (const afterMs of [0, 4, 15]) {
    const { id, code } = await issued();
    const payment = { reference: `K-${afterMs}`, code, amount };
    const answer = pay(payment).catch(() => null);
    await new Promise((resolve) => setTimeout(resolve, afterMs));
    await service.kill();
    const answered = await answer;
    await startAgain();
    if (answered?.status === 200)
      assert.equal((await intentOf(id)).status, 'succeeded', 'it was acknowledged');
    assert.equal((await pay(payment)).json.status, 'credited');
    const intent = await intentOf(id);
    assert.deepEqual([intent.status, intent.amount_received], ['succeeded', amount]);
    assert.deepEqual(await reviewsOf(id), []);
  }
});

test('after the secrets key was rolled, the network can still be used', async () => {
  await service.stop();
  const rolled = await payments('--data-dir', dataDir, 'secrets', 'roll-key');
  assert.match(rolled.out, /^1 secrets?, waiting mails among them, /);
  await startAgain();
  const { code } = await issued();
  assert.equal((await pay({ reference: 'rolled', code, amount })).json.status, 'credited');
});

test('a removed network takes no new payment, and what it reports is asked for again: it is counted once the network is back', async () => {
  const { id, code } = await issued();
  const payment = { reference: 'X', code, amount };
  await service.operate('network.remove', { org, mode: 'live', network: 'http' });
  assert.equal((await create()).json.error.code, 'payment_method_unavailable');
  assert.equal((await integrator.report(callbackAddress(), payment)).status, 503);
  assert.equal((await intentOf(id)).status, 'requires_action');
  await service.operate('network.set', integrator.connecting(org));
  assert.equal((await pay(payment)).json.status, 'credited');
  await integrator.stop();
  await service.stop();
});
