// `payments listen` shows the events of a test organization as they happen, and forwards them,
// signed, to a program on the developer's machine. After a restart of the service it continues
// after the last event that it has shown, so none is missed.

import { setTimeout as wait } from 'node:timers/promises';
import type { Command } from 'commander';
import { codeOrText } from '../../core/errors.ts';
import { signatureHeader, signatureHeaderName } from '../../crypto/signed-message.ts';
import type { ListedEvent } from '../../shard/protocol.ts';
import { callOperator } from '../socket/operator-client.ts';
import { OperatorFailure } from '../use-cases/failures.ts';
import type { FollowStart } from '../use-cases/webhook-commands.ts';
import { type ApiOptions, addApiOptions, apiOf, followEvents, httpUrl } from './api-client.ts';
import { addCommand, type CliContext, complain, type Output } from './context.ts';

const reconnectMs = 500;
const forwardMsMax = 10_000;

/** The source of the events: the operators' socket or the API. */
type Follow = (
  after: string | null,
  onItem: (item: FollowStart | ListedEvent) => Promise<void>,
) => Promise<unknown>;

export function addListenCommand(program: Command, context: CliContext): void {
  addApiOptions(addListen(program, 'listen [ORG]')).action(
    async (org = null, options: ApiOptions & { forwardTo?: string }) => {
      const { forwardTo = null } = options;
      const api = apiOf(options, org);
      const dataDir = api === null ? context.folder() : '';
      await listen(context, forwardTo, (after, onItem) =>
        api === null
          ? callOperator(dataDir, 'events.follow', { org, after }, { onItem })
          : followEvents(api, after, onItem),
      );
    },
  );
}

export function addListen(program: Command, usage: string): Command {
  const description = "print and forward a test organization's events as they happen";
  return addCommand(program, usage, description).option(
    '--forward-to <url>',
    'send each event, signed, to this address',
    httpUrl,
  );
}

/** Follows the events until the process ends. Resolves only with a refusal. */
export async function listen(output: Output, forwardTo: string | null, follow: Follow): Promise<never> {
  const { host, options, print } = output;
  let after: string | null = null;
  let secret = '';
  let trouble: string | null = null;
  // Events are handled one after the other, in their order.
  const onItem = async (item: FollowStart | ListedEvent) => {
    if ('organization' in item) {
      secret = item.secret;
      const start = { organization: item.organization, forward_to: forwardTo, secret };
      if (after === null) print(start, startInWords);
      after = item.after;
    } else {
      const forwarded = forwardTo === null ? null : await forward(forwardTo, secret, item.body);
      print({ event: JSON.parse(item.body), forwarded }, () => lineOf(item, forwarded));
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
      const message = `${error.message} (retrying)`;
      if (message !== trouble) complain(host, options().json === true, { kind: 'failed', message });
      trouble = message;
    }
    await wait(reconnectMs);
  }
}

function startInWords(start: { organization: string; forward_to: string | null; secret: string }): string {
  const { organization, forward_to: to, secret } = start;
  if (to === null) return `Test events of ${organization}`;
  return `Test events of ${organization}, forwarded to ${to}\nSigning secret: ${secret}`;
}

type Forwarded = Awaited<ReturnType<typeof forward>>;

function lineOf({ type, id }: ListedEvent, forwarded: Forwarded | null): string {
  const line = `${new Date().toISOString().slice(11, 19)}  ${type}  ${id}`;
  if (forwarded === null) return line;
  return `${line}  ${forwarded.status ?? forwarded.failure}  ${forwarded.duration_ms} ms`;
}

/** Sends an event to the local program as a delivery would, once. */
async function forward(url: string, secret: string, body: string) {
  const startedAt = performance.now();
  const timestampSeconds = Math.floor(Date.now() / 1000);
  const headers = {
    'Content-Type': 'application/json',
    [signatureHeaderName]: signatureHeader({ secrets: [secret], timestampSeconds, body }),
  };
  const result = (status: number | null, failure: string | null) => ({
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
    return result(null, codeOrText(error instanceof Error ? (error.cause ?? error) : error));
  }
}
