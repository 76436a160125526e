// The pages that say why a request was not answered as asked.

import type { Role } from '../../directory/members.ts';
import type { DashboardAnswer } from '../../edge/dashboard/dashboard-port.ts';
import { html } from '../../html/html.ts';
import type { ApiAnswer } from '../../operator/use-cases/services.ts';
import { sayLayout } from '../messages/layout.ts';
import type { TooMany } from '../pages/searches.ts';
import { button } from './components.ts';
import { type Content, plainPage } from './document.ts';
import { link } from './links.ts';
import type { PageRequest } from './row.ts';

type Unanswered = Extract<ApiAnswer, { readonly ok: false }>;

const kinds = {
  missing: { status: 404, title: 'missing_title', text: 'missing_text' },
  forbidden: { status: 403, title: 'forbidden_title', text: 'forbidden_text' },
  testOnly: { status: 403, title: 'forbidden_title', text: 'test_only_text' },
  suspended: { status: 403, title: 'suspended_title', text: 'suspended_text' },
  method: { status: 405, title: 'method_title', text: 'missing_text' },
  stale: { status: 403, title: 'stale_title', text: 'stale_text' },
  tooMany: { status: 429, title: 'too_many_title', text: 'too_many_text' },
  trouble: { status: 503, title: 'trouble_title', text: 'trouble_text' },
} as const;

export function errorPage(
  request: PageRequest,
  kind: Exclude<keyof typeof kinds, 'forbidden' | 'method' | 'tooMany'>,
): DashboardAnswer {
  return shown(request, kind, {});
}

/**
 * Whether nothing is known, because the shard is away or has no time. Otherwise what was asked
 * makes no sense.
 */
export function isAway({ status }: Unanswered): boolean {
  return status >= 500 || status === 429;
}

/** What was asked for is not shown: it is missing only where the API says so. */
export function unansweredPage(request: PageRequest, { error }: Unanswered): DashboardAnswer {
  return errorPage(request, error.code === 'resource_missing' ? 'missing' : 'trouble');
}

/** The address does not take the request's method. */
export function methodPage(request: PageRequest, takesForms = false): DashboardAnswer {
  return shown(request, 'method', {}, [['allow', takesForms ? 'GET, HEAD, POST' : 'GET, HEAD']]);
}

/** There were too many searches. */
export function tooManyPage(request: PageRequest, { waitSeconds: seconds }: TooMany): DashboardAnswer {
  return shown(request, 'tooMany', { seconds }, [['retry-after', String(seconds)]]);
}

export function tooManyText({ language }: PageRequest, { waitSeconds }: TooMany): string {
  const say = sayLayout({ language });
  return say('too_many_text', { seconds: waitSeconds });
}

/** The role does not allow it. */
export function forbiddenPage(request: PageRequest, role: Role): DashboardAnswer {
  const say = sayLayout(request);
  return shown(request, 'forbidden', { role: say(role) });
}

function shown(
  request: PageRequest,
  kind: keyof typeof kinds,
  values: Record<string, string | number>,
  headers: NonNullable<Content['headers']> = [],
): DashboardAnswer {
  const { status, title, text } = kinds[kind];
  const say = sayLayout(request);
  return plainPage(
    { ...request, problems: {} },
    {
      status,
      title: say(title),
      headers,
      body: [
        html`<p>${say(text, values)}</p>`,
        html`<p>${button(say('go_home'), link(request, '/dashboard'), 'quiet')}</p>`,
      ],
    },
  );
}
