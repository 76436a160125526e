// The guides: which pages there are, and from which documents of the project they come. A document,
// or a section of one, is shown on one page; links between documents become links between pages.

import { readFileSync } from 'node:fs';
import { declineCodes, type Language } from '../../contract/vocabulary.ts';
import { defined } from '../../core/assert.ts';
import { remembering } from '../../core/remembering.ts';
import { html } from '../../html/html.ts';
import { testCards } from '../../networks/test-cards.ts';
import { anchorOf, type Links, type Rendered, renderMarkdown, sectionOf } from './markdown.ts';

export interface Guide {
  /** Its address is `/docs/SLUG`. */
  readonly slug: string;
  readonly title: Texts;
  readonly summary: Texts;
  /** Documents or sections, from the project's root. The French ones lie below docs/fr. */
  readonly parts: readonly string[];
  /** There is no French text of it. */
  readonly englishOnly?: true;
}

type Texts = Readonly<Record<GuideLanguage, string>>;

export const guideLanguages = ['en', 'fr'] as const;
export type GuideLanguage = (typeof guideLanguages)[number];

/** The language in which guides are shown to a reader of another one. */
export const guideLanguageOf = (language: Language): GuideLanguage => (language === 'fr' ? 'fr' : 'en');

interface GuideGroup {
  readonly title: Texts;
  readonly guides: readonly Guide[];
}

export const guideGroups: readonly GuideGroup[] = [
  {
    title: { en: 'Begin', fr: 'Commencer' },
    guides: [
      {
        slug: 'quick-start',
        title: { en: 'Quick start', fr: 'Démarrage rapide' },
        summary: {
          en: 'The first payment and the first refund, in a terminal.',
          fr: 'Le premier paiement et le premier remboursement, dans un terminal.',
        },
        parts: ['docs/guide/quick-start.md'],
      },
      {
        slug: 'testing',
        title: { en: 'Testing', fr: 'Tester' },
        summary: {
          en: 'Test cards, helpers that stand in for customers, and events on your own machine.',
          fr: 'Les cartes de test, les routes qui jouent le rôle des clients, et les événements sur votre machine.',
        },
        parts: ['docs/guide/testing.md', 'docs/api.md#test-mode'],
      },
      {
        slug: 'going-live',
        title: { en: 'Going live', fr: 'Passer en production' },
        summary: {
          en: 'What to check before real money moves.',
          fr: 'Ce qu’il faut vérifier avant de recevoir de l’argent réel.',
        },
        parts: ['docs/guide/going-live.md', 'docs/api.md#live-mode-today'],
      },
    ],
  },
  {
    title: { en: 'Take payments', fr: 'Encaisser' },
    guides: [
      {
        slug: 'cards',
        title: { en: 'Accept a card payment', fr: 'Accepter un paiement par carte' },
        summary: {
          en: 'With the hosted page, or with a payment intent of your own.',
          fr: 'Avec la page hébergée, ou avec votre propre intention de paiement.',
        },
        parts: ['docs/guide/cards.md'],
      },
      {
        slug: 'cash',
        title: { en: 'Accept cash', fr: 'Accepter des espèces' },
        summary: {
          en: 'A code that the customer pays at a payment agent.',
          fr: 'Un code que le client règle chez un agent de paiement.',
        },
        parts: ['docs/guide/cash.md'],
      },
      {
        slug: 'refunds',
        title: { en: 'Refunds', fr: 'Remboursements' },
        summary: {
          en: 'Return the money, in full or in part.',
          fr: 'Rendre l’argent, en totalité ou en partie.',
        },
        parts: ['docs/guide/refunds.md'],
      },
      {
        slug: 'webhooks',
        title: { en: 'Webhooks', fr: 'Webhooks' },
        summary: {
          en: 'Learn every outcome, with code that verifies signatures.',
          fr: 'Connaître chaque résultat, avec le code qui vérifie les signatures.',
        },
        parts: ['docs/guide/webhooks.md', 'docs/api.md#webhooks'],
      },
      {
        slug: 'payments',
        title: { en: 'How a payment goes', fr: 'Le parcours d’un paiement' },
        summary: {
          en: 'Every state, what leads to it, and its events.',
          fr: 'Chaque état, ce qui y mène et ses événements.',
        },
        parts: ['docs/api.md#how-a-payment-goes'],
      },
    ],
  },
  {
    title: { en: 'Rules of the API', fr: 'Règles de l’API' },
    guides: [
      {
        slug: 'requests',
        title: { en: 'Requests and answers', fr: 'Requêtes et réponses' },
        summary: {
          en: 'Keys, versions, languages, and what is refused.',
          fr: 'Les clés, les versions, les langues et ce qui est refusé.',
        },
        parts: ['docs/api.md#requests'],
      },
      {
        slug: 'retries',
        title: { en: 'Retries without paying twice', fr: 'Réessayer sans payer deux fois' },
        summary: {
          en: 'Idempotency keys: send any request again.',
          fr: 'Clés d’idempotence : renvoyez n’importe quelle requête.',
        },
        parts: ['docs/guide/retries.md', 'docs/api.md#retrying-idempotency-keys'],
      },
      {
        slug: 'limits',
        title: { en: 'Limits', fr: 'Limites' },
        summary: {
          en: 'Rate limits, their headers, and the daily cap of test mode.',
          fr: 'Les limites de débit, leurs en-têtes et le plafond quotidien du mode test.',
        },
        parts: ['docs/api.md#limits'],
      },
      {
        slug: 'lists',
        title: { en: 'Lists and exports', fr: 'Listes et exports' },
        summary: { en: 'Pages, filters, CSV and NDJSON.', fr: 'Pages, filtres, CSV et NDJSON.' },
        parts: ['docs/api.md#lists'],
      },
      {
        slug: 'updates',
        title: { en: 'Changing what is there', fr: 'Modifier ce qui existe' },
        summary: {
          en: 'What an update leaves, and how to remove a value.',
          fr: 'Ce qu’une mise à jour laisse en place, et comment supprimer une valeur.',
        },
        parts: ['docs/api.md#changing-what-is-there'],
      },
      {
        slug: 'clients',
        title: { en: 'Postman, Node and PHP', fr: 'Postman, Node et PHP' },
        summary: {
          en: 'A Postman collection, and clients that send again without paying twice.',
          fr: 'Une collection Postman, et des clients qui réessaient sans payer deux fois.',
        },
        parts: ['docs/guide/clients.md'],
      },
      {
        slug: 'typed-client',
        title: { en: 'A typed client', fr: 'Un client typé' },
        summary: { en: 'TypeScript checks every call.', fr: 'TypeScript vérifie chaque appel.' },
        parts: ['docs/guide/typed-client.md'],
      },
      {
        slug: 'cash-networks',
        title: { en: 'Connecting a cash network', fr: 'Raccorder un réseau d’espèces' },
        summary: {
          en: 'For those who run agents: the signed HTTP contract between their server and this one.',
          fr: 'Pour ceux qui gèrent des agents : le contrat HTTP signé entre leur serveur et celui-ci.',
        },
        parts: ['docs/networks/http.md'],
      },
      {
        slug: 'changelog',
        title: { en: 'Changelog', fr: 'Journal des versions' },
        summary: { en: 'What has changed.', fr: 'Ce qui a changé.' },
        parts: ['CHANGELOG.md'],
        englishOnly: true,
      },
    ],
  },
];

