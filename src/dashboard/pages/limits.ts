// The pages for rate limits: each bucket's limit in each mode, where it comes from, how much of it
// is used now, and requests for higher limits, which operators decide.

import { randomFillSync } from 'node:crypto';
import { type Bucket, bucketNames, buckets } from '../../contract/limits.ts';
import { type Language, type Mode, modes } from '../../contract/vocabulary.ts';
import { asciiDigits } from '../../core/card-number.ts';
import { createRandomText } from '../../core/ids.ts';
import { moroccoDayBounds } from '../../core/morocco-day.ts';
import { grouped } from '../../core/shown-number.ts';
import {
  type LimitRequest,
  type LimitRequestState,
  type LimitWish,
  requestedModes,
  stateOf,
} from '../../directory/limit-request.ts';
import { withLimitRequest } from '../../directory/limit-requests.ts';
import type { RefusalCode } from '../../directory/refusal.ts';
import { type ActiveLimit, activeLimits } from '../../domain/active-limits.ts';
import type { DashboardAnswer } from '../../edge/dashboard/dashboard-port.ts';
import { type Html, html } from '../../html/html.ts';
import { ask } from '../../operator/use-cases/shard-records.ts';
import type { LimitLevels } from '../../shard/protocol.ts';
import * as ui from '../layout/components.ts';
import { formPage, page, redirect } from '../layout/document.ts';
import { viewLink } from '../layout/links.ts';
import {
  get,
  type Problems,
  post,
  type Row,
  refused,
  refusedBy,
  type Saying,
  saying,
} from '../layout/row.ts';
import { sayLayout } from '../messages/layout.ts';
import { sayLimits } from '../messages/limits.ts';
import { mayDo } from '../people/roles.ts';

const active = 'limits';
const randomText = createRandomText(randomFillSync);

type Request = Saying<typeof sayLimits>;

export const limitRows: readonly Row[] = saying(sayLimits, [
  get('limits', 'developers.read', show),
  get('limits/request', 'limits.request', requestForm),
  post('limits/request', 'limits.request', sendRequest),
]);

interface Line {
  readonly mode: Mode;
  readonly bucket: Bucket;
  readonly limit: ActiveLimit;
  readonly levels: LimitLevels;
}

/** The name as it begins a line. */
function bucketName(bucket: Bucket, language: Language): string {
  const name = bucketNames[bucket][language];
  return name[0]!.toUpperCase() + name.slice(1);
}

async function show(request: Request): Promise<DashboardAnswer> {
  const { organization, role, say, services } = request;
  const { id: org } = organization;
  const levels = {
    test: await ask(services, { kind: 'limit_levels', org, livemode: false }),
    live: await ask(services, { kind: 'limit_levels', org, livemode: true }),
  };
  // The request's mode comes first.
  const shownModes = request.mode === 'live' ? [...modes].reverse() : modes;
  const lines = shownModes.flatMap((mode) => {
    const limits = activeLimits(organization.limits[mode], mode, services.now());
    return buckets.map(
      (bucket): Line => ({ mode, bucket, limit: limits.buckets[bucket], levels: levels[mode] }),
    );
  });
  const { daily } = activeLimits(organization.limits.test, 'test', services.now());
  const today = levels.test.today;
  const toRequest = ui.button(say('request'), viewLink(request, 'limits/request'));
  return page(request, {
    actions: mayDo(role, 'limits.request') ? toRequest : null,
    body: [
      ui.doneOf(request, { requested: 'done' }),
      html`<p>${say('intro')}</p>`,
      limitTable(request, lines),
      today &&
        daily &&
        ui.section(
          say('today'),
          ui.definitions([
            [say('requests_today'), meter(request, today.requests, daily.requests)],
            [say('creations_today'), meter(request, today.creations, daily.paymentCreations)],
          ]),
        ),
      requestList(request),
    ],
  });
}

function limitTable(request: Request, lines: readonly Line[]): Html {
  const { language, say } = request;
  return ui.table(
    sayLayout(request)(active),
    [
      [say('bucket'), ({ bucket }) => bucketName(bucket, language)],
      [say('mode'), ({ mode }) => say(mode)],
      [say('per_minute'), ({ limit }) => grouped(limit.perMinute, language), 'numeric'],
      [
        say('used'),
        ({ bucket, levels }) => {
          const { remaining, capacity } = levels.buckets[bucket];
          return meter(request, capacity - remaining, capacity);
        },
      ],
      [
        say('source'),
        ({ limit: { source, untilMs } }) =>
          html`${say(source)}${untilMs !== null && html` (${say('until')} ${ui.time(language, untilMs)})`}`,
      ],
    ],
    lines,
  );
}

