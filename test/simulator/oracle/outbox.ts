// What a shard gives its webhook threads: deliveries that are due, the oldest of an endpoint first, each once until its attempt is
// reported; what has become of endpoints; and which reports are recorded.

import { isDeepStrictEqual } from 'node:util';
import { textBytes } from '../../../src/core/heap-bytes.ts';
import { slotOf } from '../../../src/core/slot.ts';
import { eventJson } from '../../../src/domain/events.ts';
import type { Change, RecordOf } from '../../../src/domain/record.ts';
import type { CommitBatch, Peer } from '../../../src/shard/commit-batch.ts';
import { perBatchMax, perEndpointMax, windowSize } from '../../../src/shard/outbox.ts';
import type {
  DueDelivery,
  EndpointChange,
  EndpointReport,
  OutboxBatch,
  OutboxMessage,
} from '../../../src/shard/protocol.ts';
import type { DeliveryOutcome } from '../../../src/shard/shard-options.ts';
import type { ShardState } from '../../../src/shard/shard-state.ts';
import type { Table } from '../../domain/model/turn.ts';
import type { World } from '../world/world.ts';
import { AttemptQuota, keptBeyond } from './attempt-quota.ts';
import { Health } from './health.ts';
import { Serials } from './serials.ts';
import { type Delivery, isBefore, Waiting } from './waiting.ts';

const inFlightMax = 5;
/** What a delivery takes beside its body. */
const leaseBytes = 1_024;

/** A delivery that a thread has: which attempt of it, and what it takes there. */
interface Lease {
  readonly number: number;
  readonly bytes: number;
}

/** A webhook thread. */
interface Thread {
  readonly peer: Peer;
  /** Since when it knows the endpoints, in service time; null: it is new. */
  knowsSinceMs: number | null;
  /** By endpoint, and by delivery. */
  readonly leased: Map<string, Map<string, Lease>>;
  /** When it had last as many of an endpoint as can be in flight, in service time. */
  readonly fullMs: Map<string, number>;
  /** When it had last as many bytes of deliveries as it may have. */
  bytesFullMs: number;
}

export class Outbox {
  readonly #world: World;
  readonly #table: Table;
  readonly #threads: (Thread | null)[];
  readonly waiting: Waiting;
  readonly health = new Health();
  readonly #serials: Serials;
  readonly #quota = new AttemptQuota();
  /** The attempts that became records with the reports that were taken last. */
  #written: RecordOf<'attempt'>[] = [];
  /** Endpoints that have changed since their threads were told. */
  readonly #changed = new Set<string>();
  /** When a thread was told of an endpoint. */
  readonly #toldMs = new Map<string, number>();

  constructor(world: World, table: Table, threads: number) {
    this.#world = world;
    this.#table = table;
    this.#threads = Array.from({ length: threads }, () => null);
    this.waiting = new Waiting(table.all('delivery'));
    this.#serials = new Serials(table.all('attempt'));
  }

  #check(fault: string | null): void {
    if (!this.#world.fitsTogether) return;
    this.#world.judge.check('webhook threads have what is due', fault === null, () => fault ?? '');
  }

  changed(change: Change): void {
    this.waiting.changed(change);
    if (change.kind === 'attempt') this.#attemptChanged(change);
    if (change.kind !== 'webhook_endpoint') return;
    this.#changed.add(change.id);
    const thread = this.#threads[this.#threadOf(change.id)];
    if (change.status !== 'enabled') thread?.leased.delete(change.id);
    if (change.status === 'deleted') this.health.forget(change.id);
  }

  #attemptChanged(attempt: Change & RecordOf<'attempt'>): void {
    if (this.#serials.isNew(attempt)) this.#written.push(attempt);
    this.#check(this.#serials.changed(attempt));
  }

