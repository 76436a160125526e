// What people are told of what a shard itself keeps: how endpoints fare, how much of the limits is left, and records as they are.

import { listedMax } from '../../../src/contract/limits.ts';
import type { Now } from '../../../src/core/clock.ts';
import { eventJson } from '../../../src/domain/events.ts';
import { indexNameOf, indexRowsOf } from '../../../src/domain/indexes.ts';
import type { RecordOf } from '../../../src/domain/record.ts';
import type { EndpointNow } from '../../../src/shard/endpoint-health.ts';
import type { Question } from '../../domain/model/model.ts';
import type { Table } from '../../domain/model/turn.ts';
import type { Outbox } from './outbox.ts';
import type { Requests } from './requests.ts';
import { isBefore } from './waiting.ts';

export interface Known {
  readonly table: Table;
  readonly outbox: Outbox;
  readonly requests: Requests;
}

const byId = (a: { readonly id: string }, b: { readonly id: string }) => (a.id < b.id ? -1 : 1);

/** What must be told, as a value; undefined: nothing is known of it. */
export function toldOf(known: Known, question: Question, now: Now): unknown {
  const { table, outbox, requests } = known;
  switch (question.kind) {
    case 'limit_levels':
      return requests.limitsOf(question.org, question.livemode, now).levels(now);
    case 'endpoint_health': {
      const { org, livemode } = question;
      return [...table.all('webhook_endpoint')]
        .filter((each) => each.org === org && each.livemode === livemode && each.status !== 'deleted')
        .sort(byId)
        .map((endpoint) => endpointNow(known, endpoint, now));
    }
    case 'failing_endpoints': {
      const ids = outbox.health.failing();
      const enabled = ids
        .slice(0, listedMax)
        .flatMap((id) => table.get('webhook_endpoint', id) ?? [])
        .filter(({ status }) => status === 'enabled');
      const listed = enabled.slice(0, question.limit);
      return {
        count: enabled.length + ids.slice(listedMax).length,
        listed: listed.map((endpoint) => ({ endpoint, now: endpointNow(known, endpoint, now) })),
      };
    }
    case 'records': {
      const { index, limit, before = '~' } = question;
      return [...table.all('delivery')]
        .filter((each) => each.id < before && indexRowsOf(each).some((row) => indexNameOf(row) === index))
        .sort((a, b) => byId(b, a))
        .slice(0, limit);
    }
    case 'events_after': {
      const { after, limit } = question;
      if (after === null) return [];
      return eventsOf(table, question)
        .filter(({ id }) => id > after)
        .slice(0, limit)
        .map((event) => {
          const pending = outbox.pendingOf(event.id);
          return { id: event.id, type: event.type, body: eventJson(event, pending) };
        });
    }
    case 'now':
      return { nowMs: now.nowMs, serviceMs: now.serviceMs };
    default:
      return undefined;
  }
}

/** Oldest first. */
function eventsOf(table: Table, { org, livemode }: Extract<Question, { kind: 'events_after' }>) {
  return [...table.all('event')]
    .filter((event) => event.org === org && event.livemode === livemode)
    .sort(byId);
}

/** Behind what is told what comes later is found; undefined: nothing comes later. */
export function cursorOf({ table }: Known, question: Question, told: unknown): string | undefined {
  if (question.kind !== 'events_after') return undefined;
  const { after } = question;
  const shown = after === null ? eventsOf(table, question) : (told as { readonly id: string }[]);
  return shown.at(-1)?.id ?? after ?? '';
}

function endpointNow(
  { outbox }: Known,
  { id, status }: RecordOf<'webhook_endpoint'>,
  { nowMs, serviceMs }: Now,
): EndpointNow {
  const enabled = status === 'enabled';
  const [next] = enabled ? [...outbox.waiting.of(id).values()].sort((a, b) => (isBefore(a, b) ? -1 : 1)) : [];
  const dueMs = next?.due_at_ms ?? null;
  const nextAttemptMs = dueMs === null ? null : nowMs + Math.max(0, dueMs - serviceMs);
  return { id, enabled, nextAttemptMs, health: outbox.health.of(id, nowMs) };
}
