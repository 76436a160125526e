// The links to a page in its other languages, and the languages' names in themselves.

import type { Language } from '../contract/vocabulary.ts';
import { type Html, html } from './html.ts';

export const languageNames: Readonly<Record<Language, string>> = {
  en: 'English',
  fr: 'Français',
  ar: 'العربية',
};

/** `label` names the links to those who do not see them; `addressIn` is the page in a language. */
export function languageLinks<L extends Language>(
  languages: readonly L[],
  current: Language,
  label: string,
  addressIn: (language: L) => string,
): Html {
  const links = languages.map((language) => {
    const name = languageNames[language];
    if (language === current)
      return html`<li><span lang="${language}" aria-current="true">${name}</span></li>`;
    return html`<li><a href="${addressIn(language)}" hreflang="${language}" lang="${language}">${name}</a></li>`;
  });
  return html`<nav class="languages" aria-label="${label}"><ul>${links}</ul></nav>`;
}
