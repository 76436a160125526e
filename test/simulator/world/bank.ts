// The payment networks outside, of live mode: they outlive the service, forget nothing, and have one effect for each call
// id. They are slow, refuse connections, do what was asked and lose the answer, never answer, say the outcome later, and
// then more than once. Test mode has the service's own simulated networks, which are only listened to.

import type { NetworkCall } from '../../../src/domain/network-call.ts';
import type { NetworkOutcome } from '../../../src/domain/network-outcomes.ts';
import type { OutcomeListener, TellingNetworks } from '../../../src/networks/network.ts';
import type { Random } from '../kernel/random.ts';
import type { Lane } from '../kernel/simulation.ts';
import { pageMs } from './timing.ts';
import type { World } from './world.ts';

const host = 'bank.test';
/** The longest that a call is under way to a network where it may have two effects, and in a queue there. */
const slowMsMax = 2_000;
/** Longer than both together. */
const doubtMs = 5_000;

/** What a call came to at the network. */
export interface Effect {
  readonly call: string;
  readonly action: NetworkCall['action'];
  readonly amount: number;
  readonly livemode: boolean;
  /** The charge that the call is about. */
  readonly charge: string | null;
  /** What every repetition must say, too. */
  readonly said: string;
  readonly final: NetworkOutcome;
  /** The final outcome is known at this time; before it the network answers `accepted`. */
  readonly finalAtMs: number;
}

export class Bank {
  readonly #world: World;
  readonly #random: Random;
  readonly effects = new Map<string, Effect>();
  /** The charges of the calls that were sent. */
  readonly #asked = new Set<string | null>();
  /** Calls of which it can't tell any more what became of them, whether it has done them or not. */
  readonly #forgotten = new Set<string>();
  /** The threads that were told how a call has ended, and when. */
  readonly #told = new Map<string, Map<Lane, number>>();
  /** Those that a person has settled: they have had their effect by then, or have none. */
  readonly #settled = new Set<string>();
  /** The process's shards that listen, and the lanes in which they do. */
  #listeners: { readonly lane: Lane; readonly listener: OutcomeListener }[] = [];

  constructor(world: World) {
    this.#world = world;
    this.#random = world.simulation.random('bank');
  }

  /** The networks of live mode, for the thread of an owner that asks for them. */
  connect(owner: string, lease: number | null): TellingNetworks {
    const lane = this.#world.simulation.current;
    const onOutcome = (listener: OutcomeListener) => {
      this.#listeners = this.#listeners.filter(({ lane }) => !lane.isCut);
      this.#listeners.push({ lane, listener });
    };
    const lookup = async ({ id }: NetworkCall) => {
      this.#world.goesOut(`a question about ${id}`);
      await this.underWay();
      if (this.#forgotten.has(id)) throw new Error('nobody can tell');
      const effect = this.effects.get(id);
      return effect === undefined ? 'unknown' : this.#answerOf(effect);
    };
    const take = (call: NetworkCall) => {
      this.#world.speaks(lease, call.action);
      return this.#take(call, owner);
    };
    const { hostedCards } = this.#world;
    const all = { host, lookup, ...(this.#repeats && { doubtMs }) };
    return {
      card:
        hostedCards === null
          ? { openPage: take, authorize: take, refund: take, ...all }
          : { ...all, ...hostedCards.connect(take, lookup, owner) },
      cash: { issue: take, cancel: take, ...all },
      onOutcome,
    };
  }

  /** Something goes wrong now. */
  get isTroubled(): boolean {
    return !this.#world.isHealed && this.#random.chance(this.#world.settings.bankTroubleRate);
  }

  /** A call that is sent twice has two effects, as CMI's have. */
  get #repeats(): boolean {
    return this.#world.settings.repeatsEffects;
  }

  /** On the way to the network: it may be slow, or not be reached. */
  async underWay(): Promise<void> {
    const { ms, isReached } = this.#way();
    await this.#world.simulation.wait(ms);
    if (isReached) return;
    this.#world.happened.add('network not reached');
    throw new Error('the network was not reached');
  }

  #way(): { readonly ms: number; readonly isReached: boolean } {
    const troubled = this.isTroubled;
    const ms =
      troubled && this.#repeats
        ? this.#random.unit() * slowMsMax
        : this.#random.skewed(0.5, troubled ? 30_000 : 200);
    return { ms, isReached: !troubled || this.#random.chance(0.4) };
  }

  /** What was sent arrives, also when its process has ended meanwhile; only then does the network do it. */
  #arrival(call: NetworkCall): Promise<Effect> {
    const { simulation, happened } = this.#world;
    const { ms, isReached } = this.#way();
    const sender = simulation.current;
    const lane = simulation.lane(`way of ${call.id}`);
    return new Promise((resolve, reject) => {
      const goesOn = (action: () => void) => simulation.soon(sender, action);
      simulation.after(lane, ms, () => {
        simulation.cut(lane);
        if (!isReached) {
          happened.add('network not reached');
          goesOn(() => reject(new Error('the network was not reached')));
          return;
        }
        if (sender.isCut) happened.add('network call of a process that has ended');
        if (this.isTroubled && this.#random.chance(0.3)) {
          this.#takeLate(call);
          goesOn(() => reject(new Error('the connection broke')));
          return;
        }
        const effect = this.#effectOf(call);
        goesOn(() => resolve(effect));
      });
    });
  }

  #isAsked(call: NetworkCall, owner: string): void {
    this.#world.calls(call, owner);
    this.#asked.add(call.charge);
  }

