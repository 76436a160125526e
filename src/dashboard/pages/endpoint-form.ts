// The form in which a webhook endpoint is added or changed: its address, and the events that it
// gets.

import { eventTypes } from '../../contract/vocabulary.ts';
import type { DashboardAnswer } from '../../edge/dashboard/dashboard-port.ts';
import { html } from '../../html/html.ts';
import * as ui from '../layout/components.ts';
import { page } from '../layout/document.ts';
import { viewLink } from '../layout/links.ts';
import type { ViewRequest } from '../layout/row.ts';
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
  request: ViewRequest,
  shown: {
    readonly title: string;
    /** Below the organization and mode. */
    readonly action: string;
    readonly values: EndpointFields;
    readonly problems: ui.Problems;
  },
): DashboardAnswer {
  const say = sayWebhooks(request);
  const { title, action, values, problems } = shown;
  const all = [['*', say('all_events')] as const];
  const boxes = [...all, ...eventTypes.map((type) => [type, type] as const)].map(([value, label]) =>
    ui.checkbox({ name: 'enabled_events', value, label, checked: values.events.includes(value) }),
  );
  const wrong = problems.enabled_events;
  const body = [
    ui.field({
      name: 'url',
      label: say('url'),
      hint: say('url_hint'),
      type: 'url',
      value: values.url,
      problems,
      required: true,
      ltr: true,
    }),
    html`<fieldset id="enabled_events" tabindex="-1"><legend>${say('events')}</legend>
${wrong !== undefined && html`<span class="wrong">${wrong}</span>`}${boxes}</fieldset>`,
    ui.submit(say('save')),
  ];
  return page(request, {
    title,
    problems,
    body: ui.form(request, viewLink(request, action), body, { className: 'sheet stack' }),
  });
}
