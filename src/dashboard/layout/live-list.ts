// A list that is kept up to date while its page is open. A row `…/tail` answers the list alone, which the edge streams: the page
// and the stream show the same list.

import type { DashboardAnswer, TailSource } from '../../edge/dashboard/dashboard-port.ts';
import { type Html, html } from '../../html/html.ts';
import { sayFrame } from '../messages/frame.ts';
import { roomLink } from './links.ts';
import type { Visit } from './row.ts';

/** The list with what keeps it up to date. `path` is that of its tail, which gets the query of the page. */
export function liveList(visit: Visit, path: string, list: Html): Html {
  const { language } = visit;
  const query = Object.fromEntries(visit.query);
  return html`<div class="stack" data-tail="${roomLink(visit, path, query)}"><p>
<button type="button" class="quiet" hidden aria-pressed="false">${sayFrame('live', language)}</button>
<a data-refresh href="${roomLink(visit, visit.path, query)}">${sayFrame('refresh', language)}</a></p>
<div data-list>${list}</div></div>`;
}

/** The list as it is now; the edge asks for it again when its source has news. */
export function tailAnswer(visit: Visit, source: TailSource, list: Html): DashboardAnswer {
  const { organization, mode, member } = visit;
  return {
    kind: 'tail',
    source,
    org: organization.id,
    livemode: mode === 'live',
    member: member.id,
    list: list.markup,
  };
}
