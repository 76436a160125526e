// The frame of the documentation's pages: the head, the way to the other pages, the search, the
// languages. The pages need no script; the only one shows buttons that copy.

import { type Language, languages } from '../../contract/vocabulary.ts';
import { addressOf } from '../../html/assets.ts';
import { type Html, html } from '../../html/html.ts';
import { buttonsScript } from '../checkout/page-assets.ts';
import { languageNames } from '../checkout/page-messages.ts';
import { sayDocs } from './messages.ts';
import { docsStyle } from './style.ts';

/** A group of the list of pages. */
export interface PageGroup {
  readonly title: string;
  readonly pages: readonly { readonly path: string; readonly title: string; readonly summary: string }[];
}

export interface DocsPage {
  readonly path: string;
  readonly title: string;
  readonly language: Language;
  readonly body: Html;
  /** The page is there in every language. */
  readonly translated?: true;
  /** What was searched for. */
  readonly query?: string;
}

/** What all pages of an installation have in common. */
export interface Frame {
  /** The start of the path that a proxy removes from the service's addresses; '' for none. */
  readonly prefix: string;
  readonly groups: readonly PageGroup[];
}

export const contentPolicy = [
  `default-src 'none'`,
  `style-src 'self'`,
  `script-src 'self'`,
  `form-action 'self'`,
  `base-uri 'none'`,
  `frame-ancestors 'none'`,
].join('; ');

/** The whole document. */
export function documentOf(page: DocsPage, frame: Frame): string {
  const { language, title } = page;
  const say = sayDocs(language);
  const address = (path: string) => frame.prefix + path;
  return html`<!doctype html>
<html lang="${language}" dir="${language === 'ar' ? 'rtl' : 'ltr'}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} – ${say('brand')}</title>
<link rel="stylesheet" href="${address(addressOf(docsStyle))}">
<script type="module" src="${address(addressOf(buttonsScript))}"></script>
</head>
<body>
<a class="skip" href="#content">${say('skip')}</a>
<header class="top">
<a class="brand" href="${address('/')}">${say('brand')}</a>
<nav aria-label="${say('main')}"><ul>
<li><a href="${address('/docs')}">${say('docs')}</a></li>
<li><a href="${address('/docs/api')}">${say('reference')}</a></li>
<li><a href="${address('/dashboard')}">${say('dashboard')}</a></li>
<li class="jump"><a href="#pages">${say('pages')}</a></li>
</ul></nav>
<form class="search" role="search" action="${address('/docs/search')}">
<label class="unseen" for="q">${say('search_label')}</label>
<input type="search" id="q" name="q" maxlength="100" autocomplete="off" value="${page.query ?? ''}">
<button>${say('search')}</button>
</form>
</header>
<div class="layout">
<main id="content">
<h1>${title}</h1>
${page.body}
${page.translated === true && languageLinks(page, address)}
</main>
${pageList(page, frame)}
</div>
</body>
</html>
`.markup;
}

function pageList(page: DocsPage, { prefix, groups }: Frame): Html {
  const say = sayDocs(page.language);
  // The titles of the guides are English on every page.
  return html`<nav class="pages" id="pages" aria-label="${say('pages')}"><div lang="en" dir="ltr">
${groups.map(
  (group) => html`<h2>${group.title}</h2><ul>
${group.pages.map(({ path, title }) => {
  const current = path === page.path && html` aria-current="page"`;
  return html`<li><a href="${prefix + path}"${current}>${title}</a></li>`;
})}
</ul>`,
)}
</div></nav>`;
}

function languageLinks(page: DocsPage, address: (path: string) => string): Html {
  const links = languages.map((language) => {
    const name = languageNames[language];
    if (language === page.language)
      return html`<li><span lang="${language}" aria-current="true">${name}</span></li>`;
    const href = address(`${page.path}?lang=${language}`);
    return html`<li><a href="${href}" hreflang="${language}" lang="${language}">${name}</a></li>`;
  });
  return html`<nav class="languages" aria-label="${sayDocs(page.language)('languages')}"><ul>${links}</ul></nav>`;
}

/** Links to the sections of a page. */
export function tableOfContents(
  sections: readonly { readonly anchor: string; readonly title: string }[],
  label: string,
): Html | null {
  if (sections.length < 3) return null;
  const links = sections.map(({ anchor, title }) => html`<li><a href="#${anchor}">${title}</a></li>`);
  return html`<nav aria-label="${label}"><ul class="toc">${links}</ul></nav>`;
}

/** A piece of code, and beside it a button that copies it. */
export function codeSample(code: string, language: Language = 'en'): Html {
  const say = sayDocs(language);
  return html`<div class="sample"><pre tabindex="0" dir="ltr"><code>${code}</code></pre><button type="button" data-copy data-done="${say('copied')}" hidden>${say('copy')}</button></div>`;
}
