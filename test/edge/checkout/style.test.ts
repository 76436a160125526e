// The merchant's colour on the pages: the text on it is white or black, whichever is readable.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { brandStyle } from '../../../src/edge/checkout/style.ts';

for (const [colour, text] of [
  ['#000000', '#fff'],
  ['#0a5c36', '#fff'],
  ['#B3261E', '#fff'],
  ['#757575', '#fff'],
  ['#767676', '#000'],
  ['#808080', '#000'],
  ['#ffcc00', '#000'],
  ['#ffffff', '#000'],
]) {
  test(`the text on ${colour} is ${text}`, () => {
    assert.ok(brandStyle(colour!).element.markup.includes(`--brand:${colour};`));
    assert.ok(brandStyle(colour!).element.markup.includes(`--on-brand:${text}}`));
  });
}

test('nothing but a colour gets into a style element', () => {
  for (const text of ['', 'red', '#fff', '#12345g', '#123456}body{display:none'])
    assert.throws(() => brandStyle(text), /six hexadecimal digits/, text);
});
