// The filters `from` and `to` of a list: days in Morocco, both of them included.

import { moroccoDayBounds } from '../../core/morocco-day.ts';
import type { PageRequest, Problems } from '../layout/row.ts';
import type { Say } from '../messages/say.ts';

interface Period {
  /** Null: from the beginning. */
  readonly fromMs: number | null;
  /** The first millisecond after it; null: without an end. */
  readonly toMs: number | null;
  readonly problems: Problems;
}

/** The period that the address of a page names. A day that makes no sense is told, and left out. */
export function periodIn({ query, say }: Pick<PageRequest, 'query'> & { readonly say: Say<never> }): Period {
  const problems: Record<string, string> = {};
  const boundsOf = (name: string) => {
    const day = query.get(name) ?? '';
    const bounds = moroccoDayBounds(day);
    if (day !== '' && bounds === null) problems[name] = say('day_invalid');
    return bounds;
  };
  const fromMs = boundsOf('from')?.fromMs ?? null;
  const toMs = boundsOf('to')?.toMs ?? null;
  if (fromMs === null || toMs === null || fromMs < toMs) return { fromMs, toMs, problems };
  return { fromMs, toMs: null, problems: { to: say('day_before_from') } };
}
