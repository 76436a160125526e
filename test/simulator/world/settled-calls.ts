// Operators who look at the calls whose outcome a network owes, find out there what became of them, and settle them by
// `payments network settle`.

import { causes } from '../../../src/domain/cause.ts';
import type { NetworkOutcome } from '../../../src/domain/network-outcomes.ts';
import type { NetworksMessage, OpenCall } from '../../../src/shard/protocol.ts';
import type { ActContext } from './acts.ts';
import type { Shop } from './clients.ts';

const listedMax = 100;
const againMs = 5_000;
/** Who is told that a call may be under way comes back: longer than any may be. */
const roundsMax = 80;

/** Settles what can be settled of an organization; resolves with how many calls are left that somebody has to settle. */
export async function settleCalls(acting: ActContext, shop: Shop): Promise<number> {
  const { world } = acting;
  const { org } = shop;
  const open = await hear<OpenCall[]>(acting, org, { kind: 'open_network_calls', org, limit: listedMax });
  let left = 0;
  for (const { record, lastError } of open ?? []) {
    const { id, livemode } = record;
    if (!livemode || !world.bank.isAnswerable(record)) continue;
    left++;
    if (lastError === null) continue;
    const found = world.bank.found(id);
    // Somebody has to wait for it.
    if (found === null && world.bank.effects.has(id)) continue;
    const outcome: NetworkOutcome =
      found?.final.result === 'done'
        ? { result: 'done' }
        : { result: 'failed', reason: 'settled_by_operator' };
    const request = { kind: 'settle_network_call', id, outcome, cause: causes.operator } as const;
    const askedMs = world.simulation.nowMs;
    const refusal = await hear<{ readonly because: string }>(acting, org, request);
    world.note(`operator: settles ${id} as ${outcome.result}: ${refusal?.because ?? refusal}`);
    if (refusal === undefined) continue;
    world.happened.add(`operator settles a call: ${refusal?.because ?? outcome.result}`);
    if (refusal !== null) continue;
    world.bank.settled(id, found, askedMs);
    left--;
  }
  return open === undefined ? 1 : left;
}

/** Until none is left. */
export async function settleAll(acting: ActContext): Promise<void> {
  for (let round = 0; round < roundsMax; round++) {
    let left = 0;
    for (const shop of acting.shops) if (shop.livemode) left += await settleCalls(acting, shop);
    if (left === 0) return;
    await acting.clients.wait(againMs);
  }
}

/** Undefined without an answer. */
function hear<T>(
  { service, clients }: ActContext,
  org: string,
  request: NetworksMessage['request'],
): Promise<T | null | undefined> {
  return new Promise((resolve) => {
    const running = service();
    if (running === null) return resolve(undefined);
    running.handOver(org, request, (answer) =>
      resolve(answer.ok ? (JSON.parse(answer.body) as T | null) : undefined),
    );
    void clients.wait(3_000).then(() => resolve(undefined));
  });
}
