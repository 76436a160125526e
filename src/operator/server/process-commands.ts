// The operators' commands about the running process.

import { defineCommand, type OperatorCommand, unaudited } from './command.ts';

export const processCommands: readonly OperatorCommand[] = [
  unaudited(defineCommand('config', {}, async (_, services) => services.config())),
  unaudited(defineCommand('doctor', {}, async (_, services) => services.checks())),
  unaudited(defineCommand('status', {}, async (_, services) => services.status())),
  unaudited(defineCommand('metrics', {}, async (_, services) => ({ text: await services.metricsText() }))),
];
