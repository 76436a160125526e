// The merchants' servers that take webhooks. They are slow, dead for a while, answer with errors, and do what a delivery
// says and answer with an error all the same. They keep what they got.

import { deliveriesInFlightMax } from '../../../src/contract/limits.ts';
import type { Clocks } from '../../../src/core/clock.ts';
import type { AttemptResult } from '../../../src/domain/record.ts';
import type { SealedAttempt } from '../../../src/webhooks/attempt.ts';
import type { Random } from '../kernel/random.ts';
import type { Lane } from '../kernel/simulation.ts';
import type { Settings } from '../plan.ts';
import type { World } from './world.ts';

/** So long an answer is waited for. */
const patienceMs = 10_000;
/** Some wait for a timer before they answer. */
const timersMs = [25, 50, 100, 250, 500, 1_000, 2_500, 5_000];
/** Of the endpoints that fail at times. */
const lostShare = 0.3;

function troublesOf({ receiversAreSlow, receiversRefuse = false }: Settings) {
  if (receiversAreSlow) return ['slow'] as const;
  if (receiversRefuse) return ['error', 'error after all'] as const;
  return ['slow', 'dead', 'error', 'error after all'] as const;
}

export class Receivers {
  readonly #world: World;
  readonly #random: Random;
  readonly #lane: Lane;
  /** How often each endpoint has got each event, answered with a success or not. */
  readonly got = new Map<string, Map<string, number>>();
  /** The deliveries that were answered with a success, as `endpoint event`. */
  readonly accepted = new Set<string>();
  /** The deliveries in flight to each endpoint, by webhook thread. */
  readonly #inFlight = new Map<string, Map<string, number>>();
  readonly #lost = new Map<string, boolean>();
  /** How long each takes. */
  readonly #pacesMs = new Map<string, number>();
  /** None of them answers. */
  areAway = false;

  constructor(world: World) {
    this.#world = world;
    this.#random = world.simulation.random('receivers');
    this.#lane = world.simulation.lane('receivers');
  }

  /** A webhook thread has ended, and with it its connections. */
  disconnected(sender: string): void {
    this.#inFlight.delete(sender);
  }

  /** An attempt, as a webhook thread makes it. */
  async attempt(
    sender: string,
    { endpoint, body, sealed }: SealedAttempt,
    clocks: Pick<Clocks, 'wall'>,
  ): Promise<AttemptResult> {
    const { judge, simulation, settings, isHealed } = this.#world;
    this.#world.goesOut(`a delivery to ${endpoint}`);
    const inFlight = this.#inFlight.get(sender) ?? new Map<string, number>();
    this.#inFlight.set(sender, inFlight);
    inFlight.set(endpoint, (inFlight.get(endpoint) ?? 0) + 1);
    const flights = [...this.#inFlight.values()].reduce((sum, each) => sum + (each.get(endpoint) ?? 0), 0);
    judge.check(
      'at most five flights to an endpoint',
      flights <= deliveriesInFlightMax,
      () => `${flights} deliveries are in flight to ${endpoint}`,
    );
    judge.check(
      'every event is delivered',
      sealed.length > 0,
      () => `${endpoint} has no secret to sign with`,
    );
    const { end } = this.#world.facts.all.get(endpoint) ?? {};
    judge.check(
      'nothing is sent to an endpoint that is deleted',
      end?.status !== 'deleted',
      () => `${endpoint} was told to be deleted at ${end?.learnedMs}, and a delivery to it begins`,
    );
    const atMs = clocks.wall();
    const isLost = this.areAway || this.#isLost(endpoint);
    const trouble = isLost || (!isHealed && this.#random.chance(settings.receiverTroubleRate));
    const lost = settings.receiversRefuse && !isHealed ? 'silent' : 'dead';
    const how = isLost ? lost : trouble ? this.#random.pick(troublesOf(settings)) : 'sound';
    const sending = simulation.current;
    await this.#takes(this.#tookMs(endpoint, how));
    const isTaken = how === 'slow' || how === 'sound' || how === 'error after all';
    const { id } = JSON.parse(body) as { id: string };
    if (isTaken) this.#take(endpoint, id, how !== 'error after all');
    if (trouble) this.#world.happened.add(`receiver: ${how}`);
    inFlight.set(endpoint, inFlight.get(endpoint)! - 1);
    await this.#answers(sending);
    const done = { at_ms: atMs, duration_ms: Math.max(0, clocks.wall() - atMs), answer: '' };
    if (how === 'dead') return { ...done, status: null, failure: 'connection refused' };
    if (how === 'silent') return { ...done, status: null, failure: 'no answer in time' };
    return isTaken && how !== 'error after all'
      ? { ...done, status: 200, failure: null }
      : { ...done, status: 500, failure: 'status 500', answer: 'not now' };
  }

  #tookMs(endpoint: string, how: string): number {
    const { settings, isHealed } = this.#world;
    if (how === 'silent') return this.#random.between(patienceMs, patienceMs + 50);
    if (how === 'slow')
      return settings.receiversAreSlow ? this.#random.between(2_000, 9_000) : this.#random.skewed(1, 9_000);
    if (settings.receiversHavePaces !== true || isHealed) return this.#random.skewed(1, 150);
    return this.#paceOf(endpoint);
  }

  #paceOf(endpoint: string): number {
    let paceMs = this.#pacesMs.get(endpoint);
    if (paceMs === undefined) {
      paceMs = this.#random.chance(0.5) ? this.#random.pick(timersMs) : this.#random.skewed(10, 9_000);
      this.#pacesMs.set(endpoint, paceMs);
    }
    return paceMs;
  }

  /** A receiver goes on although the node that has sent to it does not. */
  #takes(ms: number): Promise<void> {
    const { simulation, hasNodes } = this.#world;
    if (!hasNodes) return simulation.wait(ms);
    return new Promise((resolve) => void simulation.after(this.#lane, ms, resolve));
  }

  #answers(sending: Lane): Promise<void> | null {
    const { simulation, hasNodes } = this.#world;
    return hasNodes ? new Promise((resolve) => simulation.soon(sending, resolve)) : null;
  }

  /** Some receivers never answer again: what is sent to them is tried to the end of the schedule, and given up. */
  #isLost(endpoint: string): boolean {
    let isLost = this.#lost.get(endpoint);
    if (isLost === undefined) {
      isLost = this.#random.chance(this.#world.settings.receiverTroubleRate * lostShare);
      this.#lost.set(endpoint, isLost);
    }
    return isLost;
  }

  #take(endpoint: string, event: string, isAccepted: boolean): void {
    const got = this.got.get(endpoint) ?? new Map<string, number>();
    this.got.set(endpoint, got);
    got.set(event, (got.get(event) ?? 0) + 1);
    if (isAccepted) this.accepted.add(`${endpoint} ${event}`);
    this.#world.note(`receiver: ${endpoint} takes ${event}${isAccepted ? '' : ' and says that it failed'}`);
  }
}
