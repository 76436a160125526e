// The dashboard of a real service for tests, with members of every role, and people who use it: with a browser, and by requests
// of their own making.

import type { Browser, BrowserContext, Page } from 'playwright-core';
import { newOrganization, type Service, startService } from '../service.ts';

/** A password that is strong enough, for every member of the tests. */
export const password = 'correct horse battery staple';

export interface Dashboard {
  readonly service: Service;
  readonly org: string;
  /** A secret key of the organization in test mode. */
  readonly key: string;
  /** The address of a page in test mode. */
  readonly address: (path: string, mode?: 'test' | 'live') => string;
  stop(): Promise<unknown>;
}

/** A service with an organization whose limits no test reaches. */
export async function startDashboard(env: Readonly<Record<string, string>> = {}): Promise<Dashboard> {
  // Tests of a file come from one address, faster than people do.
  const service = await startService({ env: { PAYMENTS_PAGES_VISITS_PER_MINUTE: '100000', ...env } });
  const { id: org, key } = await newOrganization(service, 'Souk');
  return {
    service,
    org,
    key,
    address: (path, mode = 'test') => `${service.url}/dashboard/${org}/${mode}/${path}`,
    stop: () => service.stop(),
  };
}

/** Somebody who visits the dashboard without a browser, and keeps cookies. */
export class Visitor {
  readonly cookies = new Map<string, string>();
  readonly #url: string;
  readonly #gone: AbortSignal | undefined;

  /** `gone`: aborted when the visitor leaves, whatever is still on its way. */
  constructor(url: string, gone?: AbortSignal) {
    this.#url = url;
    this.#gone = gone;
  }

  /** The session's cookie, as it is sent. */
  get cookie(): string {
    return [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  }

  async get(path: string, headers: Readonly<Record<string, string>> = {}): Promise<Visited> {
    return this.#send(path, { headers });
  }

  /** Sends a form as it is. */
  async post(
    path: string,
    fields: Readonly<Record<string, string>>,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Visited> {
    return this.#send(path, { method: 'POST', body: new URLSearchParams(fields), headers });
  }

  /** Opens a page and sends the form on it that goes to `action` (the page's own address without one), with its hidden fields. */
  async submit(
    page: string,
    fields: Readonly<Record<string, string>>,
    action = page.split('?')[0]!,
  ): Promise<Visited> {
    return this.post(action, { ...hiddenFields((await this.get(page)).body, action), ...fields });
  }

  async #send(path: string, init: RequestInit): Promise<Visited> {
    const headers = { ...(init.headers as Record<string, string>), cookie: this.cookie };
    const response = await fetch(this.#url + path, {
      ...init,
      headers,
      redirect: 'manual',
      ...(this.#gone && { signal: this.#gone }),
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)!;
      if (value === '') this.cookies.delete(name!);
      else this.cookies.set(name!, value!);
    }
    // A stream of events does not end by itself.
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
    if (isStream) await response.body?.cancel();
    return {
      status: response.status,
      headers: response.headers,
      location: response.headers.get('location') ?? '',
      body: isStream ? '' : await response.text(),
    };
  }
}

export interface Visited {
  readonly status: number;
  readonly headers: Headers;
  readonly location: string;
  readonly body: string;
}

/** The hidden fields of the form that goes to `action`. */
export function hiddenFields(page: string, action: string): Record<string, string> {
  const forms = page
    .split('<form ')
    .slice(1)
    .map((text) => text.split('</form>')[0]!);
  const form = forms.find((text) => text.includes(`action="${action}"`)) ?? '';
  const fields = [...form.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)];
  return Object.fromEntries(fields.map(([, name, value]) => [name!, value!]));
}

/** Makes a member by an invitation, and signs the member in. */
export async function newMember(
  dashboard: Pick<Dashboard, 'service' | 'org'>,
  role: string,
  email = `${role}@souk.ma`,
): Promise<Visitor> {
  const visitor = new Visitor(dashboard.service.url);
  const path = await invite(dashboard, email, role);
  const joined = await visitor.submit(path, { name: `The ${role}`, password });
  if (joined.status !== 303) throw new Error(`${email} could not join: ${joined.status} ${joined.body}`);
  return visitor;
}

/** The path of an invitation. */
export async function invite(
  { service, org }: Pick<Dashboard, 'service' | 'org'>,
  email: string,
  role: string,
): Promise<string> {
  const { link } = await service.operate<{ link: string }>('member.invite', { org, email, role });
  return new URL(link).pathname;
}

/** A page of a browser on which a member is signed in. Messages of the browser that tell of a fault are added to `complaints`. */
export async function signedIn(
  browser: Browser,
  { service }: Dashboard,
  visitor: Visitor,
  options: NonNullable<Parameters<Browser['newContext']>[0]> = {},
): Promise<{ context: BrowserContext; page: Page; complaints: string[] }> {
  const context = await browser.newContext({
    locale: 'en',
    viewport: { width: 1280, height: 900 },
    ...options,
  });
  context.setDefaultTimeout(15_000);
  await context.addCookies([...visitor.cookies].map(([name, value]) => ({ name, value, url: service.url })));
  const page = await context.newPage();
  // A question before what can't be taken back.
  page.on('dialog', (dialog) => dialog.accept());
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' && !/status of 4\d\d/.test(message.text()))
      complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  return { context, page, complaints };
}

/** For whoever wants to look at the page: with `SCREENSHOTS` in the environment, a picture of it in that folder. */
export async function screenshot(page: Page, name: string): Promise<void> {
  const folder = process.env.SCREENSHOTS;
  if (folder !== undefined) await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true });
}
