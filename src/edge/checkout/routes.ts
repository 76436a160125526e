// The addresses of the customers' pages, and the form that each of them accepts.

import { defined } from '../../core/assert.ts';
import type { Stage } from './stage.ts';

export type Form = 'checkout' | 'card' | 'challenge' | 'change';

/** The stages at which a form may be sent. */
export const formStages: Readonly<Record<Form, readonly Stage['name'][]>> = {
  checkout: ['choose'],
  card: ['card'],
  challenge: ['challenge'],
  change: ['challenge', 'voucher', 'hosted'],
};

export interface PageRoute {
  /** The checkout session or the charge in the address. */
  readonly id: string;
  /** The page's own address. */
  readonly path: string;
  /** The form that may be posted to this address. */
  readonly form: Form | null;
  /** The browser is back from the network's page, after a payment or after none. */
  readonly backFrom: 'paid' | 'unpaid' | null;
}

const forms: Readonly<Record<string, Form>> = {
  checkout: 'checkout',
  pay: 'card',
  'pay/challenge': 'challenge',
  'pay/change': 'change',
  'voucher/change': 'change',
};

const returns: Readonly<Record<string, 'paid' | 'unpaid'>> = { 'pay/paid': 'paid', 'pay/unpaid': 'unpaid' };

/** Whether a path is one of the pages, or an unknown one below them. */
export function isPagePath(path: string): boolean {
  return /^\/(?:checkout|pay|voucher|link)\//.test(path);
}

/** The page at `path`; null when no page can have this address. */
export function routeOf(path: string): PageRoute | null {
  const match = /^\/(?:(checkout)\/(cs_\w{1,64})|(pay|voucher)\/(ch_\w{1,64})(\/\w+)?)$/.exec(path);
  if (match === null) return null;
  const [, checkout, session, chargePage, charge, below = ''] = match;
  const page = checkout ?? defined(chargePage, 'the pattern has a page');
  const id = session ?? defined(charge, 'the pattern has an id');
  const backFrom = returns[page + below] ?? null;
  const form = forms[page + below] ?? null;
  if (below !== '' && form === null && backFrom === null) return null;
  return { id, path: `/${page}/${id}`, form, backFrom };
}

/** The payment link whose page is at `path`; null when it is another page. */
export function linkIn(path: string): string | null {
  return /^\/link\/(pl_\w{1,64})$/.exec(path)?.[1] ?? null;
}

/** The methods by which a page can be visited. */
export function methodsOf({ form, backFrom }: PageRoute): readonly string[] {
  return form === null && backFrom === null ? ['GET', 'HEAD'] : ['GET', 'HEAD', 'POST'];
}
