// The form in which a webhook endpoint is added or changed: its address, and the events that it
// gets.

import { eventTypes } from '../../contract/vocabulary.ts';
import type { WebhookEndpointRecord } from '../../domain/record.ts';
import type { DashboardAnswer } from '../../edge/dashboard/dashboard-port.ts';
import { html } from '../../html/html.ts';
import * as ui from '../layout/components.ts';
import { formPage } from '../layout/document.ts';
import type { Saying } from '../layout/row.ts';
import type { sayWebhooks } from '../messages/webhooks.ts';

interface EndpointFields {
  readonly url: string;
  readonly events: readonly string[];
}

/** What was typed. All events make the others superfluous. */
export function endpointFields(form: URLSearchParams): EndpointFields {
  const events = form.getAll('enabled_events');
  return { url: (form.get('url') ?? '').trim(), events: events.includes('*') ? ['*'] : events };
}

/** `path`: where the form is sent. `endpoint`: as it is now; null for a new one. */
export function endpointForm(
  request: Saying<typeof sayWebhooks>,
  title: string,
  path: string,
  endpoint: Pick<WebhookEndpointRecord, 'url' | 'enabled_events'> | null,
): DashboardAnswer {
  const { form: sent, say } = request;
  const chosen = sent.has('url') ? endpointFields(sent).events : (endpoint?.enabled_events ?? []);
  const types = [['*', say('all_events')] as const, ...eventTypes.map((type) => [type, type] as const)];
  const boxes = types.map(([value, label]) =>
    ui.checkbox(
      'enabled_events',
      label,
      chosen.some((each) => each === value),
      value,
    ),
  );
  const body = [
    ui.field(request, 'url', {
      value: endpoint?.url ?? '',
      hint: say('url_hint'),
      type: 'url',
      required: true,
      ltr: true,
    }),
    ui.checkboxes(request, 'enabled_events', 'events', boxes, html` tabindex="-1"`),
    ui.submit(say('save')),
  ];
  return formPage(request, title, path, body);
}
