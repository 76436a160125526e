// The room that a member sees first: the money that came in, what needs somebody, and the first steps of a new organization.

import { moroccoDayAt } from '../../core/morocco-day.ts';
import type { Totals } from '../../domain/day-totals.ts';
import { fieldIndex, kindIndex, scopeOf } from '../../domain/indexes.ts';
import type { DayTotalRecord, DeliveryRecord, WebhookEndpointRecord } from '../../domain/record.ts';
import type { DashboardAnswer } from '../../edge/dashboard/dashboard-port.ts';
import { type Html, html } from '../../html/html.ts';
import { records } from '../../operator/use-cases/shard-records.ts';
import { amount, dayText, section, table } from '../layout/components.ts';
import { page } from '../layout/document.ts';
import { link, roomLink } from '../layout/links.ts';
import type { Desk, Row, Visit } from '../layout/row.ts';
import { sayFrame } from '../messages/frame.ts';
import { sayHome } from '../messages/home.ts';
import { mayDo } from '../people/roles.ts';
import { dayChart } from './day-chart.ts';
import { everyPayment, listPayments } from './payment-questions.ts';
import { openReviews } from './reviews.ts';

export const homeRows: readonly Row[] = [
  { method: 'GET', path: 'home', permission: 'payments.read', handle: showHome },
];

const periods = [7, 30, 90] as const;
const dayMs = 24 * 3_600_000;

type Day = Pick<Totals, Exclude<keyof Totals, 'refunds'>> & { readonly day: string };
const noMoney = {
  card_received: 0,
  card_succeeded: 0,
  card_failed: 0,
  card_unpaid: 0,
  cash_received: 0,
  cash_succeeded: 0,
  cash_failed: 0,
  cash_unpaid: 0,
  refunded: 0,
};

async function showHome(visit: Visit, desk: Desk): Promise<DashboardAnswer> {
  const { language, query } = visit;
  const period = periods.find((days) => String(days) === query.get('days')) ?? 30;
  const [days, attention, payments] = await Promise.all([
    lastDays(visit, desk, period),
    attentionPart(visit, desk),
    listPayments(visit, desk, { ...everyPayment, limit: 1 }),
  ]);
  const isNew = payments.payments.length === 0;
  return page(visit, {
    active: 'home',
    title: sayFrame('home', language),
    body: isNew
      ? [firstSteps(visit), attention]
      : [periodLinks(visit, period), figures(visit, days), chartPart(visit, days), attention],
  });
}

/** The last days, today included, oldest first. Days without any money are there, too. */
async function lastDays(visit: Visit, { services }: Desk, period: number): Promise<Day[]> {
  const { organization, mode } = visit;
  const index = kindIndex('day_total', scopeOf(organization.id, mode === 'live'));
  const totals = await records<DayTotalRecord>(services, organization.id, index);
  const byDay = new Map(totals.map((total) => [total.day, total]));
  // At noon of each day, because a day in Morocco may have 23 or 25 hours.
  const noonMs = Date.parse(`${moroccoDayAt(services.now())}T12:00:00Z`);
  return Array.from({ length: period }, (_, i) => {
    const day = new Date(noonMs - (period - 1 - i) * dayMs).toISOString().slice(0, 10);
    return byDay.get(day) ?? { day, ...noMoney };
  });
}

function periodLinks(visit: Visit, period: number): Html {
  const { language } = visit;
  const items = periods.map((days) => {
    const current = days === period && html` aria-current="true"`;
    const href = roomLink(visit, 'home', { days: String(days) });
    return html`<li><a href="${href}"${current}>${sayHome('days', language, { days })}</a></li>`;
  });
  return html`<nav class="periods" aria-label="${sayHome('period', language)}"><ul>${items}</ul></nav>`;
}

function sumOf(days: readonly Day[], name: Exclude<keyof Day, 'day'>): number {
  return days.reduce((sum, day) => sum + day[name], 0);
}

function figures({ language }: Visit, days: readonly Day[]): Html {
  const [card, cash] = [sumOf(days, 'card_received'), sumOf(days, 'cash_received')];
  const succeeded = sumOf(days, 'card_succeeded') + sumOf(days, 'cash_succeeded');
  const tried = succeeded + sumOf(days, 'card_failed') + sumOf(days, 'cash_failed');
  const unpaid = sumOf(days, 'card_unpaid') + sumOf(days, 'cash_unpaid');
  const rate = tried === 0 ? '–' : percent(language, succeeded / tried);
  const of =
    tried === 0 ? sayHome('no_attempts', language) : sayHome('success_text', language, { succeeded, tried });
  const figure = (name: string, value: Html | string, note: Html | string | null = null) =>
    html`<div class="sheet figure"><dt>${name}</dt><dd>${value}${note && html`<span class="muted">${note}</span>`}</dd></div>`;
  const methods = html`${sayHome('by_card', language)}: ${amount(language, card)} · ${sayHome('in_cash', language)}: ${amount(language, cash)}`;
  return html`<dl class="figures">${figure(sayHome('money_in', language), amount(language, card + cash), methods)}
${figure(sayHome('refunded', language), amount(language, sumOf(days, 'refunded')))}
${figure(sayHome('success_rate', language), rate, html`${of}${unpaid > 0 && html`<br>${sayHome('unpaid_text', language, { count: unpaid })}`}`)}</dl>`;
}

