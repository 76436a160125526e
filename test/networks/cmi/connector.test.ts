// The connector to CMI: what each call asks for, what it makes of the answers, the form, and what callbacks are answered.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NetworkCall } from '../../../src/domain/network-call.ts';
import { createCmiConnector } from '../../../src/networks/cmi/connector.ts';
import { bytesOf, hashOf } from '../../../src/networks/cmi/hash.ts';
import type { HostedPayment, Received, Report } from '../../../src/networks/network.ts';
import type { Post } from '../../../src/networks/post.ts';
import { call, hostedPayment, startMs } from '../calls.ts';

const storeKey = 'TEST1234';
const clientId = '600000001';
const api = { name: 'shop_api', password: 'secret' };

/** A connector whose gateway gives these answers in turn, and what it was sent. */
function connected(answers: readonly (string | number)[], user: typeof api | null = api, nowMs = startMs) {
  const posts: Post[] = [];
  const left = [...answers];
  const network = createCmiConnector({
    gateway: 'https://payment.cmi.test/',
    clientId,
    storeKey,
    api: user,
    doubtMs: 300_000,
    now: () => nowMs,
    async send(post) {
      posts.push(post);
      const answer = left.shift();
      assert(answer !== undefined, 'nothing else is asked');
      return typeof answer === 'number' ? { status: answer, body: '' } : { status: 200, body: answer };
    },
  });
  return { network, posts };
}

const response = (code: string, fields: Readonly<Record<string, string>>) => {
  const extra = Object.entries(fields).map(([name, text]) => `<${name}>${text}</${name}>`);
  const head = `<OrderId>ch_1</OrderId><Response>${code === '00' ? 'Approved' : 'Error'}</Response>`;
  return `<CC5Response>${head}<ProcReturnCode>${code}</ProcReturnCode><Extra>${extra.join('')}</Extra></CC5Response>`;
};
const status = (TRANS_STAT: string, kind = 'S', amount = '25000', captured = '') =>
  response('00', {
    CHARGE_TYPE_CD: kind,
    TRANS_STAT,
    ORIG_TRANS_AMT: amount,
    CAPTURE_AMT: captured,
    TRANS_ID: 'T1',
  });
const history = (
  ...lines: readonly (readonly [kind: string, state: string, amount: string, name: string])[]
) =>
  response('00', {
    TRXCOUNT: String(lines.length),
    ...Object.fromEntries(
      lines.map(([kind, state, amount, name], at) => [
        `TRX${at + 1}`,
        [kind, state, amount, amount, '', '', '', '', '', '', name].join('\t'),
      ]),
    ),
  });
const unknownOrder = response('99', { ORDERSTATUS: 'ORD_ID:\tCHARGE_TYPE_CD:\tTRANS_STAT:' });
const refusal = (ERRORCODE: string) => response('99', { ERRORCODE });
const done = response('00', {});

const about = (action: NetworkCall['action'], changes: Partial<NetworkCall> = {}) =>
  call({ id: 'op_7', charge: 'ch_1', amount: 25_000, chargeEndsAtMs: startMs + 60_000, action, ...changes });

const money = { reference: 'T1', amount: 25_000, currency: 'mad', agent: null, card: null, isHeld: true };

