// Pages by themselves, beside a service that answers as a test says: without an answer they show neither that there is nothing nor a
// form that would do again what may have been done, and what takes much of the service is asked for within bounds.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { loadConfig } from '../../src/config/config.ts';
import { createContext, RecentForms, SettingsChanges } from '../../src/dashboard/context.ts';
import type { ViewPlace } from '../../src/dashboard/layout/row.ts';
import { matchRow } from '../../src/dashboard/layout/table.ts';
import { Searches } from '../../src/dashboard/pages/searches.ts';
import type { Member } from '../../src/directory/members.ts';
import { newOrganization } from '../../src/directory/organization.ts';
import type { Session } from '../../src/directory/sessions.ts';
import type { PaymentSearch } from '../../src/domain/payment-search.ts';
import { operatorServices } from '../../src/main/operator-services.ts';
import type { ApiAnswer, ApiCall, OperatorServices } from '../../src/operator/use-cases/services.ts';
import { hiddenFields } from './fixture.ts';

type Answers = Pick<OperatorServices, 'callApi' | 'askShard' | 'directory'>;

const refusal = (status: number, code: string): ApiAnswer => ({
  ok: false,
  status,
  error: {
    type: status < 500 ? 'invalid_request_error' : 'api_error',
    code,
    message: `it is ${code}`,
  } as never,
});
const away = refusal(503, 'api_error');

/** The answer to a visit of an owner, whose questions are answered so. */
async function visit(path: string, answers: Partial<Answers>, form?: Readonly<Record<string, string>>) {
  const answer = await visited(path, answers, form);
  assert.ok(answer.kind === 'page', path);
  return answer;
}

const searches = new Searches(
  () => 0,
  () => 0,
);
const changes = new SettingsChanges(() => 0);

function visited(
  path: string,
  answers: Partial<Answers>,
  form?: Readonly<Record<string, string>>,
  more: Partial<ViewPlace> = {},
) {
  const [place = '', query = ''] = path.split('?');
  const method = form === undefined ? 'GET' : 'POST';
  const match = matchRow(method, place);
  assert.ok(typeof match === 'object', path);
  const services = { now: () => 0, mail: null, ...answers } as OperatorServices;
  const request = {
    language: 'en',
    address: `/dashboard/org_1/test/${place}`,
    query: new URLSearchParams(query),
    prefix: '',
    problems: {},
    status: 200,
    method,
    form: new URLSearchParams(form),
    gone: new AbortController().signal,
    member: { id: 'mem_1', email: 'amina@souk.ma', name: 'Amina' } as Member,
    session: { formKey: 'key' } as Session,
    organizations: [],
    role: 'owner',
    organization: { ...newOrganization('org_1', 'Souk', 0), id: 'org_1' },
    mode: 'test',
    path: place,
    id: match.id,
    views: [],
    warnings: [],
    ...more,
  } as Partial<ViewPlace> as ViewPlace;
  const audit = { record: (_by: unknown, _action: string, _params: unknown, run: () => unknown) => run() };
  const given = { services, audit: audit as never, searches, recentForms: new RecentForms(), changes };
  return match.row.handle({ ...request, ...createContext(given, request) });
}

test('a refund that may have been made is sent again with the same key', async () => {
  const keys: (string | undefined)[] = [];
  const callApi = async ({ idempotencyKey }: ApiCall) => {
    keys.push(idempotencyKey);
    return away;
  };
  const askShard = () => assert.fail('the shard is away, too');
  let form: Record<string, string> = { amount: '10.00', reason: 'duplicate', idempotency_key: 'first' };
  for (let time = 0; time < 2; time++) {
    const { status, body } = await visit('payments/pi_1/refund', { callApi, askShard }, form);
    assert.equal(status, 503);
    form = hiddenFields(body.toString(), '/dashboard/org_1/test/payments/pi_1/refund');
    assert.deepEqual([form.amount, form.reason], ['10.00', 'duplicate']);
  }
  assert.deepEqual(keys, ['first', 'first']);
});

const endpoint = {
  id: 'we_1',
  org: 'org_1',
  livemode: false,
  status: 'enabled',
  url: 'https://souk.ma/hook',
  enabled_events: ['*'],
};

