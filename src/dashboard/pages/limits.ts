// The room for rate limits: each bucket's limit in each mode, where it comes from, how much of it is used now, and requests for
// higher limits, which operators decide.

import { randomFillSync } from 'node:crypto';
import { type Bucket, bucketNames, buckets } from '../../contract/limits.ts';
import { type Language, type Mode, modes } from '../../contract/vocabulary.ts';
import { createRandomText } from '../../core/ids.ts';
import { moroccoDayBounds } from '../../core/morocco-day.ts';
import {
  type LimitRequest,
  type LimitRequestState,
  type LimitWish,
  requestedModes,
  stateOf,
} from '../../directory/limit-request.ts';
import { withLimitRequest } from '../../directory/limit-requests.ts';
import { DirectoryRefusal, type RefusalCode } from '../../directory/refusal.ts';
import { type LimitInForce, limitsInForce } from '../../domain/limits-in-force.ts';
import type { DashboardAnswer } from '../../edge/dashboard/dashboard-port.ts';
import { type Html, html } from '../../html/html.ts';
import type { LimitLevels } from '../../shard/scope.ts';
import {
  badge,
  button,
  definitions,
  doneOf,
  emptyState,
  errorSummary,
  field,
  form,
  number,
  type Problems,
  section,
  select,
  submit,
  type Tone,
  table,
  textArea,
  time,
} from '../layout/components.ts';
import { page, redirect } from '../layout/document.ts';
import { roomLink } from '../layout/links.ts';
import { recentForms } from '../layout/recent-forms.ts';
import type { Desk, Row, Visit } from '../layout/row.ts';
import { sayFrame } from '../messages/frame.ts';
import { sayLimits } from '../messages/limits.ts';
import { mayDo } from '../people/roles.ts';

const active = 'limits';
const randomText = createRandomText(randomFillSync);

export const limitRows: readonly Row[] = [
  { method: 'GET', path: 'limits', permission: 'developers.read', handle: show },
  {
    method: 'GET',
    path: 'limits/request',
    permission: 'limits.request',
    handle: async (visit) => requestForm(visit, {}),
  },
  { method: 'POST', path: 'limits/request', permission: 'limits.request', handle: request },
];

interface Line {
  readonly mode: Mode;
  readonly bucket: Bucket;
  readonly limit: LimitInForce;
  readonly levels: LimitLevels;
}

/** The name as it begins a line. */
function bucketName(bucket: Bucket, language: Language): string {
  const name = bucketNames[bucket][language];
  return name[0]!.toUpperCase() + name.slice(1);
}

async function levelsOf(
  { organization: { id: org } }: Visit,
  { services }: Desk,
  mode: Mode,
): Promise<LimitLevels> {
  const { body } = await services.askShard(org, { kind: 'limit_levels', org, livemode: mode === 'live' });
  return JSON.parse(body);
}

async function show(visit: Visit, desk: Desk): Promise<DashboardAnswer> {
  const { language, organization, role } = visit;
  const say = (key: Parameters<typeof sayLimits>[0]) => sayLimits(key, language);
  const levels = { test: await levelsOf(visit, desk, 'test'), live: await levelsOf(visit, desk, 'live') };
  // The visit's mode comes first.
  const shownModes = visit.mode === 'live' ? [...modes].reverse() : modes;
  const lines = shownModes.flatMap((mode) => {
    const inForce = limitsInForce(organization.limits[mode], mode, desk.services.now());
    return buckets.map(
      (bucket): Line => ({ mode, bucket, limit: inForce.buckets[bucket], levels: levels[mode] }),
    );
  });
  const { daily } = limitsInForce(organization.limits.test, 'test', desk.services.now());
  const today = levels.test.today;
  const ask = button(say('request'), roomLink(visit, 'limits/request'));
  return page(visit, {
    active,
    title: sayFrame(active, language),
    actions: mayDo(role, 'limits.request') ? ask : null,
    body: [
      doneOf(visit, { requested: 'done' } as const, sayLimits),
      html`<p>${say('intro')}</p>`,
      limitTable(visit, lines),
      today &&
        daily &&
        section(
          say('today'),
          definitions([
            [say('requests_today'), meter(visit, today.requests, daily.requests)],
            [say('creations_today'), meter(visit, today.creations, daily.paymentCreations)],
          ]),
        ),
      requestList(visit),
    ],
  });
}

function limitTable(visit: Visit, lines: readonly Line[]): Html {
  const { language } = visit;
  const say = (key: Parameters<typeof sayLimits>[0]) => sayLimits(key, language);
  return table(
    sayFrame(active, language),
    [
      { heading: say('bucket'), cell: ({ bucket }) => bucketName(bucket, language) },
      { heading: say('mode'), cell: ({ mode }) => say(mode) },
      { heading: say('per_minute'), cell: ({ limit }) => number(language, limit.perMinute), numeric: true },
      {
        heading: say('used'),
        cell: ({ bucket, levels }) => {
          const { remaining, capacity } = levels.buckets[bucket];
          return meter(visit, capacity - remaining, capacity);
        },
      },
      {
        heading: say('source'),
        cell: ({ limit: { source, untilMs } }) =>
          html`${say(source)}${untilMs !== null && html` (${say('until')} ${time(language, untilMs)})`}`,
      },
    ],
    lines,
  );
}

function meter({ language }: Visit, used: number, all: number): Html {
  const text = sayLimits('of', language, { used: number(language, used), all: number(language, all) });
  return html`<meter min="0" max="${all}" value="${used}" aria-label="${text}"></meter> ${text}`;
}

