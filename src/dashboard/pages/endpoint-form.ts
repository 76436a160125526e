// The form in which a webhook endpoint is added or changed: its address, and the events that it gets.

import { eventTypes } from '../../contract/vocabulary.ts';
import type { DashboardAnswer } from '../../edge/dashboard/dashboard-port.ts';
import { html } from '../../html/html.ts';
import { checkbox, errorSummary, field, form, type Problems, submit } from '../layout/components.ts';
import { page } from '../layout/document.ts';
import { roomLink } from '../layout/links.ts';
import type { Room, Visit } from '../layout/row.ts';
import { sayWebhooks } from '../messages/webhooks.ts';

interface EndpointFields {
  readonly url: string;
  readonly events: readonly string[];
}

/** What was typed. All events make the others superfluous. */
export function endpointFields(form: URLSearchParams): EndpointFields {
  const events = form.getAll('enabled_events');
  return { url: (form.get('url') ?? '').trim(), events: events.includes('*') ? ['*'] : events };
}

export function endpointForm(
  visit: Visit,
  shown: {
    readonly active: Room;
    readonly title: string;
    /** Below the organization and mode. */
    readonly action: string;
    readonly values: EndpointFields;
    readonly problems: Problems;
  },
): DashboardAnswer {
  const { language } = visit;
  const { active, title, action, values, problems } = shown;
  const isRefused = Object.keys(problems).length > 0;
  const all = [['*', sayWebhooks('all_events', language)] as const];
  const boxes = [...all, ...eventTypes.map((type) => [type, type] as const)].map(([value, label]) =>
    checkbox({ name: 'enabled_events', value, label, checked: values.events.includes(value) }),
  );
  const wrong = problems.enabled_events;
  const body = [
    field({
      name: 'url',
      label: sayWebhooks('url', language),
      hint: sayWebhooks('url_hint', language),
      type: 'url',
      value: values.url,
      problems,
      required: true,
      ltr: true,
    }),
    html`<fieldset id="enabled_events" tabindex="-1"><legend>${sayWebhooks('events', language)}</legend>
${wrong !== undefined && html`<span class="wrong">${wrong}</span>`}${boxes}</fieldset>`,
    submit(sayWebhooks('save', language)),
  ];
  return page(visit, {
    active,
    title,
    ...(isRefused && { status: 400 }),
    alert: errorSummary(language, problems),
    body: form(visit, roomLink(visit, action), body, { className: 'sheet stack' }),
  });
}