for (const [path, amount, told] of [
  ['cash', '', 'Give the amount in dirhams'],
  ['cash', '0', 'The smallest amount is MAD\u00a0100.00.'],
  ['cash', '99,99', 'The smallest amount is MAD\u00a0100.00.'],
  ['cash', '1 000 000', 'The largest amount is MAD\u00a0999,999.99.'],
  ['checkout/new', 'ten', 'Give the amount in dirhams'],
  ['checkout/new', '0', 'The smallest amount is MAD\u00a01.00.'],
  ['checkout/new', '1 000 000', 'The largest amount is MAD\u00a0999,999.99.'],
] as const) {
  test(`${path}: ${amount || 'no amount'} is refused, in dirhams`, async () => {
    const askShard = async () => ({ body: '{"payments":[],"stoppedAt":null}' });
    const callApi = () => assert.fail('the amount is refused before');
    const form = { amount, method: 'card', idempotency_key: 'first' };
    const { status, body } = await visit(path, { askShard, callApi }, form);
    assert.equal(status, 400);
    assert.ok(body.toString().includes(told), body.toString().split('role="alert"')[1]?.slice(0, 200));
  });
}

for (const path of ['webhooks/new', 'webhooks/we_1/edit']) {
  test(`${path}: a form without address and events says so at both, in the words of the page`, async () => {
    const callApi = () => assert.fail('the form is refused before');
    const askShard = async () => ({ body: JSON.stringify(endpoint) });
    const { status, body } = await visit(path, { callApi, askShard }, { url: ' ', idempotency_key: 'first' });
    assert.equal(status, 400);
    const told = [...body.toString().matchAll(/<li><a href="#(\w+)">([^<]+)/g)].map(([, ...each]) => each);
    assert.deepEqual(told, [
      ['url', 'Enter an address that begins with https://.'],
      ['enabled_events', 'Choose at least one event.'],
    ]);
  });
}

for (const [path, done] of [
  ['webhooks/new', 'created'],
  ['webhooks/we_1/edit', 'changed'],
  ['webhooks/we_1/disable', 'changed'],
  ['payments/pi_1/cancel', 'cancel'],
] as const) {
  test(`${path}: the second click of a double click waits for the answer of the first`, async () => {
    const answers = [
      refusal(409, 'idempotency_in_progress'),
      { ok: true, body: { id: 'we_1' } } as ApiAnswer,
    ];
    const callApi = async () => answers.shift() ?? assert.fail('there was an answer');
    const askShard = async () => ({ body: JSON.stringify(endpoint) });
    const form = { url: 'https://souk.ma', enabled_events: '*', idempotency_key: 'first' };
    const { status, headers } = await visit(path, { callApi, askShard }, form);
    assert.equal(status, 303);
    const [, location] = headers.find(([name]) => name === 'location')!;
    assert.ok(location.endsWith(`?done=${done}`), location);
  });
}

for (const [when, record, answer] of [
  ['after the first', { ...endpoint, status: 'deleted' }, null],
  ['beside the first', endpoint, refusal(404, 'resource_missing')],
] as const) {
  test(`the second click on Delete, ${when}, finds nothing left to delete`, async () => {
    const callApi = async () => answer ?? assert.fail('it is deleted');
    const askShard = async () => ({ body: JSON.stringify(record) });
    const { status, headers } = await visit('webhooks/we_1/delete', { callApi, askShard }, {});
    const location = headers.find(([name]) => name === 'location')?.[1];
    assert.deepEqual([status, location], [303, '/dashboard/org_1/test/webhooks?done=deleted']);
  });
}

for (const place of ['customers', 'checkout', 'reviews?show=all', 'events']) {
  test(`${place}: a cursor that names nothing gives the first page`, async () => {
    const sums = { amount: 0, currency: 'mad', amount_expected: 0, amount_received: 0 };
    const record = {
      id: 'xx_1',
      created: 0,
      data: { object: {} },
      reason: 'amount_mismatch',
      status: 'open',
    };
    const callApi = async ({ query }: ApiCall): Promise<ApiAnswer> =>
      query?.starting_after === undefined
        ? { ok: true, body: { data: [{ ...record, ...sums }], has_more: false } }
        : refusal(404, 'resource_missing');
    const askShard = async () => ({ body: '[]' });
    const path = `${place}${place.includes('?') ? '&' : '?'}starting_after=evt_gone`;
    const { body } = await visit(path, { callApi, askShard });
    assert.ok(body.includes(`/${place.split('?')[0]}/xx_1`), 'what is there is listed');
    assert.ok(!body.includes('rel="prev"'), 'it is the first page');
  });
}

