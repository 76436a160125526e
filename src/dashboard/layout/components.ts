// The parts that pages of the dashboard are made of. Each works without a script, with the
// keyboard, and at a width of 320 px.

import { randomUUID } from 'node:crypto';
import { type Language, languages } from '../../contract/vocabulary.ts';
import { formatAmount } from '../../core/money.ts';
import { remembering } from '../../core/remembering.ts';
import { type Html, html } from '../../html/html.ts';
import { sayLayout } from '../messages/layout.ts';
import type { Say } from '../messages/say.ts';
import { hrefOf, viewLink } from './links.ts';
import type { MemberRequest, PageRequest, ViewRequest } from './row.ts';

type Content = Html | string | number | null;

/** A text keeps its own writing direction beside what stands around it. */
function isolated(content: Content): Content {
  return typeof content === 'string' ? html`<bdi${ifLong(content)}>${content}</bdi>` : content;
}

/** The class of a text with a word that may be broken, so that it fits a column. */
function ifLong(text: string): Html | false {
  return /\S{20}/.test(text) && html` class="long"`;
}

/** A column of a table: its heading, and the cell of a row. Numbers are set against its end. */
export type Column<R> = readonly [heading: string, cell: (row: R) => Content, kind?: 'numeric'];

/**
 * A table that becomes a list of cards on a narrow screen. `caption` names it to those who don't
 * see it. Without rows, `empty` stands there instead.
 */
export function table<R>(
  caption: string,
  columns: readonly Column<R>[],
  rows: readonly R[],
  empty: Html | null = null,
  look: 'cards' | 'lines' = 'cards',
): Html {
  if (rows.length === 0 && empty !== null) return empty;
  const classOf = (kind: 'numeric' | undefined) => kind !== undefined && html` class="${kind}"`;
  const heads = columns.map(
    ([heading, , kind]) => html`<th scope="col" role="columnheader"${classOf(kind)}>${heading}</th>`,
  );
  const lines = rows.map(
    (row) =>
      html`<tr role="row">${columns.map(
        ([heading, cell, kind]) =>
          html`<td role="cell" data-heading="${heading}"${classOf(kind)}><div>${isolated(cell(row))}</div></td>`,
      )}</tr>`,
  );
  // A style that makes cells into blocks takes their roles away, so they are named.
  return html`<table class="${look}" role="table"><caption class="unseen">${caption}</caption>
<thead role="rowgroup"><tr role="row">${heads}</tr></thead><tbody role="rowgroup">${lines}</tbody></table>`;
}

/**
 * A table for lists: on a narrow screen each row takes two lines, what it is with its amount, then
 * the rest. The link of the first column leads on from all of the row.
 */
export function list<R>(
  caption: string,
  columns: readonly Column<R>[],
  rows: readonly R[],
  empty: Html | null = null,
): Html {
  return table(caption, columns, rows, empty, 'lines');
}

/** Names and values; those with a null value are left out. */
export function definitions(items: readonly (readonly [name: string | Html, value: Content])[]): Html {
  const shown = items.filter(([, value]) => value !== null);
  return html`<dl>${shown.map(([name, value]) => html`<div><dt>${name}</dt><dd>${isolated(value)}</dd></div>`)}</dl>`;
}

/** The queries of the pages before and after one of a list; null where there is none. */
export interface PagerQueries {
  readonly newer: Readonly<Record<string, string>> | null;
  readonly older: Readonly<Record<string, string>> | null;
}

/** Links to the pages before and after one of a list. */
export function pager(request: ViewRequest, path: string, { newer, older }: PagerQueries): Html | null {
  if (newer === null && older === null) return null;
  const say = sayLayout(request);
  return html`<nav class="pager" aria-label="${say('pages')}">
${newer && html`<a rel="prev" href="${viewLink(request, path, newer)}">${say('newer')}</a>`}
${older && html`<a rel="next" href="${viewLink(request, path, older)}">${say('older')}</a>`}</nav>`;
}

