// From when on what has failed can be sent again: an endpoint knows it by the time of the service, and people read wall
// time.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deliveriesOf } from '../../src/dashboard/pages/deliveries.ts';
import { resendFailedAtMs } from '../../src/domain/deliveries.ts';
import type { WebhookEndpointRecord } from '../../src/domain/record.ts';
import type { InternalRequest } from '../../src/shard/protocol.ts';

const now = { nowMs: Date.UTC(2026, 10, 1, 12), serviceMs: Date.UTC(2026, 10, 1, 9) };

/** The page of an endpoint whose failed deliveries were sent again so long ago. */
async function pageAfter(passedMs: number): Promise<string> {
  const endpoint = { id: 'we_1', org: 'org_1', livemode: true, status: 'enabled' };
  const request = {
    language: 'en',
    query: new URLSearchParams(),
    form: new URLSearchParams(),
    role: 'owner',
    mode: 'live',
    organization: { id: 'org_1' },
    member: { id: 'mem_1' },
    say: (text: string) => text,
    session: { formKey: 'key' },
    services: {
      now: () => now.nowMs,
      askShard: async (_: string, { kind }: InternalRequest) => ({
        body: JSON.stringify(kind === 'now' ? now : []),
      }),
    },
  };
  const resent = { ...endpoint, failed_resent_at_ms: now.serviceMs - passedMs } as WebhookEndpointRecord;
  return (await deliveriesOf(request as never, resent)).map(({ markup }) => markup).join('');
}

const waitMs = resendFailedAtMs({ failed_resent_at_ms: 0 } as WebhookEndpointRecord);

test('until then the page says in wall time when that is', async () => {
  assert.match(
    await pageAfter(waitMs - 60_000),
    /resend_failed_at <time datetime="2026-11-01T12:01:00.000Z">/,
  );
});

test('then it has the form', async () => {
  assert.match(await pageAfter(waitMs), /webhooks\/we_1\/resend-failed/);
});
