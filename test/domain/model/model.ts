// A naive model of the domain, written from the published tables of states and fields: the records as they must be after each
// command, what it must answer, and which events it must tell of. Of chance, and of new ids, it takes what the service took.

import { isDeepStrictEqual } from 'node:util';
import { parseQuery } from '../../../src/contract/routes/query-string.ts';
import type { Route } from '../../../src/contract/routes/route.ts';
import { type ExportOperation, type QueryOperation, routeTable } from '../../../src/contract/routes/table.ts';
import { causes } from '../../../src/domain/cause.ts';
import type { AnyCommand } from '../../../src/domain/command.ts';
import type { Command } from '../../../src/domain/decide.ts';
import type { Decision } from '../../../src/domain/decision.ts';
import type { QueryContext } from '../../../src/domain/query.ts';
import type { Change, StoredRecord } from '../../../src/domain/record.ts';
import type { InternalAnswer, InternalRequest } from '../../../src/shard/protocol.ts';
import * as charges from './charges.ts';
import * as customers from './customers.ts';
import * as deliveries from './deliveries.ts';
import { exported } from './exports.ts';
import * as money from './money.ts';
import * as pages from './pages.ts';
import * as payments from './payments.ts';
import { answerTo } from './queries.ts';
import { closeReview } from './reviews.ts';
import { type Asked, type Expected, Table, Turn } from './turn.ts';

type Play = (turn: Turn, params: payments.Params, id: string) => Expected;

const plays: Readonly<Record<AnyCommand, Play>> = {
  create_payment_intent: payments.createIntent,
  update_payment_intent: payments.updateIntent,
  confirm_payment_intent: payments.confirm,
  cancel_payment_intent: payments.cancel,
  create_checkout_session: payments.createSession,
  expire_checkout_session: payments.expireSession,
  create_refund: money.createRefund,
  create_customer: customers.createCustomer,
  update_customer: customers.updateCustomer,
  delete_customer: customers.deleteCustomer,
  create_webhook_endpoint: deliveries.createEndpoint,
  update_webhook_endpoint: deliveries.updateEndpoint,
  delete_webhook_endpoint: deliveries.deleteEndpoint,
  complete_charge: charges.complete,
  fail_charge: charges.failByHelper,
  expire_charge: charges.expireByHelper,
  pay_cash: money.payCash,
  succeed_refund: (turn, _params, id) => money.refundByHelper(turn, id, null),
  fail_refund: (turn, params, id) => money.refundByHelper(turn, id, params.failure_reason),
  create_payment_link: customers.createLink,
  pause_payment_link: customers.pauseLink,
  remove_payment_link: customers.removeLink,
  open_payment_link: customers.openLink,
  choose_method: payments.chooseMethod,
  submit_card: charges.submitCard,
  answer_challenge: charges.answerChallenge,
  leave_network_page: charges.leaveNetworkPage,
  abandon_charge: charges.abandon,
  apply_network_outcome: money.outcomeOf,
  receive_money: money.receiveMoney,
  receive_decline: money.receiveDecline,
  review_statement_money: money.statementMoney,
  expire_due: charges.due,
  close_review: closeReview,
  record_attempt: (turn, report) => ({
    result: deliveries.recordAttempt(turn, report, report.serial),
  }),
  record_successes: (turn, { reports }) => ({
    result: reports.map((report: never) => deliveries.recordAttempt(turn, report, 0)),
  }),
  trim_attempts: deliveries.trimAttempts,
  resend_delivery: deliveries.resend,
  resend_failed: deliveries.resendFailed,
  drain_endpoint: deliveries.drain,
  send_sample: deliveries.sendSample,
  roll_secret: deliveries.rollSecret,
  prune_deliveries: deliveries.pruneDeliveries,
  prune_events: deliveries.pruneEvents,
};

export class Model {
  readonly table: Table;

  constructor(records: Iterable<StoredRecord>) {
    this.table = new Table(records);
  }