/** What a query says besides filters: what was done, and where a page of a list begins. */
const unfiltered = new Set(['done', 'before', 'starting_after', 'ending_before']);

/** A form that filters a list by its query, which the fields show. */
export function filters<Request extends ViewRequest>(
  request: Request,
  path: string,
  fieldsOf: (filter: Request) => readonly Html[],
): Html {
  const { query } = request;
  const say = sayLayout(request);
  const isFiltered = [...query.keys()].some((name) => !unfiltered.has(name));
  // On a narrow screen the fields beside the search are folded. Without a name the box is not sent.
  return html`<form method="get" action="${viewLink(request, path)}" class="filters" role="search">
<div class="fold"><input type="checkbox" id="unfolded"${isFiltered && html` checked`}><label for="unfolded">${say('more_filters')}</label></div>${fieldsOf({ ...request, form: query })}
<button class="quiet">${say('filter')}</button>
${isFiltered && html`<a href="${viewLink(request, path)}">${say('clear_filters')}</a>`}</form>`;
}

/**
 * A form that is posted to a path (`hrefOf`): with the session's key, and an idempotency key of its
 * own, so that a double click counts once.
 */
export function form(
  request: MemberRequest | ViewRequest,
  path: string,
  body: Content | readonly Html[],
  options: { readonly files?: true; readonly className?: string } = {},
): Html {
  const encoding = options.files && html` enctype="multipart/form-data"`;
  return html`<form method="post" action="${hrefOf(request, path)}" class="${options.className ?? 'stack'}"${encoding ?? false} novalidate>
${hidden('form_key', request.session.formKey)}${hidden('idempotency_key', keyOf(request))}${body}</form>`;
}

/**
 * A form that is shown again keeps its key, so that what may have happened is not done twice; the
 * context takes the key of one that was refused for good.
 */
function keyOf({ form: sent }: MemberRequest): string {
  return sent.get('idempotency_key') || randomUUID();
}

export function hidden(name: string, value: string): Html {
  return html`<input type="hidden" name="${name}" value="${value}">`;
}

/** The request whose form is shown; for filters, `form` is the query. */
export interface FormRequest<Key extends string> extends Pick<PageRequest, 'problems'> {
  readonly form: URLSearchParams;
  readonly say: Say<Key>;
}

interface FieldOptions {
  /** The name in the form, when it is not the key of the label. */
  readonly name?: string;
  /** What the field shows when nothing was typed. */
  readonly value?: string;
  /** What was typed is not shown again. */
  readonly fresh?: true;
  readonly hint?: string;
  readonly required?: true;
}

interface InputOptions extends FieldOptions {
  readonly type?: 'email' | 'password' | 'search' | 'date' | 'datetime-local' | 'url' | 'color';
  /** Other attributes: `autocomplete="email"`. */
  readonly attributes?: Html;
  /** Codes, amounts and addresses are written from left to right in every language. */
  readonly ltr?: true;
}

/** An input with its label, its hint, and what is wrong with it. */
export function field<Key extends string>(
  request: FormRequest<Key>,
  label: Parameters<Say<Key>>[0],
  options: InputOptions,
): Html {
  const { type = 'text', required, attributes = null, ltr } = options;
  const shown = type === 'password' ? ({ ...options, fresh: true } as const) : options;
  return labelled(request, label, shown, (name, value, described) => {
    const direction = ltr && html` dir="ltr"`;
    return html`<input id="${name}" name="${name}" type="${type}" value="${value}"${direction ?? false}${required === true && html` required`}${described}${attributes && html` ${attributes}`}>`;
  });
}

export function textArea<Key extends string>(
  request: FormRequest<Key>,
  label: Parameters<Say<Key>>[0],
  options: FieldOptions,
): Html {
  return labelled(
    request,
    label,
    options,
    (name, value, described) =>
      html`<textarea id="${name}" name="${name}" rows="4"${options.required === true && html` required`}${described}>${value}</textarea>`,
  );
}

