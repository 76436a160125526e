// The address of PostgreSQL's servers, as it is configured and as it is told.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nameOf, parseJournalDatabases, parseJournalUrl } from '../../src/postgresql/journal-url.ts';

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

const [a, b] = ['a', 'b'].map((host) => ({
  hosts: [{ host, port: 5432 }],
  user: 'payments',
  database: 'log',
}));
for (const [setting, expected] of [
  ['postgresql://a/log', [{ address: a, partitions: null }]],
  ['0-3=postgresql://a/log', [{ address: a, partitions: { first: 0, last: 3 } }]],
  [
    ' 0-3=postgresql://a/log\n4-4=postgresql://b/log ',
    [
      { address: a, partitions: { first: 0, last: 3 } },
      { address: b, partitions: { first: 4, last: 4 } },
    ],
  ],
  ['0-3=postgresql://a,b/log 4-4=postgresql://c,b/log', /^names the database log of the same servers twice$/],
  ['1-3=postgresql://a/log', /^has the partitions 1-3 where those from 0 on are to follow$/],
  ['0-3=postgresql://a/log 5-6=postgresql://b/log', /^has the partitions 5-6 where those from 4 on/],
  ['0-3=postgresql://a/log 3-6=postgresql://b/log', /^has the partitions 3-6 where those from 4 on/],
  ['0-3=postgresql://a/log 4-3=postgresql://b/log', /^has the partitions 4-3 where those from 4 on/],
  [
    '0-3=postgresql://a/log postgresql://b/log',
    /^must have the form 0-15=postgresql:.* where it names several/,
  ],
  ['0-3=postgresql://a:secret@a/log', /^must not have a password/],
  ['0-3=mysql://a/log', /^must have the form postgresql:/],
] as const)
  test(`the setting ${JSON.stringify(setting.replace('secret', '…'))}`, () => {
    const parsed = parseJournalDatabases(setting);
    if (expected instanceof RegExp) assert.match(String(parsed), expected);
    else assert.deepEqual(parsed, expected);
  });
