// Given a body that was sent as a form, this JSON is shown, or none.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { jsonOfForm } from '../../src/shard/body.ts';

const shown: [string, unknown][] = [
  ['amount=12000&currency=mad', { amount: 12_000, currency: 'mad' }],
  ['amount=0&phone=0612345678&code=007', { amount: 0, phone: '0612345678', code: '007' }],
  ['disabled=true&metadata[gift]=true', { disabled: true, metadata: { gift: 'true' } }],
  ['disabled=false', { disabled: false }],
  ['description=Th%C3%A9+%C3%A0+la+menthe', { description: 'Thé à la menthe' }],
  ['metadata[order]=7&metadata[shop]=a', { metadata: { order: '7', shop: 'a' } }],
  ['payment_method_types[]=card&payment_method_types[]=cash', { payment_method_types: ['card', 'cash'] }],
  ['payment_method_types[0]=card', { payment_method_types: ['card'] }],
  ['a=1&'.repeat(512), { a: 1 }],
  [`description=${'x'.repeat(494)}`, { description: 'x'.repeat(494) }],
];
for (const [form, expected] of shown) {
  test(`${form.slice(0, 60)}: shown as JSON`, () => {
    assert.deepEqual(JSON.parse(jsonOfForm(Buffer.from(form))!), expected);
  });
}

const hidden: [string, string | Buffer][] = [
  ['JSON with another content type', '{"amount":12000}'],
  ['JSON with an equals sign', '{"a=b":1}'],
  ['a text', 'hello'],
  ['XML', '<a b="c"/>'],
  ['a card number', 'card=4242424242424242'],
  ['a card number in a name', '4242424242424242=1'],
  ['names of many levels', 'a[b][c]=1'],
  ['what is no text', Buffer.from([0x61, 0x3d, 0xff])],
  ['a long one', `description=${'x'.repeat(3_000)}`],
  ['a long one of little', `${'a=1&'.repeat(512)}a`],
  ['one whose JSON is long', `description=${'x'.repeat(495)}`],
];
for (const [name, body] of hidden) {
  test(`${name}: nothing is shown`, () => assert.equal(jsonOfForm(Buffer.from(body)), null));
}

test('names that mean something to JavaScript are names like any other', () => {
  assert.equal(
    jsonOfForm(Buffer.from('__proto__=1&a[__proto__]=2')),
    '{"__proto__":1,"a":{"__proto__":"2"}}',
  );
});