const root = new URL('../../../', import.meta.url);

/** What a guide gets from a table of the code, where its document has a comment with this name. */
const generated: Readonly<Record<string, (language: GuideLanguage) => string>> = {
  'test cards': (language) =>
    [
      language === 'fr' ? '| numéro | ce qui se passe |' : '| number | what happens |',
      '|---|---|',
      ...testCards.map(({ number, text }) => `| \`${number}\` | ${text[language]} |`),
    ].join('\n'),
  'decline codes': () => declineCodes.map((code) => `\`${code}\``).join(', '),
};

const read = (file: string) => readFileSync(new URL(file, root), 'utf8');
/** The headings of a document's sections: each page needs them for its links. */
const headingsOf = remembering(100, (file: string): readonly string[] =>
  [...read(file).matchAll(/^## (.+)$/gm)].map((match) => match[1]!),
);

/** The parts in a language. The sections of a translation are in the original's order. */
export function partsOf({ parts, englishOnly }: Guide, language: GuideLanguage): readonly string[] {
  if (language === 'en' || englishOnly === true) return parts;
  return parts.map((part) => {
    const [file, anchor] = part.split('#') as [string, string | undefined];
    const translated = file.replace('docs/', 'docs/fr/');
    if (anchor === undefined) return translated;
    const place = headingsOf(file).findIndex((heading) => anchorOf(heading) === anchor);
    return `${translated}#${anchorOf(defined(headingsOf(translated)[place], `${part} is translated`))}`;
  });
}

const theRules = { en: 'The rules', fr: 'Les règles' } as const satisfies Texts;

/** Renders a guide for the service at `baseUrl`. */
export function renderGuide(guide: Guide, language: GuideLanguage, baseUrl: string, links: Links): Rendered {
  const rendered = partsOf(guide, language).map((part, i) => {
    const [file, anchor] = part.split('#') as [string, string | undefined];
    // The page has a title, so the first part needs no heading, and no other part has the same one.
    const markdown = sectionOf(read(file), anchor)
      .replace(i === 0 ? /^## .*\n/ : '', '')
      .replace(`## ${guide.title[language]}\n`, `## ${theRules[language]}\n`)
      .replace(/^<!-- (.+) -->$/gm, (_, name: string) =>
        defined(generated[name], `${name} is generated`)(language),
      )
      .replaceAll('http://127.0.0.1:8080', baseUrl);
    return renderMarkdown(markdown, file, links, language);
  });
  return {
    body: html`${rendered.map(({ body }) => body)}`,
    sections: rendered.flatMap(({ sections }) => sections),
  };
}
