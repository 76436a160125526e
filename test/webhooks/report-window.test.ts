// The reports that one shard has not recorded yet.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AttemptResult } from '../../src/domain/record.ts';
import { ReportWindow } from '../../src/webhooks/report-window.ts';

const result: AttemptResult = { at_ms: 0, duration_ms: 1, status: 200, failure: null, answer: '' };

function windowWith(...deliveries: string[]): ReportWindow {
  const window = new ReportWindow();
  for (const delivery of deliveries) window.add({ endpoint: 'a', delivery, number: 0, first: false, result });
  return window;
}

test('a report that is recorded before a shard that is there anew has got it takes no place of the others', () => {
  const window = windowWith('a0', 'a1');
  assert.equal(window.next(0).length, 2);
  window.restart();
  assert.equal(window.remove('a0', 0), true);
  assert.equal(window.unsent, 1);
  assert.deepEqual(
    window.next(0).map(({ delivery }) => delivery),
    ['a1'],
  );
  assert.equal(window.unsent, 0);
});

test('a report that is not recorded is sent again every five seconds', () => {
  const window = windowWith('a0');
  window.next(0);
  const times = [4_999, 5_000, 5_001, 9_999, 10_000];
  assert.deepEqual(
    times.map((nowMs) => window.overdue(nowMs).length),
    [0, 1, 0, 0, 1],
  );
});
