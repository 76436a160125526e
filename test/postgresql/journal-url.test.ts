// The address of PostgreSQL's servers, as it is configured and as it is told.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nameOf, parseJournalUrl } from '../../src/postgresql/journal-url.ts';

for (const [url, expected] of [
  [
    'postgresql://shop@a:5433,b,[::1]:6000/payments',
    {
      hosts: [
        { host: 'a', port: 5433 },
        { host: 'b', port: 5432 },
        { host: '::1', port: 6000 },
      ],
      user: 'shop',
      database: 'payments',
    },
  ],
  [
    'postgres://10.0.0.1/log',
    { hosts: [{ host: '10.0.0.1', port: 5432 }], user: 'payments', database: 'log' },
  ],
  [
    'postgresql://shop:secret@a/payments',
    /^must not have a password: put it into journal\.passwordFile, or set PGPASSWORD$/,
  ],
  ['postgresql://a:99999/payments', /^has the host "a:99999", which is none$/],
  ['postgresql://a,,b/payments', /^has the host "", which is none$/],
  [
    'postgresql://a:65535/payments',
    { hosts: [{ host: 'a', port: 65_535 }], user: 'payments', database: 'payments' },
  ],
  ['postgresql://a:65536/payments', /^has the host "a:65536", which is none$/],
  ['postgresql://a:0/payments', /^has the host "a:0", which is none$/],
  ['mysql://a/payments', /^must have the form postgresql:/],
  ['postgresql://a', /^must have the form postgresql:/],
] as const)
  test(`the address ${url.replace('secret', '…')}`, () => {
    const parsed = parseJournalUrl(url);
    if (expected instanceof RegExp) assert.match(String(parsed), expected);
    else assert.deepEqual(parsed, expected);
  });

test('a server is told with its port, and brackets where these tell it from the address', () => {
  assert.equal(nameOf({ host: 'a', port: 5432 }), 'a:5432');
  assert.equal(nameOf({ host: '::1', port: 6000 }), '[::1]:6000');
});
