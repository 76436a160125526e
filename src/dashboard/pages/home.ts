// The page that a member sees first: the money that came in, what needs somebody, and the first
// steps of a new organization.

import { formatAmount } from '../../core/money.ts';
import { moroccoDayAt } from '../../core/morocco-day.ts';
import type { Totals } from '../../domain/day-totals.ts';
import { kindIndex } from '../../domain/indexes.ts';
import { everyPayment, type FoundPayment } from '../../domain/payment-search.ts';
import type { DayTotalRecord, WebhookEndpointRecord } from '../../domain/record.ts';
import type { DashboardAnswer } from '../../edge/dashboard/dashboard-port.ts';
import { type Html, html } from '../../html/html.ts';
import * as ui from '../layout/components.ts';
import { page } from '../layout/document.ts';
import { link, viewLink } from '../layout/links.ts';
import { get, type Row, type Saying, saying, type ViewRequest } from '../layout/row.ts';
import { sayHome } from '../messages/home.ts';
import { mayDo } from '../people/roles.ts';
import { dayChart } from './day-chart.ts';
import { healthByEndpoint, lastFailed } from './endpoint-health.ts';
import { firstSteps } from './first-steps.ts';
import { ownRecords } from './own-record.ts';
import { paymentsTable } from './payment-parts.ts';
import { listPayments } from './payment-questions.ts';
import { openReviews } from './reviews.ts';

export const homeRows: readonly Row[] = saying(sayHome, [get('home', 'payments.read', showHome)]);

type Request = Saying<typeof sayHome>;

const periods = [7, 30, 90] as const;
const recentMax = 5;
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

async function showHome(request: Request): Promise<DashboardAnswer> {
  const period = periods.find((days) => String(days) === request.query.get('days')) ?? 30;
  const { payments } = await listPayments(request, { ...everyPayment, limit: recentMax });
  const isNew = payments.length === 0;
  const [days, steps] = await Promise.all([lastDays(request, 2 * period), firstSteps(request, !isNew)]);
  const attention = await attentionPart(request, isNew && steps !== null);
  const body = isNew
    ? [steps, attention]
    : [
        periodLinks(request, period),
        attention,
        figures(request, days.slice(period), days.slice(0, period)),
        chartPart(request, days.slice(period)),
        recentPart(request, payments),
        steps,
      ];
  return page(request, { body: [passwordNotice(request), ...body] });
}

/** A member without a password can't sign in again. */
function passwordNotice(request: Request): Html | null {
  if (request.member.password !== null) return null;
  const choose = html`<a href="${link(request, '/dashboard/me')}">${request.say('choose_password')}</a>`;
  return html`<div class="notice warn"><p>${request.say('no_password')} ${choose}</p></div>`;
}

/** The last days, today included, oldest first. Days without any money are there, too. */
async function lastDays(request: Request, period: number): Promise<Day[]> {
  const totals = await ownRecords<DayTotalRecord>(request, (scope) => kindIndex('day_total', scope));
  const byDay = new Map(totals.map((total) => [total.day, total]));
  // At noon of each day, because a day in Morocco may have 23 or 25 hours.
  const noonMs = Date.parse(`${moroccoDayAt(request.services.now())}T12:00:00Z`);
  return Array.from({ length: period }, (_, i) => {
    const day = new Date(noonMs - (period - 1 - i) * dayMs).toISOString().slice(0, 10);
    return byDay.get(day) ?? { day, ...noMoney };
  });
}

function periodLinks(request: Request, period: number): Html {
  const items = periods.map((days) => {
    const current = days === period && html` aria-current="true"`;
    const href = viewLink(request, 'home', { days: String(days) });
    return html`<li><a href="${href}"${current}>${request.say('days', { days })}</a></li>`;
  });
  return html`<nav class="periods" aria-label="${request.say('period')}"><ul>${items}</ul></nav>`;
}

function sumOf(days: readonly Day[], name: Exclude<keyof Day, 'day'>): number {
  return days.reduce((sum, day) => sum + day[name], 0);
}

/** The sums that the figures show. */
function sumsOf(days: readonly Day[]) {
  const [card, cash] = [sumOf(days, 'card_received'), sumOf(days, 'cash_received')];
  const succeeded = sumOf(days, 'card_succeeded') + sumOf(days, 'cash_succeeded');
  const tried = succeeded + sumOf(days, 'card_failed') + sumOf(days, 'cash_failed');
  const unpaid = sumOf(days, 'card_unpaid') + sumOf(days, 'cash_unpaid');
  return { card, cash, succeeded, tried, unpaid, refunded: sumOf(days, 'refunded') };
}

/** Figures of some days, each beside that of as many days before. */
export function figures(
  { language }: Pick<ViewRequest, 'language'>,
  now: readonly Day[],
  before: readonly Day[],
): Html {
  const say = sayHome({ language });
  const { card, cash, succeeded, tried, unpaid, refunded } = sumsOf(now);
  const past = sumsOf(before);
  const rateOf = (sums: typeof past) =>
    sums.tried === 0 ? '–' : percent(language, sums.succeeded / sums.tried);
  const of = tried === 0 ? say('no_attempts') : say('success_text', { succeeded, tried });
  const earlier = (value: string) => say('before', { value, days: before.length });
  const compared = (sum: number, other: number) => {
    const change = other === 0 ? null : `${percent(language, sum / other - 1, 'exceptZero')} · `;
    return html`<bdi>${change}</bdi>${earlier(formatAmount(other, 'mad', language))}`;
  };
  const figure = (name: string, value: Html | string, note: Html | string | null, then: Html | string) =>
    html`<div class="sheet figure"><dt>${name}</dt><dd>${value}${note && html`<span class="muted">${note}</span>`}<span class="muted then">${then}</span></dd></div>`;
  const sum = (name: 'by_card' | 'in_cash', centimes: number) =>
    say('named', { name: say(name), value: formatAmount(centimes, 'mad', language) });
  const methods = `${sum('by_card', card)} · ${sum('in_cash', cash)}`;
  return html`<dl class="figures">${figure(say('money_in'), ui.amount(language, card + cash), methods, compared(card + cash, past.card + past.cash))}
${figure(say('refunded'), ui.amount(language, refunded), null, compared(refunded, past.refunded))}
${figure(say('success_rate'), rateOf({ ...past, succeeded, tried }), html`${of}${unpaid > 0 && html`<br>${say('unpaid_text', { count: unpaid })}`}`, earlier(rateOf(past)))}</dl>`;
}

