// Statements as networks write them: separators, encodings, headings, amounts, dates, and what can't be read.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { ConnectorName } from '../../../src/networks/connectors.ts';
import { ExternalSort } from '../../../src/operator/reconciliation/external-sort.ts';
import {
  linesOfStatement,
  type ReadLine,
  startOfStatement,
} from '../../../src/operator/reconciliation/read-statement.ts';
import {
  type Column,
  type LineKind,
  readDay,
  statementFormats,
} from '../../../src/operator/reconciliation/statement-line.ts';
import { temporaryFolder } from '../../temporary-folder.ts';

const folder = temporaryFolder();
const path = join(folder, 'statement.csv');

interface Ways {
  readonly network?: ConnectorName;
  readonly headings?: readonly (readonly [Column, string])[];
  readonly kinds?: readonly (readonly [string, LineKind])[];
}

async function read(content: string | Buffer, { network = 'cmi', headings = [], kinds = [] }: Ways = {}) {
  writeFileSync(path, content);
  const format = statementFormats[network];
  const start = await startOfStatement({ path, format, headings: new Map(headings), kinds: new Map(kinds) });
  const lines: ReadLine[] = [];
  for await (const batch of linesOfStatement(path, start, () => {})) lines.push(...batch);
  return lines;
}

const payment = (order: string, amount: number, more: object = {}) =>
  ({ kind: 'payment', order, amount, reference: null, day: null, ...more }) as const;

test('a French statement, with lines about itself, empty ones, and an order of columns of its own', async () => {
  const text = [
    '\ufeffRelevé du marchand 600000123;;;;',
    '',
    'Date opération;N° transaction;Commande;Type de transaction;Montant',
    '03/11/2026 12:30;T1;ch_1;Achat;"1 234,50"',
    '04/11/2026;T2;ch_1;Remboursement;-10,5',
    ';;;;',
    '04/11/2026;;;Commission;2,50',
    '5/11/2026;T3;ch_2;Impayé;250,00 MAD',
  ];
  assert.deepEqual(await read(text.join('\r\n')), [
    { line: 4, ...payment('ch_1', 123_450, { reference: 'T1', day: '2026-11-03' }) },
    { line: 5, ...payment('ch_1', 1_050, { kind: 'refund', reference: 'T2', day: '2026-11-04' }) },
    { line: 7, ...payment('', 0, { kind: 'fee' }) },
    { line: 8, ...payment('ch_2', 25_000, { kind: 'chargeback', reference: 'T3', day: '2026-11-05' }) },
  ]);
});

test('commas, points, quotes and the encoding of Windows', async () => {
  const text = 'oid,amount,référence,note\nch_1,"1,234.50",T1,"Café ""Le Lac"", Fès"\nch_2,-5,T2,déjà\n';
  assert.deepEqual(await read(Buffer.from(text, 'latin1')), [
    { line: 2, ...payment('ch_1', 123_450, { reference: 'T1' }) },
    { line: 3, ...payment('ch_2', 500, { kind: 'refund', reference: 'T2' }) },
  ]);
});

test('the encoding of Windows shows late in a long file, and UTF-8 also in one that is cut off within a letter', async () => {
  const lines = 'ch_1;10,00;Achat\n'.repeat(10_000);
  const [last] = (await read(Buffer.from(`oid;amount;type\n${lines}ch_2;5;Impayé\n`, 'latin1'))).slice(-1);
  assert.deepEqual(last, { line: 10_002, ...payment('ch_2', 500, { kind: 'chargeback' }) });
  const cut = Buffer.from('Référence commande;amount;note\nch_1;5;déjà').subarray(0, -1);
  assert.deepEqual(await read(cut), [{ line: 2, ...payment('ch_1', 500) }]);
});

test('what is left of a line at which the file was cut off is not read as a line', async () => {
  const text = 'oid;amount;date;type\nch_1;10,00;31/12/2026;Achat\nch_2;10,00;31/12/2026';
  const whole = { line: 2, ...payment('ch_1', 1_000, { day: '2026-12-31' }) };
  assert.deepEqual(await read(text), [whole, { line: 3, problem: 'the file ends within this line' }]);
  // Programs for tables leave out empty cells at the end of a line, and a line break at the end of the file.
  const rest = { line: 3, ...payment('ch_2', 1_000, { day: '2026-12-31' }) };
  for (const end of ['\n', '\r', ';']) assert.deepEqual(await read(text + end), [whole, rest]);
});

test('cells that are all in quotes, whatever their separator', async () => {
  for (const separator of [';', ',', '\t', '|']) {
    const rows = [['Relevé, du; "mois"|'], ['Commande', 'Montant'], ['ch_1', '10,00']];
    const quoted = (cell: string) => `"${cell.replaceAll('"', '""')}"`;
    const text = rows.map((row) => `${row.map(quoted).join(separator)}\n`).join('');
    assert.deepEqual(await read(text), [{ line: 3, ...payment('ch_1', 1_000) }]);
  }
});

test('line breaks of every kind in one file: no line is lost, and each has its number', async () => {
  const line = (order: string) => `${order};1;2026-12-01;Fès`;
  const lines = (breaks: readonly string[]) =>
    ['Relevé', 'oid;amount;date;agent', line('ch_3'), line('ch_4'), line('ch_5')]
      .map((text, at) => text + breaks[at % breaks.length])
      .join('');
  for (const breaks of [['\r\n'], ['\n'], ['\r'], ['\r\n', '\r\n', '\n'], ['\n', '\r\n'], ['\r', '\n']]) {
    const found = (await read(lines(breaks))).map((each) =>
      'order' in each ? [each.line, each.order] : each,
    );
    assert.deepEqual(found, [
      [3, 'ch_3'],
      [4, 'ch_4'],
      [5, 'ch_5'],
    ]);
  }
});

