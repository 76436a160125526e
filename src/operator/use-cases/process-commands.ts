// The operators' commands about the running process.

import { Type } from 'typebox';
import { defineCommand, type OperatorCommand, unaudited } from './command.ts';

export const processCommands: readonly OperatorCommand[] = [
  unaudited(defineCommand('config', {}, async (_, services) => services.config())),
  unaudited(defineCommand('doctor', {}, async (_, services) => services.checks())),
  unaudited(defineCommand('status', {}, async (_, services) => services.status())),
  unaudited(defineCommand('metrics', {}, async (_, services) => ({ text: await services.metricsText() }))),
  defineCommand('resume', {}, async (_, services) => services.resume()),
  defineCommand('compact', {}, (_, services) => services.compact()),
  // The backup is made by the process that asks, which reads what is durable: here it is only recorded.
  defineCommand(
    'backup',
    { to: Type.String(), recipients: Type.Array(Type.String()) },
    async (params) => params,
  ),
];