/** A choice of one of several values; a text alone is a value that is shown as it is. */
export function select<Key extends string>(
  request: FormRequest<Key>,
  label: Parameters<Say<Key>>[0],
  choices: readonly (string | readonly [value: string, text: string])[],
  options: FieldOptions = {},
): Html {
  return labelled(request, label, options, (name, value, described) => {
    const items = choices.map((choice) => {
      const [each, text] = typeof choice === 'string' ? [choice, choice] : choice;
      return html`<option value="${each}"${each === value && html` selected`}>${text}</option>`;
    });
    return html`<select id="${name}" name="${name}"${described}>${items}</select>`;
  });
}

export function checkbox(name: string, label: string, checked: boolean, value = 'on'): Html {
  const id = value === 'on' ? name : `${name}-${value}`;
  return html`<div class="check"><input type="checkbox" id="${id}" name="${name}" value="${value}"${checked && html` checked`}><label for="${id}">${label}</label></div>`;
}

/** Boxes of which several may be ticked, with what is wrong with them together. */
export function checkboxes<Key extends string>(
  { problems, say }: FormRequest<Key>,
  name: string,
  legend: Parameters<Say<Key>>[0],
  boxes: readonly Html[],
  attributes: Html | false = false,
): Html {
  const problem = problems[name];
  return html`<fieldset id="${name}"${attributes}><legend>${say(legend)}</legend>
${problem !== undefined && html`<span class="wrong">${problem}</span>`}${boxes}</fieldset>`;
}

function labelled<Key extends string>(
  { form: sent, problems, say }: FormRequest<Key>,
  label: Parameters<Say<Key>>[0],
  { name = label, value = '', fresh, hint }: FieldOptions,
  control: (name: string, value: string, described: Html) => Html,
): Html {
  const problem = problems[name] ?? null;
  const notes = [hint && `${name}-hint`, problem && `${name}-wrong`].filter(Boolean).join(' ');
  const described = html`${problem !== null && html` aria-invalid="true"`}${notes !== '' && html` aria-describedby="${notes}"`}`;
  const shown = fresh ? value : (sent.get(name) ?? value);
  return html`<div class="field"><label for="${name}">${say(label)}</label>
${hint ? html`<span class="hint" id="${name}-hint">${hint}</span>` : null}
${problem && html`<span class="wrong" id="${name}-wrong">${problem}</span>`}
${control(name, shown, described)}</div>`;
}

export function submit(text: string, kind: 'main' | 'quiet' | 'danger' = 'main'): Html {
  return html`<button class="${kind}">${text}</button>`;
}

/**
 * The button of a form that can't be taken back, or not easily. Where scripts run, it asks once
 * more. `answer` is what it sends when a form has several of them.
 */
export function finalSubmit(
  { language }: Pick<PageRequest, 'language'>,
  text: string,
  kind: 'main' | 'quiet' | 'danger' = 'danger',
  answer: { readonly name: string; readonly value: string } | null = null,
): Html {
  const say = sayLayout({ language });
  const question = say('are_you_sure', { action: text });
  const sent = answer && html` name="${answer.name}" value="${answer.value}"`;
  return html`<button class="${kind}"${sent} data-confirm="${question}">${text}</button>`;
}

/** A link to a page below the organization and mode, named by a text of people. */
export function linked(request: ViewRequest, path: string, text: string): Html {
  return html`<a${ifLong(text)} href="${viewLink(request, path)}" dir="auto">${text}</a>`;
}

/** A link to a page below the organization and mode, named by a code such as an id. */
export function linkedCode(
  request: ViewRequest,
  path: string,
  code: string,
  query: Readonly<Record<string, string>> = {},
): Html {
  return html`<a href="${viewLink(request, path, query)}" dir="ltr">${code}</a>`;
}

/** A link that looks like a button. */
export function button(text: string, href: string, kind: 'main' | 'quiet' = 'main'): Html {
  return html`<a class="button ${kind}" href="${href}">${text}</a>`;
}

