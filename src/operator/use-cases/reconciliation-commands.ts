// The operators' commands behind `payments reconcile`: the charges that a statement names, what was
// settled in its period, and reviews of money that no payment has.

import { Type } from 'typebox';
import { kindOfId } from '../../contract/id-prefixes.ts';
import { type Mode, type PaymentMethodType, paymentMethodTypes } from '../../contract/vocabulary.ts';
import { defined } from '../../core/assert.ts';
import { moroccoDayAt, moroccoDayBounds } from '../../core/morocco-day.ts';
import { fieldIndex, scopeOf } from '../../domain/indexes.ts';
import type { DayTotalRecord } from '../../domain/record.ts';
import type { Settled, SettledPage } from '../../domain/settled.ts';
import { type ConnectorName, connectorNames, connectors } from '../../networks/connectors.ts';
import { defineCommand, modeSchema } from './command.ts';
import { OperatorFailure, wrongUsage } from './failures.ts';
import type { OperatorServices } from './services.ts';
import { ask, command, records } from './shard-records.ts';

/** An item of `reconcile.settled`: what was found, and how many were found so far, of how many. */
interface SettledItem {
  readonly found: readonly Settled[];
  readonly done: number;
  readonly total: number;
}

const text = Type.String();
const day = Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\d$' });

export const reconciliationCommands = {
  'reconcile.charges': defineCommand(
    { org: text, mode: modeSchema, names: Type.Array(text, { maxItems: 1_000 }) },
    async ({ org, mode, names }, services) => {
      const { id } = services.directory.organization(org);
      return ask(services, { kind: 'charges_named', org: id, livemode: mode === 'live', names });
    },
    { audited: false },
  ),
  'reconcile.settled': defineCommand(
    { org: text, mode: modeSchema, network: Type.Enum(connectorNames), from: day, to: day },
    ({ org, ...asked }, services, signal) =>
      settled(services, { org: services.directory.organization(org).id, ...asked }, signal),
  ),
  // The id of the review that was opened, and whether the money was known before.
  'reconcile.review': defineCommand(
    { charge: text, reference: text, amount: Type.Integer({ minimum: 0 }) },
    async ({ charge, reference, amount }, services) => {
      if (kindOfId(charge) !== 'charge') throw new OperatorFailure('refused', `${charge} is no charge`);
      const params = { reference, amount };
      const { review, known } = await command(services, charge, 'review_statement_money', params);
      return { id: review, known };
    },
  ),
};

interface SettledQuestion {
  readonly org: string;
  readonly mode: Mode;
  readonly network: ConnectorName;
  readonly from: string;
  readonly to: string;
}

/**
 * The charges and refunds of a network that were settled in a period, those made last first. A
 * charge may be made long before it is settled. The totals of the days tell how many there are, so
 * the search ends when it has found them all.
 */
async function* settled(
  services: OperatorServices,
  { org, mode, network, from, to }: SettledQuestion,
  signal: AbortSignal,
): AsyncGenerator<SettledItem> {
  const livemode = mode === 'live';
  const [start, end] = [moroccoDayBounds(from), moroccoDayBounds(to)];
  if (start === null || end === null) throw wrongUsage('the period is not from one day to another');
  const methods = methodsOf(services, org, mode, network);
  // What is settled from now on is in no total that is read now.
  const toMs = Math.min(end.toMs, services.now());
  const period = { fromMs: start.fromMs, toMs };
  const totals = await totalsOf(services, scopeOf(org, livemode), org, period);
  const left = { charge: 0, refund: 0 };
  for (const total of totals) {
    for (const method of methods) left.charge += total[`${method}_succeeded`];
    // Only cards are paid back.
    if (methods.includes('card')) left.refund += total.refunds;
  }
  const total = left.charge + left.refund;
  let done = 0;
  for (const kind of ['charge', 'refund'] as const) {
    const filter = { kind, methods, ...period };
    for (let next: string | null = null; left[kind] > 0; ) {
      signal.throwIfAborted();
      const question = { kind: 'settled_page', org, livemode, filter, start: next } as const;
      const page: SettledPage = await ask(services, question);
      left[kind] -= page.found.length;
      done += page.found.length;
      yield { found: page.found, done, total };
      next = page.next;
      if (next === null) break;
    }
  }
}

/** The methods that go through this network; all that it is for when it was removed. */
function methodsOf(
  { directory }: OperatorServices,
  org: string,
  mode: Mode,
  network: ConnectorName,
): readonly PaymentMethodType[] {
  const own = directory.organization(org).connectors[mode];
  const configured = paymentMethodTypes.filter((method) => own[method]?.connector === network);
  return configured.length > 0 ? configured : connectors[network].methods;
}

async function totalsOf(
  services: OperatorServices,
  scope: string,
  org: string,
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
): Promise<DayTotalRecord[]> {
  const totals: DayTotalRecord[] = [];
  for (let atMs = fromMs; atMs < toMs; ) {
    const name = moroccoDayAt(atMs);
    const index = fieldIndex('day_total', scope, 'day', name);
    totals.push(...(await records<DayTotalRecord>(services, org, index)));
    atMs = defined(moroccoDayBounds(name), `${name} is a day`).toMs;
  }
  return totals;
}
