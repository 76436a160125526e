// Which callbacks count against the limit of the address that sends them: all but those that tell something new. A customer has what
// the network signed, and can send it as often as they like.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cashIndex } from '../../src/domain/indexes.ts';
import { type CallbackOptions, takeCallback } from '../../src/networks/callbacks.ts';
import type { CardNetwork, Networks, Received } from '../../src/networks/network.ts';

const reply = { status: 200, contentType: 'text/plain', body: '' };
const card = {
  readCallback: () => ({
    about: { charge: 'ch_1' },
    says: { result: 'declined', decline_code: 'lost_card', mayTryAgain: true },
    reply: () => reply,
  }),
} as unknown as CardNetwork;
const networksWith = (posting: object) => ({ posting: () => posting }) as unknown as Networks;
const charge = { kind: 'charge', id: 'ch_1', org: 'org_1', livemode: true, method: 'card' };

function isNew(stored: { received: Received; again?: boolean }) {
  return take(async ({ kind }) => ({
    ok: true,
    body: JSON.stringify(kind === 'record' ? charge : stored),
  })).then((taken) => taken.isNew);
}

function take(
  ask: CallbackOptions['ask'],
  networks = networksWith({ card, cash: null }),
  knows: CallbackOptions['knows'] = () => true,
) {
  return takeCallback(
    {
      kind: 'network_callback',
      org: 'org_1',
      mode: 'live',
      connector: 'cmi',
      signature: '',
      body: '',
    },
    {
      networks,
      knows,
      onVisitFailed: (error) => assert.fail(error as Error),
      ask,
    },
  );
}

test('only what tells something new, or is to be sent again, does not count', async () => {
  for (const received of ['credited', 'review', 'declined', 'later'] as const)
    assert.equal(await isNew({ received }), true, received);
  for (const received of ['repeated', 'too_many', 'unknown'] as const)
    assert.equal(await isNew({ received }), false, received);
  for (const received of ['review', 'declined'] as const)
    assert.equal(await isNew({ received, again: true }), false, received);
});

test('what an organization can sign without end counts: reports of a method, or of a code, that are not there yet', async () => {
  const notConnected = await take(
    () => assert.fail('nothing is asked'),
    networksWith({ card: null, cash: card }),
  );
  assert.deepEqual([notConnected.outcome, notConnected.isNew], ['not_connected', false]);
  const issuing = JSON.stringify({ ...charge, kind: 'network_call' });
  const early = await take(async () => ({ ok: true, body: issuing }));
  assert.deepEqual([early.outcome, early.isNew], ['later', false]);
});

test('a report about a charge that is not there decides nothing, and one that the shard can’t take now comes again', async () => {
  const refusing =
    (refused: string, code: 'resource_missing' | 'api_error'): CallbackOptions['ask'] =>
    async ({ kind }) =>
      kind === refused ? { ok: false, code, message: '' } : { ok: true, body: JSON.stringify(charge) };
  for (const asked of ['record', 'command']) {
    assert.equal((await take(refusing(asked, 'resource_missing'))).outcome, 'unknown', asked);
    assert.equal((await take(refusing(asked, 'api_error'))).outcome, 'later', asked);
  }
});

test('a report about the number of a cash code is about the charge that has it', async () => {
  const money = { amount: 1_000, currency: 'MAD', reference: 'r1' };
  const cash = {
    readCallback: () => ({
      about: { cashNumber: '0123' },
      says: { result: 'paid', money },
      reply: () => reply,
    }),
  } as unknown as CardNetwork;
  const report = async (answer: Awaited<ReturnType<CallbackOptions['ask']>>) => {
    const given: unknown[] = [];
    const taken = await take(
      async (asked) => {
        if (asked.kind === 'records') assert.deepEqual([asked.index, asked.limit], [cashIndex('0123'), 1]);
        else given.push(asked.kind === 'command' && [asked.operation, asked.id]);
        return asked.kind === 'records'
          ? answer
          : { ok: true, body: JSON.stringify({ received: 'credited' }) };
      },
      networksWith({ card: null, cash }),
    );
    return [taken.outcome, given];
  };
  const holders = (...some: object[]) => ({ ok: true, body: JSON.stringify(some) }) as const;
  assert.deepEqual(await report(holders({ ...charge, method: 'cash' })), [
    'credited',
    [['receive_money', 'ch_1']],
  ]);
  assert.deepEqual(await report(holders()), ['unknown', []]);
  assert.deepEqual(await report({ ok: false, code: 'api_error', message: '' }), ['later', []]);
});

test('a report of an organization’s network about a charge of another one, or of the other mode, decides nothing', async () => {
  for (const other of [{ org: 'org_2' }, { livemode: false }]) {
    const { outcome, isNew } = await take(async ({ kind }) => {
      assert.equal(kind, 'record', 'no command is given');
      return { ok: true, body: JSON.stringify({ ...charge, ...other }) };
    });
    assert.deepEqual([outcome, isNew], ['unknown', false]);
  }
});

test('what is posted for an organization that there is not is refused before it is read', async () => {
  const nobody = () => assert.fail('nothing is asked');
  const unread = { posting: nobody } as unknown as Networks;
  const { reply: told, outcome, isNew } = await take(nobody, unread, (org) => org !== 'org_1');
  assert.deepEqual([told.status, outcome, isNew], [404, 'refused', false]);
  assert.match(told.body, /there is no such organization/);
});

test('a callback on which the connector throws is told so, stores nothing, and ends no thread', async () => {
  const failed: unknown[] = [];
  const broken = {
    readCallback() {
      throw new RangeError('broken');
    },
  } as unknown as CardNetwork;
  const taken = await takeCallback(
    { kind: 'network_callback', org: 'org_1', mode: 'live', connector: 'cmi', signature: '', body: '' },
    {
      networks: networksWith({ card: broken, cash: null }),
      knows: () => true,
      ask: () => assert.fail('nothing is asked'),
      onVisitFailed: (error, entry) => failed.push((error as Error).message, entry),
    },
  );
  assert.deepEqual([taken.reply.status, taken.outcome, taken.isNew], [500, 'refused', false]);
  assert.deepEqual(failed, ['broken', 'network_callback']);
});
