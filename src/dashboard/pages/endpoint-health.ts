// How deliveries to an endpoint go, as the list of endpoints and an endpoint's page show it:
// failing since when, the next try, and the attempts of the last 24 hours by the hour.

import { fieldIndex } from '../../domain/indexes.ts';
import type { DeliveryRecord, WebhookEndpointRecord } from '../../domain/record.ts';
import { type Html, html } from '../../html/html.ts';
import { ask } from '../../operator/use-cases/shard-records.ts';
import type { EndpointNow, HourOfAttempts } from '../../shard/endpoint-health.ts';
import * as ui from '../layout/components.ts';
import type { Saying, View, ViewRequest } from '../layout/row.ts';
import type { sayWebhooks } from '../messages/webhooks.ts';
import { ownRecords } from './own-record.ts';

type Request = Saying<typeof sayWebhooks>;
export type EndpointStatus = WebhookEndpointRecord['status'];
const unknown = { nextAttemptMs: null, health: null } as const;
const hourMs = 3_600_000;
const hours = 24;

/** How deliveries to each endpoint of the view go, by the endpoint's id. */
export async function healthByEndpoint({
  organization,
  mode,
  services,
}: Pick<ViewRequest, 'organization' | 'mode' | 'services'>): Promise<ReadonlyMap<string, EndpointNow>> {
  const scope = { org: organization.id, livemode: mode === 'live' };
  const listed = await ask(services, { kind: 'endpoint_health', ...scope });
  return new Map(listed.map((each) => [each.id, each]));
}

/** The views that need attention; none while the shard does not answer, as the page then says. */
export async function warningsOf(request: ViewRequest): Promise<View[]> {
  if (!request.views.includes('webhooks')) return [];
  const health = await healthByEndpoint(request).catch(() => new Map<string, EndpointNow>());
  return [...health.values()].some(isFailing) ? ['webhooks'] : [];
}

/** The newest delivery to an endpoint that has failed for good. */
export async function lastFailed(
  request: ViewRequest,
  endpoint: string,
): Promise<DeliveryRecord | undefined> {
  const index = (scope: string) => fieldIndex('delivery', scope, 'failed', endpoint);
  const [newest] = await ownRecords<DeliveryRecord>(request, index, { limit: 1 });
  return newest;
}

export function isFailing(now: EndpointNow | undefined): boolean {
  return now?.enabled === true && typeof now.health?.failingSinceMs === 'number';
}

export function endpointBadge(
  { language, say }: Request,
  status: EndpointStatus,
  now: EndpointNow | undefined,
): Html {
  const { nextAttemptMs, health } = now ?? unknown;
  if (status !== 'enabled') return ui.badge(say(status), 'plain');
  if (health?.failingSinceMs == null) return ui.badge(say('enabled'), 'good');
  const next =
    nextAttemptMs === null
      ? null
      : html`<br><span class="hint">${say('next_attempt')} ${ui.time(language, nextAttemptMs)}</span>`;
  return html`${ui.badge(say('failing'), 'bad')} ${say('since')} ${ui.time(language, health.failingSinceMs)}${next}`;
}

/** The status of the last answer, or why there was none. */
export function lastAnswerOf({ say }: Request, now: EndpointNow | undefined): string {
  const { health } = now ?? unknown;
  if (health === null) return '–';
  if (health.lastStatus !== null) return String(health.lastStatus);
  return health.lastFailure ?? say('succeeded');
}

export function shareOf({ say }: Request, now: EndpointNow | undefined): string {
  const { health } = now ?? unknown;
  if (health === null || health.attempts === 0) return '–';
  const { failed, attempts } = health;
  return say('failed_of', { failed, attempts });
}

export function medianOf(now: EndpointNow | undefined): Html | string {
  const { health } = now ?? unknown;
  return health === null || health.medianMs === null
    ? '–'
    : html`<span dir="ltr">≤ ${health.medianMs} ms</span>`;
}

const [width, height] = [720, 90];

/** The attempts of the last hours as bars, failed ones below; null when there were none. */
export function hoursChart(
  { language, say }: Request,
  now: EndpointNow | undefined,
  nowMs: number,
): Html | null {
  const { health } = now ?? unknown;
  if (health === null || health.attempts === 0) return null;
  const most = Math.max(...health.hours.map(({ attempts }) => attempts));
  const firstMs = Math.floor(nowMs / hourMs) * hourMs - (hours - 1) * hourMs;
  const step = width / hours;
  const bar = ({ startMs, attempts, failed }: HourOfAttempts) => {
    const x = Math.round(((startMs - firstMs) / hourMs) * step) + 2;
    const high = (count: number) =>
      count === 0 ? 0 : Math.max(2, Math.round((count / most) * (height - 2)));
    const [bad, good] = [high(failed), high(attempts - failed)];
    const rect = (name: string, y: number, tall: number) =>
      tall > 0 && html`<rect class="${name}" x="${x}" y="${y}" width="${step - 4}" height="${tall}"/>`;
    const told = say('named', {
      name: ui.timeText(language, startMs),
      value: say('failed_of', { failed, attempts }),
    });
    return html`<g><title>${told}</title>${rect('is-bad', height - bad, bad)}${rect('is-good', height - bad - good, good)}</g>`;
  };
  const shown = health.hours.filter(({ startMs }) => startMs >= firstMs);
  return html`<svg class="chart low" role="img" aria-label="${say('attempts_by_hour')}" viewBox="0 0 ${width} ${height}" preserveAspectRatio="none">
${shown.map(bar)}<path class="axis" d="M0 ${height}h${width}"/></svg>`;
}
