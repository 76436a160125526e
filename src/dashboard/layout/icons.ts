// The signs of the views in the navigation, drawn here like those of the customers' pages.

import { type Html, html } from '../../html/html.ts';
import { cardIcon, cashIcon, icon } from '../../html/marks.ts';
import type { View } from './row.ts';

export const viewIcons: Readonly<Record<View, Html>> = {
  home: icon(html`<path d="M4 11l8-7 8 7v8a1 1 0 0 1-1 1h-4v-6H9v6H5a1 1 0 0 1-1-1z"/>`),
  payments: cardIcon,
  cash: cashIcon,
  reviews: icon(html`<circle cx="11" cy="11" r="6"/><path d="M15.5 15.5L20 20M11 8.5v3M11 13.75v0"/>`),
  customers: icon(html`<circle cx="12" cy="8.5" r="3.5"/><path d="M5 20c.6-4 3.4-6 7-6s6.4 2 7 6"/>`),
  checkout: icon(
    html`<path d="M10 14a4 4 0 0 0 5.7 0l3-3A4 4 0 0 0 13 5.300l-1 1"/><path d="M14 10a4 4 0 0 0-5.7 0l-3 3A4 4 0 0 0 11 18.700l1-1"/>`,
  ),
  keys: icon(html`<circle cx="8" cy="15" r="4"/><path d="M11 12l8-8M16 7l2.5 2.5"/>`),
  webhooks: icon(html`<path d="M4 12h9M10 8l4 4-4 4"/><path d="M14 5h4a2 2 0 0 1 2 2v10a2 2 0 0 1-2 2h-4"/>`),
  events: icon(html`<path d="M13 3L5 14h6l-1 7 8-11h-6z"/>`),
  requests: icon(html`<path d="M5 6h14M5 12h14M5 18h9"/>`),
  limits: icon(html`<path d="M4 17a8 8 0 1 1 16 0M12 17l4-5"/>`),
  settings: icon(
    html`<path d="M4 7h9M17 7h3M4 17h3M11 17h9"/><circle cx="15" cy="7" r="2"/><circle cx="9" cy="17" r="2"/>`,
  ),
  members: icon(
    html`<circle cx="9" cy="9" r="3"/><path d="M3 19c.5-3.5 2.9-5 6-5s5.5 1.5 6 5M15.5 6.500a3 3 0 0 1 0 5M17.5 14.500c2 .6 3.2 2 3.5 4.5"/>`,
  ),
  audit: icon(
    html`<path d="M7 3h7l4 4v13a1 1 0 0 1-1 1H7a1 1 0 0 1-1-1V4a1 1 0 0 1 1-1z"/><path d="M9 12l2 2 4-4"/>`,
  ),
};

/** The sign of the service itself, above the pages of people who are not signed in. */
export const brandMark = html`<svg class="mark" viewBox="0 0 32 32" aria-hidden="true"><rect width="32" height="32" rx="8"/><path d="M8 13h16M8 18h9M21 18h3" fill="none" stroke="currentColor" stroke-width="3" stroke-linecap="round"/></svg>`;
