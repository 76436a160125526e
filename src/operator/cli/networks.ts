// `payments network …` and `payments networks`: the payment networks that organizations' payments go through, and the calls
// to them that wait for an outcome. The options derive from the table of connectors.

import { readFileSync } from 'node:fs';
import { type Command, Option } from 'commander';
import { type PaymentMethodType, paymentMethodTypes } from '../../contract/vocabulary.ts';
import { plain } from '../../core/shown-text.ts';
import {
  type ConnectorName,
  type ConnectorRow,
  type ConnectorSetting,
  connectorNames,
  connectors,
} from '../../networks/connectors.ts';
import type { CheckedCase } from '../../networks/http-conformance.ts';
import { CommandFailure } from '../results/failures.ts';
import { listedMax } from '../socket/protocol.ts';
import type {
  CheckedConnector,
  PresentedConnector,
  PresentedNetworkCall,
} from '../use-cases/network-commands.ts';
import { type CliContext, modeOption } from './context.ts';
import { formatTable, formatTime } from './table.ts';

const rows: readonly (readonly [ConnectorName, ConnectorRow])[] = connectorNames.map((name) => [
  name,
  connectors[name],
]);

export function addNetworkCommands(program: Command, context: CliContext): void {
  const { run } = context;
  const network = program
    .command('network')
    .description('the payment networks of an organization, which its payments go through');
  const networkOption = () =>
    new Option('--network <network>', 'the network').choices(connectorNames).makeOptionMandatory();
  const set = network
    .command('set <ORG>')
    .description(
      'let the payments of a mode go through a network; its secrets are sealed and never shown again',
    )
    .addOption(modeOption())
    .addOption(networkOption())
    .addOption(
      methodOption('whose payments go through it (those that do now, or that the network is mostly for)'),
    );
  for (const option of settingOptions()) set.addOption(option);
  set.action((org, options: SetOptions, command: Command) => {
    const { mode, network: name, method } = options;
    const params = { org, mode, network: name, ...(method && { methods: methodsOf(method) }) };
    return run(command, 'network.set', { ...params, ...valuesOf(options) }, list);
  });
  network
    .command('show <ORG>')
    .description('show the networks in force, without their secrets')
    .action((org, _, command) => run(command, 'network.show', { org }, list));
  network
    .command('remove <ORG>')
    .description(
      'stop using a network; calls that are under way wait until it is set again (see `payments networks`)',
    )
    .addOption(modeOption())
    .addOption(networkOption())
    .action((org, { mode, network: name }, command) =>
      run(command, 'network.remove', { org, mode, network: name }, list),
    );
  network
    .command('check [ORG]')
    .description(
      "ask each network of an organization whether it can be used; or check an integrator's server",
    )
    .option('--url <url>', "run the cases of the contract against an integrator's server instead")
    .option('--secret-file <file>', 'the secret that it shares')
    .addOption(methodOption('the methods whose cases are run').default('cash'))
    .action((org: string | undefined, options: CheckOptions, command: Command) =>
      check(context, org, options, command),
    );
  program
    .command('networks')
    .description('list the calls to payment networks that have no final outcome yet')
    .action((_, command) => run(command, 'network.waiting', {}, calls));
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
  command: Command,
): Promise<void> {
  if (org !== undefined && url === undefined) return run(command, 'network.check', { org }, checks);
  if (org !== undefined || url === undefined || secretFile === undefined)
    command.error('name an organization, or give --url and --secret-file');
  const checked = await host.checkIntegrator(url, secretIn(secretFile), methodsOf(method));
  print(command, checked, casesInWords);
  const failed = checked.filter(({ problem }) => problem !== null).length;
  if (failed > 0) throw new CommandFailure(`${failed} of ${checked.length} cases failed`);
}

function casesInWords(checked: readonly CheckedCase[]): string {
  return formatTable(
    ['case', 'finding'],
    checked.map(({ title, problem }) => [title, problem === null ? 'ok' : plain(problem)]),
  );
}

interface SetOptions extends Readonly<Record<string, string>> {
  readonly mode: string;
  readonly network: ConnectorName;
}

function methodOption(description: string): Option {
  return new Option('--method <method>', description).choices([...paymentMethodTypes, 'both']);
}

function methodsOf(method: string): readonly PaymentMethodType[] {
  return paymentMethodTypes.filter((each) => method === each || method === 'both');
}

/** `store_key`, which is secret, is given as `--store-key-file`. */
function flagOf({ name, is }: ConnectorSetting): string {
  return `${name.replaceAll('_', '-')}${is === 'secret' ? '-file' : ''}`;
}

/** An option for each setting of any connector. */
function settingOptions(): Option[] {
  return rows.flatMap(([connector, { settings }]) =>
    settings.map((setting) => {
      const value = setting.is === 'secret' ? 'file' : setting.is === 'address' ? 'url' : 'text';
      return new Option(`--${flagOf(setting)} <${value}>`, `${connector}: ${setting.description}`);
    }),
  );
}

/** The values of a connector's settings: a secret is the content of its file. */
function valuesOf(options: SetOptions): { settings: object; secrets: object } {
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
  let text: string;
  try {
    text = readFileSync(file, 'utf8').trim();
  } catch (error) {
    throw new CommandFailure(`${file} can't be read (${(error as NodeJS.ErrnoException).code})`);
  }
  if (text === '') throw new CommandFailure(`${file} is empty: it must contain the secret`);
  return text;
}

const openCallsHint =
  'Calls that are open (payments networks) go on with the network in force: it is asked what became of each, also when\n' +
  'another one was set since, and is sent those that it does not know. While there is none, they wait.';

function list(networks: readonly PresentedConnector[]): string {
  const lines = networks.map(({ mode, method, network, settings, secrets, open_calls }) => [
    mode,
    method,
    network,
    String(open_calls),
    [
      ...Object.entries(settings).map(([name, value]) => `${name}=${value}`),
      ...secrets.map((name) => `${name}=(sealed)`),
    ].join(' '),
  ]);
  const table = formatTable(['mode', 'method', 'network', 'open calls', 'settings'], lines);
  const isOpen = networks.some(({ network, open_calls }) => network !== 'simulator' && open_calls > 0);
  return isOpen ? `${table}\n\n${openCallsHint}` : table;
}

function checks(checked: readonly CheckedConnector[]): string {
  const lines = checked.map(({ mode, method, network, problem }) => [
    mode,
    method,
    network,
    problem === null ? 'ok' : plain(problem),
  ]);
  return formatTable(['mode', 'method', 'network', 'finding'], lines);
}

function calls(waiting: readonly PresentedNetworkCall[]): string {
  const lines = waiting.map((call) => [
    call.id,
    call.organization,
    call.mode,
    call.network,
    call.action,
    call.accepted ? 'accepted' : 'sent',
    call.payment_intent,
    formatTime(call.since),
    plain(call.last_error ?? '-'),
  ]);
  const headings = [
    'id',
    'organization',
    'mode',
    'network',
    'action',
    'state',
    'payment',
    'since',
    'last error',
  ];
  return formatTable(headings, lines, listedMax);
}
