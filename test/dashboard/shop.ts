// A merchant's payments for the tests of the pages about money, made by the API with the organization's key.

import assert from 'node:assert/strict';
import { Customer, goodCard } from '../journeys/customer.ts';
import type { Dashboard } from './fixture.ts';

let calls = 0;

/** Sends a request of the API, which must succeed. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
export async function api({ service, key }: Dashboard, path: string, body?: object): Promise<any> {
  const { status, json, text } = await service.call(path, {
    key,
    ...(body !== undefined && { body, idempotencyKey: `shop-${calls++}` }),
  });
  assert.equal(status, 200, text);
  return json;
}

/** A payment that was confirmed: the customer can pay. */
// biome-ignore lint/suspicious/noExplicitAny: a resource
export async function openPayment(dashboard: Dashboard, params: object = {}, method = 'card'): Promise<any> {
  const intent = await api(dashboard, '/v1/payment_intents', {
    amount: 20_000,
    currency: 'mad',
    payment_method_types: [method],
    ...params,
  });
  return api(dashboard, `/v1/payment_intents/${intent.id}/confirm`, {});
}

/** A payment that the customer has paid; its charge. */
// biome-ignore lint/suspicious/noExplicitAny: a resource
export async function paidPayment(dashboard: Dashboard, params: object = {}, method = 'card'): Promise<any> {
  const intent = await openPayment(dashboard, params, method);
  return api(dashboard, `/v1/test_helpers/charges/${intent.latest_charge}/complete`, {});
}

/** A payment for which the customer has typed a card on the page; the payment as it is afterwards. */
export async function typedCard(
  dashboard: Dashboard,
  params: object = {},
  card: Readonly<Record<string, string>> = goodCard,
  // biome-ignore lint/suspicious/noExplicitAny: a resource
): Promise<any> {
  const intent = await openPayment(dashboard, params);
  const customer = new Customer();
  await customer.open(intent.next_action.redirect_to_url.url);
  await customer.send(card);
  return dashboard.service.until(async () => {
    const after = await api(dashboard, `/v1/payment_intents/${intent.id}`);
    return after.status === 'succeeded' || after.last_payment_error !== null ? after : undefined;
  });
}
