// The cases that an integrator's server must pass: `payments network check --url` runs them against it. They use made-up codes
// of test mode, so nothing becomes payable.

import { randomInt } from 'node:crypto';
import type { Clock } from '../core/clock.ts';
import { isOperationAnswer, type Operation, parsed } from './http-contract.ts';
import type { Posted, SendPost } from './post.ts';
import { signatureHeader, signatureHeaderName, signatureSecondsMax } from './signed-message.ts';

export interface Integrator {
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
  /** Resolves with what is wrong; null: nothing. */
  readonly run: (caller: Caller) => Promise<string | null>;
}

/** Runs the cases in order. The later ones use what the earlier ones have made. */
export async function checkIntegrator(integrator: Integrator): Promise<CheckedCase[]> {
  const caller = new Caller(integrator);
  const checked: CheckedCase[] = [];
  for (const { title, run } of cases) {
    const problem = await run(caller).catch((error: Error) => error.message);
    checked.push({ title, problem });
  }
  return checked;
}

class Caller {
  readonly #integrator: Integrator;
  readonly #run = String(randomInt(1_000_000_000));

  constructor(integrator: Integrator) {
    this.#integrator = integrator;
  }

  operation(operation: 'issue' | 'cancel', id: string): Operation {
    return {
      operation,
      id: this.idOf(id),
      organization: 'org_check',
      livemode: false,
      payment_intent: 'pi_check',
      code: '000000000000',
      amount: 10_000,
      currency: 'mad',
      expires_at: Math.floor(this.#integrator.now() / 1000) + 3600,
    };
  }

  status(id: string): Operation {
    return { operation: 'status', id: this.idOf(id) };
  }

  /** Ids differ in every run, because an integrator remembers them. */
  idOf(id: string): string {
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
    });
  }

  /** What is wrong with the answer to an operation, which should have this status. */
  async expect(operation: Operation, status: string): Promise<string | null> {
    const posted = await this.post(JSON.stringify(operation));
    if (posted.status !== 200) return `answered ${posted.status}, not 200`;
    const answer = parsed(posted.body);
    if (!isOperationAnswer.Check(answer)) return 'the answer is not {"id", "status"} as the contract has it';
    if (answer.id !== operation.id) return `the answer is about ${answer.id}, not about ${operation.id}`;
    return answer.status === status ? null : `the status is ${answer.status}, not ${status}`;
  }

  /** What is wrong unless an operation that is not genuine is refused, and not carried out. */
  async refuses(id: string, forged: Parameters<Caller['post']>[1]): Promise<string | null> {
    const { status } = await this.post(JSON.stringify(this.operation('issue', id)), forged);
    if (status < 400 || status >= 500) return `answered ${status}, not 401`;
    return this.expect(this.status(id), 'unknown');
  }
}

const cases: readonly Case[] = [
  { title: 'issue is carried out', run: (caller) => caller.expect(caller.operation('issue', '1'), 'done') },
  {
    title: 'issue that is sent again has the same answer',
    run: (caller) => caller.expect(caller.operation('issue', '1'), 'done'),
  },
  { title: 'status knows an operation', run: (caller) => caller.expect(caller.status('1'), 'done') },
  {
    title: 'status says unknown of an operation that never came',
    run: (caller) => caller.expect(caller.status('never'), 'unknown'),
  },
  { title: 'cancel is carried out', run: (caller) => caller.expect(caller.operation('cancel', '2'), 'done') },
  {
    title: 'cancel that is sent again has the same answer',
    run: (caller) => caller.expect(caller.operation('cancel', '2'), 'done'),
  },
  {
    title: 'a signature by another secret is refused, and nothing is done',
    run: (caller) => caller.refuses('3', { secret: 'another secret' }),
  },
  {
    title: `a signature that is older than ${signatureSecondsMax} seconds is refused, and nothing is done`,
    run: (caller) => caller.refuses('4', { ageSeconds: signatureSecondsMax + 60 }),
  },
  {
    title: 'a body that is no JSON is refused',
    async run(caller) {
      const { status } = await caller.post('no JSON');
      return status >= 400 && status < 500 ? null : `answered ${status}, not 400`;
    },
  },
];
