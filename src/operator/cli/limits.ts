// `payments limits …`: how many requests an organization may send, and its requests for more.

import { type Command, Option } from 'commander';
import { buckets, limitPerMinuteMax } from '../../contract/limits.ts';
import { type Mode, modes } from '../../contract/vocabulary.ts';
import type { PresentedLimitRequest, PresentedLimits } from '../use-cases/present-limits.ts';
import { type CliContext, isoTime, modeOption, wholeNumber } from './context.ts';
import { formatTable, formatTime } from './table.ts';

const limit = wholeNumber(1, limitPerMinuteMax);

interface SetOptions {
  readonly mode: Mode;
  readonly bucket?: string;
  readonly perMinute?: number;
  readonly source?: string;
  readonly until?: number;
  readonly dailyRequests?: number;
  readonly dailyPaymentCreations?: number;
}

export function addLimitCommands(program: Command, context: CliContext): void {
  const { run } = context;
  const limits = program.command('limits').description('rate limits of organizations');
  limits
    .command('show <ORG>')
    .description("show the limits in force, the defaults and the organization's own")
    .action((org, _, command) => run(command, 'limits.show', { org }, show));
  limits
    .command('set <ORG>')
    .description("give an organization a limit of its own, for a bucket or for test mode's days")
    .addOption(modeOption())
    .addOption(new Option('--bucket <bucket>', 'the requests that the limit is about').choices(buckets))
    .option('--per-minute <requests>', 'the limit of the bucket', limit)
    .addOption(new Option('--source <source>', 'where the limit comes from').choices(['plan', 'custom']))
    .option('--until <time>', 'ISO 8601 date or time at which the default applies again', isoTime)
    .option('--daily-requests <requests>', 'requests a day, test mode', limit)
    .option('--daily-payment-creations <requests>', 'payment creations a day, test mode', limit)
    .action((org, options: SetOptions, command: Command) => setLimits(context, org, options, command));
  limits
    .command('reset <ORG>')
    .description('go back to the defaults in a mode')
    .addOption(modeOption())
    .action((org, { mode }, command) => run(command, 'limits.reset', { org, mode }, show));
  addRequestCommands(limits, context);
}

function addRequestCommands(limits: Command, { run }: CliContext): void {
  limits
    .command('requests [ORG]')
    .description('list requests for higher limits, of one organization or of all, newest first')
    .action((org: string | undefined, _, command) =>
      run(command, 'limits.requests', { org: org ?? null }, requests),
    );
  limits
    .command('approve <REQUEST>')
    .description('put the limit that a request asks for, or another one, in force')
    .option('--value <requests>', 'requests a minute instead of those that were asked for', limit)
    .option(
      '--until <time>',
      'ISO 8601 date or time of the end instead of the one that was asked for',
      isoTime,
    )
    .option('--note <text>', 'what the organization is told', '')
    .action((request, { value: perMinute, until: untilMs, note }, command) =>
      run(command, 'limits.approve', { request, perMinute, untilMs, note }, decided),
    );
  limits
    .command('deny <REQUEST>')
    .description('leave the limit as it is')
    .requiredOption('--reason <text>', 'what the organization is told')
    .action((request, { reason }, command) => run(command, 'limits.deny', { request, reason }, decided));
}

function setLimits({ run }: CliContext, org: string, options: SetOptions, command: Command): Promise<void> {
  const {
    mode,
    bucket,
    perMinute,
    dailyRequests: requests,
    dailyPaymentCreations: paymentCreations,
  } = options;
  const daily = requests !== undefined || paymentCreations !== undefined;
  const named = [bucket, perMinute, options.source, options.until].some((value) => value !== undefined);
  if (daily === named) command.error('give either --bucket and --per-minute, or the --daily- options');
  if (daily) {
    if (mode === 'live') command.error('live mode has no daily cap: use --mode test');
    return run(command, 'limits.daily', { org, mode, requests, paymentCreations }, show);
  }
  if (bucket === undefined || perMinute === undefined) {
    command.error('--bucket and --per-minute are needed together');
  }
  const { source = 'custom', until: untilMs = null } = options;
  return run(command, 'limits.set', { org, mode, bucket, perMinute, source, untilMs }, show);
}

function show({ limits, test_daily: daily }: PresentedLimits): string {
  const rows = modes.flatMap((mode) =>
    Object.entries(limits[mode]).map(([bucket, { per_minute, burst, source, until }]) => [
      mode,
      bucket,
      String(per_minute),
      String(burst),
      source,
      formatTime(until),
    ]),
  );
  const table = formatTable(['mode', 'bucket', 'per minute', 'burst', 'source', 'until'], rows);
  return `${table}\n\ntest mode, a day: ${daily.requests} requests, ${daily.payment_creations} payment creations`;
}

function requests(listed: readonly PresentedLimitRequest[]): string {
  const rows = listed.map(
    ({ id, organization, bucket, mode, per_minute, until, state, by, created, reason }) => [
      id,
      organization,
      bucket,
      mode,
      String(per_minute),
      formatTime(until),
      state,
      by,
      formatTime(created),
      reason.replace(/\s+/g, ' '),
    ],
  );
  const columns = ['id', 'organization', 'bucket', 'mode', 'per minute', 'until', 'state', 'by', 'created'];
  return formatTable([...columns, 'reason'], rows);
}

function decided({ id, organization, bucket, mode, granted }: PresentedLimitRequest): string {
  if (granted === null) return `Denied ${id}: the limit of ${organization} is as it was.`;
  const { per_minute, until } = granted;
  const end = until === null ? 'without an end' : `until ${formatTime(until)}`;
  return `Approved ${id}: ${organization} may send ${per_minute} requests a minute (${bucket}, ${mode}), ${end}.`;
}
