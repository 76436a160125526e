// `payments network settle`: what it needs, what it is refused for, what it says, and what the audit record has of it.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { NetworkCallRecord } from '../../../src/domain/record.ts';
import type { NotSettled } from '../../../src/networks/runner.ts';
import { readAudit } from '../../../src/operator/audit/audit.ts';
import { goldenRecords } from '../../journal/golden-records.ts';
import { type Fixture, openFixture } from '../server/fixture.ts';
import { runCommandLine } from './command-line.ts';

let fixture: Fixture;
let org: string;
before(async () => {
  fixture = await openFixture();
  ({ id: org } = (await fixture.directory.createOrganization('Calls', [])).organization);
});
after(() => fixture.close());

const run = (...args: string[]) => runCommandLine(args, { dataDir: () => fixture.dataDir });
const settle = (id: string, as: string, ...more: string[]) =>
  run('network', 'settle', id, '--as', as, '--reason', 'CMI has no such refund', ...more);

const refundCall = { ...goldenRecords.network_call, action: 'refund_charge' } as const;

function open(changes: Partial<NetworkCallRecord> = {}): string {
  const record = { ...refundCall, org, ...changes };
  fixture.openCalls.push({ record, lastError: 'nobody can tell' });
  return record.id;
}

const usages: readonly (readonly [args: string[], error: RegExp])[] = [
  [['op_1', '--as', 'done'], /required option '--reason <text>' not specified/],
  [['op_1', '--reason', 'x'], /required option '--as <outcome>' not specified/],
  [['op_1', '--as', 'refunded', '--reason', 'x'], /Allowed choices are done, failed/],
  [['op_1', '--as', 'done', '--reason', ' '], /network\.settle: reason/],
  [['op_1', '--as', 'done', '--reason', 'x'.repeat(201)], /network\.settle: reason/],
];

for (const [args, error] of usages) {
  test(`${args.join(' ').slice(0, 60)} is wrong usage`, async () => {
    const { code, error: said } = await run('network', 'settle', ...args);
    assert.equal(code, 2);
    assert.match(said, error);
  });
}

const refusals: readonly (readonly [why: NotSettled, error: RegExp])[] = [
  [
    { because: 'not_open' },
    /op_1 is not open: it has its outcome, or never was \("payments history op_1" tells\)/,
  ],
  [{ because: 'busy' }, /op_1 is just being sent, asked about or settled/],
  [{ because: 'under_way', ms: 1_001 }, /still be under way to the network: look there again in 2 seconds/],
  [{ because: 'goes_on' }, /op_1 goes on by itself/],
];

for (const [why, error] of refusals) {
  test(`a call that can't be settled because of ${why.because} is told so`, async () => {
    open();
    fixture.notSettled.push(why);
    const refused = await settle('op_1', 'failed');
    fixture.openCalls.pop();
    assert.equal(refused.code, 1);
    assert.match(refused.error, error);
  });
}

test('what names no open call is refused, and a payment on a page is credited by its network only', async () => {
  assert.match((await settle('re_1', 'done')).error, /re_1 is not the id of a network call/);
  assert.match((await settle('op_2', 'done')).error, /op_2 is not open/);
  const id = open({ action: 'await_card_payment', refund: null });
  assert.match((await settle(id, 'done')).error, /which the network's report or its statement tells/);
  assert.match(
    (await settle(id, 'failed')).out,
    /as failed: the network is not asked about its page any more\.$/m,
  );
});

const said: readonly (readonly [Partial<NetworkCallRecord>, as: string, words: RegExp])[] = [
  [{}, 'done', /^Settled op_1 \(refund_charge, re_1 of pi_1\) as done: the refund has succeeded\.\n$/],
  [{}, 'failed', /: the refund has failed, and its amount can be refunded again\.\n$/],
  [
    { action: 'release_charge', refund: null },
    'done',
    /^Settled op_1 \(release_charge, pi_1\) as done: nothing else changes\.\n$/,
  ],
  [
    { action: 'capture_charge', refund: null },
    'failed',
    /: a review was opened, because the money was not taken\.\n$/,
  ],
];

for (const [changes, as, words] of said) {
  test(`${changes.action ?? 'refund_charge'} settled as ${as} says what follows`, async () => {
    const { out, error } = await settle(open(changes), as);
    assert.match(out, words, error);
  });
}

test('the audit record has who settled what, how and why, and what it was about', async () => {
  const { out } = await settle(open(), 'failed', '--json');
  const about = { payment_intent: 'pi_1', charge: 'ch_1', refund: 're_1', mode: 'live' };
  const settled = {
    id: 're_1',
    call: 'op_1',
    organization: org,
    action: 'refund_charge',
    ...about,
    as: 'failed',
  };
  assert.deepEqual(JSON.parse(out), settled);
  const [asked, done] = readAudit(fixture.dataDir, 2).operators;
  assert.deepEqual([asked!.outcome, done!.outcome, asked!.organization], ['asked', 'done', org]);
  assert.deepEqual(done!.params, { call: 'op_1', as: 'failed', reason: 'CMI has no such refund' });
  assert.deepEqual([done!.action, done!.object], ['network.settle', 're_1']);
  assert.equal(typeof (done!.by as { uid: number }).uid, 'number');
});
