// Merchants who export all that they have: more of them at once than may be, and some go before the end. The edge tells the shard of
// each end.

import { routeTable } from '../../../src/contract/routes/table.ts';
import { type Act, tell } from './acts.ts';
import { type Answer, reading } from './edge.ts';

const routes = routeTable.flatMap(({ kind, path }, route) => (kind === 'export' ? [{ path, route }] : []));
const patienceMs = 6_000;

export async function exportSome(acting: Act): Promise<void> {
  const { random } = acting;
  await Promise.all(Array.from({ length: random.between(1, 6) }, () => exportAll(acting)));
}

async function exportAll(acting: Act): Promise<void> {
  const { random, shop, clients } = acting;
  const { path, route } = random.pick(routes);
  const query = random.pick(['', '', 'format=csv', 'format=ndjson', 'format=xml']);
  const answer = await ask(acting, path, query);
  if (answer?.status !== 200) return;
  const { org, livemode } = shop;
  const scope = { org, livemode };
  if (random.chance(0.7)) await tell(acting, { kind: 'export_page', ...scope, route, query, cursor: '' });
  await clients.wait(random.below(2_000));
  await tell(acting, { kind: 'export_ended', ...scope, requestId: answer.requestId });
}

/** The answer that an edge has: nothing is lost on the way to it. */
function ask({ service, shop, clients }: Act, path: string, query: string): Promise<Answer | null> {
  return new Promise((resolve) => {
    const spend = clients.limits.get(shop.apiKey)?.sent(path);
    const request = reading(shop.apiKey, path, query);
    service()?.request(request, (answer) => {
      if (answer !== null) spend?.(answer.status);
      resolve(answer);
    });
    void clients.wait(patienceMs).then(() => resolve(null));
  });
}
