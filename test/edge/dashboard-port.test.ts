// The port over which visits go to the main thread: one that fails there has no answer, and the others have theirs.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MessageChannel } from 'node:worker_threads';
import {
  answerVisits,
  type DashboardAnswer,
  DashboardPort,
  type DashboardRequest,
} from '../../src/edge/dashboard-port.ts';

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

test('a visit that throws, rejects, or whose answer can not be sent is told of and has no answer', async () => {
  const { port1, port2 } = new MessageChannel();
  const failed: unknown[] = [];
  const handle = ({ path }: DashboardRequest): Promise<DashboardAnswer> => {
    if (path === '/throws') throw new Error('at once');
    if (path === '/rejects') return Promise.reject(new Error('later'));
    const body = (path === '/function' ? () => {} : path) as string;
    return Promise.resolve({ kind: 'page', status: 200, headers: [], body });
  };
  answerVisits(port1, handle, (_error, entry, requestId) => failed.push([entry, requestId]));
  const port = new DashboardPort();
  port.connect(port2);
  const answers = await Promise.all([
    port.ask(visit('/throws', 'req_1')),
    port.ask(visit('/rejects', 'req_2')),
    port.ask(visit('/function', 'req_3')),
    port.ask(visit('/fine', 'req_4')),
  ]);
  port.disconnect();
  assert.deepEqual(answers, [null, null, null, { kind: 'page', status: 200, headers: [], body: '/fine' }]);
  assert.deepEqual(failed.sort(), [
    ['dashboard', 'req_1'],
    ['dashboard', 'req_2'],
    ['dashboard', 'req_3'],
  ]);
});
