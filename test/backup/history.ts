// A service's history as its clients know it: after each request what every list of theirs shows, with the moment, the ends
// of the logs, and the request that came next. One request at a time, so each moment is one state of all organizations.

import { existingDataFolder, journalOf } from '../../src/data-folder/data-folder.ts';
import { openJournal } from '../../src/journal/open-journal.ts';
import { systemClocks } from '../../src/telemetry/system-clocks.ts';
import type { Shop } from '../main/shops.ts';
import type { Service } from '../service.ts';
import { Actor } from '../shard/actor.ts';
import { accountOf } from '../shard/shard-options.ts';

export interface Moment {
  /** When it was, Unix milliseconds: after everything before and before everything after. */
  readonly atMs: number;
  /** The end of each shard's log. */
  readonly sequences: readonly number[];
  /** What each organization's lists show, as text. */
  readonly shown: readonly string[];
  /** The request after it, and the shard that executes it; null: none came. */
  next: { readonly requestId: string; readonly shard: number } | null;
}

const lists = ['payment_intents', 'customers', 'events', 'checkout/sessions'];

/** What the lists of each organization show: text that is equal when their state is. */
export function shownTo(service: Service, shops: readonly Shop[]): Promise<string[]> {
  return Promise.all(
    shops.map(async ({ key }) => {
      const answers = await Promise.all(lists.map((list) => service.call(`/v1/${list}?limit=100`, { key })));
      return answers.map(({ status, text }) => `${status} ${text}`).join('\n');
    }),
  );
}

/** The same from a data folder, by its shards in this process: a service takes much longer to start. Each has one of `shops`. */
export async function shownIn(dataDir: string, shops: readonly Shop[]): Promise<string[]> {
  const folder = await existingDataFolder(dataDir);
  const shown: string[] = [];
  for (const [number, { id }] of shops.entries()) {
    const onDisk = await openJournal(journalOf(folder, number));
    const actor = new Actor({ onDisk, account: accountOf(1_000_000, { id }), clocks: systemClocks() });
    await actor.recovered;
    const answers = await Promise.all(lists.map((list) => actor.send(`GET /v1/${list}?limit=100`)));
    shown.push(answers.map(({ status, text }) => `${status} ${text}`).join('\n'));
    await actor.shard.stop();
  }
  return shown;
}

/** The wall clock has gone on by a millisecond at least: it is the resolution of the log's times. */
async function nextMillisecond(): Promise<number> {
  const startMs = Date.now();
  while (Date.now() <= startMs + 1) await new Promise((resolve) => setImmediate(resolve));
  return Date.now() - 1;
}

async function momentOf(service: Service, shops: readonly Shop[]): Promise<Moment> {
  const text = await service.metrics();
  const found = [...text.matchAll(/^payments_log_sequence\{shard="(\d+)"\} (\d+)$/gm)];
  const sequences = found.sort().map(([, , sequence]) => Number(sequence));
  const shown = await shownTo(service, shops);
  return { atMs: await nextMillisecond(), sequences, shown, next: null };
}

/** Does so many things, each organization in its turn, and returns the moments between them. `shops` are on a shard each. */
export async function live(service: Service, shops: readonly Shop[], count: number): Promise<Moment[]> {
  const moments = [await momentOf(service, shops)];
  const made: { readonly path: string; readonly key: string }[] = [];
  for (let i = 0; i < count; i++) {
    const shard = i % shops.length;
    const { key } = shops[shard]!;
    const own = made.filter((each) => each.key === key);
    const path = i % 4 === 3 && own.length > 0 ? `${own.at(-1)!.path}/cancel` : '/v1/payment_intents';
    const body = path.endsWith('cancel') ? {} : { amount: 10_000 + i, currency: 'mad' };
    const customer = i % 5 === 2;
    const answer = customer
      ? await service.call('/v1/customers', { key, body: { name: `Customer ${i}` } })
      : await service.call(path, { key, body, idempotencyKey: `history-${moments[0]!.atMs}-${i}` });
    if (answer.status !== 200) throw new Error(answer.text);
    if (!customer && !path.endsWith('cancel'))
      made.push({ path: `/v1/payment_intents/${answer.json.id}`, key });
    else if (!customer) made.splice(made.indexOf(own.at(-1)!), 1);
    moments.at(-1)!.next = { requestId: answer.headers.get('request-id')!, shard };
    moments.push(await momentOf(service, shops));
  }
  return moments;
}
