// The XML messages of CMI's interface for merchants, and what they say of an order. The shapes of the answers are those of
// recorded ones; docs/networks/cmi.md names the source.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseXml } from '@rgrove/parse-xml';
import {
  type CmiResponse,
  requestOf,
  responseOf as responseAbout,
} from '../../../src/networks/cmi/messages.ts';
import { historyOf, latestOf, refundIn, saleOf, type Transaction } from '../../../src/networks/cmi/order.ts';

const api = { name: 'api & "co"', password: `<pass'word>` };

test('requests have what is asked for, escaped', () => {
  const who =
    '<Name>api &#38; &#34;co&#34;</Name><Password>&#60;pass&#39;word&#62;</Password><ClientId>6001</ClientId><OrderId>ch_1</OrderId>';
  const rows = [
    [
      { type: 'PostAuth', centimes: 25_000 },
      '<Type>PostAuth</Type><Total>250.00</Total><Currency>504</Currency>',
    ],
    [{ type: 'Void' }, '<Type>Void</Type>'],
    [
      { type: 'Credit', centimes: 829, transaction: 'op_1' },
      '<Type>Credit</Type><Total>8.29</Total><Currency>504</Currency><TransId>op_1</TransId>',
    ],
    [{ query: 'ORDERSTATUS' }, '<Extra><ORDERSTATUS>QUERY</ORDERSTATUS></Extra>'],
    [{ query: 'ORDERHISTORY' }, '<Extra><ORDERHISTORY>QUERY</ORDERHISTORY></Extra>'],
  ] as const;
  for (const [operation, details] of rows) {
    const request = requestOf(operation, 'ch_1', '6001', api);
    assert.equal(request, `<?xml version="1.0" encoding="UTF-8"?><CC5Request>${who}${details}</CC5Request>`);
    assert(parseXml(request).text.startsWith(api.name + api.password));
  }
});

/** The answer to what was asked about the order `ch_1`. */
const responseOf = (text: string): CmiResponse => responseAbout(text, 'ch_1');

const answer = (content: string) =>
  `<?xml version="1.0" encoding="ISO-8859-9"?>\n<CC5Response>${content}</CC5Response>`;
const extra = (fields: Record<string, string>) =>
  `<Extra>${Object.entries(fields)
    .map(([name, text]) => `<${name}>${text}</${name}>`)
    .join('\n')}</Extra>`;
const done = (content: string, order = 'ch_1') =>
  answer(
    `<OrderId>${order}</OrderId><Response>Approved</Response><ProcReturnCode>00</ProcReturnCode>${content}`,
  );
const status = (fields: Record<string, string>) =>
  responseOf(done(extra({ CHARGE_TYPE_CD: 'S', ORIG_TRANS_AMT: '25000', TRANS_ID: 'T1', ...fields })));

test('what is no answer is an error, which repeats nothing of it', () => {
  const rows = [
    ['', /no XML/],
    ['<html><body>4355080000004358</body></html>', /no CC5Response/],
    ['<CC5Response>4355080000004358', /no XML/],
    [
      '<!DOCTYPE a [<!ENTITY x "00">]><CC5Response><ProcReturnCode>&x;</ProcReturnCode></CC5Response>',
      /no XML/,
    ],
    [answer('<Response>Approved</Response>'), /no return code/],
    [answer('<ProcReturnCode>00</ProcReturnCode><ProcReturnCode>05</ProcReturnCode>'), /twice/],
    [answer(`<A>${'x'.repeat(300_000)}</A>`), /too long/],
    [answer('<A/>'.repeat(10_000)), /too long/],
    [answer(`<A>${'&#38;'.repeat(10_000)}</A>`), /too long/],
    [answer(`<A${Array.from({ length: 10_000 }, (_, at) => ` a${at}=""`).join('')}/>`), /too long/],
    ['<a>'.repeat(8_000), /no XML/],
  ] as const;
  for (const [text, expected] of rows)
    assert.throws(
      () => responseOf(text),
      ({ message }: Error) => expected.test(message) && !message.includes('435508'),
      text.slice(0, 60),
    );
});

test('an answer is done or says why not', () => {
  const refused = answer(
    `<Response>Error</Response><ProcReturnCode>99</ProcReturnCode><ErrMsg>Iade yapilamaz</ErrMsg>${extra({ ERRORCODE: 'CORE-2508' })}`,
  );
  assert.deepEqual([responseOf(refused).isDone, responseOf(refused).fault], [false, 'CORE-2508']);
  const withoutCode = responseOf(answer(`<Response>Declined</Response>${extra({ ERRORCODE: '215021' })}`));
  assert.deepEqual([withoutCode.isDone, withoutCode.fault], [false, '215021']);
  const odd = responseOf(answer('<Response>Error</Response><ProcReturnCode>00</ProcReturnCode>'));
  assert.equal(odd.isDone, false);
  assert.equal(responseOf(answer('<ProcReturnCode>05</ProcReturnCode>')).fault, '05');
  assert.equal(responseOf(done('')).isDone, true);
  assert.equal(responseOf(`\r\n${done('')}\r\n`).isDone, true);
  for (const order of ['ch_2', '']) assert.throws(() => responseOf(done('', order)), /another order/);
});

