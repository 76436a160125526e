// Starts the stand-in for a test, tells it what to do, and is the customer's browser on its pages.

import { type ChildProcess, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '../../service.ts';
import type { Change } from './callback.ts';
import type { GatewayOptions, Misbehaviour } from './gateway.ts';
import type { Ledger, OrderSums } from './ledger.ts';

const main = fileURLToPath(new URL('main.ts', import.meta.url));

export type SeenOrder = OrderSums & { readonly requests: Readonly<Record<string, number>> };

/** A form of a page: where it goes, and its fields. */
export interface Form {
  readonly action: string;
  readonly fields: readonly (readonly [name: string, value: string])[];
}

export class CmiStandIn {
  readonly url: string;
  /** The files with its secrets, as operators give them to the service. */
  readonly files: { readonly storeKey: string; readonly apiPassword: string };
  readonly #process: ChildProcess;

  private constructor(url: string, files: CmiStandIn['files'], child: ChildProcess) {
    this.url = url;
    this.files = files;
    this.#process = child;
  }

  static async start(options: GatewayOptions): Promise<CmiStandIn> {
    const folder = temporaryFolder();
    const files = { storeKey: join(folder, 'store-key'), apiPassword: join(folder, 'api-password') };
    writeFileSync(files.storeKey, `${options.storeKey}\n`);
    writeFileSync(files.apiPassword, `${options.apiPassword}\n`);
    const args = ['--client-id', options.clientId, '--store-key-file', files.storeKey];
    args.push('--api-user', options.apiUser, '--api-password-file', files.apiPassword);
    const child = spawn(process.execPath, [main, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
    process.once('exit', () => child.kill('SIGKILL'));
    for await (const line of createInterface({ input: child.stdout })) {
      const url = /http:\S+/.exec(line)?.[0];
      if (url !== undefined) return new CmiStandIn(url, files, child);
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
  async decide(start: Form, decision: 'approve' | 'decline'): Promise<Form> {
    const page = formOf(await this.post(start));
    const chosen = [...page.fields, ['decision', decision] as const];
    return formOf(await this.post({ action: this.url + page.action, fields: chosen }));
  }

  /** Posts a form as a browser does. Returns the page. */
  async post({ action, fields }: Form): Promise<string> {
    const body = new URLSearchParams(fields.map(([name, value]) => [name, value] as [string, string]));
    const answer = await fetch(action, { method: 'POST', body, redirect: 'manual' });
    return answer.text();
  }
}

/** The only form of a page, without its buttons. */
export function formOf(page: string): Form {
  const action = /<form[^>]* action="([^"]*)"/.exec(page)?.[1];
  if (action === undefined) throw new Error(`there is no form:\n${page}`);
  const inputs = page.matchAll(/<input[^>]* name="([^"]*)"[^>]* value="([^"]*)"/g);
  return {
    action: unescaped(action),
    fields: [...inputs].map(([, name, value]) => [unescaped(name!), unescaped(value!)]),
  };
}

function unescaped(text: string): string {
  const named: Readonly<Record<string, string>> = { quot: '"', lt: '<', gt: '>', amp: '&' };
  return text.replace(/&(?:#(\d+)|#x([0-9a-f]+)|(\w+));/gi, (entity, decimal, hex, name) => {
    if (decimal !== undefined) return String.fromCodePoint(Number(decimal));
    return hex === undefined ? (named[name] ?? entity) : String.fromCodePoint(Number.parseInt(hex, 16));
  });
}
