// Request smuggling: a second request behind one that is refused with the end of its connection, or behind a body whose end
// is not certain, never runs, whether they are sent in one segment or in many. The second request belongs to an organization
// that sends nothing else, so the log must have no request of it, and its objects must not change.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { bodyBytesMax, formBytesMax, headerBytesMax } from '../../src/contract/limits.ts';
import { newOrganization, type Service, startService } from '../service.ts';
import { chunked, RawConnection, requestText } from './raw.ts';

type Header = readonly [name: string, value: string];

let service: Service;
let key: string;
let victim: { readonly id: string; readonly key: string };
/** The customer that a smuggled request would delete, and the session that it would choose a method for. */
let customer: string;
let session: string;
let form: { readonly cookie: string; readonly body: string };

before(async () => {
  service = await startService({
    env: { PAYMENTS_LOG_LEVEL: 'info', PAYMENTS_PAGES_VISITS_PER_MINUTE: '100000' },
  });
  ({ key } = await newOrganization(service));
  victim = await newOrganization(service, 'Victim');
  const created = await ask('POST', '/v1/customers', {});
  customer = created.id;
  const opened = await ask('POST', '/v1/checkout/sessions', {
    amount: 20_000,
    currency: 'mad',
    payment_method_types: ['card', 'cash'],
    success_url: 'https://shop.example/',
  });
  session = opened.id;
  const page = await fetch(opened.url);
  const hidden = /name="form_key" value="([^"]+)"/.exec(await page.text())![1]!;
  form = { cookie: page.headers.get('set-cookie')!.split(';')[0]!, body: `form_key=${hidden}&method=cash` };
});
after(() => service.stop());

async function ask(method: string, path: string, body?: object) {
  const idempotencyKey = method === 'POST' ? `setup ${path}` : undefined;
  const answer = await service.call(path, {
    method,
    key: victim.key,
    ...(body !== undefined && { body }),
    ...(idempotencyKey !== undefined && { idempotencyKey }),
  });
  assert.equal(answer.status, 200, answer.text);
  return answer.json;
}

const codings = (...values: string[]): Header[] => values.map((value) => ['Transfer-Encoding', value]);
const authorized = (...headers: Header[]): Header[] => [['Authorization', `Bearer ${key}`], ...headers];
const post = (headers: Header[], body = '') => requestText('POST /v1/customers', headers, body);
const inChunks = (line: string, headers: Header[] = []) =>
  requestText(line, [...headers, ...codings('chunked')], chunked('{}'));

/** A request whose length is hidden. */
const hiding = (line: string, ...headers: Header[]) =>
  requestText(line, [...headers, ['', 'v'], ['Content-Length', '300']]);

