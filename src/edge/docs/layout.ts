// What surrounds the documentation's pages: the head, the way to the other pages, the search, the
// languages. The pages need no script; the only one shows buttons that copy.

import type { Language } from '../../contract/vocabulary.ts';
import { addressOf, buttonsScript } from '../../html/assets.ts';
import { type Html, html } from '../../html/html.ts';
import { languageLinks } from '../../html/language-links.ts';
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
  /** The languages in which the page is there; with one, it has no links to others. */
  readonly languages: readonly Language[];
  /** What was searched for. */
  readonly query?: string;
}

/** What surrounds the pages of a language. */
export interface Surroundings {
  /** The language that the address asked for, which links keep; null: the browser's. */
  readonly asked: Language | null;
  /** The address of a path of the service. */
  readonly link: (path: string) => string;
  /** With the titles of the page's language. */
  readonly groups: readonly PageGroup[];
}

/** Whether an address is one of the pages, or an unknown one below them. */
export function isDocsPath(path: string): boolean {
  return path === '/' || path === '/docs' || path.startsWith('/docs/');
}

/** Writes addresses behind `prefix`, which a proxy removes, with the language asked for. */
export function linkWriter(prefix: string, asked: Language | null): (path: string) => string {
  return (path) => {
    const [page, anchor] = path.split('#') as [string, string | undefined];
    const kept = asked !== null && isDocsPath(page) ? `?lang=${asked}` : '';
    return `${prefix}${page}${kept}${anchor === undefined ? '' : `#${anchor}`}`;
  };
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
export function documentOf(page: DocsPage, around: Surroundings): string {
  const { language, title } = page;
  const say = sayDocs(language);
  const { link: address, asked } = around;
  const others =
    page.languages.length > 1 &&
    languageLinks(page.languages, page.language, say('languages'), (each) => inLanguage(page, each, address));
  return html`<!doctype html>
<html lang="${language}" dir="${language === 'ar' ? 'rtl' : 'ltr'}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} – ${say('brand')}</title>
${alternates(page, address)}<link rel="stylesheet" href="${address(addressOf(docsStyle))}">
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
${others}
<form class="search" role="search" action="${address('/docs/search').replace(/\?.*/, '')}">
${asked !== null && html`<input type="hidden" name="lang" value="${asked}">`}<label class="unseen" for="q">${say('search_label')}</label>
<input type="search" id="q" name="q" maxlength="100" autocomplete="off" value="${page.query ?? ''}">
<button>${say('search')}</button>
</form>
</header>
<div class="layout">
<main id="content">
<h1>${title}</h1>
${page.body}
</main>
${pageList(page, around)}
</div>
</body>
</html>
`.markup;
}

function pageList(page: DocsPage, { link, groups }: Surroundings): Html {
  // There are no titles of the guides in Arabic.
  const inEnglish = page.language === 'ar' && html` lang="en" dir="ltr"`;
  return html`<nav class="pages" id="pages" aria-label="${sayDocs(page.language)('pages')}"><div${inEnglish}>
${groups.map(
  (group) => html`<h2>${group.title}</h2><ul>
${group.pages.map(({ path, title }) => {
  const current = path === page.path && html` aria-current="page"`;
  return html`<li><a href="${link(path)}"${current}>${title}</a></li>`;
})}
</ul>`,
)}
</div></nav>`;
}

/** The address of the page in a language; a search keeps what was searched for. */
function inLanguage(
  { path, query }: DocsPage,
  language: Language,
  address: (path: string) => string,
): string {
  const searched = query === undefined ? '' : `&q=${encodeURIComponent(query)}`;
  return `${address(path).replace(/\?.*/, '')}?lang=${language}${searched}`;
}

/** Tells search engines of the other languages. */
function alternates(page: DocsPage, address: (path: string) => string): Html | null {
  if (page.languages.length < 2) return null;
  const links = page.languages.map(
    (language) =>
      html`<link rel="alternate" hreflang="${language}" href="${inLanguage(page, language, address)}">\n`,
  );
  const any = address(page.path).replace(/\?.*/, '');
  return html`${links}<link rel="alternate" hreflang="x-default" href="${any}">\n`;
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
