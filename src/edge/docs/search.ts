// The search of the documentation: the sections of all pages, found by the words that are typed. A
// word is found where a word begins with it; a section must have all of them. Titles count more
// than texts.

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

export interface Found {
  readonly section: IndexedSection;
  readonly excerpt: Html;
}

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
    .filter((word) => word !== '')
    .slice(0, wordsMax);
  if (words.length === 0) return [];
  const scored = index.map((entry) => ({ entry, score: scoreOf(entry, words) }));
  return scored
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, foundMax)
    .map(({ entry: { section } }) => ({ section, excerpt: excerptOf(section.text, words) }));
}

/** 0 unless the section has all words. */
function scoreOf({ title, text, section }: Entry, words: readonly string[]): number {
  let score = 0;
  for (const word of words) {
    const inTitle = title.includes(` ${word}`);
    const inText = text.includes(` ${word}`);
    if (!inTitle && !inText) return 0;
    score +=
      (title.includes(` ${word} `) || title.endsWith(` ${word}`) ? 6 : inTitle ? 4 : 0) + (inText ? 1 : 0);
  }
  // The page about the word, and the section whose title says nothing else, are what is meant.
  const isAbout = section.title === '' && title.startsWith(` ${words[0]}`);
  const isNamed = plain(section.title).trim() === words.join(' ');
  return score + (isAbout ? 5 : 0) + (isNamed ? 10 : 0);
}

/** The text around the first word that was found, with the words marked. */
function excerptOf(text: string, words: readonly string[]): Html {
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}])(${words.join('|')})`, 'giu');
  const at = Math.max(0, text.search(pattern) - excerptCharacters / 4);
  const start = at === 0 ? 0 : text.indexOf(' ', at) + 1;
  const piece = text.slice(start, start + excerptCharacters);
  const parts = piece
    .split(pattern)
    .map((part, i) => (i % 2 === 1 ? html`<mark>${part}</mark>` : html`${part}`));
  return html`${start > 0 && '… '}${parts}${start + excerptCharacters < text.length && ' …'}`;
}
