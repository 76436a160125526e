// The icons of the pages as inline SVG in the colour of the text around them, and card brands as
// small cards, which are not the brands' logos: those are trademarks. A text says the same as each
// icon, so screen readers skip them.

import { type CardBrand, issuerRangesOf } from '../core/card-number.ts';
import { type Html, html } from './html.ts';

/** A sign of 24 by 24 units. */
export function icon(paths: Html): Html {
  return html`<svg class="icon" viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">${paths}</svg>`;
}

export const lockIcon = icon(
  html`<rect x="5" y="11" width="14" height="9" rx="2"/><path d="M8 11V8a4 4 0 0 1 8 0v3"/>`,
);
export const cardIcon = icon(
  html`<rect x="3" y="5" width="18" height="14" rx="2"/><path d="M3 10h18M7 15h3"/>`,
);
export const cashIcon = icon(
  html`<rect x="3" y="6" width="18" height="12" rx="2"/><circle cx="12" cy="12" r="2.5"/><path d="M6.5 9.5v0M17.5 14.5v0"/>`,
);

const outcomes = {
  good: html`<path d="M7 12.5l3.5 3.5L17 9"/>`,
  bad: html`<path d="M8.5 8.5l7 7M15.5 8.5l-7 7"/>`,
  late: html`<path d="M12 7v5l3 2"/>`,
} as const;

/** The sign above a title that says how a payment ended: paid, not paid, or out of time. */
export function outcomeMark(outcome: keyof typeof outcomes): Html {
  return html`<div class="outcome ${outcome}">${icon(outcomes[outcome])}</div>`;
}

/** The sign before a step: a tick, an empty circle, or none when nobody can tell. */
export function stepMark(isDone: boolean | null): Html {
  if (isDone === null) return html`<span class="step"></span>`;
  const mark = icon(html`<circle cx="12" cy="12" r="9"/>${isDone && outcomes.good}`);
  return html`<span class="step${isDone && ' done'}">${mark}</span>`;
}

/** The sign of a page that waits. */
export const waitingMark = html`<div class="outcome wait" aria-hidden="true"></div>`;

const brandNames: Readonly<Record<CardBrand, string>> = {
  visa: 'Visa',
  mastercard: 'Mastercard',
  amex: 'American Express',
  discover: 'Discover',
  diners: 'Diners Club',
  jcb: 'JCB',
  unionpay: 'UnionPay',
  maestro: 'Maestro',
};

/** The name of a card's brand, as it is written on cards. */
export function brandName(brand: string): string {
  return brandNames[brand as CardBrand] ?? brand;
}

/** The marks of the best-known brands: a card in its colour, with its name or discs. */
const brandMarks = [
  ['visa', html`<rect width="34" height="22" rx="4" fill="#1a3a8f"/>${wordmark('VISA', 10)}`],
  [
    'mastercard',
    html`<rect width="34" height="22" rx="4" fill="#22252b"/><circle cx="13.5" cy="11" r="6.5" fill="#d9322e"/><circle cx="20.5" cy="11" r="6.5" fill="#f0a33a" fill-opacity=".9"/>`,
  ],
  ['amex', html`<rect width="34" height="22" rx="4" fill="#1767a8"/>${wordmark('AMEX', 9)}`],
] as const satisfies readonly (readonly [CardBrand, Html])[];

function wordmark(name: string, size: number): Html {
  return html`<text x="17" y="14.5" fill="#fff" font-family="sans-serif" font-size="${size}" font-weight="700" text-anchor="middle">${name}</text>`;
}

/** The script of the form picks the mark of the brand that the typed number belongs to. */
export const brandShapes = html`<span class="brands" aria-hidden="true">${brandMarks.map(
  ([brand, mark]) =>
    html`<svg class="brand" viewBox="0 0 34 22" data-brand="${brand}" data-ranges="${issuerRangesOf(brand)
      .map((range) => range.join('-'))
      .join(' ')}">${mark}</svg>`,
)}</span>`;
