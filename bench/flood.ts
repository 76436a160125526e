// A flood as its parent sees it: the clients of flood-clients.ts are connected first, and then ask.

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Request } from 'autocannon';
import { type FloodOrder, type FloodResult, fates, type Part } from './flood-clients.ts';
import { requestText } from './request-text.ts';
import { headersOf, intentsPath } from './scenarios.ts';

export class Flood {
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess) {
    this.#child = child;
  }

  /** Settles when all clients are connected. */
  static async connect(order: FloodOrder): Promise<Flood> {
    const child = fork(fileURLToPath(new URL('./flood-clients.ts', import.meta.url)));
    child.send(order);
    await messageOf(child);
    return new Flood(child);
  }

  /** They ask as they were told. Settles when all is answered. */
  async run(): Promise<FloodResult> {
    this.#child.send('go');
    const result = (await messageOf(this.#child)) as FloodResult;
    this.#child.kill('SIGKILL');
    return result;
  }
}

async function messageOf(child: ChildProcess): Promise<unknown> {
  const ended = once(child, 'exit').then(() => {
    throw new Error('the clients of the flood have ended');
  });
  const [message] = await Promise.race([once(child, 'message'), ended]);
  return message;
}

export function countOf({ fates: found }: FloodResult, fate: keyof typeof fates): number {
  return found.split(fates[fate]).length - 1;
}

/** Stands in a request for its number. */
const number = 'xxxxxxxxxxxx';

type Asked = Pick<FloodOrder, 'connections' | 'seconds' | 'perSecond' | 'patienceMs'>;

/** Creates of some merchants in turn, each with a number of its own in its key and in its order, behind a prefix. */
export function creates(url: string, keys: readonly string[], prefix: string, asked: Asked): FloodOrder {
  const [key] = keys as [string];
  const order = `${prefix}-${number}`;
  const headers = { ...headersOf(key), 'Idempotency-Key': order };
  const body = JSON.stringify({
    amount: 12_000,
    currency: 'mad',
    payment_method_types: ['card', 'cash'],
    metadata: { order_id: order },
  });
  const parts: readonly Part[] = [
    { text: number, texts: 'number' },
    { text: key, texts: keys },
  ];
  return orderOf(url, { method: 'POST', path: intentsPath, headers, body }, parts, asked);
}

/** Retrieves of payment intents, by their ids in turn. */
export function retrieves(url: string, key: string, ids: readonly string[], asked: Asked): FloodOrder {
  const [id] = ids as [string];
  const request = { method: 'GET', path: `${intentsPath}/${id}`, headers: headersOf(key) } as const;
  return orderOf(url, request, [{ text: id, texts: ids }], asked);
}

function orderOf(url: string, request: Request, parts: readonly Part[], asked: Asked): FloodOrder {
  const text = requestText({ request, varying: null }).join('');
  return { ...asked, port: Number(new URL(url).port), request: text, parts };
}
