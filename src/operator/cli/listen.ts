// `payments listen` shows the events of a test organization as they happen, and forwards them,
// signed, to a program on the developer's machine. After a restart of the service it continues
// after the last event that it has shown, so none is missed.

import { setTimeout as wait } from 'node:timers/promises';
import type { Command } from 'commander';
import { signatureHeader, signatureHeaderName } from '../../crypto/signed-message.ts';
import { callOperator } from '../socket/operator-client.ts';
import { OperatorFailure } from '../socket/protocol.ts';
import type { FollowedEvent, FollowStart } from '../use-cases/webhook-commands.ts';
import { type ApiOptions, addApiOptions, apiOf, followEvents, httpUrl } from './api-client.ts';
import { addCommand, type CliContext, type CliHost, codeOf, complain } from './context.ts';

const reconnectMs = 500;
const forwardMsMax = 10_000;

interface Listening {
  readonly host: CliHost;
  readonly json: boolean;
  readonly forwardTo: string | null;
}

/** The source of the events: the operators' socket or the API. */
type Follow = (
  after: string | null,
  onItem: (item: FollowStart | FollowedEvent) => Promise<void>,
) => Promise<unknown>;

interface Forwarded {
  readonly status: number | null;
  readonly failure: string | null;
  readonly duration_ms: number;
}

export function addListenCommand(program: Command, { host, options: common, folder }: CliContext): void {
  const listening = addCommand(
    program,
    'listen [ORG]',
    "print and forward a test organization's events as they happen",
  ).option('--forward-to <url>', 'send each event, signed, to this address', httpUrl);
  addApiOptions(listening).action(async (org = null, options: ApiOptions & { forwardTo?: string }) => {
    const { json = false } = common();
    const api = apiOf(options, org);
    const follow: Follow =
      api === null
        ? (after, onItem) => callOperator(folder(undefined), 'events.follow', { org, after }, { onItem })
        : (after, onItem) => followEvents(api, after, onItem);
    await listen({ host, json, forwardTo: options.forwardTo ?? null }, follow);
  });
}

/** Follows the events until the process ends. Resolves only with a refusal. */
async function listen(listening: Listening, follow: Follow): Promise<never> {
  const { host } = listening;
  let after: string | null = null;
  let secret = '';
  /** Why nothing can be followed now. */
  let trouble: string | null = null;
  // Events are handled one after the other, in their order.
  const onItem = async (item: FollowStart | FollowedEvent) => {
    if ('organization' in item) {
      if (after === null) greet(listening, item);
      secret = item.secret;
      after = item.after;
    } else {
      await handle(listening, secret, item);
      after = item.id;
      trouble = null;
    }
  };
  for (;;) {
    try {
      await follow(after, onItem);
    } catch (error) {
      const isGone = error instanceof OperatorFailure && error.kind === 'failed';
      if (!isGone || after === null) throw error;
      if (error.message !== trouble) {
        complain(host, listening.json, { kind: 'failed', message: `${error.message} (retrying)` });
      }
      trouble = error.message;
    }
    await wait(reconnectMs);
  }
}

function greet({ host, json, forwardTo }: Listening, { organization, secret }: FollowStart): void {
  if (json) {
    host.write(`${JSON.stringify({ organization, forward_to: forwardTo, secret })}\n`);
    return;
  }
  const where = forwardTo === null ? '' : `, forwarded to ${forwardTo}`;
  host.write(`Test events of ${organization}${where}\n`);
  if (forwardTo !== null) host.write(`Signing secret: ${secret}\n`);
}

async function handle(listening: Listening, secret: string, event: FollowedEvent): Promise<void> {
  const { host, json, forwardTo } = listening;
  const forwarded = forwardTo === null ? null : await forward(forwardTo, secret, event.body);
  if (json) {
    host.write(`${JSON.stringify({ event: JSON.parse(event.body), forwarded })}\n`);
    return;
  }
  const time = new Date().toISOString().slice(11, 19);
  const outcome =
    forwarded === null
      ? ''
      : `  ${forwarded.status ?? forwarded.failure}  ${Math.round(forwarded.duration_ms)} ms`;
  host.write(`${time}  ${event.type}  ${event.id}${outcome}\n`);
}

/** Sends an event to the local program as a delivery would, once. */
async function forward(url: string, secret: string, body: string): Promise<Forwarded> {
  const startedAt = performance.now();
  const timestampSeconds = Math.floor(Date.now() / 1000);
  const headers = {
    'Content-Type': 'application/json',
    [signatureHeaderName]: signatureHeader({ secrets: [secret], timestampSeconds, body }),
  };
  const result = (status: number | null, failure: string | null): Forwarded => ({
    status,
    failure,
    duration_ms: Math.round(performance.now() - startedAt),
  });
  try {
    const signal = AbortSignal.timeout(forwardMsMax);
    const response = await fetch(url, { method: 'POST', headers, body, redirect: 'manual', signal });
    await response.body?.cancel();
    return result(response.status, null);
  } catch (error) {
    return result(null, codeOf(error instanceof Error ? (error.cause ?? error) : error));
  }
}
