// A customer in the journeys: a simple browser over HTTP. It keeps its cookie, follows the redirects of the service and sends
// the forms that it is shown. It runs no scripts.

import assert from 'node:assert/strict';

interface Shown {
  /** Where the redirects ended: path and query string. */
  readonly at: string;
  readonly status: number;
  readonly title: string;
  readonly html: string;
}

export const goodCard = { number: '4242 4242 4242 4242', expiry: '09/34', cvc: '123' };
export const poorCard = { ...goodCard, number: '4000 0000 0000 9995' };
export const challengedCard = { ...goodCard, number: '4000 0027 6000 3184' };
export const lingeringCard = { ...goodCard, number: '4000 0000 0000 0077' };
export const refundlessCard = { ...goodCard, number: '4000 0000 0000 5126' };

export class Customer {
  #cookie = '';
  #shown: Shown | null = null;

  /** Opens a page of the service by its whole address. */
  async open(url: string): Promise<Shown> {
    return this.#ask(url, null);
  }

  /** Another browser that has somehow got hold of the same page. */
  thief(): Customer {
    const thief = new Customer();
    thief.#shown = this.#shown;
    return thief;
  }

  /** Goes back from the page of an attempt to the choice. */
  chooseAgain(): Promise<Shown> {
    return this.send({}, '/change');
  }

  /** Sends the form on the page with these fields; `to` is how its address ends. */
  async send(fields: Readonly<Record<string, string>>, to = ''): Promise<Shown> {
    const { html, at } = this.#shown!;
    const form = new RegExp(`<form method="post" action="([^"]+${to})".*?</form>`, 's').exec(html);
    assert.ok(form, `there is a form on the page: ${this.#shown!.title}`);
    const body = new URLSearchParams();
    // The hidden fields, and the choice that is made on the page.
    const inputs = form[0].matchAll(
      /<input type="(hidden|radio)"[^>]* name="(\w+)" value="([^"]*)"( checked)?/g,
    );
    for (const [, type, name, value, checked] of inputs) {
      if (type === 'hidden' || checked !== undefined) body.set(name!, value!);
    }
    for (const [name, value] of Object.entries(fields)) body.set(name, value);
    return this.#ask(new URL(form[1]!.replaceAll('&amp;', '&'), at).href, body);
  }

  async #ask(url: string, body: URLSearchParams | null): Promise<Shown> {
    const response = await fetch(url, {
      method: body === null ? 'GET' : 'POST',
      headers: { Cookie: this.#cookie },
      redirect: 'manual',
      ...(body !== null && { body }),
    });
    const html = await response.text();
    this.#cookie = response.headers.get('set-cookie')?.split(';')[0] ?? this.#cookie;
    const location = response.headers.get('location');
    if (location !== null) return this.#ask(new URL(location, url).href, null);
    const title = /<title>([^<]*)<\/title>/.exec(html)?.[1] ?? '';
    this.#shown = { at: url, status: response.status, title, html };
    return this.#shown;
  }
}
