// Whoever takes the lease says in which formats and layouts it writes the log. A node of another release says what of it it can't read,
// and follows only what it can read all of.

import { type Dialect, dialect, unreadableOf } from '../../../src/journal/dialect.ts';
import type { SpareMachine } from './spare-machine.ts';

const tells = 'a release says what it can’t read';
const inAnotherWay = 'in a form that is told in another way';

export async function readDialects(spare: SpareMachine): Promise<void> {
  const { random } = spare;
  const { formats, tables, layouts } = dialect;
  const [format, version] = random.pick(Object.entries(formats));
  const [table, { rows }] = random.pick(Object.entries(tables));
  const [kind, layout] = random.pick(Object.entries(layouts));
  const part = random.pick(['formats', 'tables', 'layouts'] as const);
  const otherRows = { rows: random.between(1, rows + 1), digest: 'other' };
  const cases: readonly (readonly [Partial<Dialect>, string | null])[] = [
    [dialect, null],
    [{ ...dialect, [part]: undefined }, inAnotherWay],
    [{ ...dialect, formats: { ...formats, [format]: version + 1 } }, `version ${version + 1} of ${format}`],
    [{ ...dialect, formats: { ...formats, tallies: 1 } }, 'version 1 of tallies'],
    [{ ...dialect, tables: { ...tables, [table]: otherRows } }, `its ${table}`],
    [{ ...dialect, tables: { ...tables, tallies: otherRows } }, 'its tallies'],
    ...[-1, 0, 1].map((newer): [Partial<Dialect>, string | null] => [
      { ...dialect, layouts: { ...layouts, [kind]: { version: layout.version + newer, digest: 'other' } } },
      newer < 0 ? null : `records of ${kind} in version ${layout.version + newer}`,
    ]),
    [{ ...dialect, layouts: { ...layouts, tally: layout } }, `records of tally in version ${layout.version}`],
  ];
  for (const [written, unreadable] of cases)
    spare.same(tells, unreadableOf(written), unreadable, JSON.stringify(written));
}
