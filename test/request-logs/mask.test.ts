// What the request logs leave out of an entry: secrets and card numbers, however they were written.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findCardNumber } from '../../src/core/card-number.ts';
import { scrub } from '../../src/core/secret-text.ts';
import { loggableIdempotencyKey } from '../../src/edge/api/loggable.ts';
import { type AnsweredRequest, bodyKeptBytesMax } from '../../src/request-logs/entry.ts';
import { answeredRequest, findRequest, newLogs, shop, writeAll } from './written-log.ts';

const card = '4242424242424242';
const grouped = '4242 4242 4242 4242';
const arabic = card.replace(/\d/g, (digit) => String.fromCharCode(0x660 + Number(digit)));
const bold = card.replace(/\d/g, (digit) => String.fromCodePoint(0x1d7ce + Number(digit)));
const escaped = card.replace(/\d/g, (digit) => `\\u003${digit}`);

const { logs, folder } = newLogs();

function stored(change: Partial<AnsweredRequest>) {
  const entry = answeredRequest(change);
  writeAll(logs, shop, [answeredRequest(), entry, answeredRequest()]);
  const found = findRequest(folder, shop, entry.requestId);
  assert.ok(found !== null);
  return found;
}

/** A request's body, the status, and what must not be in the entry. */
const bodies: readonly (readonly [name: string, body: string, status: number, hidden: string])[] = [
  ['a number in metadata', `{"metadata":{"pan":"${card}"}}`, 200, card],
  ['a number that is refused', `{"description":"${card}"}`, 400, card],
  ['a number that is no text', `{"amount":${card}}`, 400, card],
  ['a number in groups', `{"description":"${grouped}"}`, 400, grouped],
  ['groups with underscores', `{"description":"${grouped.replaceAll(' ', '_')}"}`, 200, '4242_4242'],
  ['groups with escaped slashes', `{"description":"${grouped.replaceAll(' ', '\\/')}"}`, 200, '4242\\/4242'],
  ['a number behind a line break', `{"description":"a\\n${card}"}`, 200, card],
  ['a number behind a line break in what is no JSON', `{"description":"a\\n${card}`, 400, card],
  ['bold digits', `{"description":"${bold}"}`, 200, bold],
  ['Arabic digits', `{"description":"${arabic}"}`, 200, arabic],
  ['escaped digits', `{"description":"${escaped}"}`, 400, escaped],
  ['escaped digits in what is no JSON', `{"description":"${escaped}`, 400, escaped],
  ['an API key', '{"metadata":{"key":"svc_sk_test_abcDEF123"}}', 200, 'abcDEF123'],
  ['credentials', '{"metadata":{"key":"c3ZjX3NrX3Rlc3RfYWJj"}}', 200, 'c3ZjX3NrX3Rlc3RfYWJj'],
  ['a security code', '{"card":{"cvc": "737"}}', 400, '737'],
  ['a security code that is a number', '{"card":{"cvc" : 737}}', 400, '737'],
  ['a security code with an escaped name', '{"card":{"\\u0063vc":"737"}}', 400, '737'],
  ['a password that was cut off', '{"password":"hunter22', 400, 'hunter22'],
];
for (const [name, body, status, hidden] of bodies) {
  test(`a body is stored without ${name}`, () => {
    const entry = stored({ requestBody: Buffer.from(body), status });
    assert.ok(!JSON.stringify(entry).includes(hidden), entry.request_body);
    assert.ok(!entry.request_body.includes(card) && !JSON.stringify(entry).includes('4242424242'));
    assert.equal(entry.masked, true);
  });
}

test('an answer is stored without the secret that it shows once', () => {
  const secret = 'svc_whsec_0123456789abcdef';
  const entry = stored({
    answerBody: Buffer.from(`{"id":"we_1abcd","secret":"${secret}","url":"https://x"}`),
  });
  assert.deepEqual(JSON.parse(entry.answer_body), { id: 'we_1abcd', secret: '[redacted]', url: 'https://x' });
});