  /** What differs between a decision and what the model comes to, or null; then the decision is taken over. */
  differs({ operation, id, params }: Command, asked: Asked, decision: Decision<unknown>): string | null {
    const { changes, outcome, networkCalls } = decision;
    const turn = new Turn(this.table, asked, changes);
    const expected = plays[operation](turn, params, id);
    const isRefused = 'refused' in expected || 'checks' in expected;
    const wanted = isRefused ? [] : [...turn.changes.values()];
    const difference =
      outcomeDiffers(expected, outcome as Outcome) ??
      changesDiffer(wanted, changes, asked) ??
      callsDiffer(isRefused ? [] : turn.calls, networkCalls);
    for (const change of changes) this.table.apply(change);
    return difference;
  }

  /** What differs between the answer to a query and the model's, or null. */
  answersOtherwise(
    operation: QueryOperation,
    params: payments.Params,
    id: string,
    context: QueryContext,
    outcome: unknown,
  ): string | null {
    const turn = new Turn(this.table, { ...nobody, ...context }, []);
    return outcomeDiffers(answerTo(turn, operation, params, id), outcome);
  }

  /** What differs between what a page is told and what the model tells it, or null. */
  tellsOtherwise(question: Question, asked: Partial<Asked>, answer: InternalAnswer): string | null {
    const { org = '', livemode = false } = 'org' in question ? (question as Partial<Asked>) : {};
    const turn = new Turn(this.table, { ...nobody, ...asked, org, livemode } as Asked, []);
    if (question.kind === 'export_page') return exportDiffers(turn, question, answer);
    const wanted = toldTo(turn, question);
    if (wanted === undefined) return null;
    if (!answer.ok) return wanted === null ? null : `it is refused, and should be ${told(wanted)}`;
    const found = withoutMerchant(JSON.parse(answer.body));
    return isDeepStrictEqual(found, JSON.parse(told(wanted)))
      ? null
      : `it is ${told(found)} and not ${told(wanted)}`;
  }
}

/** Of whoever only asks nobody needs to know more. */
const nobody = {
  ...{ nowMs: 0, serviceMs: 0, apiVersion: '', request: null, cause: causes.time },
  ...{ endpointsBusy: false, addressAllowed: null },
  language: 'en',
} as const;

/** What a page says of the merchant is the directory's. */
function withoutMerchant(body: unknown): unknown {
  if (body === null || typeof body !== 'object' || !('branding' in body)) return body;
  const {
    merchant: _name,
    branding: _branding,
    card_page: _page,
    agents: _agents,
    ...rest
  } = body as Outcome;
  return rest;
}

function exportDiffers(
  turn: Turn,
  question: Extract<Question, { kind: 'export_page' }>,
  answer: InternalAnswer,
): string | null {
  const route = routeTable[question.route] as Route;
  const parsed = parseQuery(route, question.query);
  if ('refusal' in parsed) return answer.ok ? 'it is not refused' : null;
  const wanted = exported(turn, route.operation as ExportOperation, parsed.params, question.cursor, question);
  const found = answer.ok ? { text: answer.body, cursor: answer.cursor } : answer;
  return isDeepStrictEqual(found, wanted) ? null : `it is ${told(found)} and not ${told(wanted)}`;
}

/** What an internal request asks, which changes nothing. */
export type Question = Exclude<InternalRequest, { kind: 'command' }>;

/** What is told, as a body or as text; undefined: the model knows nothing of it. */
function toldTo(turn: Turn, question: Question): unknown {
  switch (question.kind) {
    case 'view_payment':
      return pages.paymentView(turn, question.id);
    case 'view_link': {
      const link = turn.get('payment_link', question.id);
      return link === undefined ? null : pages.linkView(turn, link);
    }
    case 'payment_links':
      return pages.links(turn);
    case 'search_payments':
      return pages.search(turn, question.search);
    case 'payment_story':
      return pages.story(turn, question.reference, question.refundsBefore);
    case 'charges_named':
      return pages.named(turn, question.names);
    case 'settled_page':
      return pages.settled(turn, question.filter);
    default:
      return undefined;
  }
}

