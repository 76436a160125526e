// What pages show when the shard or the API has no answer for them: never that there is nothing, and never a form that would do
// again what may have been done.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { loadConfig } from '../../src/config/config.ts';
import { createContext, RecentForms } from '../../src/dashboard/context.ts';
import type { ViewPlace } from '../../src/dashboard/layout/row.ts';
import { matchRow } from '../../src/dashboard/layout/table.ts';
import { Searches } from '../../src/dashboard/pages/searches.ts';
import type { Member } from '../../src/directory/members.ts';
import { newOrganization } from '../../src/directory/organization.ts';
import type { Session } from '../../src/directory/sessions.ts';
import { operatorServices } from '../../src/main/operator-services.ts';
import type { ApiAnswer, ApiCall, OperatorServices } from '../../src/operator/use-cases/services.ts';
import { hiddenFields } from './fixture.ts';

type Answers = Pick<OperatorServices, 'callApi' | 'askShard'>;

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
  } as Partial<ViewPlace> as ViewPlace;
  const audit = { record: (_by: unknown, _action: string, _params: unknown, run: () => unknown) => run() };
  const searches = new Searches(
    () => 0,
    () => 0,
  );
  const given = { services, audit: audit as never, searches, recentForms: new RecentForms() };
  const answer = await match.row.handle({ ...request, ...createContext(given, request) });
  assert.ok(answer.kind === 'page', path);
  return answer;
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
