// The pages of the documentation, each with its title, its languages and what it shows; and the
// list of them that stands beside each page.

import { errorCodes } from '../../contract/errors/table.ts';
import { type Language, languages } from '../../contract/vocabulary.ts';
import { type Html, html } from '../../html/html.ts';
import { renderErrors } from './errors-page.ts';
import { prose } from './fields.ts';
import {
  type Guide,
  type GuideLanguage,
  guideGroups,
  guideLanguageOf,
  guideLanguages,
  partsOf,
  renderGuide,
} from './guides.ts';
import { renderHome } from './home-page.ts';
import { type PageGroup, tableOfContents } from './layout.ts';
import type { Links, Rendered } from './markdown.ts';
import { sayDocs } from './messages.ts';
import { type Description, linksOfReference, type ReferencePage, renderReference } from './reference.ts';

type Link = (path: string) => string;

/** The body of a page, before it is laid out. */
export interface Source {
  readonly path: string;
  readonly title: (language: Language) => string;
  /** A reader of another language gets it in English. */
  readonly languages: readonly Language[];
  readonly render: (language: Language, link: Link) => Rendered;
}

export function createSources(
  baseUrl: string,
  description: Description,
  reference: readonly ReferencePage[],
): readonly Source[] {
  return [
    {
      path: '/',
      title: (language) => sayDocs(language)('home_title'),
      languages,
      render: (language, link) => ({ body: renderHome(language, description, link), sections: [] }),
    },
    {
      path: '/docs',
      title: (language) => sayDocs(language)('docs'),
      languages: guideLanguages,
      render: (language, link) => renderIndex(reference, guideLanguageOf(language), link),
    },
    {
      path: '/docs/errors',
      title: (language) => sayDocs(language)('errors_title'),
      languages,
      render: renderErrors,
    },
    ...guideGroups.flatMap(({ guides }) => guides.map((guide) => guidePage(guide, baseUrl, reference))),
    {
      path: '/docs/api',
      title: (language) => sayDocs(language)('reference'),
      languages: guideLanguages,
      render: (language, link) => renderReferenceIndex(reference, language, link),
    },
    ...reference.map((page) => referencePage(page, description, reference)),
  ];
}

/** The list of all pages. The reference is in English. */
export function pageGroups(
  reference: readonly ReferencePage[],
  language: GuideLanguage,
): readonly PageGroup[] {
  const say = sayDocs(language);
  const guides = guideGroups.map(({ title, guides }) => ({
    title: title[language],
    pages: guides.map(({ slug, title, summary }) => ({
      path: `/docs/${slug}`,
      title: title[language],
      summary: summary[language],
    })),
  }));
  const errors = { path: '/docs/errors', title: say('errors_title'), summary: say('errors_summary') };
  return [
    ...guides.map((group, i) =>
      i === guides.length - 1 ? { ...group, pages: [...group.pages, errors] } : group,
    ),
    { title: say('reference'), pages: reference },
  ];
}

/** Where links of the documents lead, and code that names something. */
function createLinks(link: Link, reference: readonly ReferencePage[]): Links {
  const byFile = new Map([
    ['docs/openapi.json', '/openapi.json'],
    ['docs/postman.json', '/postman.json'],
    ['docs/errors.md', '/docs/errors'],
    ...guideGroups.flatMap(({ guides }) =>
      guides.flatMap((guide) =>
        guideLanguages.flatMap((language) =>
          partsOf(guide, language).map((part) => [part, `/docs/${guide.slug}`] as const),
        ),
      ),
    ),
  ]);
  const byCode = new Map([
    ...linksOfReference(reference),
    ...errorCodes.map((code) => [code, `/docs/errors#${code}`] as const),
  ]);
  const linked = (path: string | undefined) => (path === undefined ? null : link(path));
  return { ofFile: (file) => linked(byFile.get(file)), ofCode: (code) => linked(byCode.get(code)) };
}

/** A text that is in English only, on a page in another language. */
function inEnglish(body: Html, language: Language): Html {
  if (language === 'en') return body;
  return html`<p class="quiet">${sayDocs(language)('english_only')}</p><div lang="en" dir="ltr">${body}</div>`;
}

function guidePage(guide: Guide, baseUrl: string, reference: readonly ReferencePage[]): Source {
  return {
    path: `/docs/${guide.slug}`,
    title: (language) => guide.title[guideLanguageOf(language)],
    languages: guideLanguages,
    render(asked, link) {
      const language = guideLanguageOf(asked);
      const { body, sections } = renderGuide(guide, language, baseUrl, createLinks(link, reference));
      const titled = sections.filter(({ title }) => title !== '');
      const shown = html`${tableOfContents(titled, sayDocs(language)('contents'))}${body}`;
      return {
        body: html`<p class="lead">${guide.summary[language]}</p>${guide.englishOnly === true ? inEnglish(shown, language) : shown}`,
        sections,
      };
    },
  };
}

function referencePage(
  page: ReferencePage,
  description: Description,
  reference: readonly ReferencePage[],
): Source {
  return {
    path: page.path,
    title: () => page.title,
    languages: guideLanguages,
    render(language, link) {
      const { body, sections } = renderReference(page, description, reference, link);
      return { body: inEnglish(body, language), sections };
    },
  };
}

/** A list of pages with what they are about. */
function cards(pages: PageGroup['pages'], link: Link): Html {
  return html`<ul class="cards">${pages.map(
    ({ path, title, summary }) => html`<li><a href="${link(path)}">${title}</a><p>${prose(summary)}</p></li>`,
  )}</ul>`;
}

function renderIndex(reference: readonly ReferencePage[], language: GuideLanguage, link: Link): Rendered {
  const groups = pageGroups(reference, language);
  return {
    body: html`<p class="lead">${sayDocs(language)('index_lead')} <a href="${link('/openapi.json')}">OpenAPI 3.1</a>.</p>
${groups.map(({ title, pages }) => html`<h2>${title}</h2>${cards(pages, link)}`)}`,
    sections: [],
  };
}

function renderReferenceIndex(reference: readonly ReferencePage[], language: Language, link: Link): Rendered {
  const lists = html`${reference.map(
    ({
      path,
      title,
      summary,
      routes,
    }) => html`<h2><a href="${link(path)}">${title}</a></h2><p class="quiet">${summary}</p>
<ul>${routes.map(
      (route) =>
        html`<li><a href="${link(`${path}#${route.operation.operationId}`)}">${route.operation.summary}</a> <code>${route.method} ${route.path}</code></li>`,
    )}</ul>`,
  )}`;
  const lead = html`<p class="lead">${sayDocs(language)('reference_lead')} <a href="${link('/openapi.json')}">openapi.json</a>.</p>`;
  return { body: html`${lead}${inEnglish(lists, language)}`, sections: [] };
}
