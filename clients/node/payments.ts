// A client of the Payments API: calls that TypeScript checks, requests that are sent again without
// paying twice, lists page by page, and the verification of webhooks. It needs nothing but Node.

import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Event, Routes } from './types.d.ts';

export type * from './types.d.ts';

export type Route = keyof Routes;
type Params<R extends Route> = Routes[R]['params'];
type Answer<R extends Route> = Routes[R]['answer'];
/** The routes that answer a page of a list. */
export type ListRoute = { [R in Route]: Answer<R> extends { has_more: boolean } ? R : never }[Route];
type ItemOf<R extends ListRoute> = Answer<R> extends { data: (infer Item)[] } ? Item : never;

export interface Settings {
  /** The address of the service, such as `https://payments.example`. */
  readonly url: string;
  /** A secret key. */
  readonly key: string;
  /** How often a request is sent in all, when it may be sent again. */
  readonly attempts?: number | undefined;
  /** The longest time for an answer. */
  readonly timeoutMs?: number | undefined;
  /** For tests: how to wait between two attempts. */
  readonly wait?: ((ms: number) => Promise<void>) | undefined;
}

/** `idempotencyKey` is the name of what the customer wants, such as one order: keep it, and send it with each retry. */
export type Options<R extends Route> = Routes[R]['key'] extends 'required'
  ? { readonly idempotencyKey: string }
  : { readonly idempotencyKey?: string };

/** Without required parameters or options, these may be left out. */
type Rest<R extends Route> = Routes[R]['key'] extends 'required'
  ? [params: Params<R>, options: Options<R>]
  : Record<string, never> extends Params<R>
    ? [params?: Params<R>, options?: Options<R>]
    : [params: Params<R>, options?: Options<R>];

/** A refusal. Branch on `code`; the message may change. */
export class PaymentsError extends Error {
  override name = 'PaymentsError';
  readonly status: number;
  readonly type: string;
  readonly code: string;
  readonly param: string | null;
  readonly declineCode: string | null;
  readonly requestId: string | null;
  constructor(status: number, body: unknown) {
    const { error = {} } = (body ?? {}) as { error?: Record<string, string | null> };
    super(error.message ?? `the service answered ${status}`);
    this.status = status;
    this.type = error.type ?? 'api_error';
    this.code = error.code ?? 'api_error';
    this.param = error.param ?? null;
    this.declineCode = error.decline_code ?? null;
    this.requestId = error.request_id ?? null;
  }
}

const firstWaitMs = 500;
const longestWaitMs = 30_000;
const waitFor = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

export class Payments {
  readonly #settings: Required<Settings>;

  constructor(settings: Settings) {
    const { url, key, attempts = 5, timeoutMs = 30_000, wait = waitFor } = settings;
    // The error for a header that can't be sent would quote the key.
    if (!/^[!-~]+$/.test(key))
      throw new TypeError(
        'this is no API key: it has a space, a line break or another character that no key has',
      );
    this.#settings = { url, key, attempts, timeoutMs, wait };
  }

  /** Sends a request, again where that helps, and returns the answer. Throws `PaymentsError` for a refusal. */
  async send<R extends Route>(route: R, ...[params, options]: Rest<R>): Promise<Answer<R>> {
    const request = this.#requestOf(route, { ...params }, options?.idempotencyKey);
    const { attempts, wait } = this.#settings;
    for (let attempt = 1; ; attempt++) {
      const result = await this.#attempt(request);
      if ('answer' in result) return result.answer as Answer<R>;
      const waitMs = waitBefore(result, attempt);
      if (waitMs === null || attempt >= attempts) throw result.error;
      await wait(waitMs);
    }
  }

  /**
   * All objects of a list, page by page: from the newest or from `starting_after` on, or those before `ending_before`, where
   * each page has newer ones than the one before it.
   */
  async *all<R extends ListRoute>(route: R, params: Params<R> = {} as Params<R>): AsyncGenerator<ItemOf<R>> {
    const isForward = (params as { ending_before?: string | null }).ending_before == null;
    let position: object = {};
    for (;;) {
      const rest = [{ limit: 100, ...params, ...position }] as unknown as Rest<R>;
      const page = (await this.send(route, ...rest)) as unknown as { data: ItemOf<R>[]; has_more: boolean };
      yield* page.data;
      const edge = page.data.at(isForward ? -1 : 0) as { id: string } | undefined;
      if (!page.has_more || edge === undefined) return;
      position = isForward ? { starting_after: edge.id } : { ending_before: edge.id };
    }
  }