  /** Whether a network was asked about a charge, which it may still be about. */
  wasAsked(charge: string): boolean {
    return this.#asked.has(charge);
  }

  async #take(call: NetworkCall, owner: string): Promise<NetworkOutcome> {
    this.#isAsked(call, owner);
    if (this.#forgets(call)) this.#forgotten.add(call.id);
    const effect = await this.#arrival(call);
    if (this.isTroubled || this.#forgotten.has(call.id)) {
      this.#world.happened.add('network answer lost');
      if (this.#random.chance(0.5)) return new Promise(() => {});
      throw new Error('the connection broke');
    }
    await this.#world.simulation.wait(this.#random.skewed(0.5, 100));
    return this.#answerOf(effect);
  }

  /** What persons ask this network about: what is done for a customer who waits, or with money. */
  isAnswerable({ action }: Pick<NetworkCall, 'action'>): boolean {
    if (action === 'open_card_page') return this.#world.hostedCards === null;
    return action === 'authorize_card' || action === 'refund_charge';
  }

  #forgets(call: NetworkCall): boolean {
    if (!this.#world.settings.forgetsCalls || !this.isAnswerable(call) || !this.isTroubled) return false;
    return this.#random.chance(0.7);
  }

  /** What a person is told there who asks about a call: null when it was not done, or nobody knows yet how it ends. */
  found(call: string): Effect | null {
    const effect = this.effects.get(call);
    return effect !== undefined && this.#world.simulation.nowMs >= effect.finalAtMs ? effect : null;
  }

  /**
   * A person who has asked at `askedMs` has settled a call as what was found, which nothing may come of any more. A thread that knew how
   * it ended had to say so.
   */
  settled(call: string, found: Effect | null, askedMs: number): void {
    const told = [...(this.#told.get(call) ?? [])];
    const knew = told.find(([lane, toldMs]) => !lane.isCut && toldMs < askedMs);
    // Of several nodes another one may have settled it.
    if (!this.#world.hasNodes)
      this.#world.judge.check(
        'a network call has one effect',
        knew === undefined,
        () =>
          `the call ${call} is settled at ${askedMs} in spite of what ${knew?.[0].name} was told at ${knew?.[1]}`,
      );
    // It was done while the person was on the way, and the person has it undone.
    if (found === null) this.effects.delete(call);
    this.#settled.add(call);
  }

  /** The call lies in a queue of the network, which knows nothing of it until then. */
  #takeLate(call: NetworkCall): void {
    const { simulation, happened } = this.#world;
    happened.add('network call taken late');
    const lane = simulation.lane(`queue ${call.id}`);
    simulation.after(lane, this.#random.skewed(100, this.#repeats ? slowMsMax : 10_000), () => {
      simulation.cut(lane);
      this.#effectOf(call);
    });
  }

  #answerOf(effect: Effect): NetworkOutcome {
    if (this.#world.simulation.nowMs < effect.finalAtMs) return { result: 'accepted' };
    this.#tells(effect);
    return effect.final;
  }

  /** The thread that runs hears how a call has ended. */
  #tells({ call }: Effect): void {
    const { current, nowMs } = this.#world.simulation;
    const told = this.#told.get(call) ?? new Map<Lane, number>();
    this.#told.set(call, told);
    if (!told.has(current)) told.set(current, nowMs);
  }

