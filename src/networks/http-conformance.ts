// The cases that an integrator's server must pass, for cash, for cards or for both: `payments
// network check --url` runs them against it. They use made-up payments of test mode, so nothing
// becomes payable.

import { randomInt } from 'node:crypto';
import type { PaymentMethodType } from '../contract/vocabulary.ts';
import type { Clock } from '../core/clock.ts';
import { signatureHeader, signatureHeaderName, signatureSecondsMax } from '../crypto/signed-message.ts';
import {
  answerBytesMax,
  type Operation,
  type OperationAnswer,
  operationAnswerCheck,
  parsed,
} from './http-contract.ts';
import type { Posted, SendPost } from './post.ts';

interface Integrator {
  readonly url: string;
  readonly secret: string;
  readonly send: SendPost;
  readonly now: Clock;
}

export interface CheckedCase {
  readonly title: string;
  /** What was wrong; null when it passed. */
  readonly problem: string | null;
}

interface Case {
  readonly title: string;
  /** The method that it is about; null: both. */
  readonly method: PaymentMethodType | null;
  /** Resolves with what is wrong; null: nothing. */
  readonly run: (caller: Caller) => Promise<string | null>;
}

/** Runs the cases of some methods in order. The later ones use what the earlier ones have made. */
export async function checkIntegrator(
  integrator: Integrator,
  methods: readonly PaymentMethodType[],
): Promise<CheckedCase[]> {
  const caller = new Caller(integrator, methods.includes('cash') ? 'issue' : 'open_page');
  const checked: CheckedCase[] = [];
  for (const { title, method, run } of cases) {
    if (method !== null && !methods.includes(method)) continue;
    const problem = await run(caller).catch((error: Error) => error.message);
    checked.push({ title, problem });
  }
  return checked;
}

type Name = Operation['operation'];

class Caller {
  readonly #integrator: Integrator;
  /** What is sent in the cases that are about no method in particular. */
  readonly first: Name;
  /** The page that was opened first. */
  #page: string | null = null;
  readonly #run = String(randomInt(1_000_000_000));

  constructor(integrator: Integrator, first: Name) {
    this.#integrator = integrator;
    this.first = first;
  }

  #operation(operation: Name, id: string): Operation {
    const common = {
      id: this.#idOf(id),
      organization: 'org_check',
      livemode: false,
      payment_intent: 'pi_check',
      amount: 10_000,
      currency: 'mad',
    } as const;
    const expires_at = Math.floor(this.#integrator.now() / 1000) + 3600;
    switch (operation) {
      case 'issue':
      case 'cancel':
        return { operation, ...common, code: '000000000000', expires_at };
      case 'refund':
        return { operation, ...common, charge: this.#idOf('never') };
      case 'open_page': {
        const urls = { paid_url: 'https://pay.example/paid', unpaid_url: 'https://pay.example/unpaid' };
        return { operation, ...common, charge: common.id, expires_at, language: 'fr', ...urls };
      }
      case 'status':
        return { operation, id: common.id };
    }
  }

  /** Ids differ in every run, because an integrator remembers them. */
  #idOf(id: string): string {
    return `op_check_${this.#run}_${id}`;
  }

  /** Posts a body, genuinely signed unless told otherwise. */
  post(
    body: string,
    forged: { readonly secret?: string; readonly ageSeconds?: number } = {},
  ): Promise<Posted> {
    const { url, secret, send, now } = this.#integrator;
    const timestampSeconds = Math.floor(now() / 1000) - (forged.ageSeconds ?? 0);
    const secrets = [forged.secret ?? secret];
    const signature = signatureHeader({ secrets, timestampSeconds, body });
    return send({
      url,
      headers: { 'Content-Type': 'application/json', [signatureHeaderName]: signature },
      body,
      isIdempotent: true,
      answerBytesMax,
    });
  }

  /** The answer to an operation. Rejects with what is wrong with it. */
  async #answer(name: Name, id: string): Promise<OperationAnswer> {
    const operation = this.#operation(name, id);
    const posted = await this.post(JSON.stringify(operation));
    if (posted.status !== 200) throw new Error(`answered ${posted.status}, not 200`);
    const answer = parsed(posted.body);
    if (!operationAnswerCheck().Check(answer))
      throw new Error('the answer is not {"id", "status"} as the contract has it');
    if (answer.id !== operation.id)
      throw new Error(`the answer is about ${answer.id}, not about ${operation.id}`);
    return answer;
  }

  /** What is wrong with the answer to an operation, which should have this status. */
  async expect(name: Name, id: string, status: OperationAnswer['status']): Promise<string | null> {
    const answer = await this.#answer(name, id);
    return answer.status === status ? null : `the status is ${answer.status}, not ${status}`;
  }

  /** What is wrong with the page that an integrator has opened, or opens now. */
  async expectPage(name: 'open_page' | 'status', id: string): Promise<string | null> {
    const { status, url } = await this.#answer(name, id);
    if (status !== 'done') return `the status is ${status}, not done`;
    if (url === undefined || !URL.canParse(url)) return 'the answer has no url of the page';
    this.#page ??= url;
    return url === this.#page ? null : `the url is ${url}, and it was ${this.#page} before`;
  }

  /** What is wrong unless an operation that is not genuine is refused, and not carried out. */
  async refuses(id: string, forged: Parameters<Caller['post']>[1]): Promise<string | null> {
    const { status } = await this.post(JSON.stringify(this.#operation(this.first, id)), forged);
    if (status < 400 || status >= 500) return `answered ${status}, not 401`;
    return this.expect('status', id, 'unknown');
  }
}

const about =
  (method: PaymentMethodType | null) =>
  (title: string, run: Case['run']): Case => ({ title, method, run });
const [cash, card, both] = [about('cash'), about('card'), about(null)];

const cases: readonly Case[] = [
  cash('issue is carried out', (caller) => caller.expect('issue', '1', 'done')),
  cash('issue that is sent again has the same answer', (caller) => caller.expect('issue', '1', 'done')),
  cash('status knows an operation', (caller) => caller.expect('status', '1', 'done')),
  card('open_page gives the address of a page', (caller) => caller.expectPage('open_page', '5')),
  card('open_page that is sent again gives the same page', (caller) => caller.expectPage('open_page', '5')),
  card('status knows a page', (caller) => caller.expectPage('status', '5')),
  card('a refund of a payment that nobody made is refused', (caller) =>
    caller.expect('refund', '6', 'refused'),
  ),
  card('a refused refund that is sent again is refused again', (caller) =>
    caller.expect('refund', '6', 'refused'),
  ),
  card('status knows a refused refund', (caller) => caller.expect('status', '6', 'refused')),
  both('status says unknown of an operation that never came', (caller) =>
    caller.expect('status', 'never', 'unknown'),
  ),
  cash('cancel is carried out', (caller) => caller.expect('cancel', '2', 'done')),
  cash('cancel that is sent again has the same answer', (caller) => caller.expect('cancel', '2', 'done')),
  both('a signature by another secret is refused, and nothing is done', (caller) =>
    caller.refuses('3', { secret: 'another secret' }),
  ),
  both(
    `a signature that is older than ${signatureSecondsMax} seconds is refused, and nothing is done`,
    (caller) => caller.refuses('4', { ageSeconds: signatureSecondsMax + 60 }),
  ),
  both('a body that is no JSON is refused', async (caller) => {
    const { status } = await caller.post('no JSON');
    return status >= 400 && status < 500 ? null : `answered ${status}, not 400`;
  }),
];
