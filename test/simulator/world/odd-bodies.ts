// Bodies that no route takes, about as large and as deeply nested as a body may be: objects and lists in each other, and texts that look
// like more of them. What each is refused for is known beside the shard.

import type { Random } from '../kernel/random.ts';
import type { Act } from './acts.ts';

const namesMax = 1_000;
const nestingMax = 32;
const texts = ['x', 'a:b, c', '{"', '[,]}', '\\"', '"a": 1', 'é'];

function small(random: Random): unknown {
  const text = random.pick(texts);
  return random.pick([1, null, true, text, text, [], [text], {}, { [text]: text }, [1, [text, 2]]]);
}

/** Lists and objects, about as deep as they may be, and what stands beside them. */
function deep(random: Random): unknown {
  let value = small(random);
  for (let level = random.between(nestingMax - 5, nestingMax + 1); level > 0; level--) {
    const beside = random.chance(0.3) ? [small(random)] : [];
    const inner = random.chance(0.5) ? [value, ...beside] : [...beside, value];
    value = random.chance(0.5) ? inner : { ...inner };
  }
  return value;
}

/** Mostly about as many as there may be. */
function countOf(random: Random): number {
  return random.chance(0.6) ? random.between(namesMax - 12, namesMax + 1) : random.between(2, 2 * nestingMax);
}

/** Many of the same, and something else among them. */
function wide(random: Random): unknown {
  const each = random.pick([1, random.pick(texts), [], {}, [1]]);
  const list: unknown[] = Array.from({ length: countOf(random) }, () => each);
  list[random.below(list.length)] = small(random);
  return random.chance(0.5) ? list : { ...list };
}

function bodyOf(random: Random): string {
  // No JSON, and no list that is too long.
  if (random.chance(0.1)) return random.pick([',', '1,', '"[",', ' ']).repeat(2 * countOf(random));
  const odd = random.pick([small, deep, wide, wide])(random);
  const around = { amount: 20_000, currency: 'mad' };
  const whole = random.chance(0.5) ? { odd, ...around } : { ...around, odd };
  return JSON.stringify(whole, null, random.pick([0, 1]));
}

export async function oddBody({ clients, shop, random }: Act): Promise<void> {
  const { apiKey } = shop;
  const request = { apiKey, method: 'POST' as const, path: '/v1/payment_intents', query: '', key: 'odd' };
  for (let i = random.between(1, 4); i > 0; i--)
    await clients.insist(shop, { ...request, body: bodyOf(random) });
}