  #threadOf(endpoint: string): number {
    return slotOf(endpoint) % this.#threads.length;
  }

  /** A thread reports attempts, which `take` records. It keeps those that are not acknowledged, because writes are refused. */
  reported(
    batch: CommitBatch,
    peer: Peer,
    { thread: number, open, reports }: OutboxMessage,
    state: Pick<ShardState, 'refusesWrites' | 'settings'>,
    take: (onOutcome: (outcome: DeliveryOutcome) => void) => void,
  ): void {
    if (open) this.#threads[number] = { ...newThread(), peer };
    const thread = this.#threads[number];
    const isHeard = thread?.peer === peer;
    const [outcomes, fresh] = [[] as DeliveryOutcome[], new Map<string, EndpointReport>()];
    for (const report of reports) {
      const { delivery, number } = report;
      const isNew = this.#table.get('delivery', delivery)?.attempt_count === number;
      if (isHeard && isNew && !fresh.has(delivery)) fresh.set(delivery, report);
    }
    const takenMax = state.refusesWrites ? 0 : fresh.size;
    const { length: others } = batch.acknowledged(number);
    this.#written = [];
    take((outcome) => outcomes.push(outcome));
    if (!this.#world.fitsTogether) {
      for (const report of reports) this.#ended(thread, report, batch.serviceMs);
      for (const attempt of this.#written) this.#quota.answerOf(attempt, attempt, batch.serviceMs);
      return;
    }
    const acknowledged = batch.acknowledged(number).slice(others);
    const takenMin = state.refusesWrites ? 0 : fresh.size;
    const { length: taken } = acknowledged.filter(({ delivery }) => fresh.has(delivery));
    this.#check(
      takenMin <= taken && taken <= takenMax ? null : `${taken} of ${fresh.size} reports are taken`,
    );
    // What is refused comes last: no room becomes free meanwhile.
    const refused = new Set([...fresh.keys()].slice(taken));
    const ended = isHeard ? reports.filter(({ delivery }) => !refused.has(delivery)) : [];
    const isWhole = isDeepStrictEqual(acknowledged, ended.map(recordedOf));
    this.#check(isWhole ? null : `${acknowledged.length} reports are acknowledged, not ${ended.length}`);
    this.#judgeTaken([...fresh.values()].slice(0, taken), outcomes, batch.serviceMs, state);
    for (const report of ended) this.#ended(thread, report, batch.serviceMs);
  }

  #judgeTaken(
    taken: readonly EndpointReport[],
    outcomes: readonly DeliveryOutcome[],
    serviceMs: number,
    { settings }: Pick<ShardState, 'settings'>,
  ): void {
    const wanted = taken.map(({ delivery, endpoint, result }) => {
      if (this.#table.get('webhook_endpoint', endpoint)?.status !== 'deleted')
        this.health.add(endpoint, result);
      const status = this.#table.get('delivery', delivery)?.status ?? 'ended';
      return status === 'pending' ? 'retried' : status;
    });
    this.#check(
      isDeepStrictEqual(outcomes, wanted) ? null : `attempts are counted as ${outcomes}, not ${wanted}`,
    );
    const found = this.#written.map(({ answer }) => answer);
    const answers = this.#answersOf(taken, serviceMs);
    this.#check(
      isDeepStrictEqual(found, answers)
        ? null
        : `of answers ${JSON.stringify(found)} are kept, not ${JSON.stringify(answers)}`,
    );
    const newest = this.#written.at(-1);
    const beyond = newest && keptBeyond(newest, this.#table.all('attempt'), settings);
    this.#check(
      beyond === undefined
        ? null
        : `${beyond?.id} is kept, and ${newest?.id} has the number ${newest?.serial}`,
    );
  }

  /** A lease ends with the report of its attempt. */
  #ended(
    thread: Thread | null | undefined,
    { endpoint, delivery, number }: EndpointReport,
    serviceMs: number,
  ): void {
    const leased = thread?.leased.get(endpoint);
    if (!thread || leased?.get(delivery)?.number !== number) return;
    if (leased.size >= inFlightMax) thread.fullMs.set(endpoint, serviceMs);
    if (this.#isFull(thread)) thread.bytesFullMs = serviceMs;
    leased.delete(delivery);
  }

  /** What is to be kept of the answers to attempts that become records. */
  #answersOf(reports: readonly EndpointReport[], serviceMs: number): (string | null)[] {
    return reports.flatMap(({ delivery, number, result }) => {
      const record = this.#table.get('delivery', delivery);
      const isTold = record === undefined || (number === 0 && result.failure === null);
      return isTold ? [] : [this.#quota.answerOf(record, result, serviceMs)];
    });
  }

  /** What a commit batch gives to the threads, with the reports that each of them is told to be recorded. */
  gave(batch: CommitBatch, given: ReadonlyMap<Peer, OutboxBatch>, readOnly: boolean): void {
    for (const [number, thread] of this.#threads.entries()) {
      if (thread === null) continue;
      const message = given.get(thread.peer) ?? nothing;
      const recorded = batch.acknowledged(number);
      this.#check(isDeepStrictEqual(message.recorded, recorded) ? null : 'a report is not acknowledged');
      if (readOnly) {
        const isNothing = message.deliveries.length + message.endpoints.length === 0 && !message.complete;
        this.#check(isNothing ? null : 'something is leased, and nothing can be written');
        continue;
      }
      this.#endpointsTold(number, thread, message, batch.serviceMs);
      this.#check(
        message.deliveries.length <= perBatchMax + perEndpointMax
          ? null
          : `${message.deliveries.length} leases at once`,
      );
      for (const delivery of message.deliveries) this.#lease(thread, delivery, batch.serviceMs);
      for (const endpoint of new Set(message.deliveries.map((each) => each.endpoint)))
        this.#judgeOrder(thread, endpoint, message.deliveries, batch.serviceMs);
    }
  }

  #endpointsTold(
    number: number,
    thread: Thread,
    { complete, endpoints }: OutboxBatch,
    serviceMs: number,
  ): void {
    const isNew = thread.knowsSinceMs === null;
    const isOf = (id: string) => this.#threadOf(id) === number;
    const known = [...this.#table.all('webhook_endpoint')].filter(({ status }) => status !== 'deleted');
    const wanted = new Set([...this.#changed].filter(isOf));
    if (isNew) for (const { id } of known) if (isOf(id)) wanted.add(id);
    const told = new Set(endpoints.map(({ id }) => id));
    const missing = [...wanted].filter((id) => !told.has(id));
    const wrong = endpoints.find((each) => !isDeepStrictEqual(each, this.#changeOf(each.id)));
    this.#check(missing.length === 0 ? null : `nobody is told of ${missing}`);
    this.#check(wrong === undefined ? null : `the thread is told ${JSON.stringify(wrong)}`);
    this.#check(complete === isNew ? null : `a thread is told all: ${complete}`);
    for (const id of wanted) {
      this.#changed.delete(id);
      this.#toldMs.set(id, serviceMs);
    }
    thread.knowsSinceMs ??= serviceMs;
  }

  #changeOf(id: string): EndpointChange {
    const endpoint = this.#table.get('webhook_endpoint', id);
    if (endpoint === undefined || endpoint.status === 'deleted') return { id, state: null };
    const { org, url, secrets, status } = endpoint;
    return { id, state: { org, url, secrets, enabled: status === 'enabled' } };
  }

  #lease(thread: Thread, given: DueDelivery, serviceMs: number): void {
    const { id, endpoint, number, first, body } = given;
    const leased = thread.leased.get(endpoint) ?? new Map<string, Lease>();
    thread.leased.set(endpoint, leased);
    const record = this.waiting.of(endpoint).get(id);
    const event = record && this.#table.get('event', record.event);
    if (record === undefined || event === undefined) {
      this.#check(`${id} is leased and does not wait`);
      return;
    }
    const wanted = {
      number: record.attempt_count,
      first: record.due_at_ms === 0,
      body: eventJson(event, this.pendingOf(event.id)),
    };
    const isRight = isDeepStrictEqual({ number, first, body }, wanted);
    this.#check(
      isRight ? null : `${JSON.stringify(given)} is leased, and should be ${JSON.stringify(wanted)}`,
    );
    const isDue = (record.due_at_ms ?? Infinity) <= serviceMs && this.#stateOf(endpoint) === 'enabled';
    this.#check(isDue ? null : `${id} is leased at ${serviceMs} and due at ${record.due_at_ms}`);
    this.#check(!leased.has(id) || first ? null : `${id} is leased twice`);
    const known = leased.get(id);
    this.#check(known || !this.#isFull(thread) ? null : `${bytesOf(thread)} bytes are leased, and ${id}`);
    leased.set(id, { number, bytes: known?.bytes ?? leaseBytes + textBytes(body) });
    if (this.#isFull(thread)) thread.bytesFullMs = serviceMs;
    this.#check(leased.size <= windowSize ? null : `${leased.size} deliveries of ${endpoint} are leased`);
  }

  /** How many deliveries of an event are pending. */
  pendingOf(event: string): number {
    return [...this.waiting.endpointsOf(event)].filter((id) => this.#stateOf(id) !== 'deleted').length;
  }

  /** It has so much that nothing else is leased to it. */
  #isFull(thread: Thread): boolean {
    return bytesOf(thread) >= (this.#world.settings.outboxBytesMax ?? Infinity) / this.#threads.length;
  }

  #stateOf(endpoint: string): string {
    return this.#table.get('webhook_endpoint', endpoint)?.status ?? 'deleted';
  }

  /** What waits longer is leased before. */
  #judgeOrder({ leased }: Thread, endpoint: string, given: readonly DueDelivery[], serviceMs: number): void {
    const waiting = this.waiting.of(endpoint);
    const left = this.#unleased(leased, endpoint, serviceMs);
    for (const { id, first } of given.filter((each) => each.endpoint === endpoint)) {
      const record = waiting.get(id);
      const passed = first || !record ? undefined : left.find((each) => isBefore(each, record));
      this.#check(passed === undefined ? null : `${id} is leased before ${passed?.id}`);
    }
  }

  #unleased(leased: Thread['leased'], endpoint: string, serviceMs: number): Delivery[] {
    const known = leased.get(endpoint);
    return [...this.waiting.of(endpoint).values()].filter(
      ({ id, due_at_ms }) => (due_at_ms ?? Infinity) <= serviceMs && known?.has(id) !== true,
    );
  }

  /** How many deliveries wait for endpoints that there are. */
  get depth(): number {
    return [...this.#table.all('webhook_endpoint')]
      .filter(({ status }) => status !== 'deleted')
      .reduce((sum, { id }) => sum + this.waiting.of(id).size, 0);
  }

  /** Nothing has kept the shard from its work since a moment: what was due by then, and known to the threads, is leased. */
  judgeLate(sinceMs: number): void {
    for (const { id, status } of this.#table.all('webhook_endpoint')) {
      const thread = this.#threads[this.#threadOf(id)];
      if (status !== 'enabled' || !thread || (thread.leased.get(id)?.size ?? 0) >= inFlightMax) continue;
      if (this.#isFull(thread)) continue;
      const [knowsMs, toldMs] = [thread.knowsSinceMs ?? Infinity, this.#toldMs.get(id) ?? Infinity];
      if (Math.max(knowsMs, toldMs, thread.fullMs.get(id) ?? 0, thread.bytesFullMs) > sinceMs) continue;
      const [late] = this.#unleased(thread.leased, id, sinceMs);
      this.#check(late === undefined ? null : `${late?.id} is due since ${late?.due_at_ms} and not leased`);
    }
  }
}

function recordedOf({ endpoint, delivery, number }: EndpointReport): OutboxBatch['recorded'][number] {
  return { endpoint, delivery, number };
}

function newThread(): Omit<Thread, 'peer'> {
  return { knowsSinceMs: null, leased: new Map(), fullMs: new Map(), bytesFullMs: 0 };
}

function bytesOf({ leased }: Thread): number {
  const leases = [...leased.values()].flatMap((ofEndpoint) => [...ofEndpoint.values()]);
  return leases.reduce((sum, { bytes }) => sum + bytes, 0);
}

const nothing: OutboxBatch = { endpoints: [], complete: false, deliveries: [], recorded: [] };
