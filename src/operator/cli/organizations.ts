// `payments org …`, `payments key …` and `payments limits …`. A key is named by its id (`key_…`) or
// by its text, which is never printed back.

import { type Command, Option } from 'commander';
import { type Bucket, buckets, limitPerMinuteMax } from '../../contract/limits.ts';
import { type Mode, modes } from '../../contract/vocabulary.ts';
import { keyKinds } from '../../directory/api-key.ts';
import type { ResultOf } from '../use-cases/commands.ts';
import { CommandFailure, wrongUsage } from '../use-cases/failures.ts';
import type { PresentedKey, PresentedLimitRequest, PresentedOrganization } from '../use-cases/present.ts';
import {
  addCommand,
  type CliContext,
  choiceOption,
  dateOrTime,
  modeOption,
  overlapOption,
  wholeNumber,
} from './context.ts';
import { formatFields, formatTable, formatTime, inCell, tableOf } from './table.ts';

export function addOrganizationCommands(program: Command, context: CliContext): void {
  const { run } = context;
  const org = addCommand(program, 'org', 'organizations, which take payments through the service');
  addCommand(org, 'create', 'create an organization and its first keys, which are shown once')
    .requiredOption('--name <name>', 'the name that people know it by')
    .action(({ name }) => run('org.create', { name }, created));
  addCommand(org, 'list', 'list all organizations, oldest first').action(() => run('org.list', {}, list));
  addCommand(org, 'show <ORG>', 'show an organization').action((id) => run('org.show', { org: id }, show));
  addCommand(org, 'activate <ORG>', "let the organization's live keys work").action((id) =>
    run('org.activate', { org: id }, show),
  );
  addCommand(org, 'suspend <ORG>', "stop the organization's keys until it is reinstated").action((id) =>
    run('org.suspend', { org: id }, show),
  );
  addCommand(org, 'reinstate <ORG>', 'end a suspension').action((id) =>
    run('org.reinstate', { org: id }, show),
  );
  addCommand(org, 'close <ORG>', "stop the organization's keys for good")
    .option('--yes', "don't ask")
    .action((id, { yes = false }) => close(context, id, yes));
  const onOff = (flag: string) => new Option(`${flag} <state>`, 'on or off').choices(['on', 'off']);
  addCommand(org, 'methods <ORG>', 'switch payment methods on or off in a mode')
    .addOption(modeOption())
    .addOption(onOff('--card'))
    .addOption(onOff('--cash'))
    .action((id, { mode, card, cash }: { mode: Mode; card?: string; cash?: string }) => {
      if (card === undefined && cash === undefined) throw wrongUsage('give --card or --cash, or both');
      const methods = { ...(card && { card: card === 'on' }), ...(cash && { cash: cash === 'on' }) };
      return run('org.methods', { org: id, mode, methods }, show);
    });
}

async function close({ host, call, run }: CliContext, id: string, yes: boolean): Promise<void> {
  if (!yes) {
    const { name } = await call('org.show', { org: id });
    const answer = await host.confirm(`Close ${name} (${id})? Its keys stop working, for good. [y/N] `);
    if (answer === null) throw new CommandFailure('closing cannot be undone: confirm it with --yes');
    if (!answer) throw new CommandFailure(`${id} was not closed`);
  }
  return run('org.close', { org: id }, show);
}

function created({ id, name, keys }: ResultOf<'org.create'>): string {
  const fields = formatFields({
    id,
    name,
    'test secret key': keys.test.secret,
    'test publishable key': keys.test.publishable,
    'live secret key': keys.live.secret,
    'live publishable key': keys.live.publishable,
  });
  return `${fields}\n\nThe keys will not be shown again: keep them safe. Live keys work once the organization is activated.`;
}

const list = tableOf<PresentedOrganization>(['id', 'name', 'status', ['live', 'live_activated'], 'created']);