function meter({ say }: Request, used: number, all: number): Html {
  const text = say('of', { used, all });
  return html`<meter min="0" max="${all}" value="${used}" aria-label="${text}"></meter> ${text}`;
}

const tones = { open: 'warn', approved: 'good', denied: 'bad' } as const satisfies Record<
  LimitRequestState,
  ui.Tone
>;

function requestList(request: Request): Html {
  const { language, organization, say } = request;
  const wish = (perMinute: number, untilMs: number | null) =>
    html`${say('granted', { value: perMinute })}, ${untilMs === null ? say('no_end') : html`${say('until')} ${ui.time(language, untilMs)}`}`;
  const columns: ui.Column<LimitRequest>[] = [
    [say('bucket'), ({ bucket }) => bucketName(bucket, language)],
    [say('mode'), ({ mode }) => say(mode)],
    [
      say('value'),
      ({ perMinute, untilMs, reason }) =>
        html`${wish(perMinute, untilMs)}<br><span class="muted">${reason}</span>`,
    ],
    [
      say('asked'),
      ({ by, createdMs }) => html`${ui.time(language, createdMs)}<br><span class="muted">${by}</span>`,
    ],
    [say('state'), (each) => ui.badge(say(stateOf(each)), tones[stateOf(each)])],
    [
      say('answer'),
      ({ decision }) =>
        decision === null
          ? '–'
          : html`${decision.granted && wish(decision.granted.perMinute, decision.granted.untilMs)} ${decision.note}`,
    ],
  ];
  return ui.section(
    say('requests'),
    ui.table(say('requests'), columns, organization.limitRequests, ui.emptyState(say('no_request'))),
  );
}

function requestForm(request: Request): DashboardAnswer {
  const { language, mode, query, say } = request;
  const given = (name: string, preset = '') => query.get(name) ?? preset;
  const bucketChoices = buckets.map((each) => [each, bucketName(each, language)] as const);
  const modeChoices = requestedModes.map((each) => [each, say(each)] as const);
  const bucket = ui.select(request, 'bucket', bucketChoices, { value: given('bucket') });
  const chosenMode = ui.select(request, 'mode', modeChoices, { value: given('mode', mode) });
  const value = ui.field(request, 'value', {
    value: given('value'),
    required: true,
    ltr: true,
    attributes: html`inputmode="numeric" maxlength="10"`,
  });
  const until = ui.field(request, 'end', { name: 'until', type: 'date', value: given('until') });
  return formPage(request, say('request'), 'limits/request', [
    html`<div class="pair">${bucket}${chosenMode}</div>`,
    html`<div class="pair">${value}${until}</div>`,
    ui.textArea(request, 'reason', { hint: say('reason_hint'), value: given('reason'), required: true }),
    ui.submit(say('send')),
  ]);
}

/** The field of the form that each refusal of the directory is about. */
const fieldsOf = {
  end_passed: 'until',
  limit_not_higher: 'value',
  reason_missing: 'reason',
  request_open: 'bucket',
  text_invalid: 'reason',
} as const satisfies Partial<Record<RefusalCode, string>>;

async function sendRequest(request: Request): Promise<DashboardAnswer> {
  const { organization, member } = request;
  const wish = wishOf(request);
  if ('problems' in wish) return requestForm(refused(request, wish.problems));
  const id = `lrq_${randomText(24)}`;
  try {
    await request.once(() =>
      request.act('limits.request', { org: organization.id, ...wish }, async () => {
        const asked = { id, by: member.email };
        await request.services.directory.changeOrganization(organization.id, (each, nowMs) =>
          withLimitRequest(each, wish, asked, nowMs),
        );
        return { id };
      }),
    );
  } catch (error) {
    return requestForm(refusedBy(request, error, fieldsOf));
  }
  return redirect(viewLink(request, active, { done: 'requested' }));
}

function wishOf({ form: typed, say }: Request): LimitWish | { readonly problems: Problems } {
  const problems: Record<string, string> = {};
  const bucket = buckets.find((each) => each === typed.get('bucket'));
  const mode = requestedModes.find((each) => each === typed.get('mode'));
  const value = asciiDigits(typed.get('value') ?? '').replace(/\s/g, '');
  const until = typed.get('until') ?? '';
  const untilMs = until === '' ? null : (moroccoDayBounds(until)?.toMs ?? null);
  if (bucket === undefined || mode === undefined) problems.bucket = say('choose_bucket');
  if (!/^\d{1,10}$/.test(value)) problems.value = say('whole_number');
  if (until !== '' && untilMs === null) problems.until = say('no_day');
  if (bucket === undefined || mode === undefined || Object.keys(problems).length > 0) return { problems };
  return { bucket, mode, perMinute: Number(value), untilMs, reason: typed.get('reason') ?? '' };
}
