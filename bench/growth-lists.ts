// What a page of each list costs when much is stored, beside a folder that has little: every list and every filter, the
// newest page and pages of any time. Both folders have whole pages everywhere, so both do the same work. A page counts by
// the service's processor time, which other programs on the machine disturb least. Pages are measured from memory: rounds
// that do not count come first, and read what the others need from the disk.

import type { Drive, Load } from './load.ts';
import { aligned, median } from './report.ts';
import { headersOf, reading } from './scenarios.ts';
import { costed, type ServiceTarget } from './targets.ts';
import { cycled } from './varying.ts';

/** A list, and the part of its address that is another one each time; null: it is always the same page. */
interface Page {
  readonly path: string;
  readonly part: keyof Parts | null;
}

/** What stands in the place of `*` in an address. */
interface Parts {
  /** Moments from the first to the last day, Unix seconds. */
  readonly time: readonly string[];
  readonly payment_intent: readonly string[];
  readonly checkout_session: readonly string[];
  readonly customer: readonly string[];
  readonly email: readonly string[];
  readonly review: readonly string[];
}

const newest = (path: string): Page => ({ path, part: null });
const at = (path: string, part: keyof Parts): Page => ({ path, part });
/** The newest page, and those of any time. */
const anyTime = (path: string): Page[] => {
  const join = path.includes('?') ? '&' : '?';
  return [newest(path), at(`${path}${join}created[lte]=*`, 'time')];
};

const pages: readonly Page[] = [
  ...anyTime('/v1/payment_intents'),
  at('/v1/payment_intents?starting_after=*', 'payment_intent'),
  ...anyTime('/v1/payment_intents?status=succeeded'),
  at('/v1/payment_intents?customer=*', 'customer'),
  at('/v1/payment_intents?status=requires_payment_method&customer=*', 'customer'),
  newest('/v1/checkout/sessions'),
  at('/v1/checkout/sessions?starting_after=*', 'checkout_session'),
  ...anyTime('/v1/charges'),
  ...anyTime('/v1/charges?status=succeeded'),
  at('/v1/charges?payment_intent=*', 'payment_intent'),
  at('/v1/charges?status=succeeded&payment_intent=*', 'payment_intent'),
  ...anyTime('/v1/refunds'),
  ...anyTime('/v1/refunds?status=succeeded'),
  at('/v1/refunds?payment_intent=*', 'payment_intent'),
  newest('/v1/customers'),
  at('/v1/customers?starting_after=*', 'customer'),
  at('/v1/customers?email=*', 'email'),
  newest('/v1/reviews'),
  at('/v1/reviews?starting_after=*', 'review'),
  ...anyTime('/v1/events'),
  ...anyTime('/v1/events?type=payment_intent.succeeded'),
];

/** Pages of one list are of so many times or objects. */
const partsMax = 200;
/** Each of them is read about so often before a list is measured: by then its bytes are in memory and mapped. */
const warmUps = 20;
const warmUpRoundsMax = 5;

interface ListedFolder {
  readonly service: ServiceTarget;
  readonly key: string;
  readonly days: number;
}

interface PageCost {
  readonly path: string;
  /** By folder, in their order. */
  readonly cpuMicroseconds: readonly number[];
  readonly perSecond: readonly number[];
  /** Of the last folder as a multiple of the first one's, round by round. */
  readonly ratio: number;
}

export async function measureLists(
  folders: readonly ListedFolder[],
  drive: Drive,
  { connections, rounds, seconds }: { connections: number; rounds: number; seconds: number },
): Promise<PageCost[]> {
  const parts: Parts[] = [];
  for (const folder of folders) parts.push(await partsOf(folder));
  const warmUp = async (load: Load) => {
    let answered = 0;
    for (let round = 0; round < warmUpRoundsMax && answered < warmUps * partsMax; round++)
      answered += (await drive(load, connections, seconds)).requests;
  };
  const found: PageCost[] = [];
  for (const page of pages) {
    const measured = folders.map(() => ({ cpu: [] as number[], rate: [] as number[] }));
    const loads = folders.map(({ service, key }, i) => loadOf(page, service.url, key, parts[i]!));
    for (const load of loads) await warmUp(load);
    for (let round = 0; round < rounds; round++) {
      for (const [i, { service }] of folders.entries()) {
        const run = await costed(service, () => drive(loads[i]!, connections, seconds));
        measured[i]!.cpu.push(run.cpuMicroseconds);
        measured[i]!.rate.push(run.requestsPerSecond);
      }
    }
    const [first, last] = [measured[0]!, measured.at(-1)!];
    found.push({
      path: page.path,
      cpuMicroseconds: measured.map(({ cpu }) => median(cpu)),
      perSecond: measured.map(({ rate }) => median(rate)),
      ratio: median(last.cpu.map((cpu, round) => cpu / first.cpu[round]!)),
    });
  }
  return found;
}

