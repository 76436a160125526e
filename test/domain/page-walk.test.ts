// Reading a list page by page returns everything that existed at the start exactly once and in order, although objects are
// inserted, changed and flushed meanwhile.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createIntent } from './scenes.ts';
import { checkpoint, type Json, Stage } from './stage.ts';

/** What happens between two pages. */
const meanwhile = fc.array(fc.constantFrom('insert', 'advance', 'cancel', 'checkpoint'), { maxLength: 4 });

function happen(stage: Stage, what: string, all: readonly string[]): void {
  if (what === 'insert') createIntent(stage);
  if (what === 'advance') stage.advance(1);
  if (what === 'cancel' && all.length > 0) stage.when('cancel_payment_intent', {}, all[all.length >> 1]!);
  if (what === 'checkpoint') checkpoint(stage.world, () => createIntent(stage));
}

function walk(stage: Stage, cursor: 'starting_after' | 'ending_before', from: string | undefined) {
  return (limit: number, last = from): Json =>
    stage.read('list_payment_intents', { limit, ...(last !== undefined && { [cursor]: last }) });
}

for (const cursor of ['starting_after', 'ending_before'] as const) {
  test(`${cursor}: every object once, in order`, () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 25 }),
        fc.array(fc.tuple(fc.integer({ min: 1, max: 6 }), meanwhile), { minLength: 1, maxLength: 8 }),
        (count, plan) => {
          const stage = new Stage();
          const oldest = createIntent(stage);
          const all = Array.from({ length: count }, () => createIntent(stage)).reverse();
          const next = walk(stage, cursor, cursor === 'ending_before' ? oldest : undefined);
          const seen: string[] = [];
          let last: string | undefined;
          for (let i = 0; ; i++) {
            const [limit, happens] = plan[i % plan.length]!;
            const page = next(limit, last);
            const ids: string[] = page.data.map(({ id }: { id: string }) => id);
            if (cursor === 'starting_after') seen.push(...ids);
            else seen.unshift(...ids);
            last = cursor === 'starting_after' ? ids.at(-1) : ids[0];
            if (!page.has_more) break;
            // While newer objects are made, only a walk towards older ones ends.
            for (const what of happens) happen(stage, i < 20 ? what : 'advance', all);
          }
          const expected = cursor === 'starting_after' ? [...all, oldest] : all;
          const original = new Set(expected);
          assert.deepEqual(
            seen.filter((id) => original.has(id)),
            expected,
          );
          assert.equal(new Set(seen).size, seen.length, 'nothing twice');
          assert.deepEqual(seen, seen.toSorted().reverse(), 'newest first');
        },
      ),
      { numRuns: 60 },
    );
  });
}