test('what became of an order, as calls are told', async () => {
  const paid = { result: 'paid', money };
  const later = startMs + 60_000 + 3_600_000;
  const rows: readonly [NetworkCall['action'], readonly string[], unknown, nowMs?: number][] = [
    ['await_card_payment', [unknownOrder], { result: 'accepted' }],
    ['await_card_payment', [status('PN')], { result: 'accepted' }],
    ['await_card_payment', [status('A')], paid],
    ['await_card_payment', [status('C')], paid],
    ['await_card_payment', [status('A', 'S', '100')], { result: 'paid', money: { ...money, amount: 100 } }],
    // A part of what was held was taken, in CMI's interface for merchants.
    [
      'await_card_payment',
      [status('C', 'S', '25000', '10000')],
      { result: 'paid', money: { ...money, amount: 10_000 } },
    ],
    [
      'capture_charge',
      [status('C', 'S', '25000', '10000')],
      { result: 'failed', reason: 'another_amount', taken: 10_000 },
    ],
    ['await_card_payment', [status('D'), history(['S', 'D', '25000', 'T1'])], { result: 'accepted' }],
    [
      'await_card_payment',
      [status('V'), history(['S', 'V', '25000', 'T1'])],
      { result: 'failed', reason: 'voided' },
    ],
    // The second of two payments was voided, and the first one is still held.
    [
      'await_card_payment',
      [status('V'), history(['S', 'V', '25000', 'T2'], ['S', 'A', '25000', 'T1'])],
      paid,
    ],
    ['await_card_payment', [unknownOrder], { result: 'accepted' }, later - 1],
    ['await_card_payment', [unknownOrder], { result: 'failed', reason: 'not_paid' }, later],
    [
      'await_card_payment',
      [status('D'), history(['S', 'D', '25000', 'T1'])],
      { result: 'failed', reason: 'not_paid' },
      later,
    ],
    ['await_card_payment', [status('PN')], { result: 'accepted' }, later],
    // The latest attempt was declined, or the latest transaction is a refund: the history tells of the payment.
    [
      'await_card_payment',
      [status('D'), history(['S', 'D', '25000', 'T2'], ['S', 'A', '25000', 'T1'])],
      paid,
    ],
    [
      'await_card_payment',
      [status('D', 'C'), history(['C', 'D', '1', 'x'], ['S', 'C', '25000', 'T1'])],
      paid,
    ],
    ['capture_charge', [status('C')], { result: 'done' }],
    ['capture_charge', [status('S')], { result: 'done' }],
    ['capture_charge', [status('A'), history(['S', 'A', '25000', 'T1'])], 'unknown'],
    [
      'capture_charge',
      [status('V'), history(['S', 'V', '25000', 'T1'])],
      { result: 'failed', reason: 'voided' },
    ],
    [
      'capture_charge',
      [status('A'), history(['S', 'A', '100', 'T1'])],
      { result: 'failed', reason: 'another_amount', taken: 0 },
    ],
    [
      'capture_charge',
      [status('D', 'C'), history(['C', 'D', '1', 'x'], ['S', 'A', '25000', 'T1'])],
      'unknown',
    ],
    // A second payment of the same order is held, and must not be taken.
    [
      'capture_charge',
      [status('A'), history(['S', 'A', '25000', 'T2'], ['S', 'C', '25000', 'T1'])],
      { result: 'done' },
    ],
    // A part was refunded since, in CMI's interface for merchants: what was taken is the payment.
    [
      'capture_charge',
      [status('C', 'C', '100'), history(['C', 'C', '100', 'x'], ['S', 'C', '25000', 'T1'])],
      { result: 'done' },
    ],
    ['release_charge', [status('A'), history(['S', 'A', '25000', 'T1'])], 'unknown'],
    [
      'release_charge',
      [status('D'), history(['S', 'D', '25000', 'T2'], ['S', 'V', '25000', 'T1'])],
      { result: 'done' },
    ],
    ['release_charge', [status('V'), history(['S', 'V', '25000', 'T1'])], { result: 'done' }],
    ['release_charge', [unknownOrder], { result: 'done' }],
    ['release_charge', [status('C')], { result: 'failed', reason: 'captured' }],
    [
      'release_charge',
      [status('A'), history(['S', 'A', '25000', 'T2'], ['S', 'C', '25000', 'T1'])],
      { result: 'failed', reason: 'captured' },
    ],
    ['refund_charge', [history(['S', 'C', '25000', 'T1'])], 'unknown'],
    ['refund_charge', [history(['C', 'C', '25000', 'op_7'], ['S', 'C', '25000', 'T1'])], { result: 'done' }],
    ['refund_charge', [history(['C', 'PN', '25000', 'op_7'])], { result: 'accepted' }],
    ['refund_charge', [history(['C', 'V', '25000', 'op_7'])], { result: 'failed', reason: 'voided' }],
    ['open_card_page', [], { result: 'awaited' }],
    // Cards are not typed here.
    ['authorize_card', [], 'unknown'],
  ];
  for (const [action, answers, expected, nowMs] of rows) {
    const { network } = connected(answers, api, nowMs);
    assert.deepEqual(await network.lookup(about(action)), expected, `${action} ${answers[0]}`);
  }
});