function loadOf({ path, part }: Page, url: string, key: string, parts: Parts): Load {
  if (part === null) return { url, requests: [reading(key, path)] };
  const texts = parts[part];
  return { url, requests: [reading(key, path.replace('*', texts[0]!), cycled(texts))] };
}

interface Listed {
  readonly data: readonly {
    readonly id: string;
    readonly customer: string | null;
    readonly email: string;
    readonly data: { readonly object: { readonly id: string; readonly payment_intent: string } };
  }[];
}

/** Objects of each kind, made at any time: found by their events, or by objects that name them. */
async function partsOf({ service, key, days }: ListedFolder): Promise<Parts> {
  const get = async (path: string) => {
    const response = await fetch(service.url + path, { headers: headersOf(key) });
    if (!response.ok) throw new Error(`${path} was answered with ${response.status}`);
    return ((await response.json()) as Listed).data;
  };
  const nowSeconds = Math.floor(Date.now() / 1_000);
  const time = Array.from({ length: partsMax }, (_, i) =>
    // Not in order: what one page reads is of no use to the next. The last ones have whole pages, too.
    String(nowSeconds - Math.floor((((i * 61) % partsMax) / partsMax) * days * 86_400 * 0.9)),
  );
  const parts = {
    time,
    payment_intent: new Set<string>(),
    checkout_session: new Set<string>(),
    customer: new Set<string>(),
    email: new Set<string>(),
    review: new Set<string>(),
  };
  for (const moment of time) {
    const events = (type: string) => get(`/v1/events?type=${type}&created[lte]=${moment}&limit=1`);
    const [[refund], [session], [review], intents] = await Promise.all([
      events('refund.created'),
      events('checkout.session.expired'),
      events('review.opened'),
      get(`/v1/payment_intents?created[lte]=${moment}&limit=100`),
    ]);
    if (refund !== undefined) parts.payment_intent.add(refund.data.object.payment_intent);
    if (session !== undefined) parts.checkout_session.add(session.data.object.id);
    if (review !== undefined) parts.review.add(review.data.object.id);
    const customer = intents.find((intent) => intent.customer !== null)?.customer;
    if (customer != null) parts.customer.add(customer);
  }
  for (const [customer] of await Promise.all(
    [...parts.customer].map((id) => get(`/v1/customers?starting_after=${id}&limit=1`)),
  ))
    if (customer !== undefined) parts.email.add(customer.email);
  return Object.fromEntries(
    Object.entries(parts).map(([name, texts]) => [name, ofOneLength([...texts])]),
  ) as unknown as Parts;
}

/** Texts of the commonest length, because a load exchanges them in place. */
function ofOneLength(texts: readonly string[]): string[] {
  const lengths = Map.groupBy(texts, ({ length }) => length);
  const [commonest] = [...lengths.values()].sort((a, b) => b.length - a.length);
  if (commonest === undefined) throw new Error('the folder has too little stored for pages of any time');
  return commonest;
}

export function listTable(costs: readonly PageCost[], stored: readonly number[]): string {
  const count = (value: number) => Math.round(value).toLocaleString('en');
  return aligned([
    ['a page of (* varies)', ...stored.flatMap((n) => [`${count(n)} stored: CPU µs`, 'pages/s']), '÷'],
    ...costs.map(({ path, cpuMicroseconds, perSecond, ratio }) => [
      path,
      ...cpuMicroseconds.flatMap((cpu, i) => [cpu.toFixed(0), count(perSecond[i]!)]),
      ratio.toFixed(2),
    ]),
  ]);
}
