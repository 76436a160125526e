// `payments webhooks …`, and `payments trigger`, which makes events happen in test mode.

import type { Command } from 'commander';
import { listedMax } from '../../contract/limits.ts';
import type { ResultOf, RowOf } from '../use-cases/commands.ts';
import type { PresentedDelivery, PresentedEndpoint } from '../use-cases/present.ts';
import { trigger, typeThatHappens } from '../use-cases/trigger.ts';
import { type ApiOptions, actorOver, addApiOptions, apiOf } from './api-client.ts';
import { addCommand, type CliContext, overlapOption } from './context.ts';
import { type Column, formatTime, tableOf, triggered } from './table.ts';

const answerShownMax = 200;

export function addWebhookCommands(program: Command, { run, print }: CliContext): void {
  const webhooks = addCommand(program, 'webhooks', 'webhook endpoints, their deliveries and secrets');
  addCommand(webhooks, 'list <ORG>', "list an organization's webhook endpoints, newest first").action((org) =>
    run('webhooks.list', { org }, endpoints),
  );
  addCommand(webhooks, 'deliveries <ENDPOINT>', "list an endpoint's deliveries, newest first")
    .option('--failed', 'only failed deliveries')
    .action((endpoint, { failed = false }) =>
      run('webhooks.deliveries', { endpoint, failedOnly: failed }, deliveries),
    );
  addCommand(
    webhooks,
    'attempts <DELIVERY>',
    "list a delivery's attempts, with how failed answers begin",
  ).action((delivery) => run('webhooks.attempts', { delivery }, attempts));
  addCommand(webhooks, 'resend <DELIVERY>', 'send a delivery again, with all its retries').action(
    (delivery) =>
      run(
        'webhooks.resend',
        { delivery },
        ({ id, type, endpoint }) => `Sending ${id}, ${type}, to ${endpoint} again.`,
      ),
  );
  addCommand(
    webhooks,
    'resend-failed <ENDPOINT>',
    'send all failed deliveries again; at most once an hour',
  ).action((endpoint) => run('webhooks.resend-failed', { endpoint }, resentAll));
  addCommand(
    webhooks,
    'roll-secret <ENDPOINT>',
    'replace the signing secret; both sign until the overlap ends',
  )
    .addOption(overlapOption('how long the old secret still signs'))
    .action((endpoint, { overlap }) =>
      run('webhooks.roll-secret', { endpoint, overlapSeconds: overlap }, secrets),
    );
  addCommand(webhooks, 'show-secret <ENDPOINT>', 'show the active signing secrets, newest first').action(
    (endpoint) => run('webhooks.show-secret', { endpoint }, secrets),
  );
  addCommand(webhooks, 'sample <ENDPOINT>', 'send a made-up event to an endpoint in test mode')
    .requiredOption('--type <type>', 'the type of the event, such as payment_intent.succeeded')
    .action((endpoint, { type }) =>
      run(
        'webhooks.sample',
        { endpoint, type },
        ({ event, delivery }) => `Sending the sample ${event} as ${delivery}.`,
      ),
    );
  const triggering = addCommand(
    program,
    'trigger <TYPE>',
    'make an event of this type happen in test mode',
  ).option('--org <ORG>', 'the organization; not needed when there is only one');
  addApiOptions(triggering).action(async (type: string, options: ApiOptions & { org?: string }) => {
    const { org = null } = options;
    const api = apiOf(options, org);
    if (api === null) return run('trigger', { org, type }, triggered);
    print(await trigger(actorOver(api), typeThatHappens(type)), triggered);
  });
}

/** How deliveries to an endpoint go. */
export const deliveryColumns: readonly Column<PresentedEndpoint>[] = [
  [
    'next try',
    ({ failing_since, next_attempt }) => (failing_since && next_attempt ? formatTime(next_attempt) : ''),
  ],
  ['last', ({ last_status }) => String(last_status ?? '')],
  ['failed of 24 h', ({ attempts_24h, failed_24h }) => `${failed_24h} of ${attempts_24h}`],
];

const endpoints = tableOf<PresentedEndpoint>([
  'id',
  'mode',
  [
    'status',
    ({ status, failing_since }) =>
      failing_since === null || status !== 'enabled' ? status : `failing since ${formatTime(failing_since)}`,
  ],
  ...deliveryColumns,
  ['median', ({ median_ms }) => (median_ms === null ? '' : `${median_ms} ms`)],
  'url',
  ['events', 'enabled_events'],
  'created',
]);

const deliveries = tableOf<PresentedDelivery>(
  ['id', 'type', 'status', 'attempts', 'next_attempt', 'event', 'created'],
  listedMax,
);

const attempts = tableOf<RowOf<'webhooks.attempts'>>([
  'at',
  'status',
  ['time', ({ duration_ms }) => `${duration_ms} ms`],
  ['outcome', ({ failure }) => failure ?? 'delivered'],
  [
    'answer',
    ({ failure, answer }) => (answer === null ? (failure === null ? '' : '(not kept)') : cut(answer)),
  ],
]);

function cut(answer: string): string {
  const line = answer.replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ').trim();
  return line.length > answerShownMax ? `${line.slice(0, answerShownMax)}…` : line;
}

function resentAll({ id, resent }: ResultOf<'webhooks.resend-failed'>): string {
  return `Sending ${resent} failed ${resent === 1 ? 'delivery' : 'deliveries'} to ${id} again.`;
}

const secretTable = tableOf<ResultOf<'webhooks.show-secret'>['secrets'][number]>([
  'secret',
  ['signs', ({ expires }) => (expires === null ? 'until it is rolled' : `until ${formatTime(expires)}`)],
]);

function secrets(shown: ResultOf<'webhooks.show-secret'>): string {
  return secretTable(shown.secrets);
}
