// HTML as values. The template escapes every inserted text, so that no text of a merchant or a
// customer becomes markup, and contains its writing direction. Only this template makes markup.

import { contained } from '../core/shown-text.ts';

/** Markup in which all texts are escaped. */
export class Html {
  readonly markup: string;

  constructor(markup: string) {
    this.markup = markup;
  }
}

type Inserted = Html | string | number | false | null | readonly Html[];

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Markup: texts and numbers are escaped, lists joined, `false` and `null` left out. */
export function html(parts: TemplateStringsArray, ...values: readonly Inserted[]): Html {
  return new Html(parts.reduce((markup, part, i) => markup + markupOf(values[i - 1] ?? null) + part));
}

function markupOf(value: Inserted): string {
  if (value instanceof Html) return value.markup;
  if (value === null || value === false) return '';
  if (typeof value === 'object') return value.map(markupOf).join('');
  return contained(String(value)).replace(/[&<>"']/g, (character) => escapes[character]!);
}
