// The documentation in French: it says what the English one says, with the same code; it is written with the spaces that French
// has; the language is kept from page to page; and the search finds things by the words that people use for them.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { openapiDocument } from '../../../src/contract/openapi/document.ts';
import { Docs, searchPath } from '../../../src/edge/docs/docs.ts';
import { guideGroups } from '../../../src/edge/docs/guides.ts';
import { indexOf, search } from '../../../src/edge/docs/search.ts';

const docsFolder = join(import.meta.dirname, '../../../docs');
const documents = [
  'api.md',
  'networks/http.md',
  ...readdirSync(join(docsFolder, 'guide')).map((name) => `guide/${name}`),
];
const textOf = (file: string) => readFileSync(join(docsFolder, file), 'utf8');
const fence = /^```[\s\S]*?^```$/gm;
const blocksOf = (text: string) => text.match(fence) ?? [];
const proseOf = (text: string) => text.replace(fence, '');

for (const name of documents) {
  const [english, french] = [textOf(name), textOf(`fr/${name}`)];

  test(`docs/fr/${name} has the code, headings, tables and lists of the English document`, () => {
    assert.deepEqual(blocksOf(french), blocksOf(english));
    const shape = (text: string) =>
      proseOf(text)
        .split('\n')
        .flatMap((line) => /^(#+ |- |\d+\. |\||<!-- .* -->)/.exec(line)?.[1] ?? []);
    assert.deepEqual(shape(french), shape(english));
    const named = (text: string) =>
      [
        ...new Set(
          proseOf(text)
            .replace(/\s+/g, ' ')
            .match(/`[^`]+`/g),
        ),
      ].toSorted();
    // French may name a value once more, where English has a word for it.
    assert.deepEqual(
      named(english).filter((code) => !named(french).includes(code)),
      [],
    );
  });

  test(`docs/fr/${name} has spaces that don't break before : ; ? ! and within « »`, () => {
    const prose = proseOf(french)
      .replace(/<!--.*-->/g, '')
      .replace(/`[^`]*`/g, 'x')
      .replace(/\]\([^)]*\)/g, ']')
      .replace(/^\|[-|]+\|$/gm, '');
    const wrong = prose.match(/.{0,20}(?:[ \n][:;?!»]|«[ \n]|[^\s\u00a0][;?!»]).{0,10}/g);
    assert.equal(wrong, null);
    assert.doesNotMatch(prose, /[a-zà-ÿ]:(?!\/\/)\s/);
    // The apostrophe is the printed one.
    assert.doesNotMatch(prose, /\p{L}'\p{L}/u);
  });
}

const baseUrl = 'https://pay.example';
const createDocs = () => new Docs(baseUrl, openapiDocument(baseUrl));
const docs = createDocs();
const read = (path: string, query = '', acceptLanguage = '') =>
  docs.visit({ path, query, acceptLanguage }).document.text;
const linksOf = (document: string) =>
  [...document.matchAll(/<a[^>]* href="(\/[^"#]*)/g)].map((match) => match[1]!);

test('every page is there in French, names its other languages, and its links keep the language', () => {
  for (const path of docs.paths) {
    const document = read(path, 'lang=fr');
    assert.match(document, /^<!doctype html>\n<html lang="fr" dir="ltr">/, path);
    assert.ok(document.includes(`<link rel="alternate" hreflang="en" href="${path}?lang=en`), path);
    assert.ok(document.includes(`<link rel="alternate" hreflang="x-default" href="${path}">`), path);
    const lost = linksOf(document).filter(
      (link) => /^\/(docs|$|\?)/.test(link) && !/\?lang=(fr|en|ar)/.test(link),
    );
    assert.deepEqual(lost, [], path);
    assert.ok(document.includes('<input type="hidden" name="lang" value="fr">'), path);
    assert.ok(document.includes('>Démarrage rapide</a>'), path);
    assert.doesNotMatch(
      document.replace(/<div lang="en"[\s\S]*/, ''),
      />(Copy|On this page|Quick start)</,
      path,
    );
  }
});

test('the language of the browser needs no address of its own, and English can be asked for', () => {
  const french = read('/docs/refunds', '', 'fr-MA,fr;q=0.9');
  assert.match(french, /<html lang="fr"/);
  assert.ok(linksOf(french).includes('/docs/cash'));
  const english = read('/docs/refunds', 'lang=en', 'fr-MA');
  assert.match(english, /<html lang="en"/);
  assert.ok(linksOf(english).includes('/docs/cash?lang=en'));
  assert.match(read('/docs/refunds', '', 'ar'), /<html lang="en"/);
});

test('each guide has a French title and summary of its own', () => {
  for (const { title, guides } of guideGroups) {
    assert.notEqual(title.fr, title.en);
    for (const guide of guides) {
      assert.notEqual(guide.summary.fr, guide.summary.en, guide.slug);
      assert.ok(read(`/docs/${guide.slug}`, 'lang=fr').includes(`<h1>${guide.title.fr}</h1>`), guide.slug);
    }
  }
});

test('a page is rendered once in each language, whatever is read in between', () => {
  const fresh = createDocs();
  const pages = fresh.paths.filter((path) => path !== searchPath);
  const readAll = () =>
    ['', 'lang=en', 'lang=fr', 'lang=ar'].flatMap((query) =>
      ['en', 'fr', 'ar'].flatMap((acceptLanguage) =>
        [...pages, '/docs/none', '/docs/no'].map(
          (path) => fresh.visit({ path, query, acceptLanguage }).document,
        ),
      ),
    );
  const before = readAll();
  const again = readAll();
  assert.ok(again.every((document, i) => document === before[i]));
  const characters = [...new Set(before)].reduce((sum, { text }) => sum + text.length, 0);
  assert.ok(characters < 8 * 1024 * 1024, `${characters} characters are kept`);
});

/** What is typed, in which language, and what has to be among the first three. */
const searches: readonly (readonly [typed: string, lang: 'en' | 'fr', found: string])[] = [
  ['carte', 'fr', '/docs/cards'],
  ['carte', 'en', '/docs/cards'],
  ['carte de test', 'fr', '/docs/testing#cartes-de-test'],
  ['remboursement', 'fr', '/docs/refunds'],
  ['remboursement', 'en', '/docs/refunds'],
  ['Remboursement partiel', 'fr', ''],
  ['espèces', 'fr', '/docs/cash'],
  ['especes', 'en', '/docs/cash'],
  ['3DS', 'fr', '/docs/payments'],
  ['3DS', 'en', ''],
  ['postman', 'fr', '/docs/clients#postman'],
  ['postman', 'en', '/docs/clients'],
  ['clé secrète', 'fr', ''],
  ['amount_too_large', 'fr', '/docs/errors#amount_too_large'],
  ['card_declined', 'fr', '/docs/errors#card_declined'],
  ['idempotency_key_reused', 'en', '/docs/errors#idempotency_key_reused'],
  ['limites', 'fr', '/docs/limits'],
  ['callback', 'en', '/docs/webhooks'],
];
for (const [typed, lang, first] of searches) {
  test(`the search in ${lang} finds “${typed}”`, () => {
    const document = read('/docs/search', new URLSearchParams({ q: typed, lang }).toString());
    const list = document.split('<ul class="found">')[1]!.split('</ul>')[0]!;
    const found = [...list.matchAll(/href="([^"]+)"/g)].map((match) => match[1]!.replace(/\?lang=\w+/, ''));
    if (first === '') assert.ok(found.length > 0);
    else assert.ok(found.slice(0, 3).includes(first), found.slice(0, 6).join(' '));
  });
}

test('what was found is marked with its accents, however it was typed, and where a word begins', () => {
  const before = 'Ce qui est dit avant ne compte pas. '.repeat(5);
  const text = `${before}Pour réessayer, il faut essayer : le client paie en espèces.`;
  const index = indexOf([{ href: '/', page: 'Codes', title: '', text }]);
  for (const [typed, marked] of [
    ['espèces', 'en <mark>espèces</mark>.'],
    ['ESPECES', 'en <mark>espèces</mark>.'],
    ['essayer', 'Pour réessayer, il faut <mark>essayer</mark> :'],
  ] as const) {
    const [found] = search(index, typed);
    assert.ok(found?.excerpt.markup.includes(marked), `${typed}: ${found?.excerpt.markup}`);
    assert.match(found?.excerpt.markup ?? '', /^… /);
  }
});
