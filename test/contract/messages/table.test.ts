// The texts are complete in three languages, have the same placeholders in each, and follow each language's typography.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorCodes, errors } from '../../../src/contract/errors/table.ts';
import { admissionMessages } from '../../../src/contract/messages/admission.ts';
import { operationMessages } from '../../../src/contract/messages/operations.ts';
import { requestMessages } from '../../../src/contract/messages/requests.ts';
import { format, type MessageKey, messages } from '../../../src/contract/messages/table.ts';
import { declineCodes, languages } from '../../../src/contract/vocabulary.ts';

const keys = Object.keys(messages) as MessageKey[];
const placeholdersOf = (text: string): string[] => [...new Set(text.match(/\{\w+\}/g))].sort();

test('every error code has a text in every language', () => {
  for (const code of errorCodes) {
    for (const language of languages) assert.ok(messages[code]?.[language], `${code} in ${language}`);
  }
});

test('every decline code has a text', () => {
  for (const code of declineCodes) assert.ok(Object.hasOwn(messages, `card_declined.${code}`), code);
});

test('every key is a code, a variant of a code, or a failure', () => {
  for (const key of keys) {
    const [, first, variant] = /^([a-z_]+)(?:\.([a-z_]+))?$/.exec(key) ?? [];
    assert.ok(first, key);
    assert.ok(first === 'failure' ? variant : Object.hasOwn(errors, first), key);
  }
});

test('no two themes have a text with the same key', () => {
  const themes = [requestMessages, operationMessages, admissionMessages];
  assert.equal(themes.flatMap((theme) => Object.keys(theme)).length, keys.length);
});

for (const key of keys) {
  const { en, fr, ar } = messages[key];

  test(`${key}: the languages agree`, () => {
    assert.deepEqual(placeholdersOf(fr), placeholdersOf(en));
    assert.deepEqual(placeholdersOf(ar), placeholdersOf(en));
    assert.equal(new Set([en, fr, ar]).size, 3);
    for (const text of [en, fr, ar]) {
      assert.match(text, /\.$/);
      assert.equal(text, text.trim());
      assert.doesNotMatch(text, / {2}/);
      assert.doesNotMatch(text.replace(/\{\w+\}/g, ''), /[{}]/, 'a placeholder that is not well formed');
    }
  });

  test(`${key}: French is set as French`, () => {
    assert.doesNotMatch(fr, /['"“”]/, 'the apostrophe is ’, the quotation marks are « »');
    assert.doesNotMatch(fr, /[^\u00a0]:|[^\u202f][;!?]|«[^\u00a0]|[^\u00a0]»/, 'a space that does not break');
  });

  test(`${key}: Arabic is set as Arabic`, () => {
    assert.match(ar, /^[\u0621-\u064a]/, 'an Arabic letter first, so that the text runs from right to left');
    assert.doesNotMatch(ar, /[\u0660-\u0669\u06f0-\u06f9]/, 'Latin digits');
    assert.doesNotMatch(ar, /[,;?"“”]/, 'Arabic punctuation');
  });
}

test('placeholders are filled in, in every language', () => {
  const values = { minimum: 10_000, method: 'cash' };
  assert.equal(
    format('amount_too_small', 'en', values),
    'The amount is below the minimum of 10000 centimes for payments by cash.',
  );
  assert.equal(
    format('amount_too_small', 'fr', values),
    'Le montant est inférieur au minimum de 10000\u00a0centimes applicable au moyen de paiement «\u00a0cash\u00a0».',
  );
  assert.equal(
    format('amount_too_small', 'ar', values),
    'المبلغ أقل من الحد الأدنى المطبق على وسيلة الدفع «cash»، وهو 10000 سنتيم.',
  );
});

test('a value is inserted as it is, and values that a text does not name are ignored', () => {
  const values = { param: 'metadata.{max}$&', max: 1 };
  assert.equal(format('parameter_missing', 'en', values), 'The parameter metadata.{max}$& is required.');
});

test('a text without one of its values is refused', () => {
  assert.throws(() => format('amount_too_small', 'fr', { method: 'card' }), /amount_too_small.*minimum/);
});
