// The search of the documentation: the sections of all pages, found by the words that are typed. A
// word is found where a word begins with it; a section must have all of them. Titles count more
// than texts. A word is also found by another word for the same thing.

import { type Html, html } from '../../html/html.ts';

export interface IndexedSection {
  readonly href: string;
  /** The page's title. */
  readonly page: string;
  /** '' for the beginning of the page. */
  readonly title: string;
  readonly text: string;
}

interface Entry {
  readonly section: IndexedSection;
  /** With a space before each word. */
  readonly title: string;
  readonly text: string;
}

interface Found {
  readonly section: IndexedSection;
  readonly excerpt: Html;
}

/** Words that say nothing of what is looked for. */
const filler = new Set('a an the of to in on de du des la le les l d un une en et par'.split(' '));
const foundMax = 30;
const wordsMax = 8;
const excerptCharacters = 160;

const plain = (text: string) =>
  text
    .toLowerCase()
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .replace(/[^\p{L}\p{N}]+/gu, ' ');

export type SearchIndex = readonly Entry[];

export function indexOf(sections: readonly IndexedSection[]): SearchIndex {
  return sections.map((section) => ({
    section,
    title: ` ${plain(`${section.title} ${section.page}`).trim()}`,
    text: ` ${plain(section.text)}`,
  }));
}

/** The best sections first. */
export function search(index: SearchIndex, query: string): readonly Found[] {
  const words = plain(query)
    .split(' ')
    .filter((word) => word !== '' && !filler.has(word))
    .slice(0, wordsMax)
    .map((word) => ({ typed: word, others: otherWordsFor(word) }));
  if (words.length === 0) return [];
  const scored = index.map((entry) => ({ entry, score: scoreOf(entry, words) }));
  const said = words.flatMap(({ typed, others }) => [typed, ...others]);
  return scored
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, foundMax)
    .map(({ entry: { section } }) => ({ section, excerpt: excerptOf(section.text, said) }));
}

interface Word {
  readonly typed: string;
  /** Other words for the same thing. */
  readonly others: readonly string[];
}

/** 0 unless the section has all words. */
function scoreOf({ title, text, section }: Entry, words: readonly Word[]): number {
  let score = 0;
  for (const { typed, others } of words) {
    // What was typed counts more than another word for it.
    const own = wordScore(title, text, typed) * 2;
    const other = Math.max(0, ...others.map((word) => wordScore(title, text, word)));
    if (own + other === 0) return 0;
    score += Math.max(own, other);
  }
  // The page about the word, and the section whose title says nothing else, are what is meant.
  const isNamed = plain(section.title).trim() === words.map(({ typed }) => typed).join(' ');
  return score + (section.title === '' ? aboutScore(title, words) : 0) + (isNamed ? 20 : 0);
}

/** For the beginning of a page whose title has the first word, or another word for it. */
function aboutScore(title: string, [first]: readonly Word[]): number {
  if (first === undefined) return 0;
  if (title.startsWith(` ${first.typed}`)) return 10;
  const isThere = [first.typed, ...first.others].some((word) => `${title} `.includes(` ${word} `));
  return isThere ? 6 : 0;
}

function wordScore(title: string, text: string, word: string): number {
  const isWhole = title.includes(` ${word} `) || title.endsWith(` ${word}`);
  const inTitle = isWhole ? 6 : title.includes(` ${word}`) ? 4 : 0;
  return inTitle + (text.includes(` ${word}`) ? 1 : 0);
}

/** The text around the first word that was found, with the words marked. */
function excerptOf(section: string, words: readonly string[]): Html {
  // Words are written without the accents that their letters may have in the text.
  const text = section.normalize('NFD');
  const accented = words.map((word) => word.replace(/./gu, '$&\\p{M}*')).join('|');
  const pattern = new RegExp(`(?<![\\p{L}\\p{M}\\p{N}])(${accented})`, 'giu');
  const at = Math.max(0, text.search(pattern) - excerptCharacters / 4);
  const start = at === 0 ? 0 : text.indexOf(' ', at) + 1;
  const piece = text.slice(start, start + excerptCharacters);
  const parts = piece
    .split(pattern)
    .map((part) => part.normalize())
    .map((part, i) => (i % 2 === 1 ? html`<mark>${part}</mark>` : html`${part}`));
  return html`${start > 0 && '… '}${parts}${start + excerptCharacters < text.length && ' …'}`;
}

/**
 * Words that mean the same to somebody who searches: in English and French, and what other services
 * call a thing. All are written as the search compares them: small letters, without accents.
 */
const groups: readonly (readonly string[])[] = [
  ['card', 'cards', 'carte', 'cartes', 'cb', 'visa', 'mastercard', 'cmi'],
  ['cash', 'especes', 'liquide', 'voucher', 'agence'],
  ['refund', 'refunds', 'remboursement', 'remboursements', 'rembourser', 'reverse', 'avoir'],
  ['3ds', '3d', '3dsecure', 'challenge', 'sca', 'authentification'],
  ['postman', 'insomnia', 'collection', 'openapi', 'swagger'],
  ['payment', 'payments', 'paiement', 'paiements', 'payer', 'pay', 'encaisser'],
  ['customer', 'customers', 'client', 'clients', 'acheteur'],
  ['error', 'errors', 'erreur', 'erreurs'],
  ['retry', 'retries', 'reessayer', 'renvoyer', 'idempotency', 'idempotence'],
  ['key', 'keys', 'cle', 'cles', 'token', 'apikey'],
  ['test', 'testing', 'tester', 'sandbox'],
  ['live', 'production', 'prod'],
  ['limit', 'limits', 'limite', 'limites', 'quota', 'throttle'],
  ['webhook', 'webhooks', 'callback', 'ipn', 'notification', 'notifications'],
  ['endpoint', 'terminaison'],
  ['event', 'events', 'evenement', 'evenements'],
  ['amount', 'montant', 'montants', 'centime', 'centimes'],
  ['declined', 'decline', 'refusee', 'refuse', 'refus'],
  ['checkout', 'session', 'sessions', 'lien'],
  ['charge', 'charges', 'debit', 'tentative'],
  ['signature', 'hmac', 'signing'],
  ['list', 'lists', 'liste', 'listes', 'pagination'],
  ['export', 'exports', 'csv', 'excel'],
  ['expire', 'expired', 'expires', 'expirer', 'expiration'],
  ['partial', 'partiel', 'partielle', 'part', 'partie'],
  ['cancel', 'canceled', 'annuler', 'annulation', 'annulee'],
];

const byWord: ReadonlyMap<string, readonly string[]> = new Map(
  groups.flatMap((group) => group.map((word) => [word, group.filter((other) => other !== word)] as const)),
);

/** Other words for the same thing. */
function otherWordsFor(word: string): readonly string[] {
  return byWord.get(word) ?? [];
}
