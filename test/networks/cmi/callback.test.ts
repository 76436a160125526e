// What CMI posts: genuine messages are read, however CMI treated their values before it made the hash. All others are refused.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { type CmiAttempt, declineCodeOf, readAttempt } from '../../../src/networks/cmi/callback.ts';
import { constantFields } from '../../../src/networks/cmi/form.ts';
import { bytesOf, hashOf } from '../../../src/networks/cmi/hash.ts';

const storeKey = 'TEST1234';

const paid: Readonly<Record<string, string>> = {
  clientid: '600000001',
  oid: 'ch_1',
  amount: '250.00',
  currency: '504',
  storetype: '3D_PAY_HOSTING',
  trantype: 'PreAuth',
  hashAlgorithm: 'ver3',
  TransId: '24003Vl7F13152',
  ProcReturnCode: '00',
  Response: 'Approved',
  mdStatus: '1',
  ErrMsg: '',
  'EXTRA.CARDBRAND': 'VISA',
  maskedCreditCard: '4355 08** **** 4358',
  Ecom_Payment_Card_ExpDate_Month: '12',
  Ecom_Payment_Card_ExpDate_Year: '29',
  encoding: 'UTF-8',
};

const attempt: CmiAttempt = {
  clientId: '600000001',
  order: 'ch_1',
  centimes: 25_000,
  currency: '504',
  transaction: '24003Vl7F13152',
  decline: null,
  card: { brand: 'visa', last4: '4358', exp_month: 12, exp_year: 2029 },
};

/** A form with a hash. `hashed` is what CMI makes of a value before. */
function post(
  fields: Readonly<Record<string, string>>,
  hashed = (value: string) => value,
  key = storeKey,
): string {
  const bytes = Object.entries(fields).map(([name, value]) => [name, bytesOf(hashed(value))] as const);
  const hash = hashOf(bytes, key).toString('base64');
  return new URLSearchParams({ ...fields, HASH: hash }).toString();
}

test('a genuine message is read', () => {
  assert.deepEqual(readAttempt(post(paid), storeKey), attempt);
});

test('values are hashed as they are, without spaces around, or with line break and entities undone', () => {
  const unwrapped = (value: string) =>
    value.replace(/\n$/, '').replaceAll('&eacute;', 'é').replaceAll('&#039;', "'").replaceAll('&amp;', '&');
  const name = '  محمد L&#039;H&eacute;ritier &amp; fils\n';
  for (const hashed of [(value: string) => value, unwrapped, (value: string) => unwrapped(value).trim()]) {
    const body = post({ ...paid, BillToName: name, shopurl: 'https://shop.ma/?a=1&b=2|3\\4' }, hashed);
    assert.deepEqual(readAttempt(body, storeKey), attempt);
  }
});

test('the hash is of the bytes that are posted, in whatever encoding', () => {
  const latin = (text: string) => text;
  const fields = [...Object.entries(paid), ['ErrMsg2', latin('refus\u00e9e')] as const];
  const hash = hashOf(fields, storeKey).toString('base64');
  const body = `${new URLSearchParams({ ...paid, HASH: hash })}&ErrMsg2=refus%E9e`;
  assert.deepEqual(readAttempt(body, storeKey), attempt);
});

test('a currency under another name is not the one that our form has', () => {
  for (const fields of [
    { ...paid, currency: '978', currency2: '504' },
    { ...paid, currency: '50', currency2: '978' },
    { ...paid, currency: 'mad' },
  ])
    assert.match(text(readAttempt(post(fields), storeKey)), /currency is not as in our form/);
  const other = readAttempt(post({ ...paid, currency: '978' }), storeKey);
  assert.deepEqual(other, { ...attempt, currency: '978' });
});

const text = (read: CmiAttempt | string) => (typeof read === 'string' ? read : 'read');

