// `payments reconcile` with a real service: cash through a network in live mode, cards in test mode. A statement that is right
// changes nothing; what differs is told once, and opens no review twice.

import assert from 'node:assert/strict';
import { createWriteStream, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { before, test } from 'node:test';
import { openLogAt } from '../../src/backup/log-folders.ts';
import { moroccoDayAt } from '../../src/core/morocco-day.ts';
import type { CliHost } from '../../src/operator/cli/context.ts';
import type { Difference } from '../../src/operator/reconciliation/compare-order.ts';
import {
  type Reconciled,
  reconcile as reconcileStatement,
} from '../../src/operator/reconciliation/reconcile.ts';
import { ReferenceIntegrator } from '../networks/reference-integrator.ts';
import { runCommandLine } from '../operator/cli/command-line.ts';
import { limitedOrganization, liveKey, newOrganization, type Service, startService } from '../service.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { webhookEnv } from '../webhooks/service-webhooks.ts';
import { pasteBlock, paymentsWith } from './payments-command.ts';

const amount = 25_000;
const dataDir = temporaryFolder();
const folder = temporaryFolder();
const scratch = temporaryFolder();
let service: Service;
let shop: { id: string; key: string };

const host: Partial<CliHost> = {
  dataDir: () => dataDir,
  openLog: openLogAt,
  reconcile: (options) => reconcileStatement({ ...options, onProgress: () => {} }),
};
const commandOf = (...args: readonly string[]) => [
  'reconcile',
  shop.id,
  '--file',
  join(folder, 'statement.csv'),
  '--scratch',
  scratch,
  ...args,
];

/** Writes a statement and reconciles it, in this process. */
async function reconcile(lines: readonly string[], ...args: readonly string[]) {
  if (lines.length > 0) writeFileSync(join(folder, 'statement.csv'), `${lines.join('\n')}\n`);
  return readOut(await runCommandLine(['--json', ...commandOf(...args)], host));
}

function readOut(ended: { readonly code: number | null; readonly out: string; readonly error: string }) {
  const lines = ended.out.split('\n').filter(Boolean);
  const told = lines.map((line) => JSON.parse(line));
  const differences = told.flatMap(({ difference }) => (difference ? [difference as Difference] : []));
  return { ...ended, differences, reconciled: told.at(-1)?.reconciled as Reconciled };
}

const cards = ['--mode', 'test', '--network', 'cmi'];
const cash = ['--mode', 'live', '--network', 'http'];
const today = moroccoDayAt(Date.now());
const inShort = (differences: readonly Difference[]) =>
  differences.map(({ kind, line }) => `${line ?? '-'} ${kind}`).sort();

let count = 0;
const post = async (path: string, body: object, key = shop.key) => {
  const { status, json } = await service.call(path, { key, idempotencyKey: `key-${++count}`, body });
  assert.equal(status, 200, JSON.stringify(json));
  return json;
};

/** The id of a charge by card in test mode, which is open. */
async function openCard(): Promise<string> {
  const intent = await post('/v1/payment_intents', { amount, currency: 'mad' });
  return (await post(`/v1/payment_intents/${intent.id}/confirm`, {})).latest_charge;
}

async function paidCard(): Promise<string> {
  const charge = await openCard();
  await post(`/v1/test_helpers/charges/${charge}/complete`, {});
  return charge;
}

async function failedCard(): Promise<string> {
  const charge = await openCard();
  await post(`/v1/test_helpers/charges/${charge}/fail`, {});
  return charge;
}

async function refunded(charge: string, of: number): Promise<string> {
  const { id } = await post('/v1/refunds', { charge, amount: of });
  await post(`/v1/test_helpers/refunds/${id}/succeed`, {});
  return id;
}

before(async () => {
  service = await startService({ dataDir, env: { ...webhookEnv, PAYMENTS_SHARDS: '1' } });
  shop = await newOrganization(service);
});

test('cards: what is alike, what differs in either direction, and reviews that are opened once', async () => {
  const [alike, wrong, twice, missing] = [
    await paidCard(),
    await paidCard(),
    await paidCard(),
    await paidCard(),
  ];
  const [failed, open] = [await failedCard(), await openCard()];
  await refunded(alike, 500);
  const unpaidBack = await refunded(missing, 700);
  const lines = [
    'Commande;Montant;Type;Date;N° transaction',
    `${alike};250,00;Achat;${today};T1`,
    `${alike};-5,00;Remboursement;${today};T2`,
    `${wrong};249,99;Achat;${today};T3`,
    `${twice};250,00;Achat;${today};T4`,
    `${twice};250,00;Achat;${today};T5`,
    `${failed};250,00;Achat;${today};T6`,
    `${open};250,00;Achat;${today};T7`,
    `ch_nobody;250,00;Achat;${today};T8`,
    `${alike};250,00;Achat;${today};T1`,
    `${alike};250,00;Impayé;${today};T9`,
    `${alike};zero;Achat;${today};T9`,
    `;-3,00;Commission;${today};`,
  ];
  const expected = [
    '- payment_not_in_statement',
    '- refund_not_in_statement',
    '10 duplicate_line',
    '11 chargeback',
    '12 bad_line',
    '4 amount_differs',
    '6 second_payment',
    '7 not_paid_here',
    '8 pending_here',
    '9 unknown_order',
  ];
  const before = (await service.call('/v1/exports/charges?format=ndjson', { key: shop.key })).text;
  const dry = await reconcile(lines, ...cards, '--dry-run');
  assert.deepEqual(inShort(dry.differences), expected);
  assert.equal((await service.call('/v1/reviews', { key: shop.key })).json.data.length, 0);

  const first = await reconcile([], ...cards);
  assert.deepEqual([first.code, inShort(first.differences)], [1, expected]);
  assert.match(first.error, /"10 differences in /);
  assert.deepEqual(first.reconciled, {
    from: today,
    to: today,
    lines: 12,
    payments: { lines: 2, amount: 2 * amount },
    refunds: { lines: 1, amount: 500 },
    in_reviews: 0,
    fees: 1,
    differences: Object.fromEntries(expected.map((each) => [each.split(' ')[1], 1])),
    reviews_opened: 3,
  });
  const of = (kind: string) => first.differences.find((each) => each.kind === kind)!;
  assert.deepEqual(
    [of('refund_not_in_statement').refund, of('refund_not_in_statement').charge],
    [unpaidBack, missing],
  );
  assert.equal(of('payment_not_in_statement').charge, missing);
  const { json } = await service.call('/v1/reviews', { key: shop.key });
  const reviews = json.data.map(
    (each: { id: string; charge: string; reason: string; amount_received: number }) => [
      each.id,
      each.charge,
      each.reason,
      each.amount_received,
    ],
  );
  assert.deepEqual(
    reviews.sort(),
    [
      [of('amount_differs').review, wrong, 'amount_mismatch', 24_999],
      [of('second_payment').review, twice, 'late_payment', amount],
      [of('not_paid_here').review, failed, 'late_payment', amount],
    ].sort(),
  );
  const { text } = await service.call('/v1/exports/charges?format=ndjson', { key: shop.key });
  assert.equal(text, before, 'no payment is changed');

  const again = await reconcile([], ...cards);
  const opened = ['4 amount_differs', '6 second_payment', '7 not_paid_here'];
  assert.deepEqual(
    inShort(again.differences),
    expected.filter((each) => !opened.includes(each)),
  );
  assert.deepEqual([again.reconciled.in_reviews, again.reconciled.reviews_opened], [3, 0]);
  assert.equal((await service.call('/v1/reviews', { key: shop.key })).json.data.length, 3);

  const search = ['--json', 'wal', 'search', '--object', reviews[0][0]];
  const { out } = await runCommandLine(search, host);
  assert.equal(JSON.parse(out.split('\n')[0]!).by, 'operator');
  const audit = await runCommandLine(['--json', 'audit'], host);
  assert.match(
    audit.out,
    new RegExp(`"action":"reconcile.review"[^\\n]*"charge":"${failed}"[^\\n]*"reference":"T6"`),
  );
  assert.deepEqual(readdirSync(scratch), [], 'nothing is left on the disk');
});

test('a period of its own; a file without dates needs one; what is no statement', async () => {
  const of = async (day: string) => {
    const { reconciled } = await reconcile(
      ['oid,amount', 'ch_nobody,1'],
      ...cards,
      '--from',
      day,
      '--to',
      day,
    );
    return reconciled.differences;
  };
  assert.deepEqual(await of('2026-01-01'), { unknown_order: 1 });
  assert.deepEqual(await of(today), {
    unknown_order: 1,
    payment_not_in_statement: 4,
    refund_not_in_statement: 2,
  });
  for (const [lines, args, said] of [
    [['oid,amount', 'ch_1,1'], cards, /has no dates: name the first and the last day/],
    [['oid,amount', 'ch_1,1'], [...cards, '--from', today], /name the first and the last day/],
    [['oid,date,amount', 'ch_1,2006-01-01,1', 'ch_1,2026-01-01,1'], cards, /more than 366 days/],
    [['a,b', '1,2'], cards, /no headings/],
    [['oid,amount'], [...cards, '--columns', 'order'], /name=value/],
  ] as const) {
    const { code, out, error } = await reconcile(lines, ...args);
    assert.deepEqual([code, out], [2, ''], error);
    assert.match(error, said);
  }
  const none = await reconcile([], ...cards, '--file', '/nowhere/statement.csv');
  assert.deepEqual([none.code, none.error.includes('/nowhere/statement.csv')], [1, true]);
});

test('a large file of another shop: every line is told, in little memory', async () => {
  const file = createWriteStream(join(folder, 'statement.csv'));
  const lines = 60_000;
  file.write('oid;montant;type;date;transid\n');
  for (let i = 0; i < lines; i++)
    file.write(`ch_other${(i * 7_919) % lines};12,34;${i % 2 ? 'frais' : 'achat'};01/11/2026;T${i}\n`);
  file.end();
  await finished(file);
  const variables = { NODE_OPTIONS: '--max-old-space-size=64', PAYMENTS_DATA_DIR: dataDir };
  const { code, reconciled } = readOut(await paymentsWith(variables, '--json', ...commandOf(...cards)));
  assert.equal(code, 1);
  assert.deepEqual(reconciled.differences, { unknown_order: lines / 2 });
  assert.deepEqual([reconciled.lines, reconciled.fees, reconciled.from], [lines, lines / 2, '2026-11-01']);
});

test('cash in live mode, as the runbook says', async () => {
  const integrator = await ReferenceIntegrator.start();
  const { id: org } = await limitedOrganization(service, 'Épicerie');
  const key = await liveKey(service, org);
  await service.operate('network.set', integrator.connecting(org));
  await service.operate('org.methods', { org, mode: 'live', methods: { cash: true } });
  const issued = async () => {
    const body = { amount, currency: 'mad', payment_method_types: ['cash'] };
    const intent = await post('/v1/payment_intents', body, key);
    const confirmed = await post(`/v1/payment_intents/${intent.id}/confirm`, {}, key);
    return { intent: intent.id, code: confirmed.next_action.cash_display_details.number };
  };
  const report = async (reference: string, code: string) => {
    const response = await integrator.report(`${service.url}/networks/http/${org}/live`, {
      reference,
      code,
      amount,
    });
    return ((await response.json()) as { status: string }).status;
  };
  const [paid, canceled, unreported] = [await issued(), await issued(), await issued()];
  assert.equal(await report('A-1', paid.code), 'credited');
  assert.equal(await report('A-2', paid.code), 'review');
  await post(`/v1/payment_intents/${canceled.intent}/cancel`, {}, key);
  const seconds = Math.floor(Date.now() / 1000);
  const line = (reference: string, code: string) =>
    `${reference},${code.replace(/(\d{4})(?=\d)/g, '$1 ')},${amount},${seconds},Agence 12`;
  const lines = ['reference,code,amount,paid_at,agent', line('A-1', paid.code), line('A-2', paid.code)];
  shop = { id: org, key: key };
  const right = await reconcile(lines, ...cash);
  assert.deepEqual([right.code, right.differences, right.reconciled.in_reviews], [0, [], 1]);
  const pasted = await pasteBlock('docs/operations.md', '### Reconciling a month', {
    ORG: org,
    STATEMENT: join(folder, 'statement.csv'),
    NETWORK: 'http',
    PAYMENTS_DATA_DIR: dataDir,
  });
  assert.equal(pasted.code, 0, pasted.error);
  assert.match(
    pasted.out,
    /2 lines\. As here: 1 payment of 250\.00 MAD, 0 refunds of 0\.00 MAD; 1 line whose money is in a review\.\nNothing differs\./,
  );
  assert.match(pasted.out, /late_payment/);

  lines.push(line('A-3', canceled.code), line('A-4', unreported.code), line('A-5', '000000000000'));
  const { differences } = await reconcile(lines, ...cash, '--dry-run');
  assert.deepEqual(inShort(differences), ['4 not_paid_here', '5 pending_here', '6 unknown_order']);
  const told = await runCommandLine(commandOf(...cash), host);
  assert.match(
    told.out,
    /^line 4: not_paid_here: the network has taken money for a charge that failed here \(order \d{12}, charge ch_\w+, payment pi_\w+, reference A-3, day [\d-]+, statement 250\.00, here 250\.00, review prv_\w+\)$/m,
  );
  assert.match(told.out, /^What differs: .*\b1 unknown_order.*\.\n1 review opened: /m);
  assert.equal(told.error, `payments: 3 differences in ${join(folder, 'statement.csv')}\n`);
  assert.equal(await report('A-3', canceled.code), 'review', 'a late report of it is in the same review');
  assert.equal((await service.call('/v1/reviews', { key: shop.key })).json.data.length, 2);
  assert.equal(
    await report('A-4', unreported.code),
    'credited',
    'and money that is still to come is credited',
  );
  await integrator.stop();
  await service.stop();
});