const places: readonly (readonly [name: string, change: Partial<AnsweredRequest>])[] = [
  ['a path', { path: `/v1/charges/${card}`, objectId: card, status: 404 }],
  ['a query', { method: 'GET', query: `email=a@b.example&x=${card}` }],
  ['an encoded query', { method: 'GET', query: `x=${grouped.replaceAll(' ', '%20')}` }],
  ['a query with encoded digits', { method: 'GET', query: `x=${card.replace(/4/g, '%34')}` }],
  ['a query with plus signs', { method: 'GET', query: `x=${grouped.replaceAll(' ', '+')}` }],
  ['an idempotency key', { idempotencyKey: `order ${grouped}` }],
  ['a version', { version: card, status: 400 }],
  ['a method', { method: card, status: 404 }],
];
for (const [name, change] of places) {
  test(`${name} is stored without a card number`, () => {
    const text = JSON.stringify(stored(change));
    for (const hidden of [card, grouped, '4242+4242', '4242%20', '%342%342'])
      assert.ok(!text.includes(hidden), text);
  });
}

test('a body that is cut in the middle of a number is stored without its beginning', () => {
  const inThinSpaces = arabic.replace(/.{4}/g, '$&\u2009');
  for (const number of [card, grouped, arabic, inThinSpaces, bold]) {
    const characters = [...number];
    for (let length = 4; length < characters.length; length++) {
      const beginning = characters.slice(0, length).join('');
      const start = '{"description":"';
      const text = 'x'.repeat(bodyKeptBytesMax - Buffer.byteLength(start + beginning));
      const entry = stored({ requestBody: Buffer.from(`${start}${text}${number}`), status: 400 });
      assert.equal(entry.request_cut, true);
      assert.equal(entry.request_body, start + text, beginning);
    }
  }
});

test('many digits of any script that a cut body goes on behind take no longer than other characters', () => {
  const before = process.cpuUsage();
  for (const digits of ['4'.repeat(8_000), '\u0664'.repeat(200), '4\u0664 \u0664'.repeat(200)]) {
    const body = `{"description":"${digits}${'x'.repeat(bodyKeptBytesMax)}`;
    const entry = stored({ requestBody: Buffer.from(body), status: 400 });
    assert.equal(entry.request_body, Buffer.from(body).toString('utf8', 0, bodyKeptBytesMax));
  }
  assert.ok(process.cpuUsage(before).user < 1_000_000);
});

const harmless = [
  '{"amount":12000,"metadata":{"order":"2026-11-22-0001","phone":"+212600000000","uuid":"0199b7f2-7a3c-7cc1-b6d8-3f0a52a1e9d4"}}',
  '{"description":"محمد العلوي، الدار البيضاء","amount":99999999}',
  '{"metadata":{"path":"C:\\\\u0041","discount":"20%"}}',
];
for (const body of harmless) {
  test(`nothing is left out of ${body}`, () => {
    for (const status of [200, 400]) {
      const entry = stored({ requestBody: Buffer.from(body), status });
      assert.equal(entry.request_body, body);
      assert.equal(entry.masked, false);
    }
  });
}

const acceptedKeys = [
  '0.4080064116376725',
  '0.4242424242424242',
  '41111111-1111-4111-1111-000000000000',
  'order_4242424242424242',
  '007780000123400000056789',
  '+4222222222222',
  '4242-4242-4242-4242-1',
];
for (const key of acceptedKeys) {
  test(`the key ${key}, which is accepted, is told in every log`, () => {
    assert.equal(findCardNumber(key), false);
    for (const status of [200, 402]) {
      const requestBody = Buffer.from(`{"metadata":{"key":"${key}"}}`);
      const entry = stored({ idempotencyKey: key, requestBody, status });
      assert.equal(entry.idempotency_key, key);
      assert.equal(entry.request_body, requestBody.toString());
    }
    assert.equal(loggableIdempotencyKey(key), key);
    assert.equal(scrub(JSON.stringify({ key })), JSON.stringify({ key }));
  });
}

test('an address of nothing but replacement characters is stored, cut, and stops no other entry', () => {
  const objectId = '\ufffd'.repeat(15_500);
  const entry = stored({ path: `/v1/payment_intents/${objectId}`, objectId, status: 404 });
  assert.equal(entry.path.length, 8 * 1024);
});
