// Junk in every header, path, query, form and body of every route, page, callback and room of the dashboard, signed in and not:
// no thread may end, and nothing may be answered by an exception. FUZZ_SEED repeats a run, and FUZZ_SECONDS
// makes a longer one.

import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { connect } from 'node:net';
import { after, before, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { exampleRequests } from '../../src/contract/openapi/operations.ts';
import { routeTable } from '../../src/contract/routes/table.ts';
import { signatureHeader } from '../../src/crypto/signed-message.ts';
import { dashboardRows } from '../../src/dashboard/layout/table.ts';
import { publicRoutes } from '../../src/dashboard/people/public-routes.ts';
import { type Field, hashOf, signedFields } from '../../src/networks/cmi/hash.ts';
import { type Dashboard, hiddenFields, newMember, startDashboard, Visitor } from '../dashboard/fixture.ts';
import { webhookEnv } from '../webhooks/service-webhooks.ts';
import {
  beforeId,
  cmiClient,
  connectNetworks,
  customersForms,
  type FoundForm,
  integratorSecret,
  lookAround,
  openShop,
  type Reporter,
  type Surroundings,
  storeKey,
  strangersForms,
} from './fuzz-targets.ts';
import { Chance, Junk } from './junk.ts';

const seed = Number(process.env.FUZZ_SEED ?? randomInt(2 ** 31));
const seconds = Number(process.env.FUZZ_SECONDS ?? 12);
const connectionsAtOnce = 24;
/** Nothing is answered to a request that the parser refuses. */
const answerMsMax = 150;

/** Each request has a chance of its own, so that it is the same whatever was answered before it. */
let chance = new Chance(seed);
let junk = new Junk(chance);
let dashboard: Dashboard;
let owner: Visitor;
/** The forms that must have been found, so that junk gets behind the checks of where they come from. */
const foundShapes = [
  '/checkout/*',
  '/pay/*',
  '/pay/*/challenge',
  '/voucher/*/change',
  '/dashboard/sign-in',
  '/dashboard/invite/*',
];
let customer: Visitor;
let stranger: Visitor;
let ids: readonly string[] = [];
let pages: readonly string[] = [];
let around: Surroundings;
let reporters: readonly Reporter[] = [];
let formKey: Record<string, string> = {};
/** Of customers, and of people who are not signed in: such forms are used up, so they are read again and again. */
let forms: { readonly customers: readonly FoundForm[]; readonly strangers: readonly FoundForm[] };

before(async () => {
  dashboard = await startDashboard({
    PAYMENTS_LOG_LEVEL: 'warn',
    ...webhookEnv,
    PAYMENTS_REQUEST_TIMEOUT_MS: '10000',
  });
  reporters = await connectNetworks(dashboard);
  ({ ids, pages } = await openShop(dashboard));
  await signIn();
  around = await lookAround(dashboard, owner, ids);
  assert.deepEqual(
    ids.filter((id) => id !== dashboard.org && ![...around.idsBelow.values()].flat().includes(id)),
    [],
    'every object is found somewhere',
  );
  customer = new Visitor(dashboard.service.url);
  stranger = new Visitor(dashboard.service.url);
  await readForms();
  const shapes = [...forms.customers, ...forms.strangers].map(({ path }) => path.replace(/[\w-]{20,}/, '*'));
  assert.deepEqual(shapes, foundShapes);
});
after(() => dashboard.stop());

let members = 0;

async function signIn(): Promise<void> {
  owner = await newMember(dashboard, 'owner', `owner-${++members}@souk.ma`);
  const { body } = await owner.get('/dashboard/me');
  formKey = hiddenFields(body, '/dashboard/me/name');
  assert.notEqual(Object.keys(formKey).length, 0, body);
}

async function readForms(): Promise<void> {
  forms = {
    customers: await customersForms(dashboard, customer),
    strangers: await strangersForms(dashboard, stranger),
  };
}

const filled = (path: string) =>
  path.replace(/\{\w+\}/g, () => {
    if (chance.is(0.2)) return junk.segment();
    return chance.oneOf(chance.is(0.8) ? (around.idsBelow.get(beforeId(path)) ?? ids) : ids);
  });
const junkPath = (path: string) =>
  chance.is(0.93)
    ? path
    : path
        .split('/')
        .map((part) => (chance.is(0.3) ? junk.segment() : part))
        .join('/');
const report = {
  type: 'cash.paid',
  number: '123456789012',
  amount: 20_000,
  currency: 'mad',
  reference: 'x',
  id: 'x',
};
/** What CMI posts about a payment that was declined: one that was made ends the charge. */
const cmiFields = (charge: string): Field[] => [
  ['oid', charge],
  ['amount', '200.00'],
  ['currency', '504'],
  ['Response', 'Declined'],
  ['ProcReturnCode', '51'],
  ['hashAlgorithm', 'ver3'],
  ['TransId', 'transaction-1'],
  ['trantype', 'Auth'],
  ['clientid', cmiClient],
  ['mdStatus', '1'],
  ['AuthCode', '123456'],
  ['maskedCreditCard', '4242***4242'],
  ['EXTRA.CARDBRAND', 'VISA'],
  ['Ecom_Payment_Card_ExpDate_Month', '12'],
  ['Ecom_Payment_Card_ExpDate_Year', '30'],
];
const queryNames = [
  ...'lang next q done before from again created[gte] created[lt]'.split(' '),
  ...new Set(
    routeTable.flatMap(({ kind, params }) => (kind === 'command' ? [] : Object.keys(params.properties))),
  ),
];

function requestOf(
  method: string,
  path: string,
  headers: Record<string, string>,
  body: string | null,
): string {
  const sent = chance.is(0.95) ? method : chance.oneOf(['PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD', 'X']);
  const line = `${sent} ${junkPath(path)}${junk.query(queryNames)} HTTP/1.1\r\nHost: test\r\n`;
  if (body === null) return `${line}${junk.headers(headers)}\r\n\r\n`;
  if (chance.is(0.1)) {
    const chunk = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
    return `${line}${junk.headers({ ...headers, 'Transfer-Encoding': 'chunked' })}\r\n\r\n${chunk}`;
  }
  const length = chance.is(0.97) ? body.length : chance.oneOf([0, body.length + 5, 1e9]);
  return `${line}${junk.headers({ ...headers, 'Content-Length': String(length) })}\r\n\r\n${body}`;
}

function apiRequest(): string {
  const route = chance.oneOf(routeTable);
  const headers: Record<string, string> = chance.is(0.9) ? { Authorization: `Bearer ${dashboard.key}` } : {};
  if (chance.is(0.8))
    headers['Idempotency-Key'] = chance.is(0.8) ? String(chance.next()) : junk.headerValue();
  const body = route.method === 'POST' ? junk.jsonBody(exampleRequests[route.operation]) : null;
  return requestOf(route.method, filled(route.path), headers, body);
}

/** A form in one of the ways in which browsers, and others, send them. */
function formRequest(
  path: string,
  cookie: string,
  kept: Readonly<Record<string, string>>,
  names = around.fieldNames,
): string {
  const isMultipart = chance.is(0.3);
  const type = isMultipart ? 'multipart/form-data; boundary=x' : 'application/x-www-form-urlencoded';
  const headers: Record<string, string> = { 'Content-Type': chance.is(0.8) ? type : junk.contentType() };
  if (cookie !== '') headers.Cookie = cookie;
  if (chance.is(0.9)) headers['Sec-Fetch-Site'] = 'same-origin';
  return requestOf('POST', path, headers, isMultipart ? junk.multipart(names, kept) : junk.form(names, kept));
}

function dashboardRequest(): string {
  // Passwords take turns, so there are few.
  if (chance.is(0.02)) return foundFormRequest(forms.strangers, stranger);
  const isSignedIn = chance.is(0.8);
  const cookie = isSignedIn ? owner.cookie : chance.is(0.3) ? junk.headerValue(16_000) : '';
  const isRow = chance.is(0.8);
  const row = chance.oneOf(isRow ? dashboardRows : publicRoutes);
  // Signing in costs more than all the others.
  if (row.path === '/sign-out' && chance.is(0.95)) return siteRequest();
  const start = isRow
    ? `/dashboard/${dashboard.org}/${chance.oneOf(['test', 'test', 'live'])}/`
    : '/dashboard';
  const path = start + filled(row.path);
  if (row.method === 'GET') return requestOf('GET', path, cookie === '' ? {} : { Cookie: cookie }, null);
  return formRequest(
    path,
    cookie,
    chance.is(0.9) ? { ...formKey, idempotency_key: String(chance.next()) } : {},
  );
}

function foundFormRequest(found: readonly FoundForm[], { cookie }: Visitor): string {
  const { path, kept, names } = chance.oneOf(found);
  return formRequest(path, cookie, kept, names);
}

function pageRequest(): string {
  if (chance.is(0.4)) return foundFormRequest(forms.customers, customer);
  const path = chance.oneOf(pages);
  return chance.is(0.5) ? requestOf('GET', path, {}, null) : formRequest(path, '', {});
}

function callbackRequest(): string {
  const { network, org, charge } = chance.oneOf(reporters);
  const path = `/networks/${network}/${org}/${chance.is(0.9) ? 'live' : 'test'}`;
  return network === 'http' ? integratorRequest(path) : cmiRequest(path, charge!);
}

function integratorRequest(path: string): string {
  const body = junk.jsonBody({ ...report, charge: chance.oneOf(ids) });
  const secrets = [integratorSecret];
  const timestampSeconds = Math.floor(Date.now() / 1000);
  const signature = signatureHeader({ secrets, timestampSeconds, body: Buffer.from(body, 'latin1') });
  return requestOf('POST', path, chance.is(0.8) ? { 'X-Service-Signature': signature } : {}, body);
}

function cmiRequest(path: string, charge: string): string {
  const genuine = cmiFields(charge);
  const fields = genuine
    .filter(() => chance.is(0.97))
    .map(([name, value]): Field => [name, chance.is(0.1) ? junk.text(200) : value]);
  const hash = hashOf(signedFields(fields), storeKey).toString('base64');
  const all = chance.is(0.8) ? [...fields, ['HASH', hash] as const] : fields;
  const body = all.map(([name, value]) => `${name}=${escape(value)}`).join('&');
  return requestOf(
    'POST',
    path,
    {},
    chance.is(0.8)
      ? body
      : junk.form(
          genuine.map(([name]) => name),
          {},
        ),
  );
}

const others = [
  '/healthz',
  '/readyz',
  '/openapi.json',
  '/',
  '/docs',
  '/docs/search',
  '/docs/api/refunds',
  '/logos/x',
  '/logos/{id}',
];
const siteRequest = () => requestOf('GET', filled(chance.oneOf(others)), {}, null);
const kinds = [
  apiRequest,
  apiRequest,
  dashboardRequest,
  dashboardRequest,
  pageRequest,
  callbackRequest,
  siteRequest,
];

/** The requests by their ids, to tell which of them failed. */
const sentAs = new Map<string, string>();
const statuses = new Map<number, number>();

/** Sends a request, perhaps in pieces or not to its end, and waits for an answer. */
function send(text: string): Promise<void> {
  const { hostname, port } = new URL(dashboard.service.url);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname);
    const timer = setTimeout(() => socket.destroy(), answerMsMax);
    socket.on('error', () => {});
    socket.on('close', () => {
      clearTimeout(timer);
      resolve();
    });
    socket.once('data', (bytes) => {
      const head = bytes.toString('latin1', 0, 200);
      const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1]);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      const id = /Request-Id: (\w+)/.exec(head)?.[1];
      if (id !== undefined) sentAs.set(id, text);
      socket.destroy();
    });
    const bytes = Buffer.from(text, 'latin1');
    // Now and then a client leaves in the middle, or before the answer.
    if (chance.is(0.03)) socket.end(bytes.subarray(0, chance.below(bytes.length)));
    else if (chance.is(0.02)) socket.write(bytes, () => socket.destroy());
    else socket.write(bytes);
  });
}