test('what can not be told, decides nothing', async () => {
  const rows: readonly [NetworkCall['action'], ...(string | number)[]][] = [
    ['await_card_payment', 500],
    ['await_card_payment', ''],
    ['await_card_payment', '<html>Service unavailable</html>'],
    ['await_card_payment', refusal('CORE-2202')],
    ['await_card_payment', status('??')],
    ['capture_charge', status('C', 'S', '25000', '?')],
    ['await_card_payment', status('A').replace('>T1<', '><')],
    ['capture_charge', unknownOrder],
    ['capture_charge', status('PN'), history(['S', 'PN', '25000', 'T1'])],
    ['capture_charge', status('A'), refusal('CORE-2202')],
    ['release_charge', status('PN'), history(['S', 'PN', '25000', 'T1'])],
    ['refund_charge', history(['C', 'C', '25000', '24028T8xG11980'])],
    ['refund_charge', response('00', {})],
  ];
  for (const [action, ...answers] of rows) {
    const { network, posts } = connected(answers);
    await assert.rejects(network.lookup(about(action)), Error, `${action} ${answers[0]}`);
    assert.equal(posts.length, answers.length);
  }
});

test('money that is held is taken or given up; a refusal is no outcome', async () => {
  for (const [make, type] of [
    ['capture', '<Type>PostAuth</Type><Total>250.00</Total><Currency>504</Currency>'],
    ['release', '<Type>Void</Type>'],
  ] as const) {
    const { network, posts } = connected([done, refusal('CORE-2505')]);
    assert.deepEqual(await network[make]!(about('capture_charge')), { result: 'done' });
    assert.equal(posts[0]!.url, 'https://payment.cmi.test/fim/api');
    assert(posts[0]!.body.includes(`<OrderId>ch_1</OrderId>${type}`), posts[0]!.body);
    await assert.rejects(network[make]!(about('capture_charge')), /CORE-2505/);
  }
});

test('a refund is made, refused, refused for now, or nobody knows', async () => {
  const refund = (answer: string | number) => connected([answer]).network.refund(about('refund_charge'));
  const { network, posts } = connected([done]);
  assert.deepEqual(await network.refund(about('refund_charge', { amount: 829 })), { result: 'done' });
  assert(posts[0]!.body.includes('<Total>8.29</Total><Currency>504</Currency><TransId>op_7</TransId>'));
  assert.deepEqual(await refund(refusal('CORE-2503')), { result: 'failed', reason: 'CORE-2503' });
  assert.deepEqual(await refund(response('05', {})), { result: 'failed', reason: '05' });
  // Not settled yet: it is sent again later.
  assert.deepEqual(await refund(refusal('CORE-2508')), { result: 'accepted', refusal: 'CORE-2508' });
  for (const fault of ['CORE-2700', '91', '96']) await assert.rejects(refund(refusal(fault)), /had an error/);
  await assert.rejects(refund(response('99', {})), /had an error \(99\)/);
  for (const [fields, fault] of [
    ['<ProcReturnCode>00</ProcReturnCode>', '00'],
    ['', 'refused'],
  ] as const) {
    const answer = `<CC5Response><Response>Error</Response>${fields}</CC5Response>`;
    await assert.rejects(refund(answer), new RegExp(`had an error \\(${fault}\\)`));
  }
  await assert.rejects(refund(502), /502/);
  await assert.rejects(refund(done.replace('>ch_1<', '>ch_2<')), /another order/);
});

