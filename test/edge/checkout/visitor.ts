// A simple browser without a socket: it visits the pages, keeps its cookie, follows redirects and fills in forms.

import type { PageAnswer, PageRequest } from '../../../src/edge/checkout/page-port.ts';
import type { CheckoutPages } from '../../../src/edge/checkout/pages.ts';
import { createService, createSession } from './in-process-service.ts';

interface Shown extends PageAnswer {
  /** Where the redirects ended. */
  readonly at: string;
  header(name: string): string | null;
}

export function createVisitor(pages: CheckoutPages, changes: Partial<PageRequest['headers']> = {}) {
  let cookie = '';
  let last: Shown | null = null;

  async function ask(method: string, target: string, body = ''): Promise<Shown> {
    const [path = '', query = ''] = target.split('?');
    const request = {
      method,
      path,
      query,
      headers: { acceptLanguage: '', cookie, forwardedFor: '', secFetchSite: '', ...changes },
      remoteAddress: '192.0.2.1',
      requestId: 'req_1',
      body: Buffer.from(body),
    };
    const answer = pages.turnAway(request) ?? (await pages.handle(request));
    const header = (name: string) => answer.headers.find(([key]) => key === name)?.[1] ?? null;
    cookie = header('set-cookie')?.split(';')[0] ?? cookie;
    last = { ...answer, at: target, header };
    return last;
  }

  async function follow(shown: Shown): Promise<Shown> {
    const location = shown.header('location');
    return location === null ? shown : follow(await ask('GET', location));
  }

  return {
    ask,
    get: async (target: string) => follow(await ask('GET', target)),
    /** Sends the form on the last page with these fields, to its own address; `to` is how that ends. */
    async send(fields: Record<string, string>, to = ''): Promise<Shown> {
      const form = formOf(last!, to);
      return follow(
        await ask('POST', form.action, new URLSearchParams({ ...form.hidden, ...fields }).toString()),
      );
    },
    /** The form of the last page. */
    form: (to = '') => formOf(last!, to),
  };
}

/** The fields that a browser sends besides the typed ones: the hidden ones and the choice that is made. */
function formOf({ body }: Shown, to = '') {
  const found = new RegExp(`<form method="post" action="([^"]+${to})".*?</form>`, 's').exec(body);
  if (found === null) throw new Error(`no form on the page: ${titleOf(body)}`);
  const inputs = [
    ...found[0].matchAll(/<input type="(?:hidden|radio)"[^>]* name="(\w+)" value="([^"]*)"( checked)?/g),
  ];
  const sent = inputs.filter(([input, , , checked]) => input.includes('"hidden"') || checked !== undefined);
  const hidden: Record<string, string> = Object.fromEntries(sent.map(([, name, value]) => [name!, value!]));
  return { action: found[1]!.replaceAll('&amp;', '&'), hidden };
}

export function titleOf(body: string): string {
  return /<title>([^<]*)<\/title>/.exec(body)?.[1] ?? '';
}

export const goodCard = { number: '4242 4242 4242 4242', expiry: '09/32', cvc: '123' };

/** A service, a visitor, and the page of a session in front of them, with its card form. */
export async function atCardPage(params: object = {}) {
  const service = createService();
  const session = await createSession(service, params);
  const visitor = createVisitor(service.pages);
  const shown = await visitor.get(`/checkout/${session.id}`);
  return { service, session, visitor, shown };
}
