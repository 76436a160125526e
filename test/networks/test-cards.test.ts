import assert from 'node:assert/strict';
import { test } from 'node:test';
import { declineCodes, languages } from '../../src/contract/vocabulary.ts';
import { cardBrand, luhnValid } from '../../src/core/card-number.ts';
import { testCards } from '../../src/networks/test-cards.ts';

test('every test card is a valid number of its brand, with a text in each language', () => {
  for (const { number, brand, text } of testCards) {
    assert.ok(luhnValid(number), number);
    assert.equal(cardBrand(number), brand);
    for (const language of languages) assert.notEqual(text[language], '');
  }
});

test('no two cards share a number, nor brand and last four digits', () => {
  const names = testCards.map(({ brand, number }) => `${brand} ${number.slice(-4)}`);
  assert.equal(new Set(names).size, testCards.length);
});

test('there is exactly one plain card for each decline code, and one for each other behavior', () => {
  const plain = testCards.filter((card) => !card.challenge && !card.lingers);
  for (const code of declineCodes) {
    assert.equal(plain.filter(({ decline }) => decline === code).length, 1, code);
  }
  const succeeding = testCards.filter(({ decline }) => decline === null);
  assert.equal(succeeding.filter(({ challenge }) => challenge).length, 1);
  assert.equal(succeeding.filter(({ lingers }) => lingers).length, 1);
  assert.equal(succeeding.filter(({ refundFails }) => refundFails).length, 1);
  assert.ok(succeeding.some(({ number }) => number === '4242424242424242'));
  assert.ok(succeeding.some(({ brand }) => brand === 'mastercard'));
});
