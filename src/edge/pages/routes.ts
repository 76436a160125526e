// The addresses of the customers' pages, and which form each of them takes.

import type { Stage } from './stage.ts';

export type Form = 'choice' | 'card' | 'challenge';

/** The stage at which a form may be sent. */
export const formStages = {
  choice: 'choose',
  card: 'card',
  challenge: 'challenge',
} as const satisfies Record<Form, Stage['name']>;

export interface PageRoute {
  /** The checkout session or the charge in the address. */
  readonly id: string;
  /** The page's own address. */
  readonly path: string;
  /** What may be posted to this address. */
  readonly form: Form | null;
}

const forms: Readonly<Record<string, Form>> = {
  checkout: 'choice',
  pay: 'card',
  'pay/challenge': 'challenge',
};

/** True for the paths of the pages, the unknown ones below them included. */
export function isPagePath(path: string): boolean {
  return /^\/(?:checkout|pay|voucher)\//.test(path);
}

/** The page at `path`; null when no page can have this address. */
export function routeOf(path: string): PageRoute | null {
  const match = /^\/(?:(checkout)\/(cs_\w{1,64})|(pay|voucher)\/(ch_\w{1,64})(\/challenge)?)$/.exec(path);
  if (match === null) return null;
  const [, checkout, session, attempt, charge, challenge = ''] = match;
  const page = checkout ?? attempt!;
  const id = session ?? charge!;
  if (challenge !== '' && page !== 'pay') return null;
  return { id, path: `/${page}/${id}`, form: forms[page + challenge] ?? null };
}
