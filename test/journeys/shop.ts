// A merchant in the journeys, with an organization of its own on a running service. Requests are named by the operations of
// the table of routes. Parameters go into the body or the query string as the route takes them, and a request that needs an
// idempotency key gets a new one.

import assert from 'node:assert/strict';
import { type ErrorCode, errors } from '../../src/contract/errors/table.ts';
import type { Route } from '../../src/contract/routes/route.ts';
import { type Operation, type ParamsOf, routeTable } from '../../src/contract/routes/table.ts';
import { type Answer, type Call, newOrganization, type Service, send } from '../service.ts';

/** The parameters of an operation, and the `id` in its path when there is one. */
export type Input<O extends Operation> = Partial<ParamsOf<O>> & { readonly id?: string };

// biome-ignore lint/suspicious/noExplicitAny: objects of every shape.
export type Json = any;

const routes = new Map<string, Route>(routeTable.map((route) => [route.operation, route]));
let keysUsed = 0;

export class Shop {
  readonly service: Service;
  readonly org: string;
  readonly key: string;
  /** The newest event that `news` has shown. */
  #newest: string | null = null;

  constructor(service: Service, org: string, key: string) {
    this.service = service;
    this.org = org;
    this.key = key;
  }

  /** The same merchant on the service that has taken over the data. */
  on(service: Service): Shop {
    return new Shop(service, this.org, this.key);
  }

  /** Sends a request and gives its answer, whatever it is. */
  send<O extends Operation>(operation: O, input: Input<O> = {}, call: Call = {}): Promise<Answer> {
    const route = routes.get(operation)!;
    const { id = '', ...params } = input as Record<string, unknown>;
    const path = route.path.replace('{id}', String(id));
    const texts = Object.entries(params).map(([name, value]): [string, string] => [name, String(value)]);
    const query = new URLSearchParams(texts).toString();
    const idempotencyKey = route.idempotency === 'required' ? `journey-${++keysUsed}` : undefined;
    return send(this.service.url, route.method === 'GET' && query !== '' ? `${path}?${query}` : path, {
      key: this.key,
      method: route.method,
      ...(route.method === 'POST' && { body: params }),
      ...(idempotencyKey !== undefined && { idempotencyKey }),
      ...call,
    });
  }

  /** Sends a request that must succeed; the object that it answers. */
  async do<O extends Operation>(operation: O, input: Input<O> = {}, call: Call = {}): Promise<Json> {
    const answer = await this.send(operation, input, call);
    assert.equal(answer.status, 200, `${operation}: ${answer.text}`);
    return answer.json;
  }

  /** Sends a request that must be refused with `code`; the error. */
  async refused<O extends Operation>(
    code: ErrorCode,
    operation: O,
    input: Input<O> = {},
    call: Call = {},
  ): Promise<Json> {
    const answer = await this.send(operation, input, call);
    assert.deepEqual(
      [answer.status, answer.json?.error?.code],
      [errors[code].status, code],
      `${operation}: ${answer.text}`,
    );
    return answer.json.error;
  }

  /** The events since the last time it was asked, oldest first. */
  async news(): Promise<Json[]> {
    const cursor = this.#newest === null ? {} : { ending_before: this.#newest };
    const { data } = await this.do('list_events', { limit: 100, ...cursor });
    this.#newest = data[0]?.id ?? this.#newest;
    return data.reverse();
  }

  /** The types of `news`. */
  async newTypes(): Promise<string[]> {
    return (await this.news()).map(({ type }) => type);
  }

  /** A new intent of 200.00 MAD, by card unless told otherwise. */
  createIntent(input: Input<'create_payment_intent'> = {}): Promise<Json> {
    return this.do('create_payment_intent', { amount: 20_000, currency: 'mad', ...input });
  }

  /** An intent whose customer is at the card page, or holds a cash code. */
  async confirmedIntent(input: Input<'create_payment_intent'> = {}): Promise<Json> {
    const { id } = await this.createIntent(input);
    return this.do('confirm_payment_intent', { id });
  }

  /** An intent of 200.00 MAD that was paid by card; the helper stands for the customer. */
  async paidIntent(input: Input<'create_payment_intent'> = {}): Promise<Json> {
    const { id, latest_charge } = await this.confirmedIntent(input);
    await this.do('complete_charge', { id: latest_charge });
    return this.do('retrieve_payment_intent', { id });
  }

  /** A new checkout session of 200.00 MAD that takes cards and cash. */
  createSession(input: Input<'create_checkout_session'> = {}): Promise<Json> {
    return this.do('create_checkout_session', {
      amount: 20_000,
      currency: 'mad',
      payment_method_types: ['card', 'cash'],
      success_url: 'https://shop.example/thanks?session={CHECKOUT_SESSION_ID}',
      cancel_url: 'https://shop.example/basket',
      ...input,
    });
  }
}

/** A merchant of its own, whose limits no test meets. */
export async function openShop(service: Service): Promise<Shop> {
  const { id, key } = await newOrganization(service);
  return new Shop(service, id, key);
}
