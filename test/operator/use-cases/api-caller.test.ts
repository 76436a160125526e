import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Operation } from '../../../src/contract/routes/table.ts';
import { createApiCaller } from '../../../src/operator/use-cases/api-caller.ts';
import type { ShardClient } from '../../../src/shard/client.ts';

const org = 'org_1';
const active = { status: 'active', liveActivated: true } as const;

/** The refusal of a member's request, or null when it was sent to the shard. */
async function refusalOf(
  operation: Operation,
  livemode: boolean,
  organization: { readonly status: 'active' | 'suspended' | 'closed'; readonly liveActivated: boolean },
): Promise<string | null> {
  const sent: object[] = [];
  const send = (frame: object, onAnswer: (answer: 'away') => void) => {
    sent.push(frame);
    onAnswer('away');
    return 0;
  };
  const shard = { send } as unknown as ShardClient;
  const call = createApiCaller({
    baseUrl: 'https://pay.example.ma',
    shardOf: () => shard,
    organizationOf: () => organization,
    onAnswered: () => {},
  });
  const outcome = await call({ org, livemode, operation, language: 'en', member: 'mem_1', address: '' });
  assert.ok(!outcome.ok);
  return sent.length > 0 ? null : outcome.error.code;
}

for (const [what, operation, livemode, organization, expected] of [
  ['in test mode', 'create_refund', false, active, null],
  [
    'of a suspended organization',
    'create_refund',
    false,
    { ...active, status: 'suspended' },
    'account_inactive',
  ],
  ['of a closed organization', 'create_refund', true, { ...active, status: 'closed' }, 'account_inactive'],
  ['in live mode', 'create_refund', true, active, null],
  [
    'in live mode that was not activated',
    'create_refund',
    true,
    { ...active, liveActivated: false },
    'live_mode_not_activated',
  ],
  ['that is a test helper, in live mode', 'complete_charge', true, active, 'test_mode_only'],
  [
    'that reads, of a suspended organization',
    'retrieve_payment_intent',
    false,
    { ...active, status: 'suspended' },
    null,
  ],
] as const)
  test(`a member’s request ${what}: ${expected ?? 'is sent'}`, async () => {
    assert.equal(await refusalOf(operation, livemode, organization), expected);
  });
