// When operators are told that the next attempt of a delivery is: a delivery is due by the time of the service, which
// goes on where a wrong clock of the machine or a restart has left wall time.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resend } from '../../src/operator/use-cases/webhook-commands.ts';
import type { InternalRequest } from '../../src/shard/protocol.ts';

const now = { nowMs: Date.UTC(2026, 10, 1, 12), serviceMs: Date.UTC(2026, 10, 1, 9) };
const delivery = 'whd_1';

async function nextAttempt(dueMs: number): Promise<string | null> {
  const answers: Partial<Record<InternalRequest['kind'], object>> = {
    now,
    record: { id: delivery, kind: 'delivery', due_at_ms: dueMs, created: 1 },
    command: {},
  };
  const services = {
    now: () => now.nowMs,
    author: { by: 'operator', name: 'root' },
    askShard: async (_: string, { kind }: InternalRequest) => ({ body: JSON.stringify(answers[kind]) }),
  };
  return (await resend(services as never, delivery)).next_attempt;
}

test('the next attempt of a delivery is told in wall time', async () => {
  assert.equal(await nextAttempt(now.serviceMs + 60_000), '2026-11-01T12:01:00.000Z');
});

test('one that is due is due now', async () => {
  assert.equal(await nextAttempt(now.serviceMs - 60_000), '2026-11-01T12:00:00.000Z');
});
