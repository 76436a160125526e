// What CMI posts: genuine messages are read, however CMI treated their values before it made the hash. All others are refused.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { runInNewContext } from 'node:vm';
import { type CmiAttempt, readAttempt } from '../../../src/networks/cmi/callback.ts';
import { declineCodeOf } from '../../../src/networks/cmi/decline-codes.ts';
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

test('the time to read a value of spaces grows with its length, and not with the square of that', () => {
  // With the square this would take more than an hour; the limit only ends a test that fails.
  const body = `oid=x${'+'.repeat(2_000_000)}x`;
  const read = () => readAttempt(body, storeKey);
  assert.match(text(runInNewContext('read()', { read }, { timeout: 60_000 })), /hash/);
});

test('a field that is there twice, and more fields than CMI posts, are refused', () => {
  assert.match(text(readAttempt(`${post(paid)}&amount=250.00`, storeKey)), /more than once/);
  const many = Object.fromEntries(Array.from({ length: 201 }, (_, at) => [`x${at}`, '']));
  assert.match(text(readAttempt(post({ ...paid, ...many }), storeKey)), /more than 200 fields/);
});

test('a genuine message without an order, or whose code and response disagree, is refused', () => {
  for (const oid of ['', 'ch_1 ', `ch_${'1'.repeat(10_000)}`])
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
  assert.equal(cardOf({ maskedCreditCard: '', MaskedPan: '435508***4359' })?.last4, '4359');
  assert.equal(cardOf({ maskedCreditCard: '' }), null);
  assert.equal(cardOf({ 'EXTRA.CARDBRAND': '' }), null);
});
