// How a request's query and form are read: those of strangers are, too, before anything is known of them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formFieldsMax } from '../../src/core/form-fields.ts';
import { readIncoming } from '../../src/dashboard/incoming.ts';
import type { DashboardRequest } from '../../src/edge/dashboard/dashboard-port.ts';

async function read({
  query = '',
  contentType = '',
  body = '',
}: {
  query?: string;
  contentType?: string;
  body?: string;
}) {
  const headers = { acceptLanguage: '', cookie: '', forwardedFor: '', secFetchSite: '' };
  const sent = {
    method: 'POST',
    path: '/dashboard/sign-in',
    headers,
    remoteAddress: '192.0.2.1',
    requestId: 'req_1',
  };
  const request: DashboardRequest = {
    ...sent,
    query,
    contentType,
    body: Buffer.from(body),
    isRepeated: false,
  };
  const visitor = { network: '', site: '' };
  return readIncoming(
    request,
    new AbortController().signal,
    '',
    () => '',
    () => visitor,
  );
}

const part = (name: string) => `--x\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n\r\n`;
const multipart = (count: number) => ({
  contentType: 'multipart/form-data; boundary=x',
  body: `${part('name').repeat(count)}--x--\r\n`,
});

// A form of 128 KiB once took the main thread a fifth of a second: each broken field is an exception.
for (const [what, request] of [
  ['a form', (count: number) => ({ body: Array(count).fill('%C3').join('&') })],
  ['a form in parts', multipart],
] as const) {
  test(`${what} with more fields than any of ours counts as empty`, async () => {
    assert.equal((await read(request(formFieldsMax))).form.size, formFieldsMax);
    assert.equal((await read(request(formFieldsMax + 1))).form.size, 0);
  });
}

test('an address with more parameters than any of ours has none', async () => {
  assert.equal((await read({ query: 'lang=fr&a=1' })).query.get('lang'), 'fr');
  assert.equal((await read({ query: `lang=fr&${'%C3&'.repeat(formFieldsMax)}` })).query.size, 0);
});