async function metric(name: string): Promise<number> {
  const text = await dashboard.service.metrics();
  const lines = text.split('\n').filter((line) => line.startsWith(`${name}{`));
  assert.notEqual(lines.length, 0, `there is a metric ${name}`);
  return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}

/** Lines of the log that tell of a fault of the service's own, with the requests that they name. */
function faults(): string[] {
  return dashboard.service
    .output()
    .split('\n')
    .filter((line) => /"level":"(error|fatal)"/.test(line))
    .map((line) => {
      const id = /"requestId":"(\w+)"/.exec(line)?.[1];
      const text = id === undefined ? undefined : sentAs.get(id);
      return `${line}\n${JSON.stringify(text)?.slice(0, 3_000)}`;
    });
}

test('junk everywhere ends no thread', async (t) => {
  const { service, key } = dashboard;
  const untilMs = performance.now() + seconds * 1_000;
  let requests = 0;
  const isOver = () => performance.now() > untilMs || service.process.exitCode !== null;
  const sendOn = async () => {
    while (!isOver()) {
      chance = new Chance(seed + requests++);
      junk = new Junk(chance);
      await send(chance.oneOf(kinds)());
    }
  };
  const staySignedIn = async () => {
    for (; !isOver(); await wait(1_000)) {
      if ((await owner.get('/dashboard/me')).status !== 200) await signIn().catch(() => {});
      await readForms().catch(() => {});
    }
  };
  await Promise.all([staySignedIn(), ...Array.from({ length: connectionsAtOnce }, sendOn)]);
  t.diagnostic(`FUZZ_SEED=${seed}: ${requests} requests; answers: ${JSON.stringify([...statuses])}`);
  assert.deepEqual(faults(), [], `FUZZ_SEED=${seed}`);
  assert.equal(service.process.exitCode, null);
  assert.equal((await fetch(`${service.url}/healthz`)).status, 200);
  assert.equal((await service.call('/v1/account', { key })).status, 200);
  assert.equal(await metric('payments_visit_errors_total'), 0);
  assert.equal(await metric('payments_shard_restarts_total'), 0);
  assert.ok((statuses.get(200) ?? 0) > 100, 'many requests were good enough to be carried out');
});
