// A reference implementation of the contract in docs/networks/http.md: a server in front of a cash agents' network and of a
// card processor with a page of its own, in memory. It is strict: what is not signed by the secret, or is older than five minutes, is refused. Tests tell it to
// misbehave: each misbehaviour is used up by one operation.

import { createHmac, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Code {
  readonly code: string;
  readonly organization: string;
  readonly livemode: boolean;
  readonly amount: number;
  readonly expires_at: number;
  payable: boolean;
}

/** A page on which a card can be typed. */
interface CardPage {
  readonly charge: string;
  readonly amount: number;
  readonly language: string;
  readonly paid_url: string;
  readonly unpaid_url: string;
  readonly name?: string;
  /** What was taken, less what was refunded. */
  taken: number;
  /** What the service is told, or is answered when it asks. */
  report?: object;
}

const operations = ['issue', 'cancel', 'open_page', 'refund', 'status'] as const;

interface Operation {
  readonly operation: (typeof operations)[number];
  readonly id: string;
}

interface OperationAnswer {
  readonly id: string;
  readonly status: 'done' | 'refused' | 'unknown';
  readonly reason?: string;
  readonly url?: string;
  readonly report?: object;
}

/** What it does instead of answering; all but `refuse` and `down` carry the operation out. */
export type Misbehaviour = 'down' | 'refuse' | 'drop' | 'error' | 'nonsense' | 'another' | 'hang';

export interface Payment {
  readonly reference: string;
  readonly code: string;
  readonly amount: number;
  readonly agent?: string;
}

const secondsMax = 300;

export class ReferenceIntegrator {
  readonly secret: string;
  readonly codes = new Map<string, Code>();
  /** By charge. */
  readonly pages = new Map<string, CardPage>();
  /** What each operation came to, by its id: one effect, however often it is sent. */
  readonly #answers = new Map<string, OperationAnswer>();
  /** Every operation that arrived, with those that were sent again. */
  readonly seen: Operation[] = [];
  readonly misbehaviours: Misbehaviour[] = [];
  readonly #server: Server;

  private constructor(secret: string) {
    this.secret = secret;
    this.#server = createServer((request, response) => void this.#take(request, response));
  }

  static async start(secret = 'integrators-secret-0123456789'): Promise<ReferenceIntegrator> {
    const integrator = new ReferenceIntegrator(secret);
    integrator.#server.listen(0, '127.0.0.1');
    await once(integrator.#server, 'listening');
    return integrator;
  }

  get address(): string {
    return `${this.#origin}/operations`;
  }

  /** The parameters of `network.set` that connect an organization with it. */
  connecting(org: string, mode: 'test' | 'live' = 'live') {
    const network = 'http' as const;
    return { org, mode, network, settings: { address: this.address }, secrets: { secret: this.secret } };
  }

  get #origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method === 'GET') return this.#show(request.url!, response);
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) body += chunk;
    const answer = (status: number, json: object) => response.writeHead(status).end(JSON.stringify(json));
    if (!this.#isGenuine(String(request.headers['x-service-signature']), body))
      return void answer(401, { error: 'not_genuine' });
    const operation = parse(body);
    if (operation === null) return void answer(400, { error: 'invalid' });
    this.seen.push(operation);
    const misbehaviour = operation.operation === 'status' ? undefined : this.misbehaviours.shift();
    if (misbehaviour === 'down') return void request.socket.destroy();
    const outcome = this.#carryOut(operation, misbehaviour === 'refuse');
    switch (misbehaviour) {
      case 'drop':
        return void request.socket.destroy();
      case 'hang':
        return;
      case 'error':
        return void answer(500, { error: 'oops' });
      case 'nonsense':
        return void response.writeHead(200).end('<html>OK</html>');
      case 'another':
        return void answer(200, { ...outcome, id: 'op_another' });
      default:
        return void answer(200, outcome);
    }
  }

  #carryOut(operation: Operation, refuses: boolean): OperationAnswer {
    const { id } = operation;
    const known = this.#answers.get(id);
    if (operation.operation === 'status') {
      const report = this.pages.get(id)?.report;
      return known === undefined ? { id, status: 'unknown' } : { ...known, ...(report && { report }) };
    }
    if (known !== undefined) return known;
    const reason = refuses ? 'no agents today' : this.#refusalOf(operation);
    const made: OperationAnswer =
      reason === null
        ? { id, status: 'done', ...this.#effectOf(operation) }
        : { id, status: 'refused', reason };
    this.#answers.set(id, made);
    return made;
  }

  /** Why an operation can't be carried out; null when it can. */
  #refusalOf(operation: Operation): string | null {
    if (operation.operation !== 'refund') return null;
    const { charge, amount } = operation as unknown as CardPage;
    return amount <= (this.pages.get(charge)?.taken ?? 0) ? null : 'so much was not paid';
  }

  /** Carries an operation out, and returns what its answer has besides. */
  #effectOf(operation: Operation): { readonly url?: string } {
    const code = operation as unknown as Code;
    const page = operation as unknown as CardPage;
    switch (operation.operation) {
      case 'issue':
        this.codes.set(code.code, { ...code, payable: true });
        break;
      case 'cancel': {
        const issued = this.codes.get(code.code);
        if (issued !== undefined) issued.payable = false;
        break;
      }
      case 'open_page':
        this.pages.set(page.charge, { ...page, taken: 0 });
        return { url: `${this.#origin}/pages/${page.charge}` };
      case 'refund':
        this.pages.get(page.charge)!.taken -= page.amount;
    }
    return {};
  }

  /** The page of a charge, where a browser may pay. */
  #show(path: string, response: ServerResponse): void {
    const page = this.pages.get(path.split('/').at(-1)!);
    if (page === undefined) return void response.writeHead(404).end();
    const link = `<a href="${page.paid_url}">Pay ${page.amount / 100} MAD</a>`;
    response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8' }).end(link);
  }

  /** How many operations of a kind had an effect. */
  effects(operation: Operation['operation']): number {
    const ids = new Set(this.seen.flatMap((each) => (each.operation === operation ? [each.id] : [])));
    return [...ids].filter((id) => this.#answers.get(id)?.status === 'done').length;
  }

  #isGenuine(header: string, body: string): boolean {
    const [, timestamp, digest] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(header) ?? [];
    if (timestamp === undefined || digest === undefined) return false;
    if (Math.abs(Date.now() / 1000 - Number(timestamp)) > secondsMax) return false;
    return timingSafeEqual(Buffer.from(digest, 'hex'), this.#digest(timestamp, body));
  }

  #digest(timestamp: string, body: string): Buffer {
    return createHmac('sha256', this.secret).update(`${timestamp}.${body}`).digest();
  }

  /** The header that signs a body now, or at another time. */
  sign(body: string, timestamp = Math.floor(Date.now() / 1000)): string {
    return `t=${timestamp},v1=${this.#digest(String(timestamp), body).toString('hex')}`;
  }

  /** Tells the service at `address` of a payment. */
  report(address: string, { reference, code, amount, agent = 'Agence 12, Fès' }: Payment): Promise<Response> {
    const paid = { type: 'paid', reference, code, amount, currency: 'mad', agent };
    const body = JSON.stringify({ ...paid, paid_at: Math.floor(Date.now() / 1000) });
    return this.post(address, body, this.sign(body));
  }

  /** A customer has paid by card, which `payment` may change from what was asked for. Returns the report. */
  takeCard(charge: string, payment: { readonly reference: string; readonly amount?: number }): object {
    const page = this.pages.get(charge)!;
    const card = { brand: 'visa', last4: '4242', exp_month: 12, exp_year: 2030 };
    const paid_at = Math.floor(Date.now() / 1000);
    page.report = { type: 'paid', charge, amount: page.amount, currency: 'mad', card, paid_at, ...payment };
    page.taken += payment.amount ?? page.amount;
    return page.report;
  }

  /** A customer's card was declined. Returns the report. */
  decline(charge: string, decline_code: string): object {
    const report = { type: 'declined', charge, decline_code };
    this.pages.get(charge)!.report = report;
    return report;
  }

  /** Tells the service at `address` of a payment by card, or that there is none. */
  tell(address: string, report: object): Promise<Response> {
    const body = JSON.stringify(report);
    return this.post(address, body, this.sign(body));
  }

  post(address: string, body: string, signature: string): Promise<Response> {
    const headers = { 'Content-Type': 'application/json', 'X-Service-Signature': signature };
    return fetch(address, { method: 'POST', headers, body });
  }
}

function parse(body: string): Operation | null {
  try {
    const operation = JSON.parse(body) as Operation;
    const isKnown = operations.includes(operation.operation);
    return isKnown && typeof operation.id === 'string' ? operation : null;
  } catch {
    return null;
  }
}
