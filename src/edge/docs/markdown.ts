// Markdown as it is written in docs/, as HTML in the documentation's own components. Code between
// backquotes that names a route or an error leads to its description.

import { Marked, type Token, type Tokens } from 'marked';
import type { Language } from '../../contract/vocabulary.ts';
import { assert, elementAt } from '../../core/assert.ts';
import { Html, html } from '../../html/html.ts';
import { codeSample } from './layout.ts';

/** A part of a page below a heading of its own, for its table of contents and for the search. */
export interface Section {
  /** '' for what comes before the first heading. */
  readonly anchor: string;
  readonly title: string;
  /** What the section says, without markup. */
  readonly text: string;
}

export interface Rendered {
  readonly body: Html;
  readonly sections: readonly Section[];
}

export interface Links {
  /** Where a link leads that is named from the project's root; null if no page shows it. */
  readonly ofFile: (file: string) => string | null;
  /** The address of what `code` names; null if it names nothing. */
  readonly ofCode: (code: string) => string | null;
}

const wordBreak = html`<wbr>`;

/** The anchor of a heading, as GitHub makes it. */
export const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');

/** One section of a document with its heading. Without an anchor, all but the title. */
export function sectionOf(markdown: string, anchor: string | undefined): string {
  if (anchor === undefined) return markdown.replace(/^# .*\n/, '');
  const lines = markdown.split('\n');
  const start = lines.findIndex((line) => line.startsWith('## ') && anchorOf(line.slice(3)) === anchor);
  assert(start >= 0, `the documentation shows a section #${anchor}, which does not exist`);
  const length = lines.slice(start + 1).findIndex((line) => /^##? /.test(line));
  return lines.slice(start, length < 0 ? undefined : start + 1 + length).join('\n');
}

/** `file` is the document's own, from which its links start. */
export function renderMarkdown(markdown: string, file: string, links: Links, language: Language): Rendered {
  const sections: { anchor: string; title: string; text: string }[] = [{ anchor: '', title: '', text: '' }];
  const marked = new Marked({
    renderer: {
      heading({ tokens, text, depth }) {
        const inner = new Html(this.parser.parseInline(tokens));
        const level = `h${depth}`;
        return `${html`<${new Html(level)} id="${anchorOf(text)}">${inner}</${new Html(level)}>`.markup}\n`;
      },
      code: ({ text }) => `${codeSample(text, language).markup}\n`,
      codespan({ text }) {
        const to = links.ofCode(text);
        // A long name may break between its words, as in a narrow column.
        const words = text.split(/(?<=[_.])(?=\w)/).map((word, i) => html`${i > 0 && wordBreak}${word}`);
        const code = html`<code>${words}</code>`;
        return (to === null ? code : html`<a href="${to}">${code}</a>`).markup;
      },
      table({ header, rows }) {
        const inline = ({ tokens }: Tokens.TableCell) => new Html(this.parser.parseInline(tokens));
        // On a phone the cells stand one above the other, each with its column's name.
        const columns = header.map((cell) => html`<th scope="col" role="columnheader">${inline(cell)}</th>`);
        const lines = rows.map((cells) => {
          const shown = cells.map(
            (cell, i) =>
              html`<td role="cell" data-column="${elementAt(header, i).text}">${inline(cell)}</td>`,
          );
          return html`<tr role="row">${shown}</tr>`;
        });
        return html`<table role="table"><thead role="rowgroup"><tr role="row">${columns}</tr></thead><tbody role="rowgroup">${lines}</tbody></table>`
          .markup;
      },
      link({ href, tokens }) {
        const inner = new Html(this.parser.parseInline(tokens));
        const to = /^(https?:|#)/.test(href) ? href : links.ofFile(targetOf(file, href));
        return (to === null ? inner : html`<a href="${to}">${inner}</a>`).markup;
      },
    },
  });
  const tokens = marked.lexer(markdown);
  for (const token of tokens) {
    if (token.type === 'heading') {
      const { text } = token as Tokens.Heading;
      sections.push({ anchor: anchorOf(text), title: text.replaceAll('`', ''), text: '' });
    } else if (token.type !== 'code') elementAt(sections, sections.length - 1).text += textOf(token);
  }
  return { body: new Html(marked.parser(tokens)), sections };
}

/** A relative link of a document as a path from the root of the project. */
function targetOf(file: string, href: string): string {
  const url = new URL(href, `file:///${file}`);
  return url.pathname.slice(1) + url.hash;
}

const textOf = (token: Token): string =>
  `${token.raw
    .replace(/\]\([^)]*\)/g, '')
    .replace(/[`|[\]*]|-{3,}/g, ' ')
    .replace(/\s+/g, ' ')} `;
