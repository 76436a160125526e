// `payments org …`: organizations and the methods they may use.

import { type Command, Option } from 'commander';
import type { Mode } from '../../contract/vocabulary.ts';
import type { FirstKeys } from '../../directory/directory.ts';
import { CommandFailure } from '../results/failures.ts';
import type { PresentedOrganization } from '../use-cases/present.ts';
import { type CliContext, modeOption } from './context.ts';
import { formatFields, formatTable, formatTime } from './table.ts';

export function addOrganizationCommands(program: Command, context: CliContext): void {
  const { run } = context;
  const org = program.command('org').description('organizations: who may use the service');
  org
    .command('create')
    .description('create an organization and its first keys, which are shown once')
    .requiredOption('--name <name>', 'the name that people know it by')
    .action(({ name }, command) => run(command, 'org.create', { name }, created));
  org
    .command('list')
    .description('list all organizations, oldest first')
    .action((_, command) => run(command, 'org.list', {}, list));
  org
    .command('show <ORG>')
    .description('show an organization')
    .action((id, _, command) => run(command, 'org.show', { org: id }, show));
  for (const [change, description] of Object.entries(changes)) {
    org
      .command(`${change} <ORG>`)
      .description(description)
      .action((id, _, command) => run(command, `org.${change}`, { org: id }, show));
  }
  org
    .command('close <ORG>')
    .description("stop the organization's keys for good")
    .option('--yes', "don't ask")
    .action((id, { yes = false }, command) => close(context, id, yes, command));
  const onOff = (flag: string) => new Option(`${flag} <state>`, 'on or off').choices(['on', 'off']);
  org
    .command('methods <ORG>')
    .description('switch payment methods on or off in a mode')
    .addOption(modeOption())
    .addOption(onOff('--card'))
    .addOption(onOff('--cash'))
    .action((id, options: { mode: Mode; card?: string; cash?: string }, command: Command) => {
      const { mode, card, cash } = options;
      if (card === undefined && cash === undefined) command.error('give --card or --cash, or both');
      const methods = { ...(card && { card: card === 'on' }), ...(cash && { cash: cash === 'on' }) };
      return run(command, 'org.methods', { org: id, mode, methods }, show);
    });
}

const changes = {
  activate: "let the organization's live keys work",
  suspend: "stop the organization's keys until it is reinstated",
  reinstate: 'end a suspension',
};

/** Closes an organization after the user has confirmed it. */
async function close(
  { host, call, run }: CliContext,
  id: string,
  yes: boolean,
  command: Command,
): Promise<void> {
  if (!yes) {
    const { name } = (await call(command, 'org.show', { org: id })) as PresentedOrganization;
    const answer = await host.confirm(`Close ${name} (${id})? Its keys stop working, for good. [y/N] `);
    if (answer === null) throw new CommandFailure('closing cannot be undone: confirm it with --yes');
    if (!answer) throw new CommandFailure(`${id} was not closed`);
  }
  return run(command, 'org.close', { org: id }, show);
}

function created({ id, name, keys }: { id: string; name: string; keys: FirstKeys }): string {
  const fields = formatFields({
    id,
    name,
    'test secret key': keys.test.secret,
    'test publishable key': keys.test.publishable,
    'live secret key': keys.live.secret,
    'live publishable key': keys.live.publishable,
  });
  return `${fields}\n\nThe keys are shown this once: keep them safe. Live keys work once the organization is activated.`;
}

function list(organizations: readonly PresentedOrganization[]): string {
  const rows = organizations.map((organization) => [
    organization.id,
    organization.name,
    organization.status,
    organization.live_activated ? 'yes' : 'no',
    formatTime(organization.created),
  ]);
  return formatTable(['id', 'name', 'status', 'live', 'created'], rows);
}

function show(organization: PresentedOrganization): string {
  const fields = formatFields({
    id: organization.id,
    name: organization.name,
    status: organization.status,
    'live activated': organization.live_activated ? 'yes' : 'no',
    'test methods': methodsInWords(organization, 'test'),
    'live methods': methodsInWords(organization, 'live'),
    'API version': organization.api_version,
    created: formatTime(organization.created),
  });
  const takesLivePayments = Object.values(organization.methods.live).includes(true);
  return organization.live_activated && !takesLivePayments ? `${fields}\n\n${noLivePayments}` : fields;
}

const noLivePayments =
  'Its live keys work, and no payment can be taken in live mode: no method is switched on that has a payment network.';

function methodsInWords({ methods, without_network: idle }: PresentedOrganization, mode: Mode): string {
  const working = Object.entries(methods[mode]).flatMap(([method, works]) => (works ? [method] : []));
  const missing = idle[mode].length > 0 ? ` (switched on, without a network: ${idle[mode].join(', ')})` : '';
  return (working.join(', ') || 'none') + missing;
}
