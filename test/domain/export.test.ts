// Exports: every text is unchanged in NDJSON, and in CSV unless a spreadsheet would run it as a formula.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exportPage } from '../../src/domain/export.ts';
import { createIntent } from './scenes.ts';
import { Stage } from './stage.ts';

/** A description, and the field of CSV for it (RFC 4180). */
const rows: readonly (readonly [description: string, field: string])[] = [
  ['Order 1042', 'Order 1042'],
  ['=1+1', "'=1+1"],
  ['=HYPERLINK("https://a.example","b")', `"'=HYPERLINK(""https://a.example"",""b"")"`],
  ['+212 600 000000', "'+212 600 000000"],
  ['-10 %', "'-10 %"],
  ['@shop', "'@shop"],
  ['\tindented', "'\tindented"],
  ['\rreturned', `"'\rreturned"`],
  ['＝1+1', "'＝1+1"],
  ['＋1', "'＋1"],
  ['－1', "'－1"],
  ['＠shop', "'＠shop"],
  ['\u0000=1+1', "'\u0000=1+1"],
  ['a;=1+1', '"a;=1+1"'],
  ["'quoted", "'quoted"],
  ['1=1, a-b', '"1=1, a-b"'],
  [' =1+1', ' =1+1'],
  ['a, "b"', '"a, ""b"""'],
  ['two\nlines', '"two\nlines"'],
  ['طلب', 'طلب'],
];

for (const [description, field] of rows) {
  test(`a description in an export: ${JSON.stringify(description).slice(1, -1)}`, () => {
    const stage = new Stage();
    const id = createIntent(stage, { description });
    const exported = (format: 'csv' | 'ndjson') =>
      exportPage(stage.world.state, 'export_payment_intents', { format }, stage.queryContext, '').text;
    assert.equal(JSON.parse(exported('ndjson')).description, description);
    const [names, ...lines] = exported('csv').split('\r\n');
    assert.match(names!, /,customer,description,canceled_at,/);
    assert.ok(lines[0]!.startsWith(`${id},`));
    assert.ok(lines[0]!.includes(`card""]",,,${field},,,,{}`), lines[0]);
    assert.deepEqual(lines.slice(1), ['']);
  });
}

test('a page of an export is bounded in length, whatever its records hold, and the pages together are everything', () => {
  const stage = new Stage();
  const metadata = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`key${i}`, 'x'.repeat(500)]));
  const ids = Array.from({ length: 40 }, () => createIntent(stage, { metadata }));
  const seen: string[] = [];
  let pages = 0;
  for (let cursor: string | null = ''; cursor !== null; pages++) {
    const params = { format: 'ndjson' } as const;
    const page = exportPage(stage.world.state, 'export_payment_intents', params, stage.queryContext, cursor);
    assert.ok(page.text.length < 192 * 1024, `${page.text.length} characters`);
    const lines = page.text.split('\n').slice(0, -1);
    seen.push(...lines.map((line) => JSON.parse(line).id));
    cursor = page.cursor;
  }
  assert.deepEqual(seen, ids.toReversed());
  assert.ok(pages > 5);
});
