import assert from 'node:assert/strict';
import { test } from 'node:test';
import { languages } from '../../../src/contract/vocabulary.ts';
import { pageMessages, say } from '../../../src/edge/checkout/page-messages.ts';

const placeholders = (text: string) => [...text.matchAll(/\{\w+\}/g)].map(([name]) => name).sort();

test('every text exists in each language, with the same values', () => {
  for (const [key, texts] of Object.entries(pageMessages)) {
    for (const language of languages) {
      assert.notEqual(texts[language], '', `${key} ${language}`);
      assert.deepEqual(placeholders(texts[language]), placeholders(texts.en), `${key} ${language}`);
    }
  }
});

test('Arabic texts are in Arabic script', () => {
  for (const [key, { ar }] of Object.entries(pageMessages)) assert.match(ar, /[\u0600-\u06ff]/, key);
});

test('values are put in; in Arabic each keeps its own direction', () => {
  assert.equal(say('return_to', 'fr', { merchant: 'Atlas' }), 'Retourner chez Atlas');
  assert.equal(say('return_to', 'ar', { merchant: 'Atlas' }), 'العودة إلى \u2068Atlas\u2069');
  const turning = { merchant: '\u202eAtlas\u2069' };
  assert.equal(say('return_to', 'fr', turning), 'Retourner chez Atlas');
  assert.equal(say('return_to', 'ar', turning), 'العودة إلى \u2068Atlas\u2069');
});

test('in French no line begins with a sign that follows a space', () => {
  assert.equal(say('processing_text', 'fr').match(/elle-même.;/)?.[0], 'elle-même\u00a0;');
});

test('a text without its value throws', () => {
  assert.throws(() => say('return_to', 'en'), /lacks a value for merchant/);
});
