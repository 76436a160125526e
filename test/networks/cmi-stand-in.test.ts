// The stand-in for CMI's gateway is strict, does what it is told to do wrong, and keeps true sums.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { CmiStandIn, formOf } from './cmi-stand-in/client.ts';
import { Gateway, type Misbehaviour } from './cmi-stand-in/gateway.ts';
import { hashOf } from './cmi-stand-in/hash.ts';
import { sumsOf } from './cmi-stand-in/ledger.ts';
import { statementOf } from './cmi-stand-in/statement.ts';

const storeKey = 'Key|with\\marks';
const credentials = { clientId: '600002599', apiUser: 'api', apiPassword: 'pass<&>word' };
let receiver: Server;
let received: URLSearchParams[] = [];
let answer = 'ACTION=POSTAUTH';

before(async () => {
  receiver = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) body += chunk;
    received.push(new URLSearchParams(body));
    response.end(answer);
  }).listen(0, '127.0.0.1');
  await once(receiver, 'listening');
});
after(() => receiver.close());

/** The form that a merchant's page posts, signed. */
function start(oid: string, changed: Readonly<Record<string, string>> = {}): Map<string, string> {
  const own = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
  const fields = new Map(
    Object.entries({
      clientid: '600002599',
      storetype: '3D_PAY_HOSTING',
      trantype: 'PreAuth',
      amount: '250.00',
      currency: '504',
      oid,
      okUrl: `${own}/ok`,
      failUrl: `${own}/fail`,
      callbackUrl: `${own}/callback`,
      shopurl: own,
      lang: 'fr',
      rnd: 'r1',
      hashAlgorithm: 'ver3',
      encoding: 'UTF-8',
      ...changed,
    }),
  );
  fields.set('HASH', hashOf(fields, storeKey));
  return fields;
}

const body = (fields: Iterable<[string, string]>) => new URLSearchParams([...fields]).toString();
const decide = (oid: string, decision: string) => body([...Object.entries({ oid, decision })]);

/** A gateway with an order that was approved. */
async function approved(misbehaviour?: Misbehaviour) {
  const gateway = new Gateway({ storeKey, ...credentials });
  received = [];
  answer = 'ACTION=POSTAUTH';
  assert.equal(gateway.start(body(start('ch_1'))).status, 200);
  if (misbehaviour !== undefined) gateway.misbehave(misbehaviour);
  const returned = await gateway.decide(decide('ch_1', 'approve'));
  return { gateway, returned, sums: () => sumsOf(gateway.ledger.orders.get('ch_1')!) };
}

test('the hash: names in natural order whatever their case, each value escaped, the key last', () => {
  // printf '%s' 'b|a1|a2|a10|z_\|é|k\\ey' | openssl dgst -sha512 -binary | base64
  const names = { ITEM10: 'a10', item2: 'a2', Item1: 'a1', Amount: 'b', zip: 'z_|é' };
  const fields = new Map(Object.entries({ ...names, HASH: 'x', Encoding: 'UTF-8' }));
  const expected = 'Xu7l0IHItaDoQQkIKo0fDTF7IGOrePRQ7QANsvOBu1Qax0knHQGC9EOiKCBuL8RVisePdnwua+eNTrnt6cFPkQ==';
  assert.equal(hashOf(fields, 'k\\ey'), expected);
});

