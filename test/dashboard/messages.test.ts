// All texts that people read, walked: each language has them, and writes signs, numbers and units as
// its readers do.

import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { errorAdvice } from '../../src/contract/errors/advice.ts';
import { format, type MessageKey, messages } from '../../src/contract/messages/table.ts';
import { routeTable } from '../../src/contract/routes/table.ts';
import { type Language, languages } from '../../src/contract/vocabulary.ts';
import { auditMessages } from '../../src/dashboard/messages/audit.ts';
import { fillIn, pageMessages } from '../../src/edge/checkout/page-messages.ts';
import { testCards } from '../../src/networks/test-cards.ts';
import { memberActions } from '../../src/operator/audit/audit-actions.ts';
import { operatorCommands } from '../../src/operator/use-cases/commands.ts';

type Texts = Readonly<Record<Language, string>>;

const isTexts = (value: unknown): value is Texts =>
  typeof value === 'object' &&
  value !== null &&
  languages.every((each) => typeof (value as Texts)[each] === 'string');

/** Every table of texts that the dashboard's messages export. */
async function dashboardTexts(): Promise<[string, Texts][]> {
  const folder = new URL('../../src/dashboard/messages/', import.meta.url);
  const files = (await readdir(folder)).sort();
  const perFile = files.map(async (file) => {
    const tables = Object.values(await import(new URL(file, folder).href)).filter(
      (value) => typeof value === 'object',
    ) as Record<string, unknown>[];
    const found = tables.flatMap((table) =>
      Object.entries(table).filter((entry): entry is [string, Texts] => isTexts(entry[1])),
    );
    assert.ok(found.length > 0, `${file} exports its texts`);
    return found.map(([key, texts]): [string, Texts] => [`${file}: ${key}`, texts]);
  });
  return (await Promise.all(perFile)).flat();
}

const placeholders = (text: string) => [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string);
/** The placeholders that stand for a number. */
const numeric = new Set(['seconds', 'minutes', 'days', 'count', 'max', 'min']);

/** Each text as it is shown, with numbers of all sizes where it takes them. */
async function shownTexts(): Promise<{ key: string; language: Language; text: string }[]> {
  const pages = [
    ...(await dashboardTexts()),
    ...Object.entries(pageMessages),
    ...testCards.map(({ number, text }): [string, Texts] => [`test card ${number}`, text]),
  ];
  const valuesOf = (text: string, number: number) =>
    Object.fromEntries(placeholders(text).map((name) => [name, numeric.has(name) ? number : 'Atlas']));
  return languages.flatMap((language) =>
    [1, 2, 7, 12, 1_200].flatMap((number) => [
      ...pages.map(([key, texts]) => ({
        key,
        language,
        text: fillIn(texts[language], language, valuesOf(texts[language], number)),
      })),
      ...(Object.keys(messages) as MessageKey[]).map((key) => ({
        key,
        language,
        text: format(key, language, valuesOf(messages[key][language], number)),
      })),
    ]),
  );
}

test('each text of the dashboard is there in three languages, with the same values', async () => {
  for (const [key, texts] of await dashboardTexts())
    for (const language of languages) {
      assert.notEqual(texts[language].trim(), '', `${key} ${language}`);
      assert.deepEqual(
        placeholders(texts[language]).sort(),
        placeholders(texts.en).sort(),
        `${key} ${language}`,
      );
    }
});

test('in French a no-break space stands before the signs of two parts, and inside the guillemets', async () => {
  const wrong = (await shownTexts())
    .filter(({ language }) => language === 'fr')
    // Addresses, times and code have a colon or a question mark of their own.
    .map(({ key, text }) => ({ key, text: text.replace(/https?:\S*|\d\d:\d\d|\w+:\w+|\?\w+=/g, '') }))
    .filter(({ text }) => /[^\u00a0\u202f?!](?:[;:!?]|»)|«[^\u00a0]/.test(text));
  assert.deepEqual(wrong, []);
});

test('thousands are apart by a space in French and Arabic, and by a comma in English', async () => {
  const wrong = (await shownTexts()).filter(({ language, text }) =>
    language === 'en' ? /\d[ .\u00a0]\d{3}(?!\d)/.test(text) : /\d[.,]\d{3}(?!\d)|\d \d{3}(?!\d)/.test(text),
  );
  assert.deepEqual(wrong, []);
});

