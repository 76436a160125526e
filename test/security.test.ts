// docs/threat-model.md names, for each attack, a test of what stops it. Those tests must exist.

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { hasTest } from './test-titles.ts';

const root = join(import.meta.dirname, '..');
const document = readFileSync(join(root, 'docs', 'threat-model.md'), 'utf8');
const named = [...document.matchAll(/`(test\/[\w./-]+)`:\s+"([^"]+)"/g)].map(([, file, title]) => ({
  file: file!,
  title: title!.replace(/\s+/g, ' '),
}));

for (const { file, title } of named) {
  test(`${file} has the test "${title}"`, () => {
    assert.ok(existsSync(join(root, file)), `there is no ${file}`);
    assert.ok(hasTest(readFileSync(join(root, file), 'utf8'), title));
  });
}

test('every attack in the threat model has its test', () => {
  const rows = document.split('\n').filter((line) => /^\| (?!they try|---)/.test(line));
  assert.ok(rows.length >= 35, String(rows.length));
  assert.deepEqual(
    rows.filter((row) => !/\| `test\/[^`]+`: "[^"]+" \|$/.test(row)),
    [],
  );
});

test('every attacker has a section that says what is left to do', () => {
  const attackers = [
    'competitor',
    'leaked key',
    'hostile receiver',
    'hostile customer',
    'stolen backup',
    'curious operator',
  ];
  const sections = document.split(/^## /m).slice(1);
  for (const attacker of attackers) {
    const section = sections.find((text) => text.split('\n')[0]!.toLowerCase().includes(attacker));
    assert.ok(section !== undefined, attacker);
    assert.match(section, /\bLeft to\b/, attacker);
  }
});
