// The pages that say why a visit got nothing.

import type { Role } from '../../directory/members.ts';
import type { DashboardAnswer } from '../../edge/dashboard/dashboard-port.ts';
import { html } from '../../html/html.ts';
import { sayFrame } from '../messages/frame.ts';
import type { TooMany } from '../pages/searches.ts';
import { button } from './components.ts';
import { plainPage } from './document.ts';
import { link } from './links.ts';
import type { PageContext } from './row.ts';

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
  context: PageContext,
  kind: Exclude<keyof typeof kinds, 'forbidden' | 'tooMany'>,
): DashboardAnswer {
  return shown(context, kind, {});
}

/** There were too many searches. */
export function tooManyPage(context: PageContext, tooMany: TooMany): DashboardAnswer {
  return shown(context, 'tooMany', { seconds: tooMany.waitSeconds }, tooMany.waitSeconds);
}

export function tooManyText({ language }: PageContext, { waitSeconds }: TooMany): string {
  return sayFrame('too_many_text', language, { seconds: waitSeconds });
}

/** The role does not allow it. */
export function forbiddenPage(context: PageContext, role: Role): DashboardAnswer {
  return shown(context, 'forbidden', { role: sayFrame(role, context.language) });
}

function shown(
  context: PageContext,
  kind: keyof typeof kinds,
  values: Record<string, string | number>,
  retryAfterSeconds?: number,
): DashboardAnswer {
  const { status, title, text } = kinds[kind];
  const { language } = context;
  return plainPage(context, {
    status,
    title: sayFrame(title, language),
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    body: [
      html`<p>${sayFrame(text, language, values)}</p>`,
      html`<p>${button(sayFrame('go_home', language), link(context, '/dashboard'), 'quiet')}</p>`,
    ],
  });
}
