// The documentation in the browser: which pages there are, and what each of them shows. A page is
// rendered when it is first asked for and kept; so is the index of the search. So they cost a start
// of the service next to nothing.

import { errorCodes } from '../../contract/errors/table.ts';
import { negotiateLanguage } from '../../contract/language.ts';
import type { Json } from '../../contract/openapi/schemas.ts';
import { type Language, languages } from '../../contract/vocabulary.ts';
import { type Html, html } from '../../html/html.ts';
import { StaticText } from '../http/static-text.ts';
import { renderErrors } from './errors-page.ts';
import { prose } from './fields.ts';
import { type Guide, guideGroups, renderGuide } from './guides.ts';
import { renderHome } from './home-page.ts';
import { documentOf, type Frame, type PageGroup, tableOfContents } from './layout.ts';
import type { Links, Rendered } from './markdown.ts';
import { sayDocs } from './messages.ts';
import {
  type Description,
  linksOfReference,
  type ReferencePage,
  referencePages,
  renderReference,
} from './reference.ts';
import { type IndexedSection, indexOf, type SearchIndex, search } from './search.ts';

export interface DocsVisit {
  readonly path: string;
  /** Without the question mark. */
  readonly query: string;
  readonly acceptLanguage: string;
}

export interface DocsAnswer {
  readonly status: number;
  readonly document: StaticText;
}

/** A page before it has its frame. */
interface Source {
  readonly path: string;
  readonly title: (language: Language) => string;
  /** It is there in every language; else in English. */
  readonly translated?: true;
  readonly render: (language: Language) => Rendered;
}

/** What a rendered page is found by. */
const keyOf = (path: string, language: Language) => `${language} ${path}`;

export class Docs {
  readonly #frame: Frame;
  readonly #sources: ReadonlyMap<string, Source>;
  readonly #documents = new Map<string, StaticText>();
  #index: SearchIndex | null = null;

