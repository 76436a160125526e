// `payments limits …`: how many requests an organization may send, and its requests for more.

import { type Command, Option } from 'commander';
import { type Bucket, buckets, limitPerMinuteMax } from '../../contract/limits.ts';
import { type Mode, modes } from '../../contract/vocabulary.ts';
import { wrongUsage } from '../socket/protocol.ts';
import type { ResultOf } from '../use-cases/commands.ts';
import type { PresentedLimitRequest } from '../use-cases/present.ts';
import { addCommand, type CliContext, isoTime, modeOption, wholeNumber } from './context.ts';
import { formatTable, formatTime, inCell, tableOf } from './table.ts';

const limit = wholeNumber(1, limitPerMinuteMax);

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
    (org) => run('limits.show', { org }, show),
  );
  addCommand(limits, 'set <ORG>', 'give an organization a limit of its own')
    .addOption(modeOption())
    .addOption(new Option('--bucket <bucket>', 'the kind of requests that is limited').choices(buckets))
    .option('--per-minute <requests>', 'the limit of the bucket', limit)
    .addOption(new Option('--source <source>', 'where the limit comes from').choices(['plan', 'custom']))
    .option('--until <time>', 'ISO 8601 date or time at which the default applies again', isoTime)
    .option('--daily-requests <requests>', 'requests a day in test mode', limit)
    .option('--daily-payment-creations <requests>', 'payment creations a day in test mode', limit)
    .action((org, options: SetOptions) => setLimits(run, org, options));
  addCommand(limits, 'reset <ORG>', 'go back to the defaults in a mode')
    .addOption(modeOption())
    .action((org, { mode }) => run('limits.reset', { org, mode }, show));
  addCommand(limits, 'requests [ORG]', 'list requests for higher limits, newest first').action((org = null) =>
    run('limits.requests', { org }, requests),
  );
  addCommand(limits, 'approve <REQUEST>', 'grant the limit that a request asks for, or another one')
    .option('--value <requests>', 'requests a minute, instead of what was asked for', limit)
    .option('--until <time>', 'ISO 8601 date or time of the end, instead of the one asked for', isoTime)
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
    return run('limits.daily', { org, mode, requests, paymentCreations }, show);
  }
  if (bucket === undefined || perMinute === undefined)
    throw wrongUsage('--bucket and --per-minute are needed together');
  const params = { org, mode, bucket, perMinute, source: source ?? 'custom', untilMs: until ?? null };
  return run('limits.set', params, show);
}

function show({ limits, test_daily: daily }: ResultOf<'limits.show'>): string {
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