/** Each makes another form of a good one. */
const refusals: readonly [what: string, form: () => string, problem: RegExp][] = [
  ['without a hash', () => body([...start('o')].filter(([name]) => name !== 'HASH')), /HASH is missing/],
  ['whose amount was changed', () => body(start('o').set('amount', '1.00')), /HASH does not fit/],
  [
    'whose values were joined in the order of the bytes of their names',
    () => {
      const fields = start('o', { BillToName: 'Zoé' });
      const sorted = [...fields.keys()].filter((name) => !/^(HASH|encoding)$/.test(name)).sort();
      const renamed = new Map(sorted.map((name, at) => [`f${at}`, fields.get(name)!]));
      return body(fields.set('HASH', hashOf(renamed, storeKey)));
    },
    /HASH does not fit/,
  ],
  [
    'whose values were not escaped',
    () => {
      const fields = start('o', { BillToName: 'A|B' });
      const split = new Map([...fields, ['BillToName', 'A'], ['BillToNamea', 'B']] as [string, string][]);
      return body(fields.set('HASH', hashOf(split, storeKey)));
    },
    /HASH does not fit/,
  ],
  ['for another merchant', () => body(start('o', { clientid: '1' })), /clientid/],
  ['without a callback', () => body(start('o', { callbackUrl: '' })), /callbackUrl is missing/],
  ['of another kind', () => body(start('o', { storetype: '3D_PAY' })), /storetype is not 3D_PAY_HOSTING/],
  ['that charges at once', () => body(start('o', { trantype: 'Auth' })), /trantype is not PreAuth/],
  ['in another currency', () => body(start('o', { currency: '978' })), /currency is not 504/],
  ['with centimes cut off', () => body(start('o', { amount: '250.5' })), /amount/],
  ['for nothing', () => body(start('o', { amount: '0.00' })), /amount/],
  ['with spaces in the order', () => body(start('o 1')), /oid/],
  ['with spaces around a value', () => body(start('o', { BillToName: 'Zoé ' })), /BillToName/],
  ['with a name that could be an amount', () => body(start('o', { BillToName: '1.00' })), /BillToName/],
  ['with a field twice', () => `${body(start('o'))}&amount=1.00`, /twice/],
];

test('a form is refused when anything of it is wrong', () => {
  const gateway = new Gateway({ storeKey, ...credentials });
  for (const [what, form, problem] of refusals) {
    const refused = gateway.start(form());
    assert.deepEqual([refused.status, problem.test(refused.body)], [400, true], `${what}: ${refused.body}`);
  }
  assert.equal(gateway.start(body(start('o', { BillToName: 'Zoé | \\ "<ع>"' }))).status, 200);
});

test('an order can be opened again and tried with another card, and is paid once', async () => {
  const gateway = new Gateway({ storeKey, ...credentials });
  received = [];
  for (const decision of ['decline', 'approve']) {
    assert.equal(gateway.start(body(start('ch_1'))).status, 200);
    await gateway.decide(decide('ch_1', decision));
  }
  assert.deepEqual(
    received.map((fields) => fields.get('ProcReturnCode')),
    ['51', '00'],
  );
  assert.equal(gateway.start(body(start('ch_1'))).status, 400);
  assert.equal((await gateway.decide(decide('ch_1', 'approve'))).status, 400);
  const { authorized, captured } = sumsOf(gateway.ledger.orders.get('ch_1')!);
  assert.deepEqual([authorized, captured], [25_000, 25_000]);
});

test('the callback and the way back carry the same signed fields; only ACTION=POSTAUTH takes the money', async () => {
  for (const [said, captured] of Object.entries({ 'ACTION=POSTAUTH': 25_000, APPROVED: 0, FAILURE: 0 })) {
    const gateway = new Gateway({ storeKey, ...credentials });
    received = [];
    answer = said;
    gateway.start(body(start('ch_1')));
    const { action, fields } = formOf((await gateway.decide(decide('ch_1', 'approve'))).body);
    assert.match(action, /\/ok$/);
    const plain = new Map(received[0]!);
    plain.set('EXTRA.CARDHOLDERNAME', 'Zoé & Fils | l\'atelier \\ "Fès"');
    assert.equal(plain.get('HASH'), hashOf(plain, storeKey));
    assert.equal(new Map(fields).get('TransId'), plain.get('TransId'));
    const sums = sumsOf(gateway.ledger.orders.get('ch_1')!);
    assert.deepEqual([sums.authorized, sums.captured], [25_000, captured]);
  }
});

