// A card network of live mode with a page of its own, where customers pay: it holds their money, posts what became of each
// payment to the service, and takes the money when the service says so, in its answer or by a call. It outlives the service. Its
// reports are late, come twice, at the same time too, or are lost; customers pay twice, too late, another amount, or in another
// currency; and somebody forges reports, or posts them to another organization or to test mode, signed as it is right there. A page
// that the service has been told is closed takes no payment any more.

import type { Mode } from '../../../src/contract/vocabulary.ts';
import type { NetworkCall } from '../../../src/domain/network-call.ts';
import type { NetworkOutcome } from '../../../src/domain/network-outcomes.ts';
import type {
  Callback,
  CardNetwork,
  LookedUp,
  Received,
  Reply,
  Report,
  TakenCallback,
} from '../../../src/networks/network.ts';
import type { InternalAnswer } from '../../../src/shard/protocol.ts';
import type { Random } from '../kernel/random.ts';
import type { Entrance } from './service.ts';
import { pageMs } from './timing.ts';
import type { World } from './world.ts';

/** What a customer has paid on the page of a charge. */
export interface Payment {
  readonly org: string;
  readonly charge: string;
  readonly reference: string;
  readonly amount: number;
  readonly currency: string;
  /** Its report is not lost. */
  readonly isReported: boolean;
  isCaptured: boolean;
  isReleased: boolean;
  /** What the service has answered to the report of it, if that arrived. */
  told: Received | null;
}

/** The page of a charge. */
interface Page {
  readonly closesAtMs: number;
  isClosed: boolean;
  readonly payments: Payment[];
}

interface Told {
  readonly charge: string;
  readonly reference: string;
  readonly amount: number;
  readonly currency: string;
}

/** Where an organization takes reports of a mode. */
interface Address {
  readonly org: string;
  readonly mode: Mode;
}

const connector = 'hosted';
const genuine = 'genuine';
/** A customer may stay on the page for a little longer than a charge can be paid. */
const pageGraceMs = 5_000;
const retryMs = 2_000;
const forged: Reply = { status: 400, contentType: 'text/plain', body: 'forged' };
const statusOf: Readonly<Record<Received, number>> = {
  credited: 200,
  repeated: 200,
  review: 200,
  too_many: 200,
  declined: 200,
  unknown: 503,
  later: 503,
};

export class HostedCards {
  readonly #world: World;
  readonly #random: Random;
  readonly #references: Random;
  readonly #repeatsReferences: boolean;
  readonly #strays: Random;
  readonly #pages = new Map<string, Page>();
  /** Reports that are on their way, or are to be sent again. */
  #reporting = 0;
  #count = 0;

  constructor(world: World) {
    this.#world = world;
    this.#random = world.simulation.random('hosted cards');
    this.#strays = world.simulation.random('stray reports');
    this.#references = world.simulation.random('references');
    this.#repeatsReferences = this.#references.chance(0.4);
  }