test('the status of an order', () => {
  const rows = {
    A: 'held',
    C: 'taken',
    S: 'taken',
    V: 'voided',
    CNCL: 'voided',
    D: 'declined',
    PN: 'pending',
  };
  for (const [TRANS_STAT, state] of Object.entries(rows))
    assert.deepEqual(latestOf(status({ TRANS_STAT })), {
      kind: 'sale',
      state,
      centimes: 25_000,
      name: 'T1',
    });
  assert.equal(latestOf(status({ TRANS_STAT: 'C', CHARGE_TYPE_CD: 'C' }))?.kind, 'refund');
});

test('an order that CMI does not know, and answers that make no sense', () => {
  const refusal = (content: string) =>
    responseOf(
      answer(`<OrderId></OrderId><Response>Declined</Response><ProcReturnCode>99</ProcReturnCode>${content}`),
    );
  const summary = { ORDERSTATUS: 'ORD_ID:\tCHARGE_TYPE_CD:\tORIG_TRANS_AMT:\tTRANS_STAT:' };
  assert.equal(latestOf(refusal(`<ErrMsg>Aucune commande</ErrMsg>${extra(summary)}`)), null);
  assert.equal(latestOf(refusal('<ErrMsg>No record found for ch_1</ErrMsg>')), null);
  const rejected = refusal(extra({ ERRORCODE: 'CORE-2202' }));
  assert.throws(() => latestOf(rejected), /CORE-2202/);
  for (const fields of [
    {},
    { TRANS_STAT: 'X' },
    { TRANS_STAT: 'A', ORIG_TRANS_AMT: '' },
    { TRANS_STAT: 'toString' },
  ])
    assert.throws(() => latestOf(status(fields as Record<string, string>)), /no sense/);
});

const line = (kind: string, state: string, amount: string, code: string, name: string) =>
  [kind, state, amount, amount, '2024-01-02 21:53:02.486', '', '', '400200744059', 'P78955', code, name].join(
    '\t',
  );

test('the history of an order', () => {
  const response = responseOf(
    done(
      extra({
        TRXCOUNT: '2',
        TRX1: line('C', 'D', '100', '99', 'op_1'),
        TRX2: line('S', 'C', '25000', '00', 'T1'),
      }),
    ),
  );
  assert.deepEqual(historyOf(response), [
    { kind: 'refund', state: 'declined', centimes: 100, name: 'op_1' },
    { kind: 'sale', state: 'taken', centimes: 25_000, name: 'T1' },
  ]);
  const none = answer(
    `<Response>Declined</Response><ProcReturnCode>05</ProcReturnCode>${extra({ TRXCOUNT: '0' })}`,
  );
  assert.deepEqual(historyOf(responseOf(none)), []);
});

test('a history that is not whole is an error', () => {
  const history = (fields: Record<string, string>) => historyOf(responseOf(done(extra(fields))));
  assert.throws(() => history({ TRXCOUNT: '2', TRX1: line('S', 'C', '25000', '00', 'T1') }), /no sense/);
  assert.throws(() => history({ TRX1: line('S', 'C', '25000', '00', 'T1') }), /no count/);
  assert.throws(() => history({ TRXCOUNT: '9999' }), /no count/);
  const refused = extra({ TRXCOUNT: '1', TRX1: line('S', 'C', '25000', '00', 'T1'), ERRORCODE: 'CORE-2202' });
  const withFault = responseOf(answer(`<Response>Error</Response>${refused}`));
  assert.throws(() => historyOf(withFault), /did not tell the order's history \(CORE-2202\)/);
});

const sale = (state: Transaction['state'], name = 'T1'): Transaction => ({
  kind: 'sale',
  state,
  centimes: 25_000,
  name,
});
const refund = (state: Transaction['state'], name: string, centimes = 1_000): Transaction => ({
  kind: 'refund',
  state,
  centimes,
  name,
});

test('the sale that counts is the newest one of money that is there, else one that was voided, else the newest', () => {
  assert.equal(saleOf([sale('voided', 'T2'), sale('held', 'T1')])?.name, 'T1');
  assert.equal(saleOf([sale('declined', 'T3'), sale('voided', 'T2'), sale('taken', 'T1')])?.name, 'T1');
  assert.equal(saleOf([sale('declined', 'T2'), sale('voided', 'T1')])?.name, 'T1');
  assert.equal(saleOf([refund('taken', 'op_1'), sale('taken', 'T2'), sale('declined')])?.name, 'T2');
  assert.equal(saleOf([sale('declined', 'T3'), sale('held', 'T2')])?.name, 'T2');
  assert.equal(saleOf([sale('declined', 'T3')])?.state, 'declined');
  assert.equal(saleOf([]), null);
});

test('a refund is found by its name; one that may be it under another name can not be told', () => {
  const isOurs = (name: string) => name.startsWith('op_');
  const rows = [
    [[sale('taken')], 'not_there'],
    [[refund('taken', 'op_1'), sale('taken')], 'made'],
    [[refund('pending', 'op_1')], 'pending'],
    [[refund('voided', 'op_1')], 'voided'],
    [[refund('declined', 'op_1')], 'not_there'],
    [[refund('taken', 'op_1', 2_000)], 'cannot_tell'],
    [[refund('taken', 'op_2')], 'not_there'],
    [[refund('taken', '24028T8xG11980')], 'cannot_tell'],
    [[refund('taken', '24028T8xG11980', 2_000)], 'not_there'],
    [[refund('declined', '24028T8xG11980')], 'not_there'],
  ] as const;
  for (const [history, found] of rows)
    assert.equal(refundIn(history, 'op_1', 1_000, isOurs), found, JSON.stringify(history));
});
