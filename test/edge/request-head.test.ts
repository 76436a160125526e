// What a head says of where its request ends, apart from uWebSockets.js, which refuses some of these by itself.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HeadReader, type RequestHead } from '../../src/edge/http/request-head.ts';

const reader = new HeadReader();

function headOf(method: string, headers: Readonly<Record<string, string>>): RequestHead {
  return reader.read({
    getCaseSensitiveMethod: () => method,
    getUrl: () => '/v1/account',
    getQuery: () => '',
    forEach(each: (name: string, value: string) => void) {
      for (const [name, value] of Object.entries(headers)) each(name, value);
    },
  } as never);
}

test('without a length it is certain of a GET alone where it ends', () => {
  for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
    assert.equal(headOf(method, {}).endIsCertain, method === 'GET', method);
    assert.equal(headOf(method, { 'content-length': '0' }).endIsCertain, true, method);
    assert.equal(headOf(method, { 'transfer-encoding': 'chunked' }).endIsCertain, false, method);
  }
});

test('a GET and a HEAD take no body in chunks', () => {
  for (const method of ['GET', 'HEAD', 'POST', 'DELETE']) {
    const { refusal } = headOf(method, { 'transfer-encoding': 'chunked' });
    assert.equal(refusal === null, method === 'POST' || method === 'DELETE', method);
  }
});

test('a length is digits and nothing else', () => {
  for (const length of ['2x', 'x2', '2 2', '2,2', '+2', '-2', '0x2', '2.0', ''])
    assert.deepEqual(headOf('POST', { 'content-length': length }).refusal?.values, {
      header: 'content-length',
    });
  assert.equal(headOf('POST', { 'content-length': '02' }).bodyBytes, 2);
});
