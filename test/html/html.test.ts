import assert from 'node:assert/strict';
import { test } from 'node:test';
import { html } from '../../src/html/html.ts';

const rows: readonly [string, ReturnType<typeof html>, string][] = [
  [
    'a text is escaped',
    html`<p>${'<b a="1" c=\'2\'>&'}</p>`,
    '<p>&lt;b a=&quot;1&quot; c=&#39;2&#39;&gt;&amp;</p>',
  ],
  ['markup is not', html`<p>${html`<b>${'&'}</b>`}</p>`, '<p><b>&amp;</b></p>'],
  ['a list is joined', html`${[html`<i>1</i>`, html`<i>2</i>`]}.`, '<i>1</i><i>2</i>.'],
  [
    'a text turns nothing around it',
    html`<p>${'\u202e1\u2069'}</p><p>${'\u20682'}</p>`,
    '<p>1</p><p>\u20682\u2069</p>',
  ],
  ['a number stands', html`${0}`, '0'],
  ['nothing leaves nothing', html`a${null}b${false}c${[]}d${''}e`, 'abcde'],
];
for (const [name, { markup }, expected] of rows) test(name, () => assert.equal(markup, expected));
