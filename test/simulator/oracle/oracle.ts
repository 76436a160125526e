// What a shard decides and shows is compared with the model of the domain (test/domain/model), which begins with what the disk
// has when the shard has recovered. The stand-ins of the domain's functions beside this file ask here; they know the shard by
// the records that it works on.

import { isDeepStrictEqual } from 'node:util';
import type { QueryOperation } from '../../../src/contract/routes/table.ts';
import type { Now } from '../../../src/core/clock.ts';
import type { AnyCommand, Done } from '../../../src/domain/command.ts';
import type { Command } from '../../../src/domain/decide.ts';
import type { Context, Decision, Outcome } from '../../../src/domain/decision.ts';
import type { QueryContext } from '../../../src/domain/query.ts';
import type { StoredRecord } from '../../../src/domain/record.ts';
import type { Checkpoint } from '../../../src/journal/journal.ts';
import type { ShardAccount } from '../../../src/shard/account.ts';
import type { CommitBatch } from '../../../src/shard/commit-batch.ts';
import type { InternalAnswer } from '../../../src/shard/protocol.ts';
import type { ShardState } from '../../../src/shard/shard-state.ts';
import { Model, type Question } from '../../domain/model/model.ts';
import type { Asked } from '../../domain/model/turn.ts';
import type { Undurable } from '../world/prompt-reads.ts';
import { webhookThreads } from '../world/webhook-thread.ts';
import type { World } from '../world/world.ts';
import { Batches } from './batches.ts';
import { DurableReads } from './durable-reads.ts';
import { Outbox } from './outbox.ts';
import { Promptness } from './promptness.ts';
import { cursorOf, toldOf } from './questions.ts';
import { Requests } from './requests.ts';

const oracles = new WeakMap<object, Oracle>();

/** The oracle of the shard that works on these records; undefined where nothing is compared. */
export function oracleOf(view: object): Oracle | undefined {
  return oracles.get(view);
}

/** The oracle of a shard, whose commit batch reads its records by that view. */
export function oracleOfBatch({ records }: ShardState, { view }: CommitBatch): Oracle | undefined {
  const oracle = oracles.get(records);
  // In a stall it is a view of its own.
  if (oracle !== undefined) oracles.set(view, oracle);
  return oracle;
}

export class Oracle {
  readonly #world: World;
  readonly #model: Model;
  readonly requests: Requests;
  readonly outbox: Outbox;
  readonly promptness: Promptness;
  readonly batches: Batches;

  /** `records` are those of the disk, of which the shard has just recovered; `now` is its time. */
  constructor(
    world: World,
    records: Iterable<StoredRecord>,
    state: ShardState,
    accounts: Iterable<ShardAccount>,
    counts: Pick<Checkpoint, 'getMetadata'>,
    undurable: Undurable,
    now: () => Now,
  ) {
    this.#world = world;
    this.#model = new Model(records);
    this.requests = new Requests(world.answers, new DurableReads(world, undurable), accounts, counts, now);
    this.batches = new Batches(world, now);
    this.outbox = new Outbox(world, this.#model.table, webhookThreads);
    this.promptness = new Promptness(world, this.outbox, this.requests, [
      ...this.#model.table.all('charge'),
      ...this.#model.table.all('checkout_session'),
      ...this.#model.table.all('delivery'),
    ]);
    this.requests.watch(state, this.#model.table.all('network_call'));
    oracles.set(state.records, this);
  }

  decided(command: Command, context: Context, decision: Decision<Done<AnyCommand>>): void {
    this.#judge(command.operation, () => this.#model.differs(command, context, decision));
    for (const change of decision.changes) {
      this.outbox.changed(change);
      this.promptness.changed(change);
    }
    this.requests.limitsOf(context.org, context.livemode, context).used(context);
    this.requests.cameTo(context.request?.request_id ?? null, decision.outcome);
  }

  answered(
    operation: QueryOperation,
    params: unknown,
    id: string,
    context: QueryContext,
    outcome: Outcome,
  ): void {
    const what = `${operation} ${id} ${JSON.stringify(params)}`;
    this.#judge(what, () => this.#model.answersOtherwise(operation, params, id, context, outcome));
    this.requests.cameTo(null, outcome);
  }

  told(question: Question, asked: Partial<Asked>, now: Now, answer: InternalAnswer): void {
    const what = JSON.stringify(question);
    if (question.kind === 'export_ended')
      this.requests.limitsOf(question.org, question.livemode, now).exports.delete(question.requestId);
    this.#judge(what, () => this.#model.tellsOtherwise(question, asked, answer));
    this.#judge(what, () => this.#toldOtherwise(question, now, answer));
  }

  #toldOtherwise(question: Question, now: Now, answer: InternalAnswer): string | null {
    const { outbox, requests } = this;
    const known = { table: this.#model.table, outbox, requests };
    const body = toldOf(known, question, now);
    if (body === undefined) return null;
    const wanted = { body: JSON.parse(JSON.stringify(body)), cursor: cursorOf(known, question, body) };
    const found = answer.ok ? { body: JSON.parse(answer.body), cursor: answer.cursor } : answer;
    return isDeepStrictEqual(found, wanted)
      ? null
      : `it is ${JSON.stringify(found)} and not ${JSON.stringify(wanted)}`;
  }

  /** Of what was damaged nobody knows what is left of it. */
  #judge(what: string, differs: () => string | null): void {
    if (!this.#world.fitsTogether) return;
    let difference: string | null;
    try {
      difference = differs();
    } catch (error) {
      difference = (error as Error).message;
    }
    this.#world.judge.check(
      'a shard does what the model does',
      difference === null,
      () => `${what}: ${difference}`,
    );
  }
}
