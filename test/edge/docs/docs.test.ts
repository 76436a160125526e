// The documentation as documents: every link leads somewhere, every section of docs/api.md is shown, everything of the API
// description is in the reference, and nothing needs what a strict Content-Security-Policy would block.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { errorCodes } from '../../../src/contract/errors/table.ts';
import { openapiDocument } from '../../../src/contract/openapi/document.ts';
import { routeTable } from '../../../src/contract/routes/table.ts';
import { sentEventTypes } from '../../../src/contract/vocabulary.ts';
import { Docs } from '../../../src/edge/docs/docs.ts';
import { guideGroups } from '../../../src/edge/docs/guides.ts';
import { isDocsPath } from '../../../src/edge/docs/layout.ts';
import { anchorOf } from '../../../src/edge/docs/markdown.ts';
import { docsStyle } from '../../../src/edge/docs/style.ts';
import { addressOf, buttonsScript } from '../../../src/html/assets.ts';
import { testCards } from '../../../src/networks/test-cards.ts';

const root = join(import.meta.dirname, '../../..');
const baseUrl = 'https://pay.example';
const docs = new Docs(baseUrl, openapiDocument(baseUrl));
function read(path: string, acceptLanguage = '', query = ''): { status: number; document: string } {
  const { status, document } = docs.visit({ path, query, acceptLanguage });
  return { status, document: document.text };
}
const pages = new Map(docs.paths.map((path) => [path, read(path).document]));
const idsOf = (document: string) => [...document.matchAll(/ id="([^"]+)"/g)].map((match) => match[1]!);
const others = [
  '/openapi.json',
  '/postman.json',
  '/dashboard',
  addressOf(docsStyle),
  addressOf(buttonsScript),
];

for (const [path, document] of pages) {
  test(`${path}: every link leads to a page, and to an anchor in it`, () => {
    for (const [, href] of document.matchAll(/(?:href|src|action)="([^"]*)"/g)) {
      if (/^https:/.test(href!)) continue;
      const [target, anchor] = href!.split('#') as [string, string | undefined];
      const there = target.split('?')[0] === '' ? document : pages.get(target.split('?')[0]!);
      assert.ok(there !== undefined || others.includes(target), `${path}: ${href}`);
      if (anchor) assert.ok(idsOf(there!).includes(anchor), `${path}: ${href}`);
    }
  });

  test(`${path}: every id is there once, and nothing needs what the policy forbids`, () => {
    const ids = idsOf(document);
    assert.deepEqual(ids, [...new Set(ids)]);
    assert.doesNotMatch(document, /<style|<img|<iframe| style=| on\w+=|javascript:/i);
    assert.deepEqual(document.match(/<script[^>]*>/g), [
      `<script type="module" src="${addressOf(buttonsScript)}">`,
    ]);
  });
}

test('an address that is none of the pages has a page that says so', () => {
  assert.ok(isDocsPath('/docs/nothing') && !isDocsPath('/docsy') && !isDocsPath('/v1'));
  const { status, document } = read('/docs/nothing');
  assert.equal(status, 404);
  assert.match(document, /There is no such page/);
});

test('pages that say no more than that are made once', () => {
  const head = { query: '', acceptLanguage: 'fr' };
  const missing = (path: string) => docs.visit({ path, ...head }).document;
  assert.equal(missing('/docs/nothing'), missing('/docs/nothing-either'));
  const tooMany = (seconds: number) => docs.tooManySearches(seconds, { path: '/docs/search', ...head });
  assert.equal(tooMany(7), tooMany(7));
  assert.match(tooMany(7).text, /7/);
  assert.match(tooMany(8).text, /8/);
});

