// A customer pays a moment before the checkout session ends, and the network says only later that the money was taken: then
// the session waits for it.

import { causes } from '../../../src/domain/cause.ts';
import type { PageOperation } from '../../../src/edge/checkout/page-port.ts';
import { Random } from '../kernel/random.ts';
import { asked, type Healing } from './healing.ts';

const card = { brand: 'visa', last4: '4242', exp_month: 12, exp_year: 2030 };
const settleMs = 60_000;

/** Not in every run, because half an hour passes. */
const share = 0.2;

export async function payAtLastMoment(healing: Healing): Promise<void> {
  const { world, host, clients, shops, until } = healing;
  const { simulation, clocks, judge } = world;
  const shop = shops[0]!;
  const random = new Random(`${simulation.seed}/last moment`);
  if (!random.chance(share)) return;
  const answerTo = async <T>(
    ask: () => Promise<{ readonly status: number; readonly text: string } | null>,
  ) => {
    let answer: Awaited<ReturnType<typeof ask>> = null;
    await asked(healing, settleMs, async () => {
      answer = await ask();
    });
    const { text } = answer ?? { text: 'null' };
    return JSON.parse(text) as T;
  };
  const passUntil = (wallMs: number) => {
    simulation.nowMs += Math.max(0, (wallMs - clocks.wall()) / (1 + clocks.drift));
    return until(simulation.nowMs, () => false);
  };
  const onPage = (operation: PageOperation, id: string, params: object) => {
    const command = {
      kind: 'command',
      operation,
      id,
      params,
      language: 'en',
      cause: causes.customer,
    } as const;
    host.service?.ask(shop.org, command, () => {});
  };
  const params = { amount: 20_000, currency: 'mad', success_url: 'https://shop.example/done' };
  const ends = { expires_at: Math.ceil(clocks.wall() / 1000) + 1_860 };
  const session = await answerTo<{ id: string; expires_at: number; payment_intent: string } | null>(() =>
    clients.post(shop, '/v1/checkout/sessions', { ...params, ...ends }, { isCreation: true }),
  );
  if (session === null) return;
  const endMs = session.expires_at * 1000;
  await passUntil(endMs - 20_000);
  onPage('choose_method', session.id, { method: 'card' });
  const shown = () =>
    answerTo<{ latest_charge: string | null }>(() =>
      clients.get(shop, `/v1/payment_intents/${session.payment_intent}`),
    );
  const { latest_charge: charge } = await shown();
  await passUntil(endMs - random.between(1, 400));
  if (charge !== null) onPage('submit_card', charge, { token: 'sim_later_succeeds', card, challenge: false });
  // A session that could not end is looked at again after a minute.
  await until(simulation.nowMs + 2.5 * settleMs, () => false);
  await until(simulation.nowMs + settleMs, () => host.isIdle);
  judge.check(
    'whatever was asked is answered in the end',
    host.isIdle,
    () => `${host.openWork} are open still`,
  );
}
