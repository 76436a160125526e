import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  contained,
  firstSeen,
  hasHidden,
  hasHiddenInLines,
  withoutHidden,
} from '../../src/core/shown-text.ts';

describe('a name', () => {
  const names: readonly (readonly [name: string, hidden: boolean, cleaned: string])[] = [
    ['Souk', false, 'Souk'],
    ['سوق الحرفيين', false, 'سوق الحرفيين'],
    ['Café “Étoile” & Fils – 2', false, 'Café “Étoile” & Fils – 2'],
    ['👨\u200d👩\u200d👧 می\u200cخواهم', false, '👨\u200d👩\u200d👧 می\u200cخواهم'],
    ['Souk\u202egnp', true, 'Souk gnp'],
    ['\u2067Souk\u2069', true, 'Souk'],
    ['So\u200buk', true, 'So uk'],
    ['Souk\u200f', true, 'Souk'],
    ['Souk\u061c', true, 'Souk'],
    ['So\u0000uk', true, 'So uk'],
    ['So\u2028uk', true, 'So uk'],
    ['So\ud800uk', true, 'So uk'],
    ['So\u009buk', true, 'So uk'],
  ];
  for (const [name, hidden, cleaned] of names)
    test(JSON.stringify(name), () => {
      assert.equal(hasHidden(name), hidden);
      assert.equal(withoutHidden(name), cleaned);
      assert.equal(hasHidden(cleaned), false);
    });
});

test('of several texts the first one is shown in which something is seen', () => {
  assert.equal(firstSeen(null, ' \u200b\u00a0', 'Amina', 'cus_1'), 'Amina');
  assert.equal(firstSeen('\t', null, 'cus_1'), 'cus_1');
  // A joiner, and a letter of Korean that stands for none, which is chosen as a name without one.
  assert.equal(firstSeen('\u200d', '\u3164', 'cus_1'), 'cus_1');
});

test('lines may have breaks and tabs, and nothing else that is not seen', () => {
  assert.equal(hasHiddenInLines('one\r\n\ttwo'), false);
  for (const text of ['one\u202etwo', 'one\u0007', 'a\u2066b']) assert.equal(hasHiddenInLines(text), true);
});

describe('a text that is contained', () => {
  const texts: readonly (readonly [text: string, shown: string])[] = [
    ['Order 7', 'Order 7'],
    ['pay \u202e000,1\u202c', 'pay 000,1'],
    ['\u2067درهم\u2069 7', '\u2067درهم\u2069 7'],
    ['open \u2067x', 'open \u2067x\u2069'],
    ['\u2069out\u2068', 'out\u2068\u2069'],
    ['\u2066a\u2067b', '\u2066a\u2067b\u2069\u2069'],
  ];
  for (const [text, shown] of texts)
    test(JSON.stringify(text), () => {
      assert.equal(contained(text), shown);
      assert.equal(contained(shown), shown);
    });
});
