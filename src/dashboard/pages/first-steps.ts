// What an organization has to do before its first payment in a mode, with a mark at each step that
// is done.

import { paymentMethodTypes } from '../../contract/vocabulary.ts';
import { keyStatus } from '../../directory/api-key.ts';
import { kindIndex } from '../../domain/indexes.ts';
import type { WebhookEndpointRecord } from '../../domain/record.ts';
import { type Html, html } from '../../html/html.ts';
import { stepMark } from '../../html/marks.ts';
import * as ui from '../layout/components.ts';
import { link, viewLink } from '../layout/links.ts';
import type { Saying } from '../layout/row.ts';
import type { sayHome } from '../messages/home.ts';
import { mayDo } from '../people/roles.ts';
import { ownRecords } from './own-record.ts';
import { availableMethods } from './payment-parts.ts';

type Request = Saying<typeof sayHome>;

interface Step {
  readonly text: string;
  /** Null for those who may not open the page, and while there is nothing to do on it. */
  readonly href: string | null;
  /** Null: nobody can tell. */
  readonly isDone: boolean | null;
  /** What is missing, when it is not on that page. */
  readonly note?: Html;
}

/** The steps of the request's mode; null once all are done, or test mode has a payment. */
export async function firstSteps(request: Request, hasPayments: boolean): Promise<Html | null> {
  const { mode, say } = request;
  if (mode === 'test' && hasPayments) return null;
  const steps = mode === 'test' ? await testSteps(request) : await liveSteps(request);
  if (steps.every(({ isDone }) => isDone === true)) return null;
  const list = html`<ol class="steps">${steps.map((step) => item(request, step))}</ol>`;
  if (!hasPayments) return ui.section(say('first_steps'), list);
  // Whoever takes payments by links alone needs no key: the list is out of their way.
  const done = steps.filter(({ isDone }) => isDone).length;
  const summary = say('steps_done', { done, all: steps.length });
  return ui.section(say('first_steps'), html`<details><summary>${summary}</summary>${list}</details>`);
}

function item({ say }: Request, { text, href, isDone, note }: Step): Html {
  const state = isDone !== null && html` <span class="unseen">(${say(isDone ? 'done' : 'to_do')})</span>`;
  const shown = href === null ? text : html`<a href="${href}">${text}</a>`;
  return html`<li>${stepMark(isDone)}<div>${shown}${state}${note !== undefined && html`<div class="muted">${note}</div>`}</div></li>`;
}

async function testSteps(request: Request): Promise<Step[]> {
  const { role, say } = request;
  const developing = mayDo(role, 'developers.read')
    ? [keyStep(request, 'step_keys'), await endpointStep(request)]
    : [];
  return [
    ...(mayDo(role, 'payments.write') ? [linkStep(request, say('step_link'), false)] : []),
    ...developing,
    { text: say('step_docs'), href: link(request, '/docs'), isDone: null },
  ];
}

async function liveSteps(request: Request): Promise<Step[]> {
  const [endpoint, paid] = await Promise.all([
    endpointStep(request),
    request.api('list_payment_intents', { query: { status: 'succeeded', limit: '1' } }),
  ]);
  const { id, liveActivated } = request.organization;
  const activation: Step = {
    text: request.say('step_activation'),
    href: settingsLink(request),
    isDone: liveActivated,
    ...(!liveActivated && { note: operatorNote(request, 'activation_note', `payments org activate ${id}`) }),
  };
  return [
    activation,
    networkStep(request),
    keyStep(request, 'step_keys_live'),
    endpoint,
    linkStep(request, request.say('step_payment_live'), paid.ok && paid.body.data.length > 0),
  ];
}

function settingsLink(request: Request): string | null {
  return request.views.includes('settings') ? viewLink(request, 'settings') : null;
}

/** Done when a payment can be taken: a method has a network, and is switched on. */
function networkStep(request: Request): Step {
  const { organization, say } = request;
  const isDone = availableMethods(request).length > 0;
  const connected = paymentMethodTypes.find((method) => organization.connectors.live[method] !== null);
  const step = { text: say('step_network'), href: settingsLink(request), isDone };
  if (isDone || connected === undefined) return step;
  const order = `payments org methods ${organization.id} --mode live --${connected} on`;
  return { ...step, note: operatorNote(request, 'method_off_note', order) };
}

function operatorNote(request: Request, text: 'activation_note' | 'method_off_note', order: string): Html {
  return html`${request.say(text)} <code dir="ltr">${order}</code>`;
}

function keyStep(request: Request, text: 'step_keys' | 'step_keys_live'): Step {
  const { organization, mode, views, services, say } = request;
  const { directory, now } = services;
  const isDone = directory
    .keysOf(organization.id)
    .some((key) => key.mode === mode && key.kind === 'secret' && keyStatus(key, now()) === 'active');
  return { text: say(text), href: views.includes('keys') ? viewLink(request, 'keys') : null, isDone };
}

async function endpointStep(request: Request): Promise<Step> {
  const { views, say } = request;
  const endpoints = await ownRecords<WebhookEndpointRecord>(request, (scope) =>
    kindIndex('webhook_endpoint', scope),
  );
  return {
    text: say('step_webhooks'),
    href: views.includes('webhooks') ? viewLink(request, 'webhooks') : null,
    isDone: endpoints.some(({ status }) => status === 'enabled'),
  };
}

/** It leads to the form only where a payment can be taken. */
function linkStep(request: Request, text: string, isDone: boolean): Step {
  const canBeMade = mayDo(request.role, 'payments.write') && availableMethods(request).length > 0;
  return { text, href: canBeMade ? viewLink(request, 'checkout/new') : null, isDone };
}
