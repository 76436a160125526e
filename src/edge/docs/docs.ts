// The documentation in the browser: which pages there are, in which languages, and how they are
// kept. A page is rendered when it is first asked for; so is the index of the search. So they cost
// a start of the service next to nothing. Rendering takes milliseconds, and nobody's visits are
// limited, so each page is rendered once in each language and kept: a few MiB in all.

import { negotiateLanguage } from '../../contract/language.ts';
import type { Json } from '../../contract/openapi/schemas.ts';
import { type Language, languages } from '../../contract/vocabulary.ts';
import { readFields } from '../../core/form-fields.ts';
import { withoutSlashAtEnd } from '../../core/slash-at-end.ts';
import { html } from '../../html/html.ts';
import type { RequestHead } from '../http/request-head.ts';
import { StaticText } from '../http/static-text.ts';
import { type GuideLanguage, guideLanguageOf, guideLanguages } from './guides.ts';
import { type DocsPage, documentOf, linkWriter, type Surroundings } from './layout.ts';
import { sayDocs } from './messages.ts';
import { createSources, pageGroups, type Source } from './pages.ts';
import { type Description, type ReferencePage, referencePages } from './reference.ts';
import { type IndexedSection, indexOf, type SearchIndex, search } from './search.ts';

type DocsVisit = Pick<RequestHead, 'path' | 'query' | 'acceptLanguage'>;

interface DocsAnswer {
  readonly status: number;
  readonly document: StaticText;
}

/** How a reader gets a page: in a language, which links keep when the address asked for it. */
interface Reader {
  readonly language: Language;
  readonly asked: Language | null;
}

export const searchPath = '/docs/search';
const queryCharactersMax = 100;

export class Docs {
  readonly #prefix: string;
  readonly #reference: readonly ReferencePage[];
  readonly #sources: ReadonlyMap<string, Source>;
  readonly #documents = new Map<string, StaticText>();
  readonly #indexes = new Map<GuideLanguage, SearchIndex>();

  /** `openapi` is the API description of the service at `baseUrl`. */
  constructor(baseUrl: string, openapi: Json) {
    this.#prefix = withoutSlashAtEnd(new URL(baseUrl).pathname);
    const description = openapi as unknown as Description;
    this.#reference = referencePages(description);
    const sources = createSources(baseUrl, description, this.#reference);
    this.#sources = new Map(sources.map((source) => [source.path, source]));
  }

  /** The addresses of all pages. */
  get paths(): readonly string[] {
    return [...this.#sources.keys(), searchPath];
  }

  /** The document at an address. */
  visit({ path, query, acceptLanguage }: DocsVisit): DocsAnswer {
    const given = readFields(query);
    const reader = readerOf(given.get('lang'), acceptLanguage);
    if (path === searchPath) return { status: 200, document: this.#found(given.get('q') ?? '', reader) };
    const source = this.#sources.get(path);
    if (source === undefined) {
      const say = sayDocs(guideLanguageOf(reader.language));
      const page = () => this.#said(say('no_page'), say('no_page_text'), reader);
      return { status: 404, document: this.#kept('', reader, page) };
    }
    const language = source.languages.includes(reader.language) ? reader.language : 'en';
    const page = () => this.#render(source, { ...reader, language });
    return { status: 200, document: this.#kept(path, { ...reader, language }, page) };
  }

  /** Where an address with a slash at its end leads: to the page without it; null: there is none. */
  pageWithoutSlash({ path, query }: Pick<DocsVisit, 'path' | 'query'>): string | null {
    const page = withoutSlashAtEnd(path);
    if (page === path || !this.paths.includes(page)) return null;
    return `${this.#prefix}${page}${query === '' ? '' : `?${readFields(query)}`}`;
  }

  /** A page that was rendered before, or is rendered now. `name`: its path, or what it says. */
  #kept(name: string, { language, asked }: Reader, render: () => StaticText): StaticText {
    const key = `${language} ${asked ?? ''} ${name}`;
    let document = this.#documents.get(key);
    if (document === undefined) {
      document = render();
      this.#documents.set(key, document);
    }
    return document;
  }

  /** The page for a visitor who has searched too often. */
  tooManySearches(waitSeconds: number, { query, acceptLanguage }: DocsVisit): StaticText {
    const reader = readerOf(readFields(query).get('lang'), acceptLanguage);
    const say = sayDocs(guideLanguageOf(reader.language));
    const text = say('too_many_searches_text').replace('{wait}', String(waitSeconds));
    const page = () => this.#said(say('too_many_searches'), text, reader);
    return this.#kept(`wait ${waitSeconds}`, reader, page);
  }

  #render({ path, title, languages, render }: Source, reader: Reader): StaticText {
    const { language } = reader;
    const around = this.#surroundings(reader);
    const { body } = render(language, around.link);
    return new StaticText(documentOf({ path, title: title(language), language, languages, body }, around));
  }

  #surroundings({ language, asked }: Reader): Surroundings {
    const groups = pageGroups(this.#reference, guideLanguageOf(language));
    return { asked, link: linkWriter(this.#prefix, asked), groups };
  }

  #said(title: string, text: string, reader: Reader): StaticText {
    const language = guideLanguageOf(reader.language);
    const page: DocsPage = { path: '', title, language, languages: [language], body: html`<p>${text}</p>` };
    return new StaticText(documentOf(page, this.#surroundings({ ...reader, language })));
  }

  #found(typed: string, reader: Reader): StaticText {
    // A cut in the middle of a character leaves half of it, which no address can have.
    const query = typed.slice(0, queryCharactersMax).toWellFormed();
    const language = guideLanguageOf(reader.language);
    const say = sayDocs(language);
    const around = this.#surroundings({ ...reader, language });
    const found = search(this.#indexOf(language), query);
    const items = found.map(({ section: { href, page, title }, excerpt }) => {
      const name = title === '' ? page : `${page}${say('colon')} ${title}`;
      return html`<li><a href="${around.link(href)}">${name}</a><p>${excerpt}</p></li>`;
    });
    const result = say(found.length === 0 ? 'found_nothing' : 'found').replace('{query}', () => query);
    const said =
      query.trim() === '' ? html`<p>${say('search_hint')}</p>` : html`<p role="status">${result}</p>`;
    const body = html`${said}<ul class="found">${items}</ul>`;
    const title = say('search_title');
    const page = { path: searchPath, title, language, languages: guideLanguages, body, query };
    return new StaticText(documentOf(page, around));
  }

  #indexOf(language: GuideLanguage): SearchIndex {
    let index = this.#indexes.get(language);
    if (index === undefined) {
      index = indexOf([...this.#sources.values()].flatMap((source) => sectionsOf(source, language)));
      this.#indexes.set(language, index);
    }
    return index;
  }
}

function readerOf(lang: string | null, acceptLanguage: string): Reader {
  const asked = languages.find((language) => language === lang) ?? null;
  return { language: asked ?? negotiateLanguage(acceptLanguage), asked };
}

/** The sections of a page for the search. */
function sectionsOf(source: Source, language: GuideLanguage): IndexedSection[] {
  const title = source.title(language);
  const page = source.path.startsWith('/docs/api/') ? `API${sayDocs(language)('colon')} ${title}` : title;
  return source
    .render(language, (path) => path)
    .sections.map(({ anchor, title, text }) => ({
      href: anchor === '' ? source.path : `${source.path}#${anchor}`,
      page,
      title,
      text,
    }));
}
