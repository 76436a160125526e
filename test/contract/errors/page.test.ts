// What explains the error codes: every code has its meaning and its advice in each language, and docs/errors.md has the English
// texts under the anchor that `doc_url` names.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorAdvice } from '../../../src/contract/errors/advice.ts';
import { errorsPageMarkdown, explainedTypes } from '../../../src/contract/errors/page.ts';
import { errorCodes, errors, messageOf } from '../../../src/contract/errors/table.ts';
import type { Params } from '../../../src/contract/routes/parsed-params.ts';
import { type Operation, routeTable } from '../../../src/contract/routes/table.ts';
import { validateParams } from '../../../src/contract/routes/validate.ts';
import { languages } from '../../../src/contract/vocabulary.ts';

const markdown = errorsPageMarkdown();

for (const language of languages) {
  test(`every code has its type, status, meaning and advice: ${language}`, () => {
    const explained = explainedTypes(language).flatMap((group) =>
      group.errors.map((error) => ({ ...error, type: group.type })),
    );
    assert.deepEqual(explained.map(({ code }) => code).toSorted(), errorCodes.toSorted());
    for (const { code, type, statuses, message, advice } of explained) {
      assert.equal(type, errors[code].type);
      assert.equal(statuses[0], errors[code].status);
      assert.match(message, /\S{2}/);
      assert.match(advice, /\S{2}/);
    }
  });
}

test('the advice names the same parameters, headers and values in each language', () => {
  const codeIn = (text: string) => [...text.matchAll(/`([^`]+)`/g)].map(([, code]) => code!).toSorted();
  for (const [code, { en, fr, ar }] of Object.entries(errorAdvice)) {
    const named = new Set(codeIn(en));
    for (const text of [fr, ar]) {
      const missing = [...named].filter((name) => !codeIn(text).includes(name));
      assert.deepEqual(missing, [], code);
    }
  }
});

test('the advice is in the language that it says', () => {
  for (const [code, { en, fr, ar }] of Object.entries(errorAdvice)) {
    assert.notEqual(en, fr, code);
    assert.match(ar, /\p{Script=Arabic}{3}/u, code);
    assert.doesNotMatch(en + fr, /\p{Script=Arabic}/u, code);
  }
});

test('docs/errors.md has every code with its advice', () => {
  for (const code of errorCodes) {
    assert.ok(markdown.includes(`<a id="${code}"></a>`), code);
    assert.ok(markdown.includes(errorAdvice[code].en), code);
  }
});

test('statuses that a code has now and then are named', () => {
  const statusesOf = new Map(
    explainedTypes('en').flatMap((group) => group.errors.map(({ code, statuses }) => [code, statuses])),
  );
  assert.deepEqual(statusesOf.get('invalid_request'), [400, 413, 431]);
  assert.deepEqual(statusesOf.get('api_error'), [500, 503]);
});

test('decline codes are named with what they mean', () => {
  const declined = explainedTypes('en')
    .flatMap((group) => group.errors)
    .find(({ code }) => code === 'card_declined')!;
  const variant = declined.variants.find(({ declineCode }) => declineCode === 'insufficient_funds')!;
  assert.match(variant.text, /^The card was declined/);
});

test('the messages have examples for their values, in every language', () => {
  for (const language of languages) {
    for (const { code, message, variants } of explainedTypes(language).flatMap(({ errors }) => errors)) {
      for (const text of [message, ...variants.map((variant) => variant.text)]) {
        assert.doesNotMatch(text, /\{\w+\}/, code);
      }
    }
  }
  assert.ok(markdown.includes('the limit “all requests” is 600 per minute. Try again in 2 s.'));
});

const payment = { amount: 12_000, currency: 'mad' };
const wrong: readonly (readonly [Operation, Params])[] = [
  ['list_payment_intents', { limit: 0 }],
  ['create_payment_intent', { ...payment, description: '' }],
  ['create_payment_intent', { ...payment, currency: 'eur' }],
  ['create_payment_intent', { ...payment, payment_method_types: [] }],
  ['create_payment_intent', { ...payment, metadata: [] }],
  ['create_checkout_session', { ...payment, success_url: 'shop' }],
  ['create_checkout_session', { ...payment, success_url: 'https://shop.example', payment_intent_data: 1 }],
  ['create_customer', { email: 'amina' }],
  ['update_webhook_endpoint', { disabled: 'yes' }],
];
for (const [operation, params] of wrong) {
  const route = routeTable.find((each) => each.operation === operation)!;
  const refusal = validateParams(route, params)!;
  test(`the page has the message with its limits that a request gets: ${refusal.param}`, () => {
    const shown = markdown.replaceAll('`', '');
    assert.ok(shown.includes(`- ${messageOf(refusal, 'en')}\n`), messageOf(refusal, 'en'));
  });
}