  /** `openapi` is the API description of the service at `baseUrl`. */
  constructor(baseUrl: string, openapi: Json) {
    const prefix = new URL(baseUrl).pathname.replace(/\/$/, '');
    const description = openapi as unknown as Description;
    const reference = referencePages(description);
    this.#frame = { prefix, groups: pageGroups(reference) };
    const link = (path: string) => prefix + path;
    const links = createLinks(link, reference);
    const sources: Source[] = [
      homePage(link, description),
      indexPage(link, this.#frame.groups),
      {
        path: '/docs/errors',
        title: (language) => sayDocs(language)('errors_title'),
        translated: true,
        render: renderErrors,
      },
      ...guideGroups.flatMap(({ guides }) => guides.map((guide) => guidePage(guide, baseUrl, links))),
      referenceIndex(link, reference),
      ...reference.map((page) => ({
        path: page.path,
        title: () => page.title,
        render: () => renderReference(page, description, reference, link),
      })),
    ];
    this.#sources = new Map(sources.map((source) => [source.path, source]));
  }

  /** The addresses of all pages. */
  get paths(): readonly string[] {
    return [...this.#sources.keys(), searchPath];
  }

  /** The document at an address. */
  visit({ path, query, acceptLanguage }: DocsVisit): DocsAnswer {
    if (path === searchPath) {
      return { status: 200, document: this.#found(new URLSearchParams(query).get('q') ?? '') };
    }
    const source = this.#sources.get(path);
    if (source === undefined) {
      const said = this.#said('There is no such page', 'Look for it in the list of all pages, or search.');
      return { status: 404, document: said };
    }
    const language = source.translated === true ? languageOf(query, acceptLanguage) : 'en';
    const key = keyOf(path, language);
    let document = this.#documents.get(key);
    if (document === undefined) {
      document = this.#render(source, language);
      this.#documents.set(key, document);
    }
    return { status: 200, document };
  }

  #render({ path, title, translated, render }: Source, language: Language): StaticText {
    const shown = { path, title: title(language), language, body: render(language).body };
    return new StaticText(documentOf({ ...shown, ...(translated && { translated }) }, this.#frame));
  }

  /** The page for a visitor who has searched too often. */
  tooManySearches(waitSeconds: number): StaticText {
    return this.#said(
      'Too many searches',
      `Search again in ${waitSeconds} seconds. All pages are in the list.`,
    );
  }

  #said(title: string, text: string): StaticText {
    const page = { path: '', title, language: 'en', body: html`<p>${text}</p>` } as const;
    return new StaticText(documentOf(page, this.#frame));
  }

  #found(typed: string): StaticText {
    const query = typed.slice(0, queryCharactersMax);
    this.#index ??= indexOf([...this.#sources.values()].flatMap((source) => sectionsOf(source)));
    const found = search(this.#index, query);
    const items = found.map(({ section: { href, page, title }, excerpt }) => {
      const name = title === '' ? page : `${page}: ${title}`;
      return html`<li><a href="${this.#frame.prefix + href}">${name}</a><p>${excerpt}</p></li>`;
    });
    const said =
      query.trim() === ''
        ? html`<p>Type what you are looking for: a word, a parameter, an error code.</p>`
        : html`<p role="status">${found.length === 0 ? `Nothing was found for “${query}”.` : `Found for “${query}”:`}</p>`;
    const body = html`${said}<ul class="found">${items}</ul>`;
    const page = { path: searchPath, title: 'Search', language: 'en', body, query } as const;
    return new StaticText(documentOf(page, this.#frame));
  }
}

export const searchPath = '/docs/search';
const queryCharactersMax = 100;

function languageOf(query: string, acceptLanguage: string): Language {
  const asked = new URLSearchParams(query).get('lang');
  return languages.find((language) => language === asked) ?? negotiateLanguage(acceptLanguage);
}

/** The sections of a page for the search, in English. */
function sectionsOf(source: Source): IndexedSection[] {
  const page = source.path.startsWith('/docs/api/') ? `API: ${source.title('en')}` : source.title('en');
  return source.render('en').sections.map(({ anchor, title, text }) => ({
    href: anchor === '' ? source.path : `${source.path}#${anchor}`,
    page,
    title,
    text,
  }));
}

function pageGroups(reference: readonly ReferencePage[]): readonly PageGroup[] {
  const guides = guideGroups.map(({ title, guides }) => ({
    title,
    pages: guides.map((guide) => ({ ...guide, path: `/docs/${guide.slug}` })),
  }));
  const errors = {
    path: '/docs/errors',
    title: 'Error codes',
    summary: 'What each code means, and what to do.',
  };
  return [
    ...guides.map((group, i) =>
      i === guides.length - 1 ? { ...group, pages: [...group.pages, errors] } : group,
    ),
    { title: 'API reference', pages: reference },
  ];
}

/** Where links of the documents lead, and code that names something. */
function createLinks(link: (path: string) => string, reference: readonly ReferencePage[]): Links {
  const byFile = new Map([
    ['docs/openapi.json', '/openapi.json'],
    ['docs/errors.md', '/docs/errors'],
    ...guideGroups.flatMap(({ guides }) =>
      guides.flatMap(({ slug, parts }) => parts.map((part) => [part, `/docs/${slug}`] as const)),
    ),
  ]);
  const byCode = new Map([
    ...linksOfReference(reference),
    ...errorCodes.map((code) => [code, `/docs/errors#${code}`] as const),
  ]);
  return {
    ofFile(file) {
      const path = byFile.get(file);
      return path === undefined ? null : link(path);
    },
    ofCode(code) {
      const path = byCode.get(code);
      return path === undefined ? null : link(path);
    },
  };
}

function guidePage(guide: Guide, baseUrl: string, links: Links): Source {
  return {
    path: `/docs/${guide.slug}`,
    title: () => guide.title,
    render() {
      const { body, sections } = renderGuide(guide, baseUrl, links);
      const contents = tableOfContents(
        sections.filter(({ title }) => title !== ''),
        'On this page',
      );
      return { body: html`<p class="lead">${guide.summary}</p>${contents}${body}`, sections };
    },
  };
}

/** A list of pages with what they are about. */
function cards(pages: PageGroup['pages'], link: (path: string) => string): Html {
  return html`<ul class="cards">${pages.map(
    ({ path, title, summary }) => html`<li><a href="${link(path)}">${title}</a><p>${prose(summary)}</p></li>`,
  )}</ul>`;
}

const indexText =
  'Begin with the quick start, then read how to take payments. Every route is in the API reference, and the whole API is described in';

function indexPage(link: (path: string) => string, groups: readonly PageGroup[]): Source {
  return {
    path: '/docs',
    title: (language) => sayDocs(language)('docs'),
    render: () => ({
      body: html`<p class="lead">${indexText} <a href="${link('/openapi.json')}">OpenAPI 3.1</a>.</p>
${groups.map(({ title, pages }) => html`<h2>${title}</h2>${cards(pages, link)}`)}`,
      sections: [],
    }),
  };
}

function referenceIndex(link: (path: string) => string, reference: readonly ReferencePage[]): Source {
  return {
    path: '/docs/api',
    title: (language) => sayDocs(language)('reference'),
    render: () => ({
      body: html`<p class="lead">Every route with its parameters, examples in four languages, and its answer. The same as a file for tools: <a href="${link('/openapi.json')}">openapi.json</a>.</p>
${reference.map(
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
)}`,
      sections: [],
    }),
  };
}

function homePage(link: (path: string) => string, description: Description): Source {
  return {
    path: '/',
    title: (language) => sayDocs(language)('home_title'),
    translated: true,
    render: (language) => ({ body: renderHome(language, description, link), sections: [] }),
  };
}