test('callbacks misbehave as they are told', async () => {
  const rows: [Misbehaviour & { callback: string }, callbacks: number, captured: number][] = [
    [{ oid: 'ch_1', callback: 'dropped' }, 0, 0],
    [{ oid: 'ch_1', callback: 'twice' }, 2, 25_000],
    [{ oid: 'ch_1', callback: 'second_payment' }, 2, 50_000],
    [{ oid: 'ch_1', callback: 'answer_lost' }, 1, 0],
  ];
  for (const [misbehaviour, callbacks, captured] of rows) {
    const { sums } = await approved(misbehaviour);
    assert.deepEqual([received.length, sums().captured], [callbacks, captured], misbehaviour.callback);
  }
  const signed = (posted: URLSearchParams) => {
    const plain = new Map(posted).set('EXTRA.CARDHOLDERNAME', 'Zoé & Fils | l\'atelier \\ "Fès"');
    return plain.get('HASH') === hashOf(plain, storeKey);
  };
  const changed: [
    Misbehaviour & { callback: string },
    field: string,
    value: string | null,
    isSigned: boolean,
  ][] = [
    [{ oid: 'ch_1', callback: 'another_amount' }, 'amount', '251.00', true],
    [{ oid: 'ch_1', callback: 'another_currency' }, 'currency', '978', true],
    [{ oid: 'ch_1', callback: 'forged' }, 'amount', '1.00', false],
    [{ oid: 'ch_1', callback: 'another_store_key' }, 'amount', '250.00', false],
    [{ oid: 'ch_1', callback: 'without_hash' }, 'HASH', null, false],
  ];
  for (const [misbehaviour, field, value, isSigned] of changed) {
    await approved(misbehaviour);
    assert.deepEqual(
      [received[0]!.get(field), signed(received[0]!)],
      [value, isSigned],
      misbehaviour.callback,
    );
  }
});

function request(elements: string, password = 'pass&lt;&amp;&gt;word'): string {
  return `<?xml version="1.0" encoding="UTF-8"?><CC5Request><Name>api</Name><Password>${password}</Password><ClientId>600002599</ClientId>${elements}</CC5Request>`;
}

const operation = (type: string, more = '') => request(`<OrderId>ch_1</OrderId><Type>${type}</Type>${more}`);
const query = (kind: string, oid = 'ch_1') =>
  request(`<OrderId>${oid}</OrderId><Extra><${kind}>QUERY</${kind}></Extra>`);
const total = (amount: string, more = '') => `<Total>${amount}</Total><Currency>504</Currency>${more}`;
const element = (xml: string, name: string) => new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1];

test('in a process of its own it is told what to do, and tells what it knows', async () => {
  const standIn = await CmiStandIn.start({ storeKey, apiPassword: credentials.apiPassword });
  await standIn.misbehave({ oid: 'ch_1', callback: 'dropped' });
  received = [];
  answer = 'ACTION=POSTAUTH';
  const form = { action: `${standIn.url}/fim/est3Dgate`, fields: [...start('ch_1')] };
  assert.match((await standIn.decide(form, 'approve')).action, /\/ok$/);
  assert.deepEqual([received.length, (await standIn.order('ch_1'))?.captured], [0, 0]);
  await standIn.callBack('ch_1');
  const order = (await standIn.order('ch_1'))!;
  assert.deepEqual([received.length, order.captured, order.callbacks.length], [1, 25_000, 1]);
  assert.match(await standIn.statement(), /^ch_1,payment,250\.00,/m);
  standIn.stop();
});

test('the API takes only what is well-formed, complete and from the merchant', async () => {
  const { gateway } = await approved();
  const refused = [
    'nonsense',
    '<CC5Request>',
    operation('PostAuth').replace('</Name>', ''),
    request('<OrderId>ch_1</OrderId><Type>Void</Type>', 'wrong'),
    request('<Type>Void</Type>'),
    operation('Refund'),
    operation('Credit'),
    operation('Void', '<Note>x</Note>'),
    operation('Credit', '<Total>1.00</Total><Currency>978</Currency>'),
    operation('Credit', total('1.5')),
    operation('Void', '<OrderId>ch_2</OrderId>'),
  ];
  for (const each of refused) {
    const { body } = await gateway.request(each);
    assert.equal(element(body, 'ProcReturnCode'), '99', `${each}: ${body}`);
  }
  const asField = new URLSearchParams({ DATA: query('ORDERSTATUS') }).toString();
  for (const each of [query('ORDERSTATUS'), asField])
    assert.equal(element((await gateway.request(each)).body, 'TRANS_STAT'), 'C');
});