test('a length of time agrees with its number', () => {
  const say = (language: Language, days: number) => fillIn('{days}', language, { days });
  const bare = (text: string) => text.replace(/[\u2068\u2069]/g, '').replace(/\u00a0/g, ' ');
  const all = [1, 2, 7, 12].map((days) => languages.map((language) => bare(say(language, days))));
  assert.deepEqual(all, [
    ['1 day', '1 jour', 'يوم'],
    ['2 days', '2 jours', 'يومان'],
    ['7 days', '7 jours', '7 أيام'],
    ['12 days', '12 jours', '12 يومًا'],
  ]);
});

test('no text writes the unit behind a length of time, which says it already', async () => {
  const twice = [...(await dashboardTexts()), ...Object.entries(pageMessages)].filter(([, texts]) =>
    languages.some((language) =>
      /\{(seconds|minutes|hours|days)\} (seconds?|minutes?|days?|secondes?|jours?|ثانية|دقيقة|أيام|يوم)/.test(
        texts[language],
      ),
    ),
  );
  assert.deepEqual(
    twice.map(([key]) => key),
    [],
  );
});

/** The prose of the French documents. */
async function frenchDocuments(): Promise<{ key: string; language: Language; text: string }[]> {
  const folder = new URL('../../docs/fr/', import.meta.url);
  const files = (await readdir(folder, { recursive: true })).filter((file) => file.endsWith('.md'));
  assert.ok(files.length > 10, String(files.length));
  const proseOf = (text: string) => text.replace(/^```[\s\S]*?^```$|`[^`]*`/gm, '').replace(/\s+/g, ' ');
  const documents = files.map(async (file) => {
    const text = proseOf(await readFile(new URL(file, folder), 'utf8'));
    return { key: `docs/fr/${file}`, language: 'fr' as const, text };
  });
  return Promise.all(documents);
}

test('a thing has one name in French, and one in Arabic', async () => {
  const otherNames: Readonly<Partial<Record<Language, RegExp>>> = {
    fr: /mode réel|courriel|clés? publique|clés? API|destination|payment intent\b|(?:aide|outil|assistant)s? de test/i,
    ar: /الوضع الفعلي|نقطة النهاية|نية الدفع|التكرار الآمن/,
  };
  const advice = Object.entries(errorAdvice).flatMap(([key, texts]) =>
    languages.map((language) => ({ key, language, text: texts[language] })),
  );
  const wrong = [...(await shownTexts()), ...advice, ...(await frenchDocuments())].filter(
    ({ language, text }) => otherNames[language]?.test(text) === true,
  );
  assert.deepEqual([...new Set(wrong.map(({ key, language }) => `${key} ${language}`))], []);
});

test('an Arabic word has one spelling: the tanwin stands before its alif', async () => {
  const wrong = (await shownTexts()).filter(({ language, text }) => language === 'ar' && /اً/.test(text));
  assert.deepEqual([...new Set(wrong.map(({ key }) => key))], []);
});

test('every action of the audit record has a sentence of its own in each language, which names who did it', () => {
  const commands = Object.entries<{ readonly recording: object }>(operatorCommands)
    .filter(([, { recording }]) => !('audited' in recording) || recording.audited !== false)
    .map(([name]) => name);
  const operations = routeTable
    .filter(({ kind }) => kind === 'command')
    .map((route) => `api.${route.operation}`);
  const actions: readonly string[] = [...commands, ...operations, ...memberActions];
  assert.ok(actions.length > 80, String(actions.length));
  const sentences: Readonly<Record<string, Texts>> = auditMessages;
  for (const action of actions) {
    const texts = sentences[action];
    assert.ok(texts, `${action} has a sentence`);
    const inAll = languages.map((language) => [...new Set(placeholders(texts[language]))].sort().join());
    assert.match(inAll[0]!, /who/, action);
    assert.deepEqual(new Set(inAll).size, 1, `${action} says the same in each language`);
    assert.equal(new Set(languages.map((language) => texts[language])).size, 3, action);
  }
  const spare = Object.keys(sentences).filter((key) => !actions.includes(key));
  assert.deepEqual(spare.sort(), ['not_done', 'other'], 'no sentence is of an action that there is not');
});