// biome-ignore lint/suspicious/noExplicitAny: each kind of outcome is looked at by its own name.
type Outcome = any;

const told = (what: unknown) => JSON.stringify(what);

function outcomeDiffers(expected: Expected, outcome: Outcome): string | null {
  const [found, wanted] = plain(expected, outcome);
  return isDeepStrictEqual(found, wanted) ? null : `it comes to ${told(found)} and not to ${told(wanted)}`;
}

function plain(expected: Expected, outcome: Outcome): readonly [found: unknown, wanted: unknown] {
  if ('answer' in expected) {
    const [body, stored] = [outcome.body, outcome.storedBody].map((text) => text && JSON.parse(text));
    if (/^svc_whsec_\w{32}$/.test(body?.secret)) body.secret = deliveries.anySecret;
    return [
      { body, stored, ...otherThan(outcome) },
      { body: expected.answer, stored: expected.stored },
    ];
  }
  if ('refused' in expected) {
    const { code = outcome, param } = outcome.refusal ?? {};
    return [
      { code, param },
      { code: expected.refused, param: expected.param },
    ];
  }
  if ('waiterRefused' in expected) return [outcome.waiterRefused?.code ?? outcome, expected.waiterRefused];
  if ('waitsFor' in expected) return [outcome.waitsFor?.id ?? outcome, expected.waitsFor];
  if ('checks' in expected) return [outcome.checksAddress ?? outcome, expected.checks];
  return [outcome.result === undefined ? outcome : outcome.result, expected.result];
}

function otherThan({ body: _body, storedBody: _stored, ...rest }: Outcome): object {
  return rest;
}

function changesDiffer(
  wanted: readonly StoredRecord[],
  changes: readonly Change[],
  asked: Asked,
): string | null {
  const found = new Map<string, Change>(changes.map((change) => [change.id, change]));
  for (const record of wanted) {
    const change = found.get(record.id);
    found.delete(record.id);
    if (change === undefined) return `${told(record)} is missing`;
    if (!isSame(record, change, asked)) return `${told(change)} is changed, and not ${told(record)}`;
  }
  const [more] = found.values();
  return more === undefined ? null : `${told(more)} is changed, too`;
}

function isSame(record: StoredRecord, change: Change, { serviceMs }: Asked): boolean {
  if (isDeepStrictEqual(record, change)) return true;
  if (record.kind === 'event' && change.kind === 'event') {
    // Fields of an object have no order.
    const both = [record, change].map(({ object_json, ...rest }) => [rest, JSON.parse(object_json)]);
    return isDeepStrictEqual(both[0], both[1]);
  }
  if (record.kind === 'webhook_endpoint' && change.kind === 'webhook_endpoint') {
    const [newest] = change.secrets;
    const secrets = record.secrets.map((each) =>
      each.sealed === deliveries.anySecret && newest !== undefined
        ? { ...each, sealed: newest.sealed }
        : each,
    );
    return isDeepStrictEqual({ ...record, secrets }, change);
  }
  if (record.kind !== 'delivery' || change.kind !== 'delivery') return false;
  // A retry is earlier or later by a tenth at most.
  const { about } = record.due_at_ms as unknown as { readonly about?: number };
  const waitsMs = (change.due_at_ms ?? 0) - serviceMs;
  if (about === undefined || Math.abs(waitsMs - about) > about / 10) return false;
  return isDeepStrictEqual({ ...record, due_at_ms: change.due_at_ms }, change);
}

function callsDiffer(wanted: readonly string[], calls: Decision['networkCalls']): string | null {
  const found = calls.map(({ id }) => id);
  return isDeepStrictEqual(found, [...wanted])
    ? null
    : `it calls networks by ${told(found)}, and not ${told(wanted)}`;
}
