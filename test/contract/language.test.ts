// Language negotiation, as a table: the header of a request and the language of the answer.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { negotiateLanguage } from '../../src/contract/language.ts';
import type { Language } from '../../src/contract/vocabulary.ts';

const cases: readonly [header: string, expected: Language, why: string][] = [
  ['', 'en', 'no header'],
  ['en', 'en', 'plain'],
  ['fr', 'fr', 'plain'],
  ['ar', 'ar', 'plain'],
  ['fr-MA', 'fr', 'a region is dropped'],
  ['ar-Arab-MA', 'ar', 'a script and a region are dropped'],
  ['FR', 'fr', 'upper case'],
  ['Ar-mA;Q=0.9, EN;q=0.1', 'ar', 'any case, the q included'],
  ['fr-MA,fr;q=0.9,en-US;q=0.8,en;q=0.7', 'fr', 'a browser set to French'],
  ['ar-MA,ar;q=0.9,fr;q=0.8', 'ar', 'a browser set to Arabic'],
  ['es-ES,es;q=0.9,fr;q=0.4,en;q=0.3', 'fr', 'the best of the languages there are'],
  ['en;q=0.2,fr;q=0.5,ar;q=0.9', 'ar', 'quality before order'],
  ['fr;q=0.001,ar;q=0.002', 'ar', 'three decimals'],
  ['en;q=0.8,ar', 'ar', 'an absent quality is 1'],
  ['ar;q=1.000,en;q=0.999', 'ar', 'one with decimals'],
  ['ar,fr', 'ar', 'the first of equals'],
  ['fr,ar', 'fr', 'the first of equals'],
  ['fr;q=0.2,en;q=0.5,fr-MA;q=0.9', 'fr', 'the best of the ranges that name a language'],
  ['fr-MA,fr;q=0.2,en;q=0.5', 'fr', 'the best of them, wherever it stands'],
  [' fr ; q=0.9 ,\ten ;\tq=0.1', 'fr', 'spaces and tabs'],
  [',,fr,,', 'fr', 'empty elements'],
  ['*', 'en', 'anything'],
  ['*;q=0.5,fr;q=0.4', 'en', 'the wildcard covers what is not named'],
  ['*,fr', 'fr', 'a named language before the wildcard'],
  ['fr;q=0.5,*;q=0.1', 'fr', 'a wildcard of low quality'],
  ['en;q=0,*', 'fr', 'excluded, the others not'],
  ['en;q=0,fr;q=0.0,*;q=0.1', 'ar', 'two excluded'],
  ['fr;q=0,ar;q=0.1', 'ar', 'excluded'],
  ['fr;q=0', 'en', 'nothing acceptable'],
  ['fr-MA;q=0,de', 'en', 'nothing acceptable'],
  ['*;q=0', 'en', 'nothing acceptable'],
  ['*;q=0,ar;q=0.1', 'ar', 'only what is named'],
  ['de-CH,de;q=0.9', 'en', 'none of the languages there are'],
  ['fra', 'en', 'another subtag that starts alike'],
  ['french', 'en', 'a word'],
  ['fr_MA', 'en', 'not a tag'],
  ['fr;q=2,ar;q=0.1', 'ar', 'a quality above 1 makes a range void'],
  ['fr;q=1.001,ar;q=0.1', 'ar', 'a quality above 1 makes a range void'],
  ['fr;q=,ar;q=0.1', 'ar', 'a quality without a number'],
  ['fr;q=-1,ar;q=0.1', 'ar', 'a negative quality'],
  ['fr;level=1,ar;q=0.1', 'ar', 'a parameter that does not exist'],
  ['fr ar', 'en', 'no comma'],
  ['constructor,__proto__', 'en', 'names of the language we are written in'],
  ['\u0000\u00ff;;;q=q', 'en', 'garbage'],
  [`ar,${'x'.repeat(253)}`, 'ar', 'the longest header that is read'],
  [`ar,${'x'.repeat(254)}`, 'en', 'longer than any that is read'],
];

for (const [header, expected, why] of cases) {
  test(`${JSON.stringify(header.slice(0, 40))} is ${expected}: ${why}`, () => {
    assert.equal(negotiateLanguage(header), expected);
    assert.equal(negotiateLanguage(header), expected, 'and the same again, remembered');
  });
}

test('ever new headers change no answer', () => {
  for (let i = 0; i < 1000; i++) {
    assert.equal(negotiateLanguage(`x-${i},ar`), 'ar');
    assert.equal(negotiateLanguage('fr-MA'), 'fr');
  }
});