  get payments(): readonly Payment[] {
    return [...this.#pages.values()].flatMap(({ payments }) => payments);
  }

  get isIdle(): boolean {
    return this.#reporting === 0;
  }

  /** What a shard's thread has of it. `refund` is as that of every other network. */
  connect(
    refund: (call: NetworkCall) => Promise<NetworkOutcome>,
    lookUpRefund: CardNetwork['lookup'],
    owner: string,
  ): CardNetwork {
    const { bank } = this.#world;
    const said = async <T>(call: NetworkCall, does: () => T): Promise<T> => {
      this.#world.calls(call, owner);
      await bank.underWay();
      const outcome = does();
      if (!bank.isTroubled) return outcome;
      this.#world.happened.add('network answer lost');
      throw new Error('the connection broke');
    };
    return {
      openPage: (call) => said(call, () => ({ result: 'awaited' })),
      capture: (call) => said(call, () => this.#capture(call)),
      release: (call) => said(call, () => this.#release(call)),
      refund,
      lookup: async (call) => {
        if (call.action === 'refund_charge') return lookUpRefund(call);
        this.#world.goesOut(`a question about ${call.id}`);
        await bank.underWay();
        return this.#known(call);
      },
      readCallback: (callback) => this.#read(callback),
    };
  }

  #pageOf(charge: string): Page {
    const { simulation, isHealed } = this.#world;
    const closesAtMs = simulation.nowMs + pageMs + pageGraceMs;
    const page = this.#pages.get(charge) ?? { closesAtMs, isClosed: isHealed, payments: [] };
    this.#pages.set(charge, page);
    return page;
  }

  #known(call: NetworkCall): LookedUp {
    if (call.action === 'open_card_page') return 'unknown';
    const page = this.#pageOf(call.charge!);
    const [first] = page.payments;
    if (call.action === 'await_card_payment') {
      if (first !== undefined) return { result: 'paid', money: moneyOf(first) };
      if (!this.#world.isHealed && this.#world.simulation.nowMs < page.closesAtMs)
        return { result: 'accepted' };
      page.isClosed = true;
      return { result: 'failed', reason: 'closed' };
    }
    const held = this.#held(call);
    if (call.action === 'release_charge') return held.length === 0 ? { result: 'done' } : 'unknown';
    if (page.payments.some(({ isCaptured }) => isCaptured)) return { result: 'done' };
    return held.some(isWhole(call)) ? 'unknown' : { result: 'failed', reason: 'nothing is held' };
  }

  /** The payments of a charge whose money is neither taken nor given back. */
  #held({ charge }: NetworkCall): Payment[] {
    return this.#pageOf(charge!).payments.filter(({ isCaptured, isReleased }) => !isCaptured && !isReleased);
  }

  #capture(call: NetworkCall): NetworkOutcome {
    const payment = this.#held(call).find(isWhole(call));
    if (payment === undefined) return { result: 'failed', reason: 'nothing is held' };
    payment.isCaptured = true;
    this.#world.happened.add('captured by a call');
    return { result: 'done' };
  }

  #release(call: NetworkCall): NetworkOutcome {
    for (const payment of this.#held(call)) payment.isReleased = true;
    return { result: 'done' };
  }

