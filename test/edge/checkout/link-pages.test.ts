// The page of a payment link leads a browser to the session that it had before, as long as that can be paid.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Visit } from '../../../src/edge/checkout/document.ts';
import { createLinkPages } from '../../../src/edge/checkout/link-pages.ts';
import type { PagePort, ShownPayment } from '../../../src/edge/checkout/page-port.ts';
import type { Visitors } from '../../../src/edge/http/visitors.ts';
import type { FormGuard } from '../../../src/html/form-guard.ts';

const [held, made] = ['cs_held', 'cs_made'];
const open = { status: 'open', over: false };

/** What the browser's session is, and whether the browser is led to it again. */
const rows = [
  ['nothing was tried', open, { status: 'requires_payment_method', methods_left: ['card'] }, true],
  ['the last attempt is open', open, { status: 'requires_action', methods_left: [] }, true],
  ['no attempt is left', open, { status: 'requires_payment_method', methods_left: [] }, false],
  [
    'its time is up',
    { ...open, over: true },
    { status: 'requires_payment_method', methods_left: ['card'] },
    false,
  ],
  ['it was paid', { ...open, status: 'complete' }, { status: 'succeeded', methods_left: ['card'] }, false],
] as const;

for (const [what, session, intent, isKept] of rows) {
  test(`a browser whose session is one of which ${what} is led to ${isKept ? 'it' : 'another one'}`, async () => {
    const port = {
      viewLink: async () => ({ id: 'pl_1', state: 'active' }),
      view: async (id: string) => (id === held ? ({ session, intent } as unknown as ShownPayment) : null),
      command: async () => ({ ok: true, body: { session: made } }),
    } as unknown as PagePort;
    const pages = createLinkPages({
      port,
      guard: { accepts: () => true } as unknown as FormGuard,
      visitors: { visitorOf: () => ({ network: 'a', site: 'b' }) } as unknown as Visitors,
      visitorsMax: 10,
      monotonic: () => 0,
      secure: false,
    });
    const headers = {
      acceptLanguage: '',
      cookie: `payments-link-pl_1=${held}`,
      forwardedFor: '',
      secFetchSite: '',
    };
    const request = {
      ...{ method: 'POST', path: '/link/pl_1', query: '', headers, requestId: 'req_1' },
      ...{ remoteAddress: '192.0.2.1', body: Buffer.alloc(0) },
    };
    const visit: Visit = { language: 'en', languageChosen: false, path: request.path, prefix: '' };
    const answer = await pages(request, 'pl_1', visit);
    const location = answer.headers.find(([name]) => name === 'location')?.[1];
    assert.equal(location, `/checkout/${isKept ? held : made}`);
  });
}
