// The port over which visits go to the main thread: one that fails there has no answer, and the others have theirs. The main thread
// hears of a client that has left, and the edge of who is signed in.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MessageChannel } from 'node:worker_threads';
import {
  answerVisits,
  DashboardPort,
  type DashboardRequest,
  type Unanswered,
  type Visited,
} from '../../src/edge/dashboard/dashboard-port.ts';
import { DashboardVisits } from '../../src/edge/dashboard/dashboard-visits.ts';
import type { Way } from '../../src/edge/dashboard/visit-lanes.ts';
import type { RequestHead } from '../../src/edge/http/request-head.ts';

const headers = { acceptLanguage: '', cookie: '', forwardedFor: '', secFetchSite: '' };
const visit = (path: string, requestId: string): DashboardRequest => ({
  method: 'GET',
  path,
  query: '',
  headers,
  remoteAddress: '192.0.2.1',
  requestId,
  contentType: '',
  body: new Uint8Array(),
  isRepeated: false,
});

const way: Way = { lane: 'pages', owners: ['192.0.2.1', '192.0.2.1'] };
const known = { member: 'mem_1', organizations: ['org_1'] };
const page = (body: string): Visited => ({
  answer: { kind: 'page', status: 200, headers: [], body },
  known,
});

test('a visit that throws, rejects, or whose answer can not be sent is told of and has no answer', async () => {
  const { port1, port2 } = new MessageChannel();
  const failed: unknown[] = [];
  const handle = ({ path }: DashboardRequest): Promise<Visited> => {
    if (path === '/throws') throw new Error('at once');
    if (path === '/rejects') return Promise.reject(new Error('later'));
    const body = (path === '/function' ? () => {} : path) as string;
    return Promise.resolve(page(body));
  };
  answerVisits(port1, handle, (_error, entry, requestId) => failed.push([entry, requestId]));
  const port = new DashboardPort();
  port.connect(port2);
  const answers = await Promise.all([
    port.ask(visit('/throws', 'req_1'), way).visited,
    port.ask(visit('/rejects', 'req_2'), way).visited,
    port.ask(visit('/function', 'req_3'), way).visited,
    port.ask(visit('/fine', 'req_4'), way).visited,
  ]);
  port.disconnect();
  assert.deepEqual(answers, ['trouble', 'trouble', 'trouble', page('/fine')]);
  assert.deepEqual(failed.sort(), [
    ['dashboard', 'req_1'],
    ['dashboard', 'req_2'],
    ['dashboard', 'req_3'],
  ]);
});

test('the main thread hears of a client that has left; when it is away, nobody waits for it', async () => {
  const { port1, port2 } = new MessageChannel();
  const begun = Promise.withResolvers<void>();
  const gones: AbortSignal[] = [];
  const handle = async ({ path }: DashboardRequest, gone: AbortSignal) => {
    gones.push(gone);
    begun.resolve();
    if (path === '/slow') await new Promise((resolve) => gone.addEventListener('abort', resolve));
    return page(path);
  };
  answerVisits(port1, handle, (error) => assert.ifError(error));
  const port = new DashboardPort();
  assert.equal(await port.ask(visit('/early', 'req_1'), way).visited, 'trouble');
  port.connect(port2);
  const { visited, withdraw } = port.ask(visit('/slow', 'req_2'), way);
  await begun.promise;
  withdraw();
  assert.deepEqual(await visited, page('/slow'));
  // An answer that was given has nobody who could leave.
  withdraw();
  assert.deepEqual(await port.ask(visit('/fine', 'req_3'), way).visited, page('/fine'));
  assert.deepEqual(
    gones.map(({ aborted }) => aborted),
    [true, false],
  );
  const last = port.ask(visit('/slow', 'req_4'), way).visited;
  port.disconnect();
  assert.equal(await last, 'trouble');
});

test('a form is wiped once it was answered, as it may have a password', async () => {
  const forms: Buffer[] = [];
  const answer = Promise.withResolvers<Visited | Unanswered>();
  const port = {
    ask({ body }: DashboardRequest) {
      forms.push(body as Buffer);
      return { visited: answer.promise, withdraw() {} };
    },
  };
  const visits = new DashboardVisits({
    port: port as never,
    visitors: { admit: () => null, visitorOf: () => ({ network: '', site: '' }) },
    sessions: { ownersOf: () => null } as never,
    shardOf: () => assert.fail(),
    askLogs: () => assert.fail(),
    isTrusted: () => true,
  });
  const answered = Promise.withResolvers<number>();
  const exchange = {
    remoteAddress: '192.0.2.1',
    onPiece: (take: (piece: ArrayBuffer, isLast: boolean) => void) =>
      take(Uint8Array.from(Buffer.from('password=x')).buffer, true),
    holdBody: () => true,
    guard: (step: () => unknown) => step(),
    answer: answered.resolve,
  };
  const head = { method: 'POST', path: '/dashboard/sign-in', query: '', hasBody: true, bodyBytes: 10 };
  visits.answer(exchange as never, { ...head, ...headers } as RequestHead, () => assert.fail());
  assert.equal(String(forms[0]), 'password=x');
  answer.resolve('trouble');
  assert.equal(await answered.promise, 503);
  assert.deepEqual(forms, [Buffer.alloc(10)]);
});
