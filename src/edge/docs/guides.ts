// The guides: which pages there are, and from which documents of the project they come. A document,
// or a section of one, is shown on one page; links between documents become links between pages.

import { readFileSync } from 'node:fs';
import { declineCodes } from '../../contract/vocabulary.ts';
import { defined } from '../../core/assert.ts';
import { html } from '../../html/html.ts';
import { testCards } from '../../networks/test-cards.ts';
import { type Links, type Rendered, renderMarkdown, sectionOf } from './markdown.ts';

export interface Guide {
  /** Its address is `/docs/SLUG`. */
  readonly slug: string;
  readonly title: string;
  readonly summary: string;
  /** Documents, or sections of them, from the root of the project. */
  readonly parts: readonly string[];
}

export interface GuideGroup {
  readonly title: string;
  readonly guides: readonly Guide[];
}

export const guideGroups: readonly GuideGroup[] = [
  {
    title: 'Begin',
    guides: [
      {
        slug: 'quick-start',
        title: 'Quick start',
        summary: 'The first payment and the first refund, in a terminal.',
        parts: ['docs/guide/quick-start.md'],
      },
      {
        slug: 'testing',
        title: 'Testing',
        summary: 'Test cards, helpers that stand in for customers, and events on your own machine.',
        parts: ['docs/guide/testing.md', 'docs/api.md#test-mode'],
      },
      {
        slug: 'going-live',
        title: 'Going live',
        summary: 'What to check before real money moves.',
        parts: ['docs/guide/going-live.md', 'docs/api.md#live-mode-today'],
      },
    ],
  },
  {
    title: 'Take payments',
    guides: [
      {
        slug: 'cards',
        title: 'Accept a card payment',
        summary: 'With the hosted page, or with a payment intent of your own.',
        parts: ['docs/guide/cards.md'],
      },
      {
        slug: 'cash',
        title: 'Accept cash',
        summary: 'A code that the customer pays at a payment agent.',
        parts: ['docs/guide/cash.md'],
      },
      {
        slug: 'refunds',
        title: 'Refunds',
        summary: 'Give money back, in full or in part.',
        parts: ['docs/guide/refunds.md'],
      },
      {
        slug: 'webhooks',
        title: 'Webhooks',
        summary: 'Learn every outcome, with code that verifies signatures.',
        parts: ['docs/guide/webhooks.md', 'docs/api.md#webhooks'],
      },
      {
        slug: 'payments',
        title: 'How a payment goes',
        summary: 'Every state, what leads to it, and its events.',
        parts: ['docs/api.md#how-a-payment-goes'],
      },
    ],
  },
  {
    title: 'Rules of the API',
    guides: [
      {
        slug: 'requests',
        title: 'Requests and answers',
        summary: 'Keys, versions, languages, and what is refused.',
        parts: ['docs/api.md#requests'],
      },
      {
        slug: 'retries',
        title: 'Retries without paying twice',
        summary: 'Idempotency keys: send any request again.',
        parts: ['docs/guide/retries.md', 'docs/api.md#retrying-idempotency-keys'],
      },
      {
        slug: 'limits',
        title: 'Limits',
        summary: 'Rate limits, their headers, and the daily cap of test mode.',
        parts: ['docs/api.md#limits'],
      },
      {
        slug: 'lists',
        title: 'Lists and exports',
        summary: 'Pages, filters, CSV and NDJSON.',
        parts: ['docs/api.md#lists'],
      },
      {
        slug: 'updates',
        title: 'Changing what is there',
        summary: 'What an update leaves, and how to remove a value.',
        parts: ['docs/api.md#changing-what-is-there'],
      },
      {
        slug: 'typed-client',
        title: 'A typed client',
        summary: 'TypeScript checks every call.',
        parts: ['docs/guide/typed-client.md'],
      },
      {
        slug: 'cash-networks',
        title: 'Connecting a cash network',
        summary: 'For those who run agents: the signed HTTP contract between their server and this one.',
        parts: ['docs/networks/http.md'],
      },
      {
        slug: 'changelog',
        title: 'Changelog',
        summary: 'What has changed.',
        parts: ['CHANGELOG.md'],
      },
    ],
  },
];

const root = new URL('../../../', import.meta.url);

/** What a guide gets from a table of the code, where its document has a comment with this name. */
const generated: Readonly<Record<string, () => string>> = {
  'test cards': () =>
    [
      '| number | what happens |',
      '|---|---|',
      ...testCards.map(({ number, text }) => `| \`${number}\` | ${text.en} |`),
    ].join('\n'),
  'decline codes': () => declineCodes.map((code) => `\`${code}\``).join(', '),
};

/** Renders a guide for the service at `baseUrl`. */
export function renderGuide(guide: Guide, baseUrl: string, links: Links): Rendered {
  const rendered = guide.parts.map((part, i) => {
    const [file, anchor] = part.split('#') as [string, string | undefined];
    // The page has a title, so the first part needs no heading, and no other part has the same one.
    const markdown = sectionOf(readFileSync(new URL(file, root), 'utf8'), anchor)
      .replace(i === 0 ? /^## .*\n/ : '', '')
      .replace(`## ${guide.title}\n`, '## The rules\n')
      .replace(/^<!-- (.+) -->$/gm, (_, name: string) => defined(generated[name], `${name} is generated`)())
      .replaceAll('http://127.0.0.1:8080', baseUrl);
    return renderMarkdown(markdown, file, links);
  });
  return {
    body: html`${rendered.map(({ body }) => body)}`,
    sections: rendered.flatMap(({ sections }) => sections),
  };
}