test('a message that is not genuine is not read', () => {
  assert.match(
    text(
      readAttempt(
        post(paid, (value) => value, 'another key'),
        storeKey,
      ),
    ),
    /hash/,
  );
  const changed = post(paid).replace('amount=250.00', 'amount=1.00');
  assert.match(text(readAttempt(changed, storeKey)), /hash/);
  for (const body of [
    '',
    'HASH=',
    'no form at all',
    '{"oid":"ch_1"}',
    post(paid).replace(/HASH=.*/, ''),
    '%%%=%E9',
  ])
    assert.match(text(readAttempt(body, storeKey)), /hash/, body);
});

/** A form of as many fields as the title says, each with a name of `name` and a value of `value`, repeated to some lengths. */
function formOf(fields: number, name: string, nameLength: number, value: string, valueLength: number) {
  const long = (unit: string, length: number) => unit.repeat(Math.floor(length / unit.length));
  const one = (at: number) =>
    `${long(name, nameLength - 3)}${String((at * 37) % 1000).padStart(3, '0')}=${long(value, valueLength)}`;
  return Array.from({ length: fields }, (_, at) => one(at)).join('&');
}

const forged = `&HASH=${encodeURIComponent(Buffer.alloc(64, 1).toString('base64'))}`;

// Before messages were bounded, the slowest took 40 to 140 ms; bounded, all take less than 1 ms.
const slowest = [
  ['letters and digits by turns', formOf(199, 'a1', 160, '', 0)],
  ['capitals', formOf(198, 'A', 160, '', 0)],
  ['as many names and entities as are read', formOf(127, 'a1', 60, '%26thorn;', 54)],
  ['names with escaped bytes', formOf(127, '%611', 60, '%26%23x41;', 60)],
  ['entities', formOf(30, 'a', 10, '%26a;', 1_000)],
  ['spaces', formOf(100, 'a', 10, '+', 140)],
  ['bars', formOf(100, 'a', 10, '|', 140)],
  ['a value of spaces with something behind them', `oid=x${'+'.repeat(3_000)}x`],
  ['no field at all', '&'.repeat(32_000)],
] as const;
for (const [title, body] of slowest) {
  test(`a forged message takes the shard's thread next to no time: ${title}`, () => {
    let bestMs = Number.POSITIVE_INFINITY;
    for (let run = 0; run < 50; run++) {
      const start = performance.now();
      readAttempt(body + forged, storeKey);
      bestMs = Math.min(bestMs, performance.now() - start);
    }
    assert.ok(bestMs < 5, `${bestMs} ms`);
  });
}

test('more than a message of CMI has is refused before anything is sorted', () => {
  const rows: readonly [message: RegExp, fields: Readonly<Record<string, string>>][] = [
    [
      /longer than any message/,
      Object.fromEntries(['a', 'b', 'c', 'd', 'e'].map((n) => [n, 'x'.repeat(4_000)])),
    ],
    [/more than 128 fields/, Object.fromEntries(Array.from({ length: 129 }, (_, at) => [`x${at}`, '']))],
    [/name of a field is too long/, { [`x${'1'.repeat(64)}`]: '' }],
    [/value of a field is too long/, { shopurl: 'x'.repeat(4_097) }],
    [/too many ampersands/, { a: '&'.repeat(600), b: '&'.repeat(600) }],
  ];
  for (const [message, fields] of rows)
    assert.match(text(readAttempt(post({ ...paid, ...fields }), storeKey)), message);
});

test('as much as the longest genuine message has is read', () => {
  const name = '&#128512;'.repeat(255);
  const others = Object.fromEntries(
    Array.from({ length: 100 }, (_, at) => [`EXTRA.${'X'.repeat(40)}${at}`, 'x']),
  );
  const address = `https://shop.ma/?a=1&b=${'x'.repeat(1_000)}`;
  const body = post({ ...paid, ...others, BillToName: name, okUrl: address, failUrl: address });
  assert.deepEqual(readAttempt(body, storeKey), attempt);
});

