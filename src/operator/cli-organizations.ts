// `payments org …`: organizations and the methods they may use.

import { type Command, Option } from 'commander';
import type { FirstKeys } from '../directory/directory.ts';
import type { Methods } from '../directory/organization.ts';
import type { Mode } from '../domain/record.ts';
import { type CliContext, modeOption } from './cli-context.ts';
import type { PresentedOrganization } from './present.ts';
import { formatFields, formatTable, formatTime } from './table.ts';

export function addOrganizationCommands(program: Command, { run }: CliContext): void {
  const org = program.command('org').description('organizations: who may use the service');
  org
    .command('create')
    .description('create an organization and its first keys, which are shown once')
    .requiredOption('--name <name>', 'what people call it')
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
  const onOff = (flag: string) => new Option(`${flag} <state>`, 'on or off').choices(['on', 'off']);
  org
    .command('methods <ORG>')
    .description('switch payment methods on or off in a mode')
    .addOption(modeOption())
    .addOption(onOff('--card'))
    .addOption(onOff('--cash'))
    .action((id, options: { mode: Mode; card?: string; cash?: string }, command: Command) => {
      const { mode, card, cash } = options;
      if (card === undefined && cash === undefined) command.error('error: give --card or --cash, or both');
      const methods = { ...(card && { card: card === 'on' }), ...(cash && { cash: cash === 'on' }) };
      return run(command, 'org.methods', { org: id, mode, methods }, show);
    });
}

const changes = {
  activate: "let the organization's live keys work",
  suspend: "stop the organization's keys until it is reinstated",
  reinstate: 'end a suspension',
  close: "stop the organization's keys for good",
};

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
  return formatTable(['id', 'name', 'status', 'live', 'created'], rows, 'There is no organization yet.');
}

function show(organization: PresentedOrganization): string {
  return formatFields({
    id: organization.id,
    name: organization.name,
    status: organization.status,
    'live activated': organization.live_activated ? 'yes' : 'no',
    'test methods': methodsInWords(organization.methods.test),
    'live methods': methodsInWords(organization.methods.live),
    'API version': organization.api_version,
    created: formatTime(organization.created),
  });
}

function methodsInWords(methods: Methods): string {
  const on = Object.entries(methods).flatMap(([method, enabled]) => (enabled ? [method] : []));
  return on.join(', ') || 'none';
}
