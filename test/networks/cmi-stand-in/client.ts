// Starts the stand-in for a test, tells it what to do, and is the customer's browser on its pages.

import { type ChildProcess, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '../../temporary-folder.ts';
import type { Change } from './callback.ts';
import type { Decision, GatewayOptions, Misbehaviour } from './gateway.ts';
import type { Ledger, OrderSums } from './ledger.ts';
import { secretFiles } from './merchant.ts';

const main = fileURLToPath(new URL('main.ts', import.meta.url));

export type SeenOrder = OrderSums & { readonly requests: Readonly<Record<string, number>> };

/** A form of a page: where it goes, and its fields. */
export interface Form {
  readonly action: string;
  readonly fields: readonly [name: string, value: string][];
}

export class CmiStandIn {
  readonly url: string;
  /** It has the files with its secrets. */
  readonly folder: string;
  readonly #process: ChildProcess;

  private constructor(url: string, folder: string, child: ChildProcess) {
    this.url = url;
    this.folder = folder;
    this.#process = child;
  }

  /** Starts it on any free port. */
  static async start(secrets: Pick<GatewayOptions, 'storeKey' | 'apiPassword'>): Promise<CmiStandIn> {
    const folder = temporaryFolder();
    writeFileSync(join(folder, secretFiles.storeKey), `${secrets.storeKey}\n`);
    writeFileSync(join(folder, secretFiles.apiPassword), `${secrets.apiPassword}\n`);
    const args = [main, '--folder', folder, '--port', '0'];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    process.once('exit', () => child.kill('SIGKILL'));
    for await (const line of createInterface({ input: child.stdout })) {
      const url = /http:\S+/.exec(line)?.[0];
      if (url !== undefined) return new CmiStandIn(url, folder, child);
    }
    throw new Error('the stand-in did not start');
  }

  stop(): void {
    this.#process.kill('SIGKILL');
  }

  async #control(path: string, body?: object): Promise<string> {
    const answer = await fetch(`${this.url}/control/${path}`, {
      method: 'POST',
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (answer.status !== 200) throw new Error(text);
    return text;
  }

  misbehave(misbehaviour: Misbehaviour): Promise<unknown> {
    return this.#control('misbehave', misbehaviour);
  }

  /** Sends an order's callback again, or for the first time. */
  callBack(oid: string, change: Change | null = null): Promise<unknown> {
    return this.#control('callback', { oid, change });
  }

  set(settings: Partial<Pick<Ledger, 'keepsTransId' | 'settled'>>): Promise<unknown> {
    return this.#control('ledger', settings);
  }

  /** Answers the requests that are held. */
  release(): Promise<unknown> {
    return this.#control('release');
  }

  statement(): Promise<string> {
    return this.#control('statement');
  }

  async orders(): Promise<SeenOrder[]> {
    return JSON.parse(await this.#control('orders'));
  }

  async order(oid: string): Promise<SeenOrder | undefined> {
    return (await this.orders()).find((order) => order.oid === oid);
  }

  /** Posts what the merchant's page posts, and chooses; returns the form that takes the browser back. */
  async decide(start: Form, decision: Decision): Promise<Form> {
    const page = formOf(await this.post(start));
    const fields: Form['fields'] = [...page.fields, ['decision', decision]];
    return formOf(await this.post({ action: this.url + page.action, fields }));
  }

  /** Posts a form as a browser does. Returns the page. */
  async post({ action, fields }: Form): Promise<string> {
    const body = new URLSearchParams([...fields]);
    const answer = await fetch(action, { method: 'POST', body, redirect: 'manual' });
    return answer.text();
  }
}

/** The form of a page that goes to an address which begins so, without its buttons. */
export function formOf(page: string, to = ''): Form {
  for (const [, address, content] of page.matchAll(/<form[^>]* action="([^"]*)"[^>]*>(.*?)<\/form>/gs)) {
    const action = unescaped(address!);
    if (!action.startsWith(to)) continue;
    const inputs = content!.matchAll(/<input[^>]* name="([^"]*)"[^>]* value="([^"]*)"/g);
    return { action, fields: [...inputs].map(([, name, value]) => [unescaped(name!), unescaped(value!)]) };
  }
  const text = page.replace(/<style>.*<\/style>/s, '').slice(0, 1_000);
  throw new Error(`there is no form to ${to}:\n${text}`);
}

function unescaped(text: string): string {
  const named: Readonly<Record<string, string>> = { quot: '"', lt: '<', gt: '>', amp: '&' };
  return text.replace(/&(?:#(\d+)|#x([0-9a-f]+)|(\w+));/gi, (entity, decimal, hex, name) => {
    if (decimal !== undefined) return String.fromCodePoint(Number(decimal));
    return hex === undefined ? (named[name] ?? entity) : String.fromCodePoint(Number.parseInt(hex, 16));
  });
}
