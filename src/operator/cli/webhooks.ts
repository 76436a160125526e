// `payments webhooks …` and `payments trigger`: endpoints, deliveries and their attempts, resending, secrets, and triggering
// events in test mode.

import type { Command } from 'commander';
import { overlapSecondsMax } from '../../contract/limits.ts';
import { listedMax } from '../socket/protocol.ts';
import type {
  PresentedAttempt,
  PresentedDelivery,
  PresentedEndpoint,
  PresentedSecret,
} from '../use-cases/present-webhooks.ts';
import { type ApiOptions, addApiOptions, apiOf } from './api-client.ts';
import { triggerThroughApi } from './api-trigger.ts';
import { type CliContext, wholeNumber } from './context.ts';
import { formatFields, formatTable, formatTime } from './table.ts';

const answerShownMax = 200;

export function addWebhookCommands(program: Command, { run, print }: CliContext): void {
  const webhooks = program.command('webhooks').description('webhook endpoints, their deliveries and secrets');
  webhooks
    .command('list <ORG>')
    .description("list an organization's webhook endpoints in both modes, newest first")
    .action((org, _, command) => run(command, 'webhooks.list', { org }, endpoints));
  webhooks
    .command('deliveries <ENDPOINT>')
    .description(`list an endpoint's deliveries, newest first, at most ${listedMax}`)
    .option('--failed', 'failed deliveries only')
    .action((endpoint, { failed = false }, command) =>
      run(command, 'webhooks.deliveries', { endpoint, failedOnly: failed }, deliveries),
    );
  webhooks
    .command('attempts <DELIVERY>')
    .description(
      'list the attempts of a delivery: status, time taken, the beginning of the last failed answers',
    )
    .action((delivery, _, command) => run(command, 'webhooks.attempts', { delivery }, attempts));
  webhooks
    .command('resend <DELIVERY>')
    .description('send a delivery again, at once and from the start of its schedule')
    .action((delivery, _, command) => run(command, 'webhooks.resend', { delivery }, resent));
  webhooks
    .command('resend-failed <ENDPOINT>')
    .description('send all failed deliveries of an endpoint again, oldest first; once an hour')
    .action((endpoint, _, command) => run(command, 'webhooks.resend-failed', { endpoint }, resentAll));
  webhooks
    .command('roll-secret <ENDPOINT>')
    .description('replace the signing secret; until the overlap ends both sign every delivery')
    .requiredOption(
      '--overlap <seconds>',
      'how long the old secret still signs',
      wholeNumber(0, overlapSecondsMax),
    )
    .action((endpoint, { overlap }, command) =>
      run(command, 'webhooks.roll-secret', { endpoint, overlapSeconds: overlap }, secrets),
    );
  webhooks
    .command('show-secret <ENDPOINT>')
    .description('show the signing secrets in force, newest first')
    .action((endpoint, _, command) => run(command, 'webhooks.show-secret', { endpoint }, secrets));
  webhooks
    .command('sample <ENDPOINT>')
    .description('send a made-up event to an endpoint in test mode')
    .requiredOption('--type <type>', 'the type of the event, such as payment_intent.succeeded')
    .action((endpoint, { type }, command) => run(command, 'webhooks.sample', { endpoint, type }, sampled));
  const triggering = program
    .command('trigger <TYPE>')
    .description('drive the API in test mode until an event of this type happens')
    .option('--org <ORG>', 'the organization; not needed when there is only one');
  addApiOptions(triggering).action(
    async (type: string, options: ApiOptions & { org?: string }, command: Command) => {
      const { org = null } = options;
      const api = apiOf(options, org, command);
      if (api === null) return run(command, 'trigger', { org, type }, triggered);
      return print(command, (await triggerThroughApi(api, type)) as TriggeredEvent, triggered);
    },
  );
}

function endpoints(list: readonly PresentedEndpoint[]): string {
  const rows = list.map((endpoint) => [
    endpoint.id,
    endpoint.mode,
    endpoint.status,
    endpoint.url,
    endpoint.enabled_events.join(','),
    formatTime(endpoint.created),
  ]);
  return formatTable(['id', 'mode', 'status', 'url', 'events', 'created'], rows);
}

function deliveries(list: readonly PresentedDelivery[]): string {
  const rows = list.map((delivery) => [
    delivery.id,
    delivery.type,
    delivery.status,
    String(delivery.attempts),
    formatTime(delivery.next_attempt),
    delivery.event,
    formatTime(delivery.created),
  ]);
  const headings = ['id', 'type', 'status', 'attempts', 'next attempt', 'event', 'created'];
  return formatTable(headings, rows, listedMax);
}

function attempts(list: readonly PresentedAttempt[]): string {
  const rows = list.map((attempt) => [
    formatTime(attempt.at),
    attempt.status === null ? '-' : String(attempt.status),
    `${attempt.duration_ms} ms`,
    attempt.failure ?? 'delivered',
    answerOf(attempt),
  ]);
  return formatTable(['at', 'status', 'time', 'outcome', 'answer'], rows);
}

function answerOf({ failure, answer }: PresentedAttempt): string {
  if (answer !== null) return onOneLine(answer);
  return failure === null ? '' : '(not kept)';
}

/** A receiver's answer, cut, on one line, and without control sequences for the terminal. */
function onOneLine(answer: string): string {
  const plain = answer.replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ').trim();
  return plain.length > answerShownMax ? `${plain.slice(0, answerShownMax)}…` : plain;
}

function resent({ id, type, endpoint }: PresentedDelivery): string {
  return `Sending ${id}, ${type}, to ${endpoint} again.`;
}

function resentAll({ id, resent: count }: { readonly id: string; readonly resent: number }): string {
  return `Sending ${count} failed ${count === 1 ? 'delivery' : 'deliveries'} to ${id} again.`;
}

function secrets({ secrets: list }: { readonly secrets: readonly PresentedSecret[] }): string {
  const rows = list.map(({ secret, expires }) => [
    secret,
    expires === null ? 'in force' : `until ${formatTime(expires)}`,
  ]);
  return formatTable(['secret', 'signs'], rows);
}

function sampled({ event, delivery }: { readonly event: string; readonly delivery: string }): string {
  return `Sending the sample ${event} as ${delivery}.`;
}

interface TriggeredEvent {
  readonly id: string;
  readonly type: string;
  readonly data: { readonly object: { readonly id: string } };
}

function triggered({ id, type, data }: TriggeredEvent): string {
  return formatFields({ type, event: id, object: data.object.id });
}