function percent(language: Visit['language'], share: number): string {
  const format = new Intl.NumberFormat(language === 'ar' ? 'ar-MA-u-nu-latn' : language, {
    style: 'percent',
    maximumFractionDigits: 1,
  });
  return format.format(share);
}

function chartPart({ language }: Visit, days: readonly Day[]): Html {
  const title = sayHome('money_in', language);
  if (days.every(({ card_received, cash_received }) => card_received + cash_received === 0))
    return section(title, html`<p>${sayHome('nothing_in', language)}</p>`);
  const date = (day: string) => dayText(language, day);
  const bars = days.map(({ day, card_received: card, cash_received: cash }) => ({
    label: date(day),
    card,
    cash,
  }));
  const legend = html`<p class="legend"><span class="by-card"></span> ${sayHome('by_card', language)} <span class="in-cash"></span> ${sayHome('in_cash', language)}</p>`;
  const ends = html`<p class="ends muted" dir="ltr"><bdi>${date(days[0]!.day)}</bdi><bdi>${date(days.at(-1)!.day)}</bdi></p>`;
  const numbers = table<Day>(
    sayHome('chart', language),
    [
      {
        heading: sayHome('day', language),
        cell: ({ day }) => html`<time datetime="${day}">${date(day)}</time>`,
      },
      ...(['card', 'cash'] as const).map((method) => ({
        heading: sayHome(method === 'card' ? 'by_card' : 'in_cash', language),
        cell: (day: Day) => amount(language, day[`${method}_received`]),
        numeric: true as const,
      })),
      {
        heading: sayHome('refunded', language),
        cell: ({ refunded }: Day) => amount(language, refunded),
        numeric: true,
      },
    ],
    days.filter(({ day: _, ...sums }) =>
      Object.values(sums).some((sum) => typeof sum === 'number' && sum > 0),
    ),
  );
  return section(
    title,
    html`${legend}${dayChart(bars, sayHome('chart', language))}${ends}
<details><summary>${sayHome('as_table', language)}</summary>${numbers}</details>`,
  );
}

async function attentionPart(visit: Visit, desk: Desk): Promise<Html> {
  const { language, role } = visit;
  const [reviews, failing] = await Promise.all([openReviews(visit, desk), failingEndpoints(visit, desk)]);
  const items: Html[] = [];
  if (reviews.length > 0) {
    const text = sayHome('open_reviews', language, { count: reviews.length });
    items.push(html`<li><a href="${roomLink(visit, 'reviews')}">${text}</a></li>`);
  }
  // The address of an endpoint may hold a token.
  if (mayDo(role, 'developers.read'))
    for (const { id, url } of failing) {
      const text = sayHome('failing_endpoint', language, { url });
      items.push(html`<li><a href="${roomLink(visit, `webhooks/${id}`)}">${text}</a></li>`);
    }
  else if (failing.length > 0)
    items.push(html`<li>${sayHome('failing_endpoints', language, { count: failing.length })}</li>`);
  const body = items.length === 0 ? html`<p>${sayHome('all_well', language)}</p>` : html`<ul>${items}</ul>`;
  return section(sayHome('to_look_at', language), body);
}

/** A failed delivery counts for so long. */
const failingMs = 7 * dayMs;

/** The enabled endpoints that have a delivery which failed for good lately. */
async function failingEndpoints(
  { organization, mode }: Visit,
  { services }: Desk,
): Promise<WebhookEndpointRecord[]> {
  const scope = scopeOf(organization.id, mode === 'live');
  const endpoints = await records<WebhookEndpointRecord>(
    services,
    organization.id,
    kindIndex('webhook_endpoint', scope),
  );
  const enabled = endpoints.filter(({ status }) => status === 'enabled');
  const failed = await Promise.all(
    enabled.map(async ({ id }) => {
      const index = fieldIndex('delivery', scope, 'failed', id);
      const request = { kind: 'records', index, limit: 1 } as const;
      const [newest] = JSON.parse(
        (await services.askShard(organization.id, request)).body,
      ) as DeliveryRecord[];
      return newest !== undefined && newest.created * 1000 > services.now() - failingMs;
    }),
  );
  return enabled.filter((_, i) => failed[i]);
}

function firstSteps(visit: Visit): Html {
  const { language, role, rooms } = visit;
  const steps: (readonly [string, string])[] = [[sayHome('step_docs', language), link(visit, '/docs')]];
  if (mayDo(role, 'payments.write'))
    steps.unshift([sayHome('step_link', language), roomLink(visit, 'checkout/new')]);
  if (rooms.includes('keys')) steps.push([sayHome('step_keys', language), roomLink(visit, 'keys')]);
  if (rooms.includes('webhooks'))
    steps.push([sayHome('step_webhooks', language), roomLink(visit, 'webhooks')]);
  const items = steps.map(([text, href]) => html`<li><a href="${href}">${text}</a></li>`);
  return section(sayHome('first_steps', language), html`<ol>${items}</ol>`);
}