function show(organization: PresentedOrganization): string {
  const { id, name, status, live_activated, api_version, created, methods } = organization;
  const fields = formatFields({
    id,
    name,
    status,
    'live activated': live_activated ? 'yes' : 'no',
    'test methods': methodsInWords(organization, 'test'),
    'live methods': methodsInWords(organization, 'live'),
    'API version': api_version,
    created: formatTime(created),
  });
  const takesLivePayments = Object.values(methods.live).includes(true);
  return live_activated && !takesLivePayments ? `${fields}\n\n${noLivePayments}` : fields;
}

const noLivePayments =
  'Its live keys work, but no payment can be taken in live mode: no method that is switched on has a payment network.';

function methodsInWords({ methods, without_network: idle }: PresentedOrganization, mode: Mode): string {
  const working = Object.entries(methods[mode]).flatMap(([method, works]) => (works ? [method] : []));
  const missing = idle[mode].length > 0 ? ` (switched on, without a network: ${idle[mode].join(', ')})` : '';
  return (working.join(', ') || 'none') + missing;
}

type CreatedKey = PresentedKey & { readonly key: string; readonly replaces?: PresentedKey };

export function addKeyCommands(program: Command, { run }: CliContext): void {
  const key = addCommand(program, 'key', 'API keys of organizations');
  addCommand(key, 'create <ORG>', 'create a key, which is shown once')
    .addOption(modeOption())
    .addOption(choiceOption('--kind <kind>', 'what the key may do', keyKinds))
    .option('--name <name>', 'a name for it, such as that of the program that uses it')
    .action((org, { mode, kind, name }) => run('key.create', { org, mode, kind, name }, keyInWords));
  addCommand(key, 'list <ORG>', "list an organization's keys, oldest first").action((org) =>
    run('key.list', { org }, keyTable),
  );
  addCommand(key, 'name <KEY> <NAME>', 'give a key another name; "" takes its name away').action((id, name) =>
    run('key.name', { key: id, name }, (named) => `${keyWords(named)} is called ${named.name ?? 'nothing'}.`),
  );
  addCommand(key, 'roll <KEY>', 'replace a key by a new one; the old one works until the overlap ends')
    .addOption(overlapOption('how long the old key still works'))
    .action((name, { overlap }) => run('key.roll', { key: name, overlapSeconds: overlap }, keyInWords));
  addCommand(key, 'revoke <KEY>', 'stop a key at once').action((name) =>
    run('key.revoke', { key: name }, (revoked) => `Revoked ${keyWords(revoked)}.`),
  );
}

function keyWords({ id, mode, kind, hint }: PresentedKey): string {
  return `${id}, the ${mode} ${kind} key that ends in ${hint}`;
}

function keyInWords({ id, name, organization, mode, kind, key, replaces }: CreatedKey): string {
  const end =
    replaces?.status === 'expired' ? 'has expired' : `works until ${formatTime(replaces?.expires ?? null)}`;
  const old: Record<string, string> =
    replaces === undefined ? {} : { replaces: `${replaces.id}, which ${end}` };
  const named: Record<string, string> = name === null ? {} : { name };
  const fields = formatFields({ id, ...named, organization, mode, kind, key, ...old });
  return `${fields}\n\nThe key will not be shown again: keep it safe.`;
}

const keyTable = tableOf<PresentedKey>([
  'id',
  'name',
  'mode',
  'kind',
  ['key', ({ hint }) => `…${hint}`],
  'status',
  'created',
  'last_used',
  ['ends', ({ revoked, expires }) => revoked ?? expires],
]);

const perMinuteNumber = wholeNumber(1, limitPerMinuteMax);

interface SetOptions {
  readonly mode: Mode;
  readonly bucket?: Bucket;
  readonly perMinute?: number;
  readonly source?: 'plan' | 'custom';
  readonly until?: number;
  readonly dailyRequests?: number;
  readonly dailyPaymentCreations?: number;
}

