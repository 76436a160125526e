// Checks the structure of an LMDB file before it is opened. LMDB maps the file and trusts it: one
// that was cut short or overwritten ends the whole process (SIGBUS, SIGSEGV, a failed assertion)
// or, worse, silently has fewer rows. The pages themselves are checked by lmdb-pages.ts.

import { existsSync } from 'node:fs';
import {
  childAt,
  FileDamage,
  LmdbPages,
  nodeAt,
  noPage,
  slotsIn,
  soundPage,
  type Tree,
  tableAt,
  valueAt,
} from './lmdb-pages.ts';

const smallTreeEntries = 1_000;

/** From the cheapest to the deepest. */
const depths = ['none', 'branches', 'leaves'] as const;

/**
 * `branches` reads about one page in a hundred of a large tree, `leaves` every page. Small trees
 * are always read whole. `none` is for a file that this process has checked, or made.
 */
export type CheckDepth = (typeof depths)[number];

/** The check that is still needed for a file that was checked before. */
export function remainingCheck(wanted: CheckDepth, done: CheckDepth): CheckDepth {
  return depths.indexOf(wanted) <= depths.indexOf(done) ? 'none' : wanted;
}

/**
 * What is wrong with an LMDB file; null: nothing. One that is shorter than its header says is read
 * down to its leaves in any case, because LMDB does not write last pages that it has freed again.
 */
export function fileDefect(path: string, depth: CheckDepth): string | null {
  if (!existsSync(path)) return 'it is missing';
  if (depth === 'none') return null;
  const pages = new LmdbPages(path);
  try {
    const { commit, trees, bytes } = pages.header();
    trees.forEach(treeCheck(pages, commit, depth === 'leaves' || pages.bytes < bytes));
    return null;
  } catch (error) {
    if (error instanceof FileDamage) return error.message;
    throw error;
  } finally {
    pages.close();
  }
}

/** A check of the trees in a file as of a commit. Throws `FileDamage`. */
function treeCheck(pages: LmdbPages, commit: bigint, isThorough: boolean): (tree: Tree) => void {
  const { bytes } = pages;
  return check;

  function check({ root, depth, entries }: Tree): void {
    if (root === noPage) return;
    const leaves = isThorough || entries <= smallTreeEntries;
    const found = below(root, depth, leaves);
    if (leaves && found !== entries)
      throw new FileDamage(0, `a tree holds ${found} entries instead of ${entries}`);
  }

  /** Returns the number of entries when leaves are read. */
  function below(number: bigint, height: number, leaves: boolean): number {
    if ((Number(number) + 1) * pages.pageSize > bytes) throw pages.damage(number);
    if (height === 1 && !leaves) return 0;
    const page = soundPage(pages.fresh(number, height, commit));
    const slots = slotsIn(page);
    let entries = height > 1 ? 0 : slots;
    for (let slot = 0; slot < slots; slot++) {
      const start = nodeAt(page, slot);
      if (height > 1) entries += below(childAt(page, start), height - 1, leaves);
      else checkValue(page, start);
    }
    return entries;
  }

  /** What a row has outside of its page: a value in pages of its own, or the tree of a table. */
  function checkValue(page: Buffer, start: number): void {
    // Few rows have any, and a large file has very many rows.
    if (page.readUInt16LE(start + 4) === 0) return;
    const { length, overflow } = valueAt(page, start);
    if (overflow !== null) pages.overflow(overflow, commit, length, 0);
    const table = tableAt(page, start);
    if (table !== null) check(table);
  }
}
