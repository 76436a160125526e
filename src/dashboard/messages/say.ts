// Texts in three languages. Each part of the dashboard has a table of its own, and all share the words of words.ts; `{name}` is the
// placeholder of a value.

import type { Language } from '../../contract/vocabulary.ts';
import { fillIn } from '../../edge/checkout/page-messages.ts';
import { words } from './words.ts';

export type Texts = Readonly<Record<string, Readonly<Record<Language, string>>>>;

/** Says a text of a table, or a shared word, in a language, as plain text, not HTML. Throws when a value is missing. */
export type Say<T extends Texts> = (
  key: keyof T | keyof typeof words,
  language: Language,
  values?: Readonly<Record<string, string | number>>,
) => string;

export function sayFrom<T extends Texts>(texts: T): Say<T> {
  const all: Texts = { ...words, ...texts };
  return (key, language, values = {}) => fillIn(all[key as string]![language], language, values);
}
