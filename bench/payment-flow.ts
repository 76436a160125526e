// A payment as a merchant's server makes it: a payment intent is created and confirmed with a card, and the test helper stands in
// for the customer who pays.

import type { Flow } from './flows.ts';
import { timeNow } from './time.ts';

/** One when it is created, one when it is confirmed, three when it is paid. */
export const eventsOfPayment = 5;

const creation = JSON.stringify({
  amount: 12_000,
  currency: 'mad',
  payment_method_types: ['card', 'cash'],
  metadata: { order_id: 'order-1042' },
});
const confirmation = JSON.stringify({
  payment_method_type: 'card',
  return_url: 'https://shop.example/return',
});

/** Payments by these merchants in turn. The idempotency key of a request ends with the time when it is sent. */
export function paymentFlows(keys: readonly string[]): () => Flow {
  let begun = 0;
  return () => {
    const number = begun++;
    const key = keys[number % keys.length]!;
    let step = 0;
    const post = (path: string, body: string) =>
      [
        `POST ${path} HTTP/1.1`,
        'Host: 127.0.0.1',
        `Authorization: Bearer ${key}`,
        'Content-Type: application/json',
        `Idempotency-Key: ${number}-${step}-${timeNow().toFixed(2)}`,
        `Content-Length: ${body.length}`,
        '',
        body,
      ].join('\r\n');
    return (answer) => {
      step++;
      if (answer === null) return post('/v1/payment_intents', creation);
      if (step === 2) return post(`/v1/payment_intents/${idIn(answer, 'id')}/confirm`, confirmation);
      if (step === 3) return post(`/v1/test_helpers/charges/${idIn(answer, 'latest_charge')}/complete`, '{}');
      return null;
    };
  };
}

function idIn(answer: string, field: 'id' | 'latest_charge'): string {
  const name = `"${field}":"`;
  const from = answer.indexOf(name) + name.length;
  return answer.slice(from, answer.indexOf('"', from));
}