test('without a user of the interface nothing is asked', async () => {
  const { network } = connected([], null);
  assert.deepEqual(await network.openPage(call()), { result: 'done' });
  assert.deepEqual(await network.refund(about('refund_charge')), { result: 'failed', reason: 'no_api_user' });
  await assert.rejects(network.lookup(about('capture_charge')), /api_user/);
  await assert.rejects(network.check!(), /api_user/);
  assert.deepEqual(await connected([]).network.openPage(call()), { result: 'awaited' });
});

test('the check asks about an order that never was', async () => {
  await connected([unknownOrder]).network.check!();
  await assert.rejects(connected([refusal('CORE-2202')]).network.check!(), /CORE-2202/);
  await assert.rejects(connected([401]).network.check!(), /401/);
  const knowing = status('A').replace('>ch_1<', '>ch_check<');
  await assert.rejects(connected([knowing]).network.check!(), /never was/);
});

const payment = hostedPayment({
  language: 'ar',
  expiresAtMs: startMs + 900_999,
  customer: { name: 'فاطمة الزهراء', email: 'f.z@example.ma' },
});

async function startOf(changes: Partial<HostedPayment> = {}): Promise<Record<string, string>> {
  const { url, fields } = await connected([]).network.startPage!({ ...payment, ...changes });
  assert.equal(url, 'https://payment.cmi.test/fim/est3Dgate');
  return Object.fromEntries(fields!);
}

test('the form has what CMI asks for, signed, and differs each time', async () => {
  const { HASH, rnd, ...fields } = await startOf();
  assert.deepEqual(fields, {
    clientid: clientId,
    storetype: '3D_PAY_HOSTING',
    trantype: 'PreAuth',
    amount: '250.00',
    currency: '504',
    oid: 'ch_1',
    okUrl: payment.paidUrl,
    failUrl: payment.unpaidUrl,
    shopurl: payment.unpaidUrl,
    callbackUrl: payment.callbackUrl,
    lang: 'ar',
    sessiontimeout: '900',
    hashAlgorithm: 'ver3',
    encoding: 'UTF-8',
    BillToName: 'فاطمة الزهراء',
    email: 'f.z@example.ma',
  });
  const signed = Object.entries({ ...fields, rnd: rnd! }).map(
    ([name, value]) => [name, bytesOf(value)] as const,
  );
  assert.equal(HASH, hashOf(signed, storeKey).toString('base64'));
  assert.notEqual(rnd, (await startOf()).rnd);
});

test("CMI's page ends with the charge, as far as CMI lets it", async () => {
  const timeouts = [-1, 0, 30_000, 1_800_000, 2_700_000, 86_400_000].map(async (leftMs) => {
    return (await startOf({ expiresAtMs: startMs + leftMs })).sessiontimeout;
  });
  assert.deepEqual(await Promise.all(timeouts), ['30', '30', '30', '1800', '2700', '2700']);
});

test('no text of a customer can pass for an amount, a code or another field', async () => {
  const rows: readonly [name: string | null, sent: string | undefined][] = [
    [null, undefined],
    ['  ', undefined],
    ['1.00', undefined],
    ['\u0661.\u0660\u0660', undefined],
    ['00', undefined],
    ['Ben\u00a0Ali\r\nX', 'Ben Ali X'],
    [' Zo\u00eb|\\ ', 'Zo\u00eb|\\'],
    [` ${'Z'.repeat(256)}`, 'Z'.repeat(255)],
  ];
  for (const [name, sent] of rows)
    assert.equal((await startOf({ customer: { name, email: null } })).BillToName, sent, String(name));
  for (const email of ['1.00', '@', 'a@', 'ch_1'])
    assert.equal((await startOf({ customer: { name: null, email } })).email, undefined, email);
});