/** Requests behind which nothing may run. */
const firsts: Readonly<Record<string, () => string>> = {
  'two lengths, the first 0': () =>
    post([
      ['Content-Length', '0'],
      ['Content-Length', '300'],
    ]),
  'two lengths that agree': () =>
    post(
      [
        ['Content-Length', '2'],
        ['Content-Length', '2'],
      ],
      '{}',
    ),
  'an empty length': () => post([['Content-Length', '']]),
  'a length above the limit': () => post([['Content-Length', String(bodyBytesMax + 1)]]),
  'another coding': () => post(codings('gzip'), chunked('{}')),
  'no coding': () => post(codings('identity'), chunked('{}')),
  'an empty coding': () => post(codings('')),
  'a coding that is none': () => post(codings('xchunked'), chunked('{}')),
  'a coding on top': () => post(codings('gzip, chunked'), chunked('{}')),
  'a coding below': () => post(codings('chunked, identity'), chunked('{}')),
  'a coding twice': () => post(codings('chunked', 'chunked'), chunked('{}')),
  'a coding and another': () => post(codings('chunked', 'identity'), chunked('{}')),
  'two hosts': () => post([['Host', 'other']]),
  'two hosts, outside of the API': () => requestText('GET /healthz', [['Host', 'other']]),
  'two hosts, at a page': () => requestText(`GET /checkout/${session}`, [['Host', 'other']]),
  'two keys': () => post([...authorized(), ...authorized()]),
  'two idempotency keys': () => post(authorized(['Idempotency-Key', 'a'], ['Idempotency-Key', 'b'])),
  'headers that are too large': () => post([['X-Large', 'x'.repeat(headerBytesMax)]]),
  'an address that is too large': () => requestText(`GET /${'x'.repeat(headerBytesMax)}`, []),
  'chunks that are too large': () =>
    post(authorized(...codings('chunked')), chunked('x'.repeat(bodyBytesMax + 1))),
  'chunks that are too small': () => post(authorized(...codings('chunked')), chunked(...' '.repeat(1_000))),
  'chunks with an extension': () => post(authorized(...codings('chunked')), '2;a=b\r\n{}\r\n0\r\n\r\n'),
  'a trailer that is announced': () => post([['Trailer', 'X-Sum'], ...codings('chunked')], chunked('{}')),
  'a form that is too large': () =>
    requestText(`POST /checkout/${session}`, [['Content-Length', String(formBytesMax + 1)]]),
  'a HEAD': () => requestText('HEAD /healthz', []),
  // The parser decides where a body in chunks ends.
  'chunks without a key': () => inChunks('POST /v1/customers'),
  'chunks with a wrong version': () =>
    inChunks('POST /v1/customers', authorized(['X-Service-Version', '2000-01-01'])),
  'chunks to no address': () => inChunks('POST /v1/nothing', authorized()),
  'chunks to no page': () => inChunks('POST /nothing'),
  'chunks to a page': () => inChunks(`POST /checkout/${session}`),
  'chunks of an export': () => inChunks('GET /v1/exports/payment_intents', authorized()),
  'chunks of a GET': () => inChunks('GET /healthz'),
  'chunks of a HEAD': () => inChunks('HEAD /healthz'),
  'a trailer in place of the end': () => post(codings('chunked'), '0\r\nXX'),
  // A header line without a name hides those behind it from the parser and from the service.
  'a length that is hidden': () => hiding('POST /v1/customers'),
  'a length that is hidden behind two colons': () => hiding('POST /v1/customers', ['', ': v']),
  'a length that is hidden behind a key': () => hiding('POST /v1/customers', ...authorized()),
  'a length that is hidden from a DELETE': () => hiding('DELETE /v1/customers/cus_1', ...authorized()),
  'a length that is hidden from an unknown method': () => hiding('FETCH /healthz'),
  'a length that is hidden from a form': () => hiding(`POST /checkout/${session}`),
  'a length that is hidden from the dashboard': () => hiding('POST /dashboard/sign-in'),
  'a length that is hidden from a callback': () => hiding('POST /networks/http/org_1/test'),
  'a trailer behind a body that is taken': () =>
    post(authorized(...codings('chunked')), '2\r\n{}\r\n0\r\nXX'),
};

/** Behind these nothing may run that comes in the same segment. When it comes later, nothing tells it from the next request. */
const firstsInOneSegment: Readonly<Record<string, () => string>> = {
  'a length that is hidden from a GET that is answered at once': () => hiding('GET /healthz'),
  'a length that is hidden from a GET that is refused': () => hiding('GET /v1/account'),
  'a length that is hidden from a GET': () => hiding('GET /v1/account', ...authorized()),
  'a length that is hidden from a GET of a page': () => hiding(`GET /checkout/${session}`),
  'a length that is hidden from a GET of a long document': () => hiding('GET /openapi.json'),
  'a coding that is hidden behind a length': () =>
    requestText('POST /v1/nothing', [['Content-Length', '2'], ['', 'v'], ...codings('chunked')], '{}'),
  'a second length that is hidden behind a length of 0': () =>
    hiding('POST /v1/nothing', ['Content-Length', '0']),
};

const asVictim = (...headers: Header[]): Header[] => [['Authorization', `Bearer ${victim.key}`], ...headers];
const withLength = (line: string, body: string, ...headers: Header[]) =>
  requestText(line, [...headers, ['Content-Length', String(body.length)]], body);
const payment = '{"amount":1000,"currency":"mad"}';

/** Requests that would leave something behind. */
const seconds: Readonly<Record<string, () => string>> = {
  'a payment': () =>
    withLength('POST /v1/payment_intents', payment, ...asVictim(['Idempotency-Key', 'smuggled'])),
  'a payment in chunks': () =>
    requestText(
      'POST /v1/payment_intents',
      asVictim(['Idempotency-Key', 'smuggled'], ['Transfer-Encoding', 'chunked']),
      chunked(payment),
    ),
  'a POST without a body': () => requestText('POST /v1/customers', asVictim()),
  'a GET': () => requestText('GET /v1/account', asVictim()),
  'a DELETE': () => requestText(`DELETE /v1/customers/${customer}`, asVictim()),
  'a form': () => withLength(`POST /checkout/${session}`, form.body, ['Cookie', form.cookie]),
  'a refused one': () => withLength('POST /v1/refunds', '{', ...asVictim(['Content-Length', '2'])),
};

