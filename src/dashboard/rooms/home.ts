// The room that a member sees first.

import { html } from '../../edge/pages/html.ts';
import { page } from '../document.ts';
import { sayFrame } from '../messages/frame.ts';
import type { Row } from '../row.ts';

export const homeRows: readonly Row[] = [
  {
    method: 'GET',
    path: 'home',
    permission: 'payments.read',
    handle: async (visit) =>
      page(visit, {
        active: 'home',
        title: sayFrame('home', visit.language),
        body: html`<p>${visit.organization.name}</p>`,
      }),
  },
];
