// The operators' commands about the running process.

import { defineCommand, type OperatorCommand } from './operator-command.ts';

export const processCommands: readonly OperatorCommand[] = [
  defineCommand('config', {}, async (_, services) => services.config()),
  defineCommand('metrics', {}, async (_, services) => ({ text: await services.metricsText() })),
];
