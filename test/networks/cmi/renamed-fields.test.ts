// The hash of a report doesn't cover the names of its fields, and every customer gets a signed one with the browser's return. Here
// they give its values other names in every way that keeps the hash right: it stays the same report, or is refused.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createCmiConnector } from '../../../src/networks/cmi/connector.ts';
import { bytesOf, hashOf, signedFields, sortKey } from '../../../src/networks/cmi/hash.ts';
import { hostedPayment, startMs } from '../calls.ts';
import { callbackFields } from '../cmi-stand-in/callback.ts';
import { Gateway } from '../cmi-stand-in/gateway.ts';

const credentials = { clientId: '600000001', storeKey: 'TEST1234' };
const network = createCmiConnector({
  ...credentials,
  gateway: 'https://payment.cmi.test',
  api: null,
  doubtMs: 0,
  now: () => startMs,
  send: () => Promise.reject(new Error('nothing is asked')),
});

type Fields = readonly (readonly [name: string, value: string])[];

/** What the gateway reports of an attempt, in the order of the names, with fields that it has at some banks. */
async function reported(declined: string | null, cardholder: string): Promise<Fields> {
  const gateway = new Gateway({ ...credentials, apiUser: 'api', apiPassword: 'secret' });
  const customer = { name: 'PreAuth', email: 'zoe@example.ma' };
  const { fields } = await network.startPage!(hostedPayment({ customer }));
  assert.equal(gateway.start(new URLSearchParams(Object.fromEntries(fields!)).toString()).status, 200);
  const order = gateway.ledger.orders.get('ch_1')!;
  const transaction =
    declined === null ? gateway.ledger.authorize(order) : gateway.ledger.decline(order, declined);
  const told = new Map([
    ...callbackFields(order, transaction),
    ...Object.entries({ acqStan: '123456', eci: '05', merchantID: '600000001', TRANID: 'x1', taksit: '2' }),
    ['EXTRA.CARDHOLDERNAME', cardholder],
  ]);
  told.delete('encoding');
  return signedFields([...told]);
}

function read(fields: Fields, hash: string) {
  const body = new URLSearchParams([
    ...fields.map(([name, value]): [string, string] => [name, value]),
    ['HASH', hash],
  ]);
  const report = network.readCallback!({ signature: '', body: body.toString() });
  if ('status' in report) return null;
  const { about, says } = report;
  // What is shown of the card decides nothing, nor does a decline: the customer may try again.
  return { about, money: says.result === 'paid' ? { ...says.money, card: null } : null };
}

/** The fields with names at other places, and the others named so that the order stays. Null when that can't be. */
function renamed(fields: Fields, places: Readonly<Record<string, number>>): Fields | null {
  const names = new Map(Object.entries(places).map(([name, at]) => [at, name]));
  const given: string[] = [];
  for (const [at, [own]] of fields.entries()) {
    const before = given.at(-1) ?? '';
    const next = [...names].find(([place]) => place > at)?.[1];
    const fits = sortKey(before) < sortKey(own) && (next === undefined || sortKey(own) < sortKey(next));
    given.push(names.get(at) ?? (fits && !Object.hasOwn(places, own) ? own : `${before}!`));
  }
  const isInOrder = given.every((name, at) => at === 0 || sortKey(given[at - 1]!) < sortKey(name));
  return isInOrder ? fields.map(([, value], at) => [given[at]!, value]) : null;
}

const signed = (fields: Fields) =>
  hashOf(
    fields.map(([name, value]) => [name, bytesOf(value)]),
    credentials.storeKey,
  ).toString('base64');

/** How many ways to name the values there were. */
function tryEach(fields: Fields, ways: readonly Readonly<Record<string, number>>[]): number {
  const hash = signed(fields);
  const genuine = read(fields, hash);
  assert(genuine !== null);
  const forged = ways.map((places) => renamed(fields, places)).filter((each) => each !== null);
  for (const each of forged) {
    assert.equal(signed(each), hash);
    const report = read(each, hash);
    // An order that is no charge's is refused when the charge is looked for.
    if (report === null || !(report.about as { charge: string }).charge.startsWith('ch_')) continue;
    assert.deepEqual(report.about, genuine.about, JSON.stringify(each));
    if (report.money !== null) assert.deepEqual(report, genuine, JSON.stringify(each));
  }
  return forged.length;
}

test('no field of an accepted payment can be given the value of another one', async () => {
  for (const cardholder of ['978', 'PreAuth', '1.00', 'ch_2', 'ver3', '3D_PAY_HOSTING']) {
    const fields = await reported(null, cardholder);
    const names = [
      'amount',
      'clientid',
      'currency',
      'oid',
      'ProcReturnCode',
      'Response',
      'TransId',
      'trantype',
    ];
    const ways = names.flatMap((name) => fields.map((_, at) => ({ [name]: at })));
    assert(tryEach(fields, ways) > 200);
  }
});

test('a payment that was declined can be made neither an accepted one nor one of another order', async () => {
  for (const cardholder of ['00', 'ch_2']) {
    const fields = await reported('51', cardholder);
    const ways = fields.flatMap((_, at) => [
      { oid: at },
      ...fields.slice(at + 1).map((_, after) => ({ ProcReturnCode: at, Response: at + 1 + after })),
    ]);
    assert(tryEach(fields, ways) > 500);
  }
});