  #requestOf(route: string, params: Record<string, unknown>, idempotencyKey: string | undefined): Request {
    const [method = '', template = ''] = route.split(' ');
    const path = template.replace(/\{(\w+)\}/g, (_, name: string) => {
      const value = params[name];
      if (typeof value !== 'string' || value === '') throw new TypeError(`${route} needs ${name}`);
      delete params[name];
      return encodeURIComponent(value);
    });
    const url = new URL(this.#settings.url.replace(/\/$/, '') + path);
    const headers: Record<string, string> = { Authorization: `Bearer ${this.#settings.key}` };
    if (method !== 'POST') {
      for (const [name, value] of Object.entries(params)) {
        if (value !== undefined && value !== null) url.searchParams.set(name, String(value));
      }
      return { method, url, headers, body: null };
    }
    // One key for all attempts of a call, so that no attempt does anything twice.
    const key = idempotencyKey ?? crypto.randomUUID();
    if (!/^[ -~]{1,255}$/.test(key))
      throw new TypeError('an idempotency key has 1 to 255 printable ASCII characters');
    headers['Content-Type'] = 'application/json';
    headers['Idempotency-Key'] = key;
    return { method, url, headers, body: JSON.stringify(params) };
  }

  async #attempt({ method, url, headers, body }: Request): Promise<Result> {
    try {
      const signal = AbortSignal.timeout(this.#settings.timeoutMs);
      const response = await fetch(url, { method, headers, body, signal, redirect: 'error' });
      const text = await response.text();
      const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false;
      const answer: unknown = isJson ? JSON.parse(text) : text;
      if (response.ok) return { answer };
      const retryAfter = response.headers.get('retry-after');
      const error = new PaymentsError(response.status, isJson ? answer : null);
      // The service says seconds; something between it and here may say a date.
      return { error, retryAfterMs: /^\d+$/.test(retryAfter ?? '') ? Number(retryAfter) * 1_000 : null };
    } catch (error) {
      return { error: error as Error, retryAfterMs: null };
    }
  }
}

interface Request {
  readonly method: string;
  readonly url: URL;
  readonly headers: Record<string, string>;
  readonly body: string | null;
}

type Result = { readonly answer: unknown } | Failure;
interface Failure {
  readonly error: Error;
  readonly retryAfterMs: number | null;
}

/** How long to wait before the request is sent again; null when that would not help. */
function waitBefore({ error, retryAfterMs }: Failure, attempt: number): number | null {
  if (error instanceof PaymentsError) {
    const { status, code } = error;
    const isPassing = code === 'idempotency_in_progress' || code.endsWith('_busy');
    if (!isPassing && status !== 429 && status < 500) return null;
    // Minutes or hours are the daily cap of test mode.
    if (retryAfterMs !== null && retryAfterMs > longestWaitMs) return null;
  }
  const growing = Math.min(longestWaitMs, firstWaitMs * 2 ** (attempt - 1));
  return Math.max(retryAfterMs ?? 0, growing * (0.75 + Math.random() / 2));
}

const signatureSecondsMax = 300;

/**
 * The event of a webhook, or null when the service has not sent it, or more than five minutes ago. `rawBody` is what arrived,
 * byte for byte; `header` is `X-Service-Signature`.
 */
export function verifyWebhook(
  rawBody: string | Uint8Array,
  header: string | null | undefined,
  secret: string,
  nowSeconds = Date.now() / 1_000,
): Event | null {
  const parts = (header ?? '').split(',').map((part) => part.split('='));
  const time = parts.find(([name]) => name === 't')?.[1] ?? '';
  if (!/^\d+$/.test(time) || Math.abs(nowSeconds - Number(time)) > signatureSecondsMax) return null;
  const expected = createHmac('sha256', secret).update(`${time}.`).update(rawBody).digest();
  const isSigned = parts.some(([name, value = '']) => {
    const given = Buffer.from(value, 'hex');
    return name === 'v1' && given.length === expected.length && timingSafeEqual(given, expected);
  });
  return isSigned ? (JSON.parse(Buffer.from(rawBody).toString()) as Event) : null;
}
