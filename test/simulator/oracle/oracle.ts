// What a shard decides and shows is compared with the model of the domain (test/domain/model), which begins with what the disk
// has when the shard has recovered. The stand-ins of the domain's functions beside this file ask here; they know the shard by
// the records that it works on.

import type { QueryOperation } from '../../../src/contract/routes/table.ts';
import type { Command } from '../../../src/domain/decide.ts';
import type { Context, Decision } from '../../../src/domain/decision.ts';
import type { QueryContext } from '../../../src/domain/query.ts';
import type { StoredRecord } from '../../../src/domain/record.ts';
import type { InternalAnswer } from '../../../src/shard/protocol.ts';
import { Model, type Question } from '../../domain/model/model.ts';
import type { Asked } from '../../domain/model/turn.ts';
import type { World } from '../world/world.ts';

const oracles = new WeakMap<object, Oracle>();

/** The oracle of the shard that works on these records; undefined where nothing is compared. */
export function oracleOf(view: object): Oracle | undefined {
  return oracles.get(view);
}

export class Oracle {
  readonly #world: World;
  readonly #model: Model;

  /** `records` are those of the disk, and `view` is what the shard reads them by. */
  constructor(world: World, records: Iterable<StoredRecord>, view: object) {
    this.#world = world;
    this.#model = new Model(records);
    oracles.set(view, this);
  }

  decided(command: Command, context: Context, decision: Decision<unknown>): void {
    this.#judge(command.operation, () => this.#model.differs(command, context, decision));
  }

  answered(
    operation: QueryOperation,
    params: unknown,
    id: string,
    context: QueryContext,
    outcome: unknown,
  ): void {
    const what = `${operation} ${id} ${JSON.stringify(params)}`;
    this.#judge(what, () => this.#model.answersOtherwise(operation, params, id, context, outcome));
  }

  told(question: Question, asked: Partial<Asked>, answer: InternalAnswer): void {
    this.#judge(JSON.stringify(question), () => this.#model.tellsOtherwise(question, asked, answer));
  }

  /** Of what was damaged nobody knows what is left of it. */
  #judge(what: string, differs: () => string | null): void {
    if (this.#world.isDamaged && !this.#world.isForgetful) return;
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