const tones = { open: 'warn', approved: 'good', denied: 'bad' } as const satisfies Record<
  LimitRequestState,
  Tone
>;

function requestList(visit: Visit): Html {
  const { language, organization } = visit;
  const say = (key: Parameters<typeof sayLimits>[0]) => sayLimits(key, language);
  const { limitRequests } = organization;
  const wish = (perMinute: number, untilMs: number | null) =>
    html`${sayLimits('granted', language, { value: number(language, perMinute) })}, ${untilMs === null ? say('no_end') : html`${say('until')} ${time(language, untilMs)}`}`;
  const columns = [
    { heading: say('bucket'), cell: ({ bucket }: LimitRequest) => bucketName(bucket, language) },
    { heading: say('mode'), cell: ({ mode }: LimitRequest) => say(mode) },
    {
      heading: say('value'),
      cell: ({ perMinute, untilMs, reason }: LimitRequest) =>
        html`${wish(perMinute, untilMs)}<br><span class="muted">${reason}</span>`,
    },
    {
      heading: say('asked'),
      cell: ({ by, createdMs }: LimitRequest) =>
        html`${time(language, createdMs)}<br><span class="muted">${by}</span>`,
    },
    {
      heading: say('state'),
      cell: (each: LimitRequest) => badge(say(stateOf(each)), tones[stateOf(each)]),
    },
    {
      heading: say('answer'),
      cell: ({ decision }: LimitRequest) =>
        decision === null
          ? '–'
          : html`${decision.granted && wish(decision.granted.perMinute, decision.granted.untilMs)} ${decision.note}`,
    },
  ];
  return section(
    say('requests'),
    limitRequests.length === 0
      ? emptyState(say('no_request'))
      : table(say('requests'), columns, limitRequests),
  );
}

function requestForm(visit: Visit, problems: Problems): DashboardAnswer {
  const { language, mode, query, form: typed } = visit;
  const say = (key: Parameters<typeof sayLimits>[0]) => sayLimits(key, language);
  const value = (name: string, preset = '') => typed.get(name) ?? query.get(name) ?? preset;
  const body = [
    html`<div class="pair">${select({
      name: 'bucket',
      label: say('bucket'),
      value: value('bucket'),
      problems,
      choices: buckets.map((bucket) => [bucket, bucketName(bucket, language)] as const),
    })}${select({
      name: 'mode',
      label: say('mode'),
      value: value('mode', mode),
      problems,
      choices: requestedModes.map((each) => [each, say(each)] as const),
    })}</div>`,
    html`<div class="pair">${field({
      name: 'value',
      label: say('value'),
      value: value('value'),
      problems,
      required: true,
      ltr: true,
      attributes: html`inputmode="numeric" maxlength="10"`,
    })}${field({ name: 'until', label: say('end'), type: 'date', value: value('until'), problems })}</div>`,
    textArea({
      name: 'reason',
      label: say('reason'),
      hint: say('reason_hint'),
      value: value('reason'),
      problems,
      required: true,
    }),
    submit(say('send')),
  ];
  return page(visit, {
    active,
    ...(Object.keys(problems).length > 0 && { status: 400 }),
    title: say('request'),
    alert: errorSummary(language, problems),
    body: form(visit, roomLink(visit, 'limits/request'), body, { className: 'sheet stack' }),
  });
}

/** The field of the form that each refusal of the directory is about. */
const fieldsOf = {
  end_passed: 'until',
  limit_not_higher: 'value',
  reason_missing: 'reason',
  request_open: 'bucket',
  text_invalid: 'reason',
} as const satisfies Partial<Record<RefusalCode, string>>;

async function request(visit: Visit, desk: Desk): Promise<DashboardAnswer> {
  const { language, organization, member } = visit;
  const wish = wishOf(visit);
  if ('problems' in wish) return requestForm(visit, wish.problems);
  const id = `lrq_${randomText(24)}`;
  try {
    await recentForms.once(member.id, visit.form, () =>
      desk.act(visit, 'limits.request', { org: organization.id, ...wish }, async () => {
        const asked = { id, by: member.email };
        await desk.services.directory.changeOrganization(organization.id, (each, nowMs) =>
          withLimitRequest(each, wish, asked, nowMs),
        );
        return { id };
      }),
    );
  } catch (error) {
    const code = error instanceof DirectoryRefusal ? (error.code as keyof typeof fieldsOf | null) : null;
    if (code === null || !(code in fieldsOf)) throw error;
    return requestForm(visit, { [fieldsOf[code]]: sayLimits(code, language) });
  }
  return redirect(roomLink(visit, active, { done: 'requested' }));
}

function wishOf({ form: typed, language }: Visit): LimitWish | { readonly problems: Problems } {
  const problems: Record<string, string> = {};
  const bucket = buckets.find((each) => each === typed.get('bucket'));
  const mode = requestedModes.find((each) => each === typed.get('mode'));
  const value = (typed.get('value') ?? '').replace(/\s/g, '');
  const until = typed.get('until') ?? '';
  const untilMs = until === '' ? null : (moroccoDayBounds(until)?.toMs ?? null);
  if (bucket === undefined || mode === undefined) problems.bucket = sayLimits('choose_bucket', language);
  if (!/^\d{1,10}$/.test(value)) problems.value = sayLimits('whole_number', language);
  if (until !== '' && untilMs === null) problems.until = sayLimits('no_day', language);
  if (bucket === undefined || mode === undefined || Object.keys(problems).length > 0) return { problems };
  return { bucket, mode, perMinute: Number(value), untilMs, reason: typed.get('reason') ?? '' };
}