  #read({ signature, body }: Callback): Report | Reply {
    if (signature !== genuine) return forged;
    const told = JSON.parse(body) as Told;
    return {
      about: { charge: told.charge },
      says: { result: 'paid', money: moneyOf(told) },
      reply: (received) => ({ status: statusOf[received], contentType: 'text/plain', body: received }),
    };
  }

  /** A customer pays on the page of a charge of so many centimes. */
  pay(org: string, charge: string, amount: number, service: () => Entrance | null): void {
    const world = this.#world;
    const page = this.#pageOf(charge);
    // Asking tells of the first payment only, so there is no other one before the service knows of that.
    if (page.isClosed || page.payments.some(({ isReported }) => !isReported)) return;
    const mayBeLost = page.payments.length === 0 && !world.isHealed;
    const odd = this.#random.unit();
    const payment: Payment = {
      org,
      charge,
      reference: this.#newReference(org, charge),
      amount: odd < 0.15 ? amount + this.#random.pick([-100, 100]) : amount,
      currency: odd > 0.85 ? 'eur' : 'mad',
      isReported: !mayBeLost || !this.#random.chance(world.settings.bankTroubleRate),
      isCaptured: false,
      isReleased: false,
      told: null,
    };
    page.payments.push(payment);
    world.note(`network: ${payment.reference}, ${payment.amount} ${payment.currency}, is paid for ${charge}`);
    world.happened.add('paid on the network’s page');
    if (!payment.isReported) {
      world.happened.add('report of a payment lost');
      return;
    }
    const isTwice = this.#random.chance(0.3);
    for (let i = isTwice ? 2 : 1; i > 0; i--)
      this.#report(org, payment, service, this.#random.skewed(1, 20_000));
    if (this.#random.chance(0.2)) this.#forge(org, payment, service);
    if (this.#strays.chance(0.4)) this.#stray(payment, service);
  }

  /** In some runs the network names payments as it has named others of the organization; of one charge, each has a name of its own. */
  #newReference(org: string, charge: string): string {
    const own = new Set(this.#pageOf(charge).payments.map(({ reference }) => reference));
    const others = this.payments.filter((payment) => payment.org === org && !own.has(payment.reference));
    if (this.#repeatsReferences && others.length > 0 && this.#references.chance(0.5)) {
      this.#world.happened.add('a reference of two charges');
      return this.#references.pick(others).reference;
    }
    return `T${++this.#count}`;
  }

  /** Posts a report, again and again until the service has taken it. */
  #report(org: string, payment: Payment, service: () => Entrance | null, inMs: number): void {
    this.#reporting++;
    const again = () => this.#report(org, payment, service, retryMs);
    const to = { org, mode: 'live' } as const;
    this.#post(to, JSON.stringify(payment), genuine, service, inMs, (reply) => {
      this.#reporting--;
      if (reply === null || reply.status !== 200) again();
      else this.#taken(payment, reply.body as Received);
    });
  }

  /** The service has answered that it has stored a report: the money is taken, or the answer is lost. */
  #taken(payment: Payment, received: Received): void {
    this.#world.note(`network: the report of ${payment.reference} is answered: ${received}`);
    payment.told = received;
    if (received !== 'credited' || payment.isReleased) return;
    if (this.#world.bank.isTroubled) this.#world.happened.add('answer to a report lost');
    else payment.isCaptured = true;
  }

  #forge(org: string, payment: Payment, service: () => Entrance | null): void {
    const to = { org, mode: 'live' } as const;
    this.#postFalse('forged', payment, to, service, this.#random.skewed(1, 5_000));
  }

  /** Whoever has the secret of another organization, or of test mode, signs a report of a charge with it. */
  #stray(payment: Payment, service: () => Entrance | null): void {
    const { org } = payment;
    const others = [...new Set(this.payments.map((each) => each.org))].filter((each) => each !== org);
    const strangers = others.map((other) => ({ org: other, mode: 'live' }) as const);
    const to = this.#strays.pick([{ org, mode: 'test' } as const, ...strangers]);
    this.#postFalse(genuine, payment, to, service, this.#strays.skewed(1, 5_000));
  }

  /** Posts a report of money that nobody has paid. */
  #postFalse(
    signature: string,
    { charge, reference, amount }: Payment,
    to: Address,
    service: () => Entrance | null,
    inMs: number,
  ): void {
    const what = signature === genuine ? `report for ${to.mode} mode of ${to.org}` : 'forged report';
    this.#world.happened.add(signature === genuine ? 'report posted elsewhere' : 'report forged');
    const body = JSON.stringify({ charge, reference: `${reference}-false`, amount, currency: 'mad' });
    this.#post(to, body, signature, service, inMs, (reply) =>
      this.#world.judge.check(
        'what is credited was paid in full, and is captured',
        reply === null || reply.status !== 200,
        () => `a ${what} of ${charge} is answered ${reply!.body}`,
      ),
    );
  }

  /** `done` gets null when no answer came in time. */
  #post(
    { org, mode }: Address,
    body: string,
    signature: string,
    service: () => Entrance | null,
    inMs: number,
    done: (reply: Reply | null) => void,
  ): void {
    const { simulation } = this.#world;
    const lane = simulation.lane('report');
    const answered = (reply: Reply | null) => {
      if (lane.isCut) return;
      simulation.cut(lane);
      done(reply);
    };
    simulation.after(lane, inMs, () => {
      simulation.after(lane, 10_000, () => answered(null));
      const request = { kind: 'network_callback', org, mode, connector, signature, body } as const;
      service()?.handOver(org, request, (answer: InternalAnswer) => {
        answered(answer.ok ? (JSON.parse(answer.body) as TakenCallback).reply : null);
      });
    });
  }
}

function moneyOf({ reference, amount, currency }: Told) {
  return { reference, amount, currency, agent: null, card: null, isHeld: true };
}

/** Whether a payment is all that a call is about. */
const isWhole =
  ({ amount, currency }: NetworkCall) =>
  (payment: Payment) =>
    payment.amount === amount && payment.currency === currency;