test('exactly as much as may be in a message is read', () => {
  const posted = Object.keys(paid).length + 1;
  const fill = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`x${at}`, '']));
  const large = { x1: 'x'.repeat(4_000), x2: 'x'.repeat(4_000), x3: 'x'.repeat(4_000) };
  // The hash does not cover the encoding, so its length stays.
  const padding = 16_384 - post({ ...paid, ...large, encoding: '' }).length;
  for (const fields of [
    fill(128 - posted),
    { [`x${'1'.repeat(63)}`]: '' },
    { shopurl: 'x'.repeat(4_096) },
    { a: '&'.repeat(512), b: '&'.repeat(512) },
    { ...large, encoding: 'x'.repeat(padding) },
  ])
    assert.deepEqual(readAttempt(post({ ...paid, ...fields }), storeKey), attempt);
  const longer = { ...large, encoding: 'x'.repeat(padding + 1) };
  assert.match(text(readAttempt(post({ ...paid, ...longer }), storeKey)), /longer than any message/);
  assert.match(text(readAttempt(post({ ...paid, a: '&'.repeat(1_025) }), storeKey)), /too many ampersands/);
});

test('a message whose fields are not those of our form, in their order, is refused', () => {
  for (const name of Object.keys(constantFields)) {
    const read = text(readAttempt(post({ ...paid, [name]: 'x' }), storeKey));
    assert.equal(read, `${name} is not as in our form`);
  }
  const between = readAttempt(post({ ...paid, TransIx: '1' }), storeKey);
  assert.equal(between, 'a field is between TransId and trantype');
  const { TransId: _, ...unnamed } = paid;
  assert.deepEqual(readAttempt(post(unnamed), storeKey), { ...attempt, transaction: '' });
});

test('a form is read as browsers write it, and what they would not write stays as it is', () => {
  for (const [posted, bytes, name = 'name'] of [
    ['=1', '1', ''],
    ['name=%41%6a%4A', 'AjJ'],
    ['name=a+b%2B', 'a b+'],
    ['name=%zz%4', '%zz%4'],
    ['name=%', '%'],
    ['name=%4g%g4', '%4g%g4'],
    ['name=1=2', '1=2'],
    ['name', ''],
    ['&name=1&', '1'],
    ['n%61me=1', '1'],
  ] as const) {
    const fields = [...Object.entries(paid), [name, bytes] as const];
    const hash = hashOf(fields, storeKey).toString('base64');
    const body = `${new URLSearchParams({ ...paid, HASH: hash })}&${posted}`;
    assert.deepEqual(readAttempt(body, storeKey), attempt, posted);
  }
});

test('which characters around a value, and which entities in it, CMI may have undone', () => {
  for (const [value, hashed, isRead] of [
    ['\t\v\f\r x \t', 'x', true],
    ['\u0008x', 'x', false],
    ['x\u000e', 'x', false],
    ['   ', '', true],
    ['x\n\n', 'x\n', true],
    ['&#65;&#x42;&#X43;&lt;', 'ABC<', true],
    ['&nosuch; & &#; &lt', '&nosuch; & &#; &lt', true],
    ['&amp;lt;', '&lt;', true],
    ['&amp;lt;', '<', false],
  ] as const) {
    const body = post({ ...paid, BillToName: value }, (each) => (each === value ? hashed : each));
    if (isRead) assert.deepEqual(readAttempt(body, storeKey), attempt, JSON.stringify(value));
    else assert.match(text(readAttempt(body, storeKey)), /hash/, JSON.stringify(value));
  }
});

test('a field that is there twice is refused', () => {
  assert.match(text(readAttempt(`${post(paid)}&amount=250.00`, storeKey)), /more than once/);
});

