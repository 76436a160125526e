// Checks that the table in coverage.ts has a row for everything in the contract, and that the tests it names exist.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { errorCodes } from '../src/contract/errors/table.ts';
import { routeTable } from '../src/contract/routes/table.ts';
import { eventTypes, futureEventTypes } from '../src/contract/vocabulary.ts';
import { codes, events, operations, type Proof } from './coverage.ts';
import { hasTest } from './test-titles.ts';

const operationNames = new Map(routeTable.map((route) => [`${route.method} ${route.path}`, route.operation]));

/** Each subject of the contract with its proof, and the word by which a test that is about it calls it. */
const rows: readonly (readonly [subject: string, proof: Proof, word: string])[] = [
  ...Object.entries(operations).map(([name, proof]) => [name, proof, operationNames.get(name)!] as const),
  ...[...Object.entries(codes), ...Object.entries(events)].map(
    ([name, proof]) => [name, proof, name] as const,
  ),
];

test('every operation, error code and event type has a proof, and nothing else has', () => {
  assert.deepEqual(Object.keys(operations).toSorted(), [...operationNames.keys()].toSorted());
  assert.deepEqual(Object.keys(codes).toSorted(), errorCodes.toSorted());
  assert.deepEqual(Object.keys(events).toSorted(), eventTypes.toSorted());
});

const files = new Map<string, string>();

function textOf(file: string): string {
  const known = files.get(file) ?? readFileSync(new URL(file, import.meta.url), 'utf8');
  files.set(file, known);
  return known;
}

test('titles are found as they are written: plain, over lines, and from tables', () => {
  const text = `test('it\\'s plain', f); test(
  'on the next line',
); test(\`\${row}: ends\`); ['a row'];`;
  for (const title of ["it's plain", 'on the next line', 'a row: ends'])
    assert.ok(hasTest(text, title), title);
  for (const title of ['it', 'next line', 'no row: ends', 'a row']) assert.ok(!hasTest(text, title), title);
});

for (const [subject, { file, test: title }, word] of rows) {
  test(`${subject} is proved by a test that exists and is about it`, () => {
    const text = textOf(file);
    assert.ok(hasTest(text, title), `test/${file} has no test "${title}"`);
    assert.match(
      text,
      new RegExp(`\\b${word.replaceAll('.', '\\.')}\\b`),
      `test/${file} says nothing of ${word}`,
    );
  });
}

const unanswered = ['permission_denied', 'card_declined', 'idempotency_error'];

test('what is never answered or sent has a reason, and nothing else has', () => {
  const excused = rows.filter(([, { reason }]) => reason !== undefined).map(([subject]) => subject);
  assert.deepEqual(excused, [...unanswered, ...futureEventTypes]);
});

test('what no request is answered with is refused nowhere, and everything else somewhere', () => {
  const folder = fileURLToPath(new URL('../src', import.meta.url));
  const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  );
  const refused = new Set(
    sources.flatMap((name) => {
      const text = readFileSync(join(folder, name), 'utf8');
      return [...text.matchAll(/\brefuse\(\s*'(\w+)'/g)].map(([, code]) => code!);
    }),
  );
  const never = errorCodes.filter((code) => !refused.has(code));
  assert.deepEqual(never, unanswered);
});