test('an order is captured once, credited up to what was captured, and voided before that', async () => {
  const { gateway, sums } = await approved({ oid: 'ch_1', callback: 'answer_lost' });
  const code = async (xml: string) => {
    const { body } = await gateway.request(xml);
    return element(body, 'ERRORCODE') || element(body, 'ProcReturnCode');
  };
  assert.equal(await code(operation('Credit', total('1.00'))), 'CORE-2507');
  assert.equal(await code(operation('PostAuth')), '00');
  assert.equal(await code(operation('PostAuth')), 'CORE-2503');
  gateway.ledger.settled = false;
  assert.equal(await code(operation('Credit', total('100.00'))), 'CORE-2508');
  gateway.ledger.settled = true;
  assert.equal(await code(operation('Credit', total('100.00', '<TransId>re_1</TransId>'))), '00');
  assert.equal(await code(operation('Credit', total('100.00', '<TransId>re_1</TransId>'))), 'CORE-2010');
  assert.equal(await code(operation('Credit', total('150.01'))), 'CORE-2509');
  assert.equal(await code(operation('Void')), 'CORE-2008');
  assert.equal(element((await gateway.request(query('ORDERSTATUS'))).body, 'CHARGE_TYPE_CD'), 'C');
  const history = (await gateway.request(query('ORDERHISTORY'))).body;
  assert.equal(element(history, 'TRXCOUNT'), '5');
  assert.match(element(history, 'TRX2')!, /^C\tC\t10000\t10000\t.*\t00\tre_1$/);
  assert.match(element(history, 'TRX5')!, /^S\tC\t25000\t25000\t/);
  const { captured, refunded, refunds } = sums();
  assert.deepEqual([captured, refunded, refunds], [25_000, 10_000, 1]);
  const lines = statementOf(gateway.ledger).split('\n');
  assert.equal(lines[0], 'order,type,amount,reference,date');
  assert.match(lines[1]!, /^ch_1,payment,250\.00,26326StDn00001,20/);
  assert.match(lines[2]!, /^ch_1,refund,100\.00,re_1,20/);
  assert.equal(lines.length, 4);
  assert.equal(await code(query('ORDERSTATUS', 'ch_2')), '99');
  assert.equal(await code(query('ORDERHISTORY', 'ch_2')), '05');
  const other = await approved({ oid: 'ch_1', callback: 'answer_lost' });
  assert.equal(element((await other.gateway.request(operation('Void'))).body, 'ProcReturnCode'), '00');
  assert.deepEqual([other.sums().authorized, other.sums().voided], [0, 25_000]);
});

test('requests misbehave as they are told: before or after they had their effect', async () => {
  const { gateway, sums } = await approved();
  const credit = (reference: string) =>
    operation('Credit', total('10.00', `<TransId>${reference}</TransId>`));
  const rows = [
    ['error', 500, 0],
    ['refused', 200, 0],
    ['nonsense', 200, 1],
    ['cut_off', null, 2],
  ] as const;
  for (const [fault, status, refunds] of rows) {
    gateway.misbehave({ oid: 'ch_1', api: 'Credit', fault });
    assert.equal((await gateway.request(credit(`re_${fault}`))).status, status);
    assert.equal(sums().refunds, refunds, fault);
  }
  gateway.misbehave({ oid: 'ch_1', api: 'Credit', fault: 'held' });
  const held = gateway.request(credit('re_held'));
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(sums().refunds, 3);
  gateway.release();
  assert.equal((await held).status, 200);
  gateway.ledger.keepsTransId = false;
  for (let times = 0; times < 2; times++) await gateway.request(credit('re_again'));
  assert.equal(sums().refunds, 5);
});