/** What is wrong with a form, each with a link to its field; it gets the focus. */
export function errorSummary(request: Pick<PageRequest, 'language' | 'problems'>): Html | null {
  const say = sayLayout(request);
  const lines = Object.entries(request.problems).map(([name, problem]) =>
    name === '' ? html`<li>${problem}</li>` : html`<li><a href="#${name}">${problem}</a></li>`,
  );
  if (lines.length === 0) return null;
  return html`<div class="notice bad" role="alert" tabindex="-1" autofocus><strong>${say('problem')}</strong><ul>${lines}</ul></div>`;
}

/** Says that something was done. */
function doneNotice(text: string): Html {
  return html`<div class="notice good" role="status"><p>${text}</p></div>`;
}

/** Says what was done before a redirect, which names it as `done`; anybody can write that. */
export function doneOf<Key extends string>(
  { query, problems, say }: Pick<PageRequest, 'query' | 'problems'> & { readonly say: Say<Key> },
  texts: Readonly<Record<string, Parameters<Say<Key>>[0]>>,
): Html | null {
  const done = Object.entries(texts).find(([name]) => name === query.get('done'));
  return done === undefined || Object.keys(problems).length > 0 ? null : doneNotice(say(done[1]));
}

export function emptyState(title: string, body: Content = null): Html {
  return html`<div class="empty"><p><strong>${title}</strong></p>${body}</div>`;
}

export type Tone = 'good' | 'bad' | 'warn' | 'plain';

export function badge(text: string, tone: Tone = 'plain'): Html {
  return html`<span class="badge ${tone}">${text}</span>`;
}

export function amount(language: Language, centimes: number, currency = 'mad'): Html {
  return html`<span class="amount">${formatAmount(centimes, currency, language)}</span>`;
}

const locales: Readonly<Record<Language, string>> = { en: 'en-GB', fr: 'fr-MA', ar: 'ar-MA' };
/** A format takes milliseconds to make, which the start of the service need not wait for. */
function formatIn(options: Intl.DateTimeFormatOptions): (language: Language) => Intl.DateTimeFormat {
  const make = (language: Language) =>
    new Intl.DateTimeFormat(locales[language], { numberingSystem: 'latn', dateStyle: 'medium', ...options });
  return remembering(languages.length, make);
}

const timeFormat = formatIn({ timeZone: 'Africa/Casablanca', timeStyle: 'short' });

/** A time as it is in Morocco. */
export function time(language: Language, ms: number): Html {
  return html`<time datetime="${new Date(ms).toISOString()}">${timeText(language, ms)}</time>`;
}

export function timeText(language: Language, ms: number): string {
  return timeFormat(language).format(ms);
}

const dayFormat = formatIn({ timeZone: 'UTC' });

/** A calendar day, `YYYY-MM-DD`, for people. */
export function dayText(language: Language, day: string): string {
  return dayFormat(language).format(Date.parse(day));
}

/** Metadata, a line each; null when there is none. */
export function metadata(values: Readonly<Record<string, string>>): Html | null {
  const lines = Object.entries(values).map(
    ([name, value]) => html`<div dir="auto"><code>${name}</code> = ${value}</div>`,
  );
  return lines.length === 0 ? null : html`${lines}`;
}

/** A code with a button that copies it, which appears where scripts run. */
export function copyable(request: Pick<PageRequest, 'language'>, text: string): Html {
  const say = sayLayout(request);
  return html`<span class="copyable"><code dir="ltr">${text}</code> <button type="button" class="plain" hidden data-copy="${text}" data-done="${say('copied')}">${say('copy')}</button></span>`;
}

/** Lines of code or JSON. */
export function code(text: string): Html {
  return html`<pre dir="ltr" tabindex="0"><code>${text}</code></pre>`;
}

/** A part of a page with a heading. */
export function section(heading: string, body: Content | readonly Html[]): Html {
  return html`<section class="sheet stack"><h2>${heading}</h2>${body}</section>`;
}