for (const [received, currency, what] of [
  [20_000, 'eur', /Received<\/dt><dd>.*EUR.200\.00.*Difference<\/dt><dd><bdi>Another currency<\/bdi>/],
  [19_000, '978', /Received<\/dt><dd>.*978.190\.00.*Difference<\/dt><dd><bdi>Another currency<\/bdi>/],
  [20_001, 'mad', /Received<\/dt><dd>.*MAD.200\.01.*Difference<\/dt><dd><bdi>MAD.0\.01/],
] as const) {
  test(`the page of a review of ${received} hundredths of ${currency} where 20,000 of mad were asked for`, async () => {
    const review = { id: 'prv_1', created: 0, open: true, reason: 'amount_mismatch', charge: 'ch_1' };
    const sums = {
      payment_intent: 'pi_1',
      amount_expected: 20_000,
      amount_received: received,
      currency_received: currency,
    };
    const callApi = async () => ({ ok: true, body: { ...review, ...sums } }) as ApiAnswer;
    const { body } = await visit('reviews/prv_1', { callApi });
    assert.match(body.toString(), what);
    assert.doesNotMatch(body.toString(), /Difference<\/dt><dd><bdi>None/);
  });
}

test('an older page of a list is not filtered, and one with a filter is', async () => {
  const callApi = async () => ({ ok: true, body: { data: [], has_more: false } }) as ApiAnswer;
  const clears = async (query: string) => {
    const { body } = await visit(`customers?${query}`, { callApi });
    return body.includes('Clear the filters');
  };
  assert.deepEqual(
    await Promise.all(['starting_after=cus_1', 'ending_before=cus_1', 'done=x', 'email=a'].map(clears)),
    [false, false, false, true],
  );
});

test('the page of a checkout session does not say that a link ends with it', async () => {
  const session = {
    id: 'cs_1',
    amount: 10_000,
    currency: 'mad',
    payment_method_types: ['card'],
    status: 'open',
  };
  const times = { url: 'https://pay.ma/checkout/cs_1', created: 0, expires_at: 0 };
  const callApi = async () => ({ ok: true, body: { ...session, ...times } }) as ApiAnswer;
  const { body } = await visit('checkout/cs_1?done=expire', { callApi });
  const [, main = ''] = body.toString().split('<main');
  assert.match(main, /The session has ended/);
  assert.doesNotMatch(main, /End the link|>Payment link</);
});

test('payment links stand before the newest checkout sessions, and not before older ones', async () => {
  const callApi = async () => ({ ok: true, body: { data: [], has_more: false } }) as ApiAnswer;
  const link = { id: 'pl_1', amount: 10_000, currency: 'mad', state: 'active', ends_at_ms: null };
  const askShard = async () => ({ body: JSON.stringify([link]) });
  const hasLinks = async (query: string) =>
    (await visit(`checkout${query}`, { callApi, askShard })).body.includes('checkout/links/pl_1');
  assert.deepEqual([await hasLinks(''), await hasLinks('?starting_after=cs_1')], [true, false]);
});

test('a list or a thing that nobody can tell of now is trouble, and only what the API does not know is missing', async () => {
  const pages = ['customers', 'checkout', 'reviews?show=all', 'events'];
  const things = ['customers/cus_1', 'checkout/cs_1', 'reviews/prv_1', 'events/evt_1'];
  for (const path of [...pages, ...things])
    assert.equal((await visit(path, { callApi: async () => away })).status, 503, path);
  const missing = async () => refusal(404, 'resource_missing');
  for (const path of things) assert.equal((await visit(path, { callApi: missing })).status, 404, path);
  for (const [callApi, status] of [
    [async () => away, 503],
    [missing, 404],
  ] as const)
    assert.equal((await visit('reviews/prv_1/close', { callApi }, { as: 'approved' })).status, status);
});