  #effectOf(call: NetworkCall): Effect {
    const said = JSON.stringify(call);
    const known = this.effects.get(call.id);
    if (known !== undefined) {
      this.#world.happened.add('network call repeated');
      this.#world.judge.check(
        'a network call has one effect',
        known.said === said && !this.#repeats,
        () =>
          `the call ${call.id} was first ${known.said} and is ${this.#repeats ? 'done again' : 'now'} ${said}`,
      );
      return known;
    }
    this.#world.judge.check(
      'a network call has one effect',
      !this.#settled.has(call.id) || this.#world.wasRestored || this.#world.isDamaged,
      () => `the call ${call.id} was settled before it is done`,
    );
    const { simulation } = this.#world;
    const isLater =
      (call.action === 'authorize_card' || call.action === 'refund_charge') && this.#random.chance(0.4);
    const finalAtMs = simulation.nowMs + (isLater ? this.#undecidedMs() : 0);
    const { id, action, amount, livemode, charge } = call;
    const effect: Effect = {
      call: id,
      action,
      amount,
      livemode,
      charge,
      said,
      final: this.#decide(call),
      finalAtMs,
    };
    this.effects.set(id, effect);
    this.#world.note(`network: ${action} ${id} ${effect.final.result}${isLater ? ', said later' : ''}`);
    if (isLater && !this.#forgotten.has(id)) this.#notify(effect, finalAtMs - simulation.nowMs);
    return effect;
  }

  /** For how long it does not know how a call ends. Late networks may decide when the customer's page is over. */
  #undecidedMs(): number {
    if (this.#world.settings.decidesLate && this.#random.chance(0.7))
      return pageMs * (0.5 + this.#random.unit());
    return this.#random.skewed(10, 8_000);
  }

  #decide({ action }: NetworkCall): NetworkOutcome {
    if (this.#random.chance(0.8)) return { result: 'done' };
    if (action !== 'authorize_card' || this.#random.chance(0.3))
      return { result: 'failed', reason: 'refused' };
    return { result: 'declined', decline_code: 'insufficient_funds' };
  }

  /** Says the outcome to whoever listens then, and again if nobody does; sometimes more often than is needed. */
  #notify(effect: Effect, inMs: number): void {
    const { simulation } = this.#world;
    const lane = simulation.lane(`notice ${effect.call}`);
    simulation.after(lane, inMs, () => {
      const listening = this.#listeners.filter(({ lane }) => !lane.isCut);
      for (const { lane: to, listener } of listening)
        simulation.soon(to, () => {
          this.#tells(effect);
          listener(effect.call, effect.final);
        });
      const isOver = listening.length > 0 && this.#random.chance(0.6);
      simulation.cut(lane);
      if (!isOver && (listening.length === 0 || !this.#world.isHealed)) this.#notify(effect, 1_500);
    });
  }

  /** Listens to the simulated networks of test mode. */
  overhear(networks: TellingNetworks, owner: string): TellingNetworks {
    const heard = (call: NetworkCall, final: NetworkOutcome) => {
      const { id, action, amount, livemode, charge } = call;
      const effect = { call: id, action, amount, livemode, charge, said: '', final, finalAtMs: 0 };
      if (final.result !== 'accepted') this.effects.set(id, effect);
    };
    const hear = async (call: NetworkCall, outcome: Promise<NetworkOutcome>) => {
      this.#isAsked(call, owner);
      calls.set(call.id, call);
      const final = await outcome;
      heard(call, final);
      return final;
    };
    const calls = new Map<string, NetworkCall>();
    const { card, cash } = networks;
    const listen =
      (listener: OutcomeListener): OutcomeListener =>
      (id, outcome) => {
        const call = calls.get(id);
        if (call !== undefined) heard(call, outcome);
        listener(id, outcome);
      };
    return {
      card: card && {
        ...card,
        openPage: (call) => hear(call, card.openPage(call)),
        authorize: (call, token) => hear(call, card.authorize!(call, token)),
        refund: (call) => hear(call, card.refund(call)),
      },
      cash: cash && {
        ...cash,
        issue: (call, code) => hear(call, cash.issue(call, code)),
        cancel: (call, code) => hear(call, cash.cancel(call, code)),
      },
      onOutcome: (listener) => networks.onOutcome(listen(listener)),
    };
  }
}
