// How a request's query and form are read: those of strangers are, too, before anything is known of them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { headerBytesMax } from '../../src/contract/limits.ts';
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

test('a form in parts whose heads are longer than any of ours counts as empty', async () => {
  const form = multipart(1);
  assert.equal((await read(form)).form.size, 1);
  const heads = (bytes: number) => ({
    ...form,
    body: form.body.replace('\r\n', `\r\nA: ${'b'.repeat(bytes)}\r\n`),
  });
  assert.equal((await read(heads(headerBytesMax / 2))).form.size, 1);
  assert.equal((await read(heads(headerBytesMax))).form.size, 0);
  for (const contentType of ['', '; boundary=x; a=b', '; a=b; boundary=x', '; boundary="x"'])
    assert.equal((await read({ ...form, contentType: `multipart/form-data${contentType}` })).form.size, 0);
  for (const body of [`\r\n${form.body}`, form.body.replace('--x--', '')])
    assert.equal((await read({ ...form, body })).form.size, 0);
});

test('a file in a form may have what looks like a head', async () => {
  const file = Buffer.from('\r\n\r\nA: b\r\n'.repeat(4_000));
  const start =
    '--x\r\nContent-Disposition: form-data; name="logo"; filename="é"\r\nContent-Type: image/png\r\n\r\n';
  const { files } = await read({ ...multipart(0), body: `${start}${file}\r\n--x--\r\n` });
  assert.deepEqual(Buffer.from(files.get('logo')!), file);
});

test('an address with more parameters than any of ours has none', async () => {
  assert.equal((await read({ query: 'lang=fr&a=1' })).query.get('lang'), 'fr');
  assert.equal((await read({ query: `lang=fr&${'%C3&'.repeat(formFieldsMax)}` })).query.size, 0);
});