test('nobody has what is no e-mail address', async () => {
  const callApi = async () => refusal(400, 'parameter_invalid');
  const askShard = async () => ({ body: JSON.stringify({ payments: [], stoppedAt: null }) }) as never;
  for (const path of ['customers?email=amina', 'payments?q=@shop'])
    assert.equal((await visit(path, { askShard, callApi })).status, 200, path);
});

test('open calls of a shard that is away are not told as none', async () => {
  const calls = { ok: true, body: '[]' };
  const services = (answers: readonly object[]) =>
    operatorServices(
      {} as never,
      {
        supervisor: { clients: answers.map((answer) => ({ handOver: async () => answer })) },
        active: loadConfig({}, join(import.meta.dirname, '../../config')),
      } as never,
    );
  assert.deepEqual(await services([calls, calls]).openNetworkCalls(null, 10), []);
  const failing = services([calls, { ok: false, code: 'api_error', message: 'the shard is recovering' }]);
  await assert.rejects(failing.openNetworkCalls(null, 10), { kind: 'failed', message: /is recovering/ });
});

test('a search by e-mail finds the payments of all customers, or says that they are too many, or not known', async () => {
  const asked: unknown[] = [];
  const askShard = async (_: string, request: object) => {
    asked.push('search' in request && (request.search as PaymentSearch).customers);
    return { body: JSON.stringify({ payments: [], stoppedAt: null }) } as never;
  };
  const customers = (count: number, hasMore: boolean) => async (call: ApiCall) => {
    assert.deepEqual(call.query, { email: 'a@shop.test', limit: '100' });
    const data = Array.from({ length: count }, (_, i) => ({ id: `cus_${i}` }));
    return { ok: true, body: { data, has_more: hasMore } } as ApiAnswer;
  };
  const [list, file] = ['payments?q=a@shop.test', 'payments/export?q=a@shop.test'];
  assert.equal((await visit(list, { askShard, callApi: customers(30, false) })).status, 200);
  assert.equal((asked.at(-1) as string[]).length, 30);
  const exported = await visited(file, { callApi: customers(30, false) });
  assert.ok(exported.kind === 'export' && exported.search?.customers?.length === 30);
  for (const path of [list, file]) {
    const { body } = await visit(path, { askShard, callApi: customers(100, true) });
    assert.match(body.toString(), /More than 100 customers have this address/, path);
    await assert.rejects(visit(path, { askShard, callApi: async () => away }), { kind: 'failed' }, path);
  }
});

test('a text that no payment has is not searched for', async () => {
  const askShard = async (_: string, request: object) => {
    assert.ok(!('search' in request) || (request.search as PaymentSearch).text === null);
    return { body: JSON.stringify({ payments: [], stoppedAt: null }) } as never;
  };
  for (const path of ['payments', 'payments/export']) {
    const { body } = await visit(`${path}?q=${'9'.repeat(1_001)}`, { askShard });
    assert.match(body.toString(), /Search for at most 1,?000 characters/, path);
  }
});

test('an export with filters counts as a search when it begins, and not when its stream asks again', async () => {
  const path = 'payments/export?q=carpet';
  const organization = { ...newOrganization('org_2', 'Medina', 0), id: 'org_2' };
  const kinds = async (count: number, more: Partial<ViewPlace> = {}) => {
    const all = [];
    for (let i = 0; i < count; i++)
      all.push((await visited(path, {}, undefined, { organization, ...more })).kind);
    return new Set(all);
  };
  assert.deepEqual(await kinds(35), new Set(['export']));
  assert.deepEqual(await kinds(1), new Set(['page']));
  assert.deepEqual(await kinds(1, { isRepeated: true }), new Set(['export']));
});

test('the settings of an organization are changed so often in an hour', async () => {
  let made = 0;
  const changeOrganization = async () => void made++;
  const directory = { changeOrganization } as unknown as OperatorServices['directory'];
  const save = () => visit('settings', { directory, askShard: () => assert.fail() }, { name: 'Souk' });
  for (let time = 0; time < 35; time++) assert.equal((await save()).status, 303);
  const { status, body } = await save();
  assert.deepEqual([status, made], [400, 35]);
  assert.match(body.toString(), /The settings were changed too often/);
});