const posted = (fields: Readonly<Record<string, string>>) => {
  const bytes = Object.entries(fields).map(([name, value]) => [name, bytesOf(value)] as const);
  const HASH = hashOf(bytes, storeKey).toString('base64');
  return { signature: '', body: new URLSearchParams({ ...fields, HASH }).toString() };
};
const accepted = {
  clientid: clientId,
  oid: 'ch_1',
  amount: '250.00',
  currency: '504',
  storetype: '3D_PAY_HOSTING',
  trantype: 'PreAuth',
  hashAlgorithm: 'ver3',
  TransId: 'T1',
  ProcReturnCode: '00',
  Response: 'Approved',
};

test('a genuine callback is a report', () => {
  const { network } = connected([]);
  const read = (changes: Readonly<Record<string, string>>) =>
    network.readCallback!(posted({ ...accepted, ...changes })) as Report;
  const paid = read({});
  assert.deepEqual([paid.about, paid.says], [{ charge: 'ch_1' }, { result: 'paid', money }]);
  for (const [currency, name] of [
    ['840', 'usd'],
    ['978', 'eur'],
    ['392', '392'],
  ] as const)
    assert.deepEqual(read({ currency }).says, { result: 'paid', money: { ...money, currency: name } });
  const taken = connected([], null).network.readCallback!(posted(accepted)) as Report;
  assert.deepEqual(taken.says, { result: 'paid', money: { ...money, isHeld: false } });
  const says = read({ ProcReturnCode: '51', Response: 'Declined' }).says;
  assert.deepEqual(says, { result: 'declined', decline_code: 'insufficient_funds', mayTryAgain: true });
});

test('each outcome has its answer; what is wrong has FAILURE', () => {
  const answersOf = (user: typeof api | null) => {
    const report = connected([], user).network.readCallback!(posted(accepted)) as Report;
    return (received: Received) => report.reply(received, null);
  };
  const rows: readonly [Received, string, number][] = [
    ['credited', 'ACTION=POSTAUTH', 200],
    ['repeated', 'APPROVED', 200],
    ['review', 'APPROVED', 200],
    ['declined', 'APPROVED', 200],
    ['unknown', 'FAILURE', 200],
    ['too_many', 'FAILURE', 200],
    ['later', 'FAILURE', 503],
  ];
  for (const [received, body, code] of rows)
    assert.deepEqual(answersOf(api)(received), {
      status: code,
      contentType: 'text/plain; charset=utf-8',
      body,
    });
  assert.equal(answersOf(null)('repeated').body, 'ACTION=POSTAUTH');
  const { network } = connected([]);
  const wrong = [
    { signature: '', body: posted(accepted).body.replace('250.00', '1.00') },
    posted({ ...accepted, clientid: '600000002' }),
    posted({ ...accepted, amount: '' }),
    posted({ ...accepted, TransId: '' }),
    posted({ ...accepted, TransId: 'T'.repeat(65) }),
    { signature: '', body: '' },
  ];
  for (const callback of wrong)
    assert.deepEqual(network.readCallback!(callback), {
      status: 200,
      contentType: 'text/plain; charset=utf-8',
      body: 'FAILURE',
    });
});

test('a signed return whose names are changed does not pay with a smaller amount', async () => {
  // The customer renames fields of our form so that CMI takes 1.00, and puts the names right in what CMI has signed.
  const form = await startOf({ customer: { name: '1.00', email: null } });
  const values = Object.entries(form).filter(([name]) => !/^(hash|encoding)$/i.test(name));
  const beforeClient = values.filter(([name]) => name.toLowerCase() < 'clientid').map(([, value]) => value);
  assert.deepEqual(beforeClient, ['250.00', payment.callbackUrl]);
});

test('only questions may reach the gateway twice', async () => {
  const { network, posts } = connected([done, done, done, status('A'), history(['S', 'A', '25000', 'T1'])]);
  await network.capture!(about('capture_charge'));
  await network.release!(about('release_charge'));
  await network.refund(about('refund_charge'));
  await network.lookup(about('capture_charge'));
  assert.deepEqual(
    posts.map(({ isIdempotent }) => isIdempotent),
    [false, false, false, true, true],
  );
});