test('a cash network: centimes, codes as they are written, Unix times', async () => {
  const text = 'reference,code,amount,paid_at,agent\nA-1,1234 1234 5678,25000,1790000000,Agence 12\n';
  assert.deepEqual(await read(text, { network: 'http' }), [
    { line: 2, ...payment('123412345678', 25_000, { reference: 'A-1', day: '2026-09-21' }) },
  ]);
});

test('headings and words of its own', async () => {
  const text = 'Réf. client\tTotal\tSens\nch_1\t12\tRèglement\nch_2\t12\tD\n';
  const headings = [
    ['order', 'Réf. client'],
    ['amount', 'total'],
    ['type', 'Sens'],
  ] as const;
  assert.deepEqual(
    await read(text, {
      headings,
      kinds: [
        ['reglement', 'payment'],
        ['d', 'refund'],
      ],
    }),
    [
      { line: 2, ...payment('ch_1', 1_200) },
      { line: 3, ...payment('ch_2', 1_200, { kind: 'refund' }) },
    ],
  );
});

test('a heading that is named is in the file, unless it is said that there is none', async () => {
  const text = 'oid,amount,reference\nch_1,5,T1\n';
  await assert.rejects(read(text, { headings: [['date', 'Jour']] }), /no heading "Jour"/);
  assert.deepEqual(await read(text, { headings: [['reference', '-']] }), [
    { line: 2, ...payment('ch_1', 500) },
  ]);
});

test('a card number in place of a reference is not kept', async () => {
  assert.deepEqual(await read('oid,amount,reference\nch_1,5,4242 4242 4242 4242\n'), [
    { line: 2, ...payment('ch_1', 500, { reference: '…4242' }) },
  ]);
});

test('lines that can not be read are named, and the others are read', async () => {
  const text = [
    'oid;amount;type;date;currency',
    'ch_1;12.345,678;;;',
    'ch_1;;;;',
    ';5;;;',
    'ch_1;-5;sale;;',
    'ch_1;5;mystery;;',
    'ch_1;5;;2026-02-30;',
    'ch_1;5;;;USD',
    `${'x'.repeat(256)};5;;;`,
    '"ch_1\nch_2";5;;;',
    'ch_1',
    'ch_1;5;;;MAD',
  ];
  const lines = await read(text.join('\n'));
  const problems = lines.map((each) => ('problem' in each ? `${each.line} ${each.problem}` : each.line));
  assert.deepEqual(problems, [
    '2 the amount "12.345,678" is none in dirhams',
    '3 the amount "" is none in dirhams',
    '4 it names no order',
    '5 a payment has the negative amount "-5"',
    '6 the type "mystery" is not known: say what it means with --types',
    '7 the date "2026-02-30" is none, such as 31/12/2026 or 2026-12-31',
    '8 the currency "USD" is not MAD',
    '9 its order or reference is longer than 255 characters',
    '11 its order or reference has control characters',
    '12 the amount "" is none in dirhams',
    13,
  ]);
});

for (const [what, text, kind, said] of [
  ['no headings', 'ch_1;5\n', 'usage', /no headings for the order and the amount among \["ch_1","5"\]/],
  ['an empty file', '', 'usage', /no headings/],
  [
    'a quote that is not closed',
    `oid;amount\nch_1;5\n"ch_2;5\n${'ch_3;6\n'.repeat(20_000)}`,
    'failed',
    /Quote Not Closed|Max Record/,
  ],
] as const)
  test(`${what}: nothing of the file is used`, async () => {
    await assert.rejects(read(text), (error: Error & { kind?: string }) => {
      assert.equal(error.kind, kind);
      assert.match(error.message, said);
      return true;
    });
  });

for (const [text, expected] of [
  ['03/11/2026', '2026-11-03'],
  ['3.1.2026 9:05', '2026-01-03'],
  ['31/12/2026 23:59:59', '2026-12-31'],
  ['2026-11-03', '2026-11-03'],
  ['20261103', '2026-11-03'],
  ['2026-11-03 23:30:00', '2026-11-03'],
  ['2026-11-03T23:30:00Z', '2026-11-04'],
  ['2026-11-04T00:30:00+01:00', '2026-11-04'],
  ['1790000000', '2026-09-21'],
  ['13/13/2026', null],
  ['29/02/2026', null],
  ['03/11/26', null],
  ['yesterday', null],
  ['', null],
] as const)
  test(`the day of ${JSON.stringify(text)}`, () => {
    assert.equal(readDay(text), expected);
  });

test('more is sorted than is in memory at once, also when the files have to be merged on the way', async () => {
  const sort = new ExternalSort(folder, 50);
  const lines = Array.from({ length: 3_000 }, (_, i) => `${(i * 7_919) % 3_001} é${i}`);
  for (let from = 0; from < lines.length; from += 100) await sort.add(lines.slice(from, from + 100));
  const sorted: string[] = [];
  for await (const some of sort.sorted()) sorted.push(...some);
  assert.deepEqual(sorted, lines.toSorted());
  await sort.close();
});