export function addLimitCommands(program: Command, { run }: CliContext): void {
  const limits = addCommand(program, 'limits', 'rate limits of organizations');
  addCommand(limits, 'show <ORG>', "show an organization's active limits, its own and the defaults").action(
    (org) => run('limits.show', { org }, limitsInWords),
  );
  addCommand(limits, 'set <ORG>', 'give an organization a limit of its own')
    .addOption(modeOption())
    .addOption(new Option('--bucket <bucket>', 'the kind of requests that is limited').choices(buckets))
    .option('--per-minute <requests>', 'the limit of the bucket', perMinuteNumber)
    .addOption(new Option('--source <source>', 'where the limit comes from').choices(['plan', 'custom']))
    .option('--until <time>', 'ISO 8601 date or time at which the default applies again', dateOrTime)
    .option('--daily-requests <requests>', 'requests a day in test mode', perMinuteNumber)
    .option('--daily-payment-creations <requests>', 'payment creations a day in test mode', perMinuteNumber)
    .action((org, options: SetOptions) => setLimits(run, org, options));
  addCommand(limits, 'reset <ORG>', 'go back to the defaults in a mode')
    .addOption(modeOption())
    .action((org, { mode }) => run('limits.reset', { org, mode }, limitsInWords));
  addCommand(limits, 'requests [ORG]', 'list requests for higher limits, newest first').action((org = null) =>
    run('limits.requests', { org }, requests),
  );
  addCommand(limits, 'approve <REQUEST>', 'grant the limit that a request asks for, or another one')
    .option('--value <requests>', 'requests a minute, instead of what was asked for', perMinuteNumber)
    .option('--until <time>', 'ISO 8601 date or time of the end, instead of the one asked for', dateOrTime)
    .option('--note <text>', 'what the organization is told', '')
    .action((request, { value: perMinute, until: untilMs, note }) =>
      run('limits.approve', { request, perMinute, untilMs, note }, decided),
    );
  addCommand(limits, 'deny <REQUEST>', 'leave the limit as it is')
    .requiredOption('--reason <text>', 'what the organization is told')
    .action((request, { reason }) => run('limits.deny', { request, reason }, decided));
}

function setLimits(run: CliContext['run'], org: string, options: SetOptions): Promise<void> {
  const { mode, bucket, perMinute, source, until } = options;
  const { dailyRequests: requests, dailyPaymentCreations: paymentCreations } = options;
  const isDaily = requests !== undefined || paymentCreations !== undefined;
  const isOfBucket = [bucket, perMinute, source, until].some((value) => value !== undefined);
  if (isDaily === isOfBucket)
    throw wrongUsage('give either --bucket and --per-minute, or the --daily- options');
  if (isDaily) {
    if (mode === 'live') throw wrongUsage('live mode has no daily cap: use --mode test');
    return run('limits.daily', { org, mode, requests, paymentCreations }, limitsInWords);
  }
  if (bucket === undefined || perMinute === undefined)
    throw wrongUsage('--bucket and --per-minute are needed together');
  const params = { org, mode, bucket, perMinute, source: source ?? 'custom', untilMs: until ?? null };
  return run('limits.set', params, limitsInWords);
}

function limitsInWords({ limits, test_daily: daily }: ResultOf<'limits.show'>): string {
  const rows = modes.flatMap((mode) =>
    Object.entries(limits[mode]).map(([bucket, { per_minute, burst, source, until }]) =>
      [mode, bucket, per_minute, burst, source, until].map(inCell),
    ),
  );
  const table = formatTable(['mode', 'bucket', 'per minute', 'burst', 'source', 'until'], rows);
  return `${table}\n\ntest mode, a day: ${daily.requests} requests, ${daily.payment_creations} payment creations`;
}

const requests = tableOf<PresentedLimitRequest>([
  'id',
  'organization',
  'bucket',
  'mode',
  'per_minute',
  'until',
  'state',
  'by',
  'created',
  ['reason', ({ reason }) => reason.replace(/\s+/g, ' ')],
]);

function decided({ id, organization, bucket, mode, granted }: PresentedLimitRequest): string {
  if (granted === null) return `Denied ${id}: the limit of ${organization} is as it was.`;
  const { per_minute, until } = granted;
  const end = until === null ? 'without an end' : `until ${formatTime(until)}`;
  return `Approved ${id}: ${organization} may send ${per_minute} requests a minute (${bucket}, ${mode}), ${end}.`;
}
