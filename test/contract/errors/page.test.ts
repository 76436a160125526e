// The page that explains the error codes has every code under the anchor that `doc_url` names, and nothing that a strict
// Content-Security-Policy would block.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { errorAdvice } from '../../../src/contract/errors/advice.ts';
import { errorsPageHtml, errorsPageMarkdown } from '../../../src/contract/errors/page.ts';
import { errorCodes, errors } from '../../../src/contract/errors/table.ts';

const { html, styleHash } = errorsPageHtml();
const markdown = errorsPageMarkdown();

/** The part of the page about `code`. */
const sectionOf = (code: string) => html.split(`<section id="${code}"`)[1]!.split('</section>')[0]!;

for (const code of errorCodes) {
  test(`${code} has its type, status, meaning and advice`, () => {
    const section = sectionOf(code);
    assert.match(section, new RegExp(`<dt>Status</dt><dd>${errors[code].status}\\b`));
    assert.match(section, /<dt>Meaning<\/dt><dd>\S/);
    assert.match(section, /<dt>What to do<\/dt><dd>\S/);
    const before = html.slice(0, html.indexOf(`<section id="${code}"`));
    assert.equal(/.*<h2><code>(\w+)/s.exec(before)?.[1], errors[code].type);
    assert.ok(markdown.includes(`<a id="${code}"></a>`));
    assert.ok(markdown.includes(errorAdvice[code]));
  });
}

test('statuses that a code has now and then are named', () => {
  assert.match(sectionOf('invalid_request'), /<dd>400, 413, 431</);
  assert.match(sectionOf('api_error'), /<dd>500, 503</);
});

test('decline codes are named with what they mean', () => {
  assert.match(sectionOf('card_declined'), /<code>insufficient_funds<\/code>: The card was declined/);
});

test('every anchor exists once, and every link leads to one', () => {
  const ids = [...html.matchAll(/ id="([^"]+)"/g)].map((match) => match[1]!);
  assert.equal(new Set(ids).size, ids.length);
  for (const [, target] of html.matchAll(/href="([^"]*)"/g))
    assert.ok(ids.includes(target!.slice(1)), target);
});

test('the hash is that of the one style', () => {
  const styles = [...html.matchAll(/<style>([\s\S]*?)<\/style>/g)].map((match) => match[1]!);
  assert.equal(styles.length, 1);
  assert.equal(styleHash, `sha256-${createHash('sha256').update(styles[0]!).digest('base64')}`);
});

test('nothing on the page needs more than its style', () => {
  assert.doesNotMatch(html, /<script|<link|<img|<form|<iframe| style=| on\w+=|url\(|@import|https?:/i);
});

test('texts are put into the page as text', () => {
  const text = html.replace(/<style>[\s\S]*<\/style>/, '').replace(/<\/?[a-z][^<>]*>|<!doctype html>/g, '');
  assert.doesNotMatch(text, /[<>`]/);
});
