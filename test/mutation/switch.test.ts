// The switches of instrumented sources: one mutant is on, and all that were asked for are told, to the last of a file.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { switchOn, takeMet, withSwitch } from './switch.ts';

/** As StrykerJS' instrumenter writes it; the largest number is that of the last mutant. */
const instrumented = `
  return stryMutAct_9fa48("0") ? a - b : (stryCov_9fa48("0"), (stryMutAct_9fa48("12") ? a * a : (stryCov_9fa48("12", "13"), a)) + b);
`;

test('the mutant that is on acts, and those that are come upon are told once', () => {
  const text = withSwitch('src/a.ts', 12, instrumented);
  assert.doesNotMatch(text, /stry(MutAct|Cov)_9fa48/);
  const run = new Function('a', 'b', text);
  assert.equal(run(3, 4), 7);
  assert.deepEqual(takeMet(), { 'src/a.ts': [0, 12] });
  assert.deepEqual(takeMet(), {});
  for (const [file, id, result] of [
    ['src/a.ts', 0, -1],
    ['src/a.ts', 12, 13],
    ['src/b.ts', 0, 7],
  ] as const) {
    switchOn({ file, id });
    assert.equal(new Function('a', 'b', text)(3, 4), result, 'loaded when it is on');
    switchOn(null);
    const loaded = new Function('a', 'b', `${text.replace('return', 'return () =>')}`)(3, 4);
    assert.equal(loaded(), 7);
    switchOn({ file, id });
    assert.equal(loaded(), result, 'loaded before');
    switchOn(null);
    assert.equal(loaded(), 7);
  }
});
