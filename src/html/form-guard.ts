// Protects the forms against cross-site request forgery. A form is accepted only from a page that
// this service gave to the same browser for the same payment. The browser has a random cookie that
// no other site can read or send; each form carries a digest of the cookie and the payment's id.
// There is no secret on the server, so all edge threads accept the same forms.

import { createHmac, timingSafeEqual } from 'node:crypto';
import { type Html, html } from './html.ts';

export interface FormGuard {
  /** The hidden field of a form about `id`, and the cookie to set if the browser has none. */
  protect(id: string, cookieHeader: string): { readonly field: Html; readonly setCookie: string | null };
  /** Whether the form was made for `id` and for this browser. */
  accepts(id: string, cookieHeader: string, secFetchSite: string, form: URLSearchParams): boolean;
}

const cookieBytes = 16;
const fieldName = 'form_key';

/** `secure`: the pages are served over https, so the cookie can be bound to this host. */
export function createFormGuard(secure: boolean, randomBytes: (size: number) => Buffer): FormGuard {
  const name = secure ? '__Host-payments-form' : 'payments-form';
  const attributes = `Path=/; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`;
  const pattern = new RegExp(`(?:^|;\\s*)${name}=([\\w-]{22})\\s*(?:;|$)`);
  const digest = (cookie: string, id: string) => createHmac('sha256', cookie).update(id).digest('base64url');

  return {
    protect(id, cookieHeader) {
      const held = pattern.exec(cookieHeader)?.[1];
      const cookie = held ?? randomBytes(cookieBytes).toString('base64url');
      return {
        field: html`<input type="hidden" name="${fieldName}" value="${digest(cookie, id)}">`,
        setCookie: held === undefined ? `${name}=${cookie}; ${attributes}` : null,
      };
    },
    accepts(id, cookieHeader, secFetchSite, form) {
      // Browsers send `Sec-Fetch-Site` over https and to localhost only.
      if (secFetchSite !== '' && secFetchSite !== 'same-origin') return false;
      const cookie = pattern.exec(cookieHeader)?.[1];
      if (cookie === undefined) return false;
      const expected = Buffer.from(digest(cookie, id));
      const given = Buffer.from(form.get(fieldName) ?? '');
      return given.length === expected.length && timingSafeEqual(given, expected);
    },
  };
}