test('a genuine message without an order, or whose code and response disagree, is refused', () => {
  for (const oid of ['', 'ch_1 ', `ch_${'1'.repeat(62)}`, `ch_${'1'.repeat(4_000)}`])
    assert.match(text(readAttempt(post({ ...paid, oid }), storeKey)), /order/);
  const disagreeing: Record<string, string>[] = [
    { ProcReturnCode: '' },
    { ProcReturnCode: '51' },
    { Response: 'Declined' },
    { Response: '' },
  ];
  for (const fields of disagreeing)
    assert.match(text(readAttempt(post({ ...paid, ...fields }), storeKey)), /disagree/);
});

test('an amount that is none is told, and does not count as zero', () => {
  for (const amount of ['', '250,00', '250.00 MAD', '1e5', '250', '250.0']) {
    const read = readAttempt(post({ ...paid, amount }), storeKey) as CmiAttempt;
    assert.equal(read.centimes, null, amount);
  }
});

test('any other return code is a decline, and so is none when the customer failed the challenge', () => {
  const declined = (fields: Record<string, string>) =>
    (readAttempt(post({ ...paid, Response: 'Declined', ...fields }), storeKey) as CmiAttempt).decline;
  assert.equal(declined({ ProcReturnCode: '51' }), 'insufficient_funds');
  assert.equal(declined({ ProcReturnCode: '0' }), 'generic_decline');
  assert.equal(declined({ ProcReturnCode: '', Response: '', mdStatus: '0' }), 'generic_decline');
});

test('return codes mean what the documentation says', () => {
  const documented = readFileSync(new URL('../../../docs/networks/cmi.md', import.meta.url), 'utf8');
  const section = documented.split('## Why a card was declined')[1]!;
  const rows = [...section.matchAll(/^\| (`\w\w`(?:, `\w\w`)*) \| `(\w+)` \|$/gm)];
  const told = rows.flatMap(([, codes, decline]) => codes!.match(/\w+/g)!.map((code) => [code, decline]));
  assert.equal(told.length, 34);
  for (const [code, decline] of told) assert.equal(declineCodeOf(code!), decline, code);
  for (const code of ['', '00', '77', '5', '511']) assert.equal(declineCodeOf(code), 'generic_decline');
});

test('of the card there is what CMI tells: never its number', () => {
  const cardOf = (fields: Record<string, string>) =>
    (readAttempt(post({ ...paid, ...fields }), storeKey) as CmiAttempt).card;
  assert.deepEqual(cardOf({ Ecom_Payment_Card_ExpDate_Year: '' }), {
    brand: 'visa',
    last4: '4358',
    exp_month: null,
    exp_year: null,
  });
  const ends = (month: string, year: string) => {
    const card = cardOf({ Ecom_Payment_Card_ExpDate_Month: month, Ecom_Payment_Card_ExpDate_Year: year });
    return card && `${card.exp_month} ${card.exp_year}`;
  };
  assert.deepEqual(
    [ends('1', '1'), ends('12', '99'), ends('0', '29'), ends('13', '29'), ends('12', '0'), ends('12', '100')],
    ['1 2001', '12 2099', ...Array(4).fill('null null')],
  );
  const brandOf = (fields: Record<string, string>) => cardOf({ 'EXTRA.CARDBRAND': '', ...fields })?.brand;
  assert.equal(brandOf({ EXTRA_CARDBRAND: 'AMEX' }), 'amex');
  assert.equal(brandOf({ EXTRA_CARDBRAND: 'a'.repeat(20) }), 'a'.repeat(20));
  for (const brand of ['a'.repeat(21), 'a b']) assert.equal(brandOf({ EXTRA_CARDBRAND: brand }), undefined);
  assert.equal(cardOf({ maskedCreditCard: '', MaskedPan: '435508***4359' })?.last4, '4359');
  assert.equal(cardOf({ maskedCreditCard: '' }), null);
  assert.equal(cardOf({ 'EXTRA.CARDBRAND': '' }), null);
});
