// `payments network …`: the payment networks of organizations, and the calls to them that wait for
// an outcome. The options derive from the table of connectors.

import { type Command, Option } from 'commander';
import { listedMax } from '../../contract/limits.ts';
import { type Mode, type PaymentMethodType, paymentMethodTypes } from '../../contract/vocabulary.ts';
import {
  type ConnectorName,
  type ConnectorRow,
  type ConnectorSetting,
  connectorNames,
  connectors,
} from '../../networks/connectors.ts';
import type { CheckedCase } from '../../networks/http-conformance.ts';
import type { ResultOf, RowOf } from '../use-cases/commands.ts';
import { CommandFailure, wrongUsage } from '../use-cases/failures.ts';
import { addCommand, type CliContext, choiceOption, contentOf, modeOption } from './context.ts';
import { tableOf } from './table.ts';

const rows: readonly (readonly [ConnectorName, ConnectorRow])[] = connectorNames.map((name) => [
  name,
  connectors[name],
]);

export function addNetworkCommands(program: Command, context: CliContext): void {
  const { run } = context;
  const network = addCommand(program, 'network', 'payment networks of organizations');
  const networkOption = () => choiceOption('--network <network>', 'the network', connectorNames);
  const set = addCommand(network, 'set <ORG>', 'let the payments of a mode go through a network')
    .addOption(modeOption())
    .addOption(networkOption())
    .addOption(methodOption('what goes through it (default: as now, or what the network is mostly for)'));
  for (const option of settingOptions()) set.addOption(option);
  set.action((org, options: SetOptions) => {
    const { mode, network: name, method } = options;
    const params = { org, mode, network: name, ...(method && { methods: methodsOf(method) }) };
    return run('network.set', { ...params, ...valuesOf(options) }, list);
  });
  addCommand(network, 'show <ORG>', 'show the active networks, without their secrets').action((org) =>
    run('network.show', { org }, list),
  );
  addCommand(network, 'remove <ORG>', 'stop using a network; its open calls wait until it is set again')
    .addOption(modeOption())
    .addOption(networkOption())
    .action((org, { mode, network: name }) => run('network.remove', { org, mode, network: name }, list));
  addCommand(network, 'check [ORG]', "check the networks of an organization, or an integrator's server")
    .option('--url <url>', "run the cases of the contract against an integrator's server instead")
    .option('--secret-file <file>', 'a file with the secret that the server shares')
    .addOption(methodOption('the methods whose cases are run').default('cash'))
    .action((org: string | undefined, options: CheckOptions) => check(context, org, options));
  addCommand(network, 'calls', 'list the calls to payment networks that have no final outcome yet').action(
    () => run('network.waiting', {}, calls),
  );
  addCommand(network, 'settle <CALL>', "end a call of which its network can't tell how it ended")
    .addOption(choiceOption('--as <outcome>', 'how it ended: look at the network first', ['done', 'failed']))
    .requiredOption('--reason <text>', 'how you know, for the audit record')
    .action((call, { as, reason }) => run('network.settle', { call, as, reason }, settledInWords));
}

interface CheckOptions {
  readonly url?: string;
  readonly secretFile?: string;
  readonly method: string;
}

async function check(
  { host, print, run }: CliContext,
  org: string | undefined,
  { url, secretFile, method }: CheckOptions,
): Promise<void> {
  if (org !== undefined && url === undefined) return run('network.check', { org }, checks);
  if (org !== undefined || url === undefined || secretFile === undefined)
    throw wrongUsage('name an organization, or give --url and --secret-file');
  const checked = await host.checkIntegrator(url, secretIn(secretFile), methodsOf(method));
  print(checked, cases);
  const failed = checked.filter(({ problem }) => problem !== null).length;
  if (failed > 0) throw new CommandFailure(`${failed} of ${checked.length} cases failed`);
}

interface SetOptions extends Readonly<Record<string, string>> {
  readonly mode: Mode;
  readonly network: ConnectorName;
}

function methodOption(description: string): Option {
  return new Option('--method <method>', description).choices([...paymentMethodTypes, 'both']);
}

function methodsOf(method: string): PaymentMethodType[] {
  return paymentMethodTypes.filter((each) => method === each || method === 'both');
}