function percent(
  language: ViewRequest['language'],
  share: number,
  signDisplay: 'auto' | 'exceptZero' = 'auto',
): string {
  const format = new Intl.NumberFormat(language === 'ar' ? 'ar-MA-u-nu-latn' : language, {
    style: 'percent',
    signDisplay,
    maximumFractionDigits: 1,
  });
  return format.format(share);
}

function chartPart({ language, say }: Request, days: readonly Day[]): Html {
  const title = say('money_in');
  if (days.every(({ card_received, cash_received }) => card_received + cash_received === 0))
    return ui.section(title, html`<p>${say('nothing_in')}</p>`);
  const date = (day: string) => ui.dayText(language, day);
  const bars = days.map(({ day, card_received: card, cash_received: cash }) => ({
    label: date(day),
    card,
    cash,
  }));
  const legend = html`<p class="legend"><span class="by-card"></span> ${say('by_card')} <span class="in-cash"></span> ${say('in_cash')} <bdi class="muted">${say('amount_dirhams')}</bdi></p>`;
  const ends = html`<p class="ends muted" dir="ltr"><bdi>${date(days[0]!.day)}</bdi><bdi>${date(days.at(-1)!.day)}</bdi></p>`;
  const numbers = ui.table<Day>(
    say('chart'),
    [
      [say('day'), ({ day }) => html`<time datetime="${day}">${date(day)}</time>`],
      [say('by_card'), ({ card_received }) => ui.amount(language, card_received), 'numeric'],
      [say('in_cash'), ({ cash_received }) => ui.amount(language, cash_received), 'numeric'],
      [say('refunded'), ({ refunded }) => ui.amount(language, refunded), 'numeric'],
    ],
    days.filter(({ day: _, ...sums }) =>
      Object.values(sums).some((sum) => typeof sum === 'number' && sum > 0),
    ),
  );
  return ui.section(
    title,
    html`${legend}${dayChart(language, bars, say('chart'))}${ends}
<details><summary>${say('as_table')}</summary>${numbers}</details>`,
  );
}

function recentPart(request: Request, payments: readonly FoundPayment[]): Html {
  const { say } = request;
  const list = paymentsTable(
    request,
    { payments: [...payments], stoppedAt: null },
    { caption: say('recent'), limit: recentMax, path: 'payments', query: {}, empty: '' },
  );
  return html`<section class="stack"><h2>${say('recent')}</h2>${list}
<p><a href="${viewLink(request, 'payments')}">${say('all_payments')}</a></p></section>`;
}

/** Null when nothing needs anybody and that need not be said, because there are steps to take. */
async function attentionPart(request: Request, hasSteps: boolean): Promise<Html | null> {
  const { language, role, say } = request;
  const [reviews, failing] = await Promise.all([openReviews(request), failingEndpoints(request)]);
  const items: Html[] = [];
  if (reviews.length > 0) {
    const text = say('open_reviews', { count: reviews.length });
    items.push(html`<li><a href="${viewLink(request, 'reviews')}">${text}</a></li>`);
  }
  // The address of an endpoint may hold a token.
  if (mayDo(role, 'developers.read'))
    for (const { id, url, sinceMs } of failing) {
      const text = say('failing_endpoint', { url });
      const since = sinceMs === null ? null : html` ${say('since')} ${ui.time(language, sinceMs)}`;
      items.push(html`<li><a href="${viewLink(request, `webhooks/${id}`)}">${text}</a>${since}</li>`);
    }
  else if (failing.length > 0)
    items.push(html`<li>${say('failing_endpoints', { count: failing.length })}</li>`);
  if (items.length === 0 && hasSteps) return null;
  const body = items.length === 0 ? html`<p>${say('all_well')}</p>` : html`<ul>${items}</ul>`;
  return ui.section(say('to_look_at'), body);
}

/** For how long a failed delivery is shown here. */
const failingMs = 7 * dayMs;

/** An endpoint, and since when every attempt failed; null: it fails no longer. */
type Failing = WebhookEndpointRecord & { readonly sinceMs: number | null };

/** The enabled endpoints whose last attempt failed, or that had a failed delivery lately. */
async function failingEndpoints(request: Request): Promise<Failing[]> {
  const health = await healthByEndpoint(request);
  const endpoints = await ownRecords<WebhookEndpointRecord>(request, (scope) =>
    kindIndex('webhook_endpoint', scope),
  );
  const enabled = endpoints.filter(({ status }) => status === 'enabled');
  const failed = await Promise.all(
    enabled.map(async ({ id }) => {
      const newest = await lastFailed(request, id);
      return newest !== undefined && newest.created * 1000 > request.services.now() - failingMs;
    }),
  );
  return enabled
    .map((endpoint) => ({ ...endpoint, sinceMs: health.get(endpoint.id)?.health?.failingSinceMs ?? null }))
    .filter(({ sinceMs }, i) => failed[i] || sinceMs !== null);
}