/** Lines of the log about requests of the victim, once all those of requests that were answered by now are there. */
async function victimsRequests(): Promise<number> {
  const { json } = await service.call('/v1/nothing', { key: victim.key });
  const id = json.error.request_id as string;
  await service.until(() => (service.output().includes(id) ? true : undefined));
  return service.output().split(`"org":"${victim.id}"`).length - 1;
}

/** Sends the text, cut in pieces at these places, and sees the connection end with no more than one answer. */
async function assertNothingBehind(what: string, text: string, cuts: readonly number[]): Promise<void> {
  const places = [...new Set([0, ...cuts, text.length])].sort((a, b) => a - b);
  const pieces = places.slice(1).map((end, i) => text.slice(places[i], end));
  const connection = new RawConnection(service.url);
  await connection.send(...pieces);
  await connection.closed();
  const answers =
    connection
      .bytes()
      .toString('latin1')
      .match(/HTTP\/1\.1 \d{3}/g) ?? [];
  assert.ok(answers.length <= 1, `${what}: ${answers.join(', ')}`);
}

/** Runs `send` and finds that it left nothing behind. */
async function assertHarmless(send: () => Promise<void>): Promise<void> {
  const requests = await victimsRequests();
  await send();
  assert.equal(await victimsRequests(), requests + 1, 'no request of the victim was run');
  const [payments, customers] = [await ask('GET', '/v1/payment_intents'), await ask('GET', '/v1/customers')];
  assert.deepEqual([payments.data.length, customers.data.length], [1, 1]);
  assert.equal(payments.data[0].status, 'requires_payment_method');
  assert.equal(payments.data[0].latest_charge, null);
}

const names = (requests: object) => fc.constantFrom(...Object.keys(requests));
/** So many connections are open at a time: most of them take a while to end. */
const atOnce = 60;

test('nothing runs behind a request that ends its connection, in one segment', async () => {
  const pairs = Object.entries({ ...firsts, ...firstsInOneSegment }).flatMap(([first, firstText]) =>
    Object.entries(seconds).map(([second, secondText]) => ({
      what: `${second} behind ${first}`,
      text: () => firstText() + secondText(),
    })),
  );
  await assertHarmless(async () => {
    for (let at = 0; at < pairs.length; at += atOnce) {
      const some = pairs.slice(at, at + atOnce);
      await Promise.all(some.map(({ what, text }) => assertNothingBehind(what, text(), [])));
    }
  });
});

test('nothing runs behind a request that ends its connection, in any segments', async () => {
  const property = fc.asyncProperty(
    fc.array(
      fc.tuple(
        names(firsts),
        names(seconds),
        fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 4 }),
      ),
      {
        minLength: atOnce,
        maxLength: atOnce,
      },
    ),
    async (cases) => {
      await Promise.all(
        cases.map(([first, second, cuts]) => {
          const text = firsts[first]!() + seconds[second]!();
          const places = cuts.map((share) => Math.floor(share * text.length));
          return assertNothingBehind(`${second} behind ${first} at ${places}`, text, places);
        }),
      );
    },
  );
  await assertHarmless(() => fc.assert(property, { numRuns: 2 }));
});

test('nothing runs behind a refusal to a client that takes no answers at all', async () => {
  await assertHarmless(async () => {
    const connection = new RawConnection(service.url);
    connection.socket.pause();
    // Some megabytes of answers. The first that is not taken whole is the last: the next request
    // ends the connection.
    await connection.send(...Array<string>(120).fill(requestText('GET /docs/api/payment-intents', [])));
    await connection.send(post([['Content-Length', '']]), ...Object.values(seconds).map((text) => text()));
    connection.end();
  });
});

test('a request whose length is seen, and a GET without a body, leave their connection open', async () => {
  const connection = new RawConnection(service.url);
  const texts = [
    requestText('GET /healthz', []),
    withLength('POST /v1/nothing', '{}'),
    requestText('GET /v1/account', authorized()),
    withLength('POST /v1/customers', '{}', ...authorized()),
    withLength('DELETE /v1/customers/cus_1', '', ...authorized()),
    requestText('GET /openapi.json', []),
    requestText('GET /v1/nothing', authorized(['X-Empty', ''], ['X-High', 'a\xe9b'])),
  ];
  const answers = await connection.askInTurn(texts);
  connection.end();
  assert.deepEqual(
    answers.map(({ status, headers }) => [status, headers.get('connection')]),
    [200, 401, 200, 200, 404, 200, 404].map((status) => [status, null]),
  );
});
