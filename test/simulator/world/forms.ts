// What clients send as a form, as their libraries do by default: each with the JSON that its refusal says to send instead; null
// where it shows none.

const manyFields = Array.from({ length: 60 }, (_, i) => `metadata[k${i}]=value`).join('&');
const longField = `description=${'x'.repeat(2_100)}`;

export const jsonOfForms: ReadonlyMap<string, string | null> = new Map([
  ['amount=20000&currency=mad', '{"amount":20000,"currency":"mad"}'],
  ['metadata[a]=1&metadata[b]=2', '{"metadata":{"a":"1","b":"2"}}'],
  [
    'payment_method_types[]=card&payment_method_types[1]=cash&amount=-05&livemode=true',
    '{"payment_method_types":["card","cash"],"amount":"-05","livemode":true}',
  ],
  ['{}', null],
  ['amount[a][b]=1', null],
  ['description=4242+4242+4242+4242', null],
  [manyFields, null],
  [longField, null],
]);