/** `store_key`, which is secret, is given as `--store-key-file`. */
function flagOf({ name, is }: ConnectorSetting): string {
  return `${name.replaceAll('_', '-')}${is === 'secret' ? '-file' : ''}`;
}

function settingOptions(): Option[] {
  return rows.flatMap(([connector, { settings }]) =>
    settings.map((setting) => {
      const value = setting.is === 'secret' ? 'file' : setting.is === 'address' ? 'url' : 'text';
      return new Option(`--${flagOf(setting)} <${value}>`, `${connector}: ${setting.description}`);
    }),
  );
}

/** The values of a connector's settings: a secret is the content of its file. */
function valuesOf(options: SetOptions) {
  const settings: Record<string, string> = {};
  const secrets: Record<string, string> = {};
  for (const [connector, row] of rows) {
    for (const setting of row.settings) {
      const flag = flagOf(setting);
      const given = options[flag.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())];
      if (given === undefined) continue;
      if (connector !== options.network) throw new CommandFailure(`--${flag} is an option of ${connector}`);
      if (setting.is === 'secret') secrets[setting.name] = secretIn(given);
      else settings[setting.name] = given;
    }
  }
  return { settings, secrets };
}

function secretIn(file: string): string {
  const text = contentOf(file, (message) => new CommandFailure(message));
  if (text === '') throw new CommandFailure(`${file} is empty: it must contain the secret`);
  return text;
}

const openCallsHint =
  'Open calls ("payments network calls" lists them) go on with the active network, even when it is another one than they began\n' +
  'with: it is asked about each of them, and is sent those that it does not know. While there is none, they wait.';

const networkTable = tableOf<RowOf<'network.show'>>([
  'mode',
  'method',
  'network',
  'open_calls',
  [
    'settings',
    ({ settings, secrets }) =>
      [
        ...Object.entries(settings).map(([name, value]) => `${name}=${value}`),
        ...secrets.map((name) => `${name}=(sealed)`),
      ].join(' '),
  ],
]);

function list(networks: ResultOf<'network.show'>): string {
  const isOpen = networks.some(({ network, open_calls }) => network !== 'simulator' && open_calls > 0);
  return isOpen ? `${networkTable(networks)}\n\n${openCallsHint}` : networkTable(networks);
}

const finding = ['finding', ({ problem }: { readonly problem: string | null }) => problem ?? 'ok'] as const;
const cases = tableOf<CheckedCase>([['case', 'title'], finding]);
const checks = tableOf<RowOf<'network.check'>>(['mode', 'method', 'network', finding]);

const calls = tableOf<RowOf<'network.waiting'>>(
  [
    'id',
    'organization',
    'mode',
    'network',
    'action',
    ['state', ({ accepted }) => (accepted ? 'accepted' : 'sent')],
    ['payment', 'payment_intent'],
    'charge',
    'since',
    'last_error',
  ],
  listedMax,
);

/** What follows from a call of this kind that was settled; null: nothing here. */
const consequences: Readonly<
  Record<ResultOf<'network.settle'>['action'], Record<'done' | 'failed', string | null>>
> = {
  open_card_page: { done: 'its customer can pay', failed: 'its customer can choose again how to pay' },
  issue_cash_code: {
    done: 'its customer can pay with the code',
    failed: 'its customer can choose again how to pay',
  },
  cancel_cash_code: { done: null, failed: null },
  authorize_card: { done: 'the payment has succeeded', failed: 'the attempt has failed' },
  await_card_payment: { done: null, failed: 'the network is not asked about its page any more' },
  capture_charge: { done: null, failed: 'a review was opened, because the money was not taken' },
  release_charge: { done: null, failed: null },
  refund_charge: {
    done: 'the refund has succeeded',
    failed: 'the refund has failed, and its amount can be refunded again',
  },
};

function settledInWords({ call, action, as, payment_intent, refund }: ResultOf<'network.settle'>): string {
  const follows = consequences[action][as] ?? 'nothing else changes';
  const about = refund === null ? payment_intent : `${refund} of ${payment_intent}`;
  return `Settled ${call} (${action}, ${about}) as ${as}: ${follows}.`;
}