test('every section of docs/api.md and every guide is shown on one page', () => {
  const shown = guideGroups.flatMap(({ guides }) => guides.flatMap(({ parts }) => parts));
  assert.deepEqual(shown, [...new Set(shown)]);
  const sections = [...readFileSync(join(root, 'docs/api.md'), 'utf8').matchAll(/^## (.+)$/gm)];
  const expected = [
    ...sections.map(([, heading]) => `docs/api.md#${anchorOf(heading!)}`),
    ...readdirSync(join(root, 'docs/guide')).map((name) => `docs/guide/${name}`),
    'docs/networks/http.md',
    'CHANGELOG.md',
  ];
  assert.deepEqual(shown.toSorted(), expected.toSorted());
});

test('what a guide links is shown, but for files that are for tools, operators and engineers', () => {
  const parts = guideGroups.flatMap(({ guides }) => guides.flatMap((guide) => guide.parts));
  const served = ['docs/openapi.json', 'docs/errors.md', 'docs/postman.json'];
  const reconciling = 'docs/operations.md#reconciling-a-month';
  const left = ['docs/networks/http-openapi.json', 'docs/networks/cmi.md', reconciling];
  const known = [...parts, ...served, ...left];
  for (const file of new Set(parts.map((part) => part.split('#')[0]!))) {
    const markdown = readFileSync(join(root, file), 'utf8');
    for (const [, href] of markdown.matchAll(/\]\((?!https?:|#)([^)]+)\)/g)) {
      const { pathname, hash } = new URL(href!, `file:///${file}`);
      assert.ok(known.includes(pathname.slice(1) + hash), `${file}: ${href}`);
    }
  }
});

test('the reference has every route, parameter, field and type of event', () => {
  const reference = [...pages].filter(([path]) => path.startsWith('/docs/api/')).map(([, page]) => page);
  const all = reference.join('\n');
  for (const { operation, method, path, params } of routeTable) {
    const page = reference.find((each) => each.includes(`<h2 id="${operation}">`));
    assert.ok(page, operation);
    const section = page.split(`<h2 id="${operation}">`)[1]!.split('</section>')[0]!;
    assert.ok(section.includes(`<span class="method">${method}</span> ${path}`), operation);
    for (const name of Object.keys(params.properties)) {
      assert.ok(section.includes(`<code>${name}</code>`), `${operation}: ${name}`);
    }
    for (const language of ['curl', 'Node', 'Python', 'PHP']) {
      assert.ok(section.includes(`<summary>${language}</summary>`), `${operation}: ${language}`);
    }
  }
  const { schemas } = (openapiDocument(baseUrl) as { components: { schemas: Record<string, object> } })
    .components;
  for (const [name, schema] of Object.entries(schemas)) {
    if (name === 'Error' || name.endsWith('List') || name.startsWith('Deleted')) continue;
    for (const field of Object.keys('properties' in schema ? (schema.properties as object) : {})) {
      assert.ok(all.includes(`<code>${field}</code>`), `${name}: ${field}`);
    }
  }
  for (const type of sentEventTypes) assert.ok(all.includes(`<code>${type}</code></h3>`), type);
  const refunds = pages.get('/docs/refunds')!;
  assert.ok(refunds.includes('href="/docs/errors#amount_too_large"'));
  assert.ok(refunds.includes('href="/docs/api/events#refundfailed"'));
  assert.ok(all.includes('Whether there are more objects behind this page.'));
});

test('the guides show every test card, and the address of this service', () => {
  const testing = pages.get('/docs/testing')!;
  for (const { number, text } of testCards) {
    assert.ok(testing.includes(number) && testing.includes(text.en), number);
  }
  assert.ok(pages.get('/docs/quick-start')!.includes(`export URL=${baseUrl}`));
  assert.ok(![...pages.values()].some((page) => page.includes('127.0.0.1:8080')));
});

const languages: readonly (readonly [acceptLanguage: string, query: string, lang: string, advice: RegExp])[] =
  [
    ['', '', 'en', /Add the parameter/],
    ['fr-MA', '', 'fr', /Ajoutez le paramètre/],
    ['ar', '', 'ar', /أضف المعامل/],
    ['fr', 'lang=ar', 'ar', /أضف المعامل/],
    ['fr', 'lang=de', 'fr', /Ajoutez le paramètre/],
  ];
for (const [acceptLanguage, query, lang, advice] of languages) {
  test(`the errors are explained in the reader's language: ${acceptLanguage} ${query}`, () => {
    const { document } = read('/docs/errors', acceptLanguage, query);
    assert.match(document, new RegExp(`<html lang="${lang}" dir="${lang === 'ar' ? 'rtl' : 'ltr'}">`));
    assert.match(document, advice);
    for (const code of errorCodes) assert.ok(document.includes(`id="${code}"`), code);
  });
}

/** What is typed, and the address of what has to be found first. */
const searches: readonly (readonly [typed: string, first: string])[] = [
  ['refunds', '/docs/refunds'],
  ['webhooks', '/docs/webhooks'],
  ['refund a payment', '/docs/api/refunds#create_refund'],
  ['api_key_missing', '/docs/errors#api_key_missing'],
  ['payment_intent.succeeded', '/docs/api/events#payment_intentsucceeded'],
  ['test cards', '/docs/testing#test-cards'],
  ['limits', '/docs/limits'],
  ['cancellation_reason', '/docs/api/payment-intents#cancel_payment_intent'],
];
const foundOf = (document: string) =>
  [
    ...document
      .split('<ul class="found">')[1]!
      .split('</ul>')[0]!
      .matchAll(/href="([^"]+)"/g),
  ].map(([, href]) => href!);
for (const [typed, first] of searches) {
  test(`the search finds “${typed}”`, () => {
    const { document } = read('/docs/search', '', new URLSearchParams({ q: typed }).toString());
    const found = foundOf(document);
    assert.ok(found.slice(0, 3).includes(first), found.slice(0, 5).join(' '));
  });
}

test('the search takes anything, and shows it as text', () => {
  for (const typed of [
    '',
    '   ',
    '<script>alert(1)</script>',
    '"><b>',
    '((((',
    'x'.repeat(5_000),
    '\\',
    '%',
    // The search cuts it after a hundred units of UTF-16, in the middle of a character.
    `${'x'.repeat(99)}😀`,
  ]) {
    const { status, document } = read('/docs/search', '', new URLSearchParams({ q: typed }).toString());
    assert.equal(status, 200);
    assert.doesNotMatch(document, /<script>alert|"><b>/);
    assert.ok(document.length < 20_000);
  }
  assert.deepEqual(foundOf(read('/docs/search', '', 'q=zzzzzz').document), []);
});

test('behind a proxy that removes the start of the path, links and files have it', () => {
  const behind = new Docs('https://shop.example/pay', openapiDocument('https://shop.example/pay'));
  const { document } = behind.visit({ path: '/docs/refunds', query: '', acceptLanguage: '' });
  for (const [, href] of document.text.matchAll(/(?:href|src|action)="(\/[^"]*)"/g))
    assert.match(href!, /^\/pay\//);
});

test('the page without the slashes at its end is found in one pass, however many slashes an address has', () => {
  const slashes = '/'.repeat(16_000);
  const before = process.cpuUsage();
  for (let i = 0; i < 20; i++)
    assert.equal(docs.pageWithoutSlash({ path: `/docs${slashes}a${slashes}`, query: '' }), null);
  assert.ok(process.cpuUsage(before).user < 2_000_000);
  assert.equal(docs.pageWithoutSlash({ path: `/docs${slashes}`, query: 'lang=fr' }), '/docs?lang=fr');
});
