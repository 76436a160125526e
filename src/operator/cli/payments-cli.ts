#!/usr/bin/env node
// The command `payments-cli`, for developers who have no checkout of the service: it works over
// HTTP with a test secret key. `npm run pack:cli` makes a package of it (clients/cli).

import { setTimeout as wait } from 'node:timers/promises';
import { Command, CommanderError } from 'commander';
import manifest from '../../../clients/cli/package.json' with { type: 'json' };
import type { LoggedRequest } from '../../contract/routes/logged-request.ts';
import type { Gap } from '../../request-logs/logged-request.ts';
import { OperatorFailure, wrongUsage } from '../use-cases/failures.ts';
import { trigger, typeThatHappens } from '../use-cases/trigger.ts';
import {
  type Api,
  type ApiOptions,
  actorOver,
  addApiOptions,
  apiOf,
  followEvents,
  followStream,
} from './api-client.ts';
import { addCommand, complain, createOutput, limitOption, type Output } from './context.ts';
import { exitCodes } from './exit-codes.mjs';
import { addListen, listen } from './listen.ts';
import { inWords, lineOf } from './shown-requests.ts';
import { triggered } from './table.ts';

const reconnectMs = 1_000;
const shownMax = 100;
/** How often a request is looked for. */
const looks = 3;

const host: Output['host'] = {
  write: (text) => process.stdout.write(text),
  writeError: (text) => process.stderr.write(text),
};

function apiOrRefusal(options: ApiOptions): Api {
  const api = apiOf(options, null);
  if (api !== null) return api;
  throw wrongUsage('give a test secret key: set PAYMENTS_API_KEY, or name a file with --api-key-file');
}

function buildProgram(): Command {
  const program = new Command('payments-cli')
    .description('Events and requests of the test mode of a payments service, with a test secret key')
    .version(manifest.version)
    .option('--json', 'print JSON for machines')
    .configureHelp({ showGlobalOptions: true })
    .exitOverride();
  const output = createOutput(host, program);
  addApiOptions(addListen(program, 'listen')).action(async (options: ApiOptions & { forwardTo?: string }) => {
    const api = apiOrRefusal(options);
    await listen(output, options.forwardTo ?? null, (after, onItem) => followEvents(api, after, onItem));
  });
  addApiOptions(
    addCommand(program, 'trigger <TYPE>', 'make an event of this type happen in test mode'),
  ).action(async (type: string, options: ApiOptions) =>
    output.print(await trigger(actorOver(apiOrRefusal(options)), typeThatHappens(type)), triggered),
  );
  const logs = addCommand(program, 'logs [REQ_ID]', 'show one API request, or list the newest, newest last')
    .option('--status <status>', 'requests with this status, such as 404, or one of a class, such as 5xx')
    .option('--path <path>', 'requests whose path begins like this')
    .option('--key <key>', 'requests with this idempotency key')
    .option('--object <id>', 'requests whose path names this object, or whose answer is it')
    .option('--follow', 'go on with new ones until you stop it')
    .addOption(limitOption('requests', shownMax / 2, shownMax));
  addApiOptions(logs).action((request: string | undefined, options: LogsOptions) =>
    showLogs(output, apiOrRefusal(options), request, options),
  );
  return program;
}

interface LogsOptions extends ApiOptions {
  readonly status?: string;
  readonly path?: string;
  readonly key?: string;
  readonly object?: string;
  readonly follow?: true;
  readonly limit: number;
}

async function showLogs(
  output: Output,
  api: Api,
  request: string | undefined,
  { status, path, key: idempotency_key, object, follow, limit }: LogsOptions,
): Promise<void> {
  if (request !== undefined) return showRequest(output, api, request);
  const query = { status, path, idempotency_key, object, limit: String(limit) };
  let position: string | null = null;
  for (;;) {
    try {
      await followStream(api, addressOf(query), position, async ({ id, event, data }) => {
        position = id ?? position;
        if (event === 'now') return follow === true;
        output.print({ mode: 'test', ...(JSON.parse(data) as LoggedRequest | Gap) }, lineOf);
      });
    } catch (error) {
      if (position === null || !(error instanceof OperatorFailure && error.kind === 'failed')) throw error;
    }
    if (follow !== true) return;
    await wait(reconnectMs);
  }
}

/** Shows one request. One that was just made may not be written yet. */
async function showRequest({ print }: Output, api: Api, request: string): Promise<void> {
  let isFound = false;
  for (let look = 0; look < looks && !isFound; look++) {
    if (look > 0) await wait(reconnectMs);
    await followStream(api, addressOf({ request }), null, async ({ event, data }) => {
      if (event === 'now') return false;
      isFound = true;
      print({ mode: 'test', ...(JSON.parse(data) as LoggedRequest) }, inWords);
    });
  }
  if (!isFound)
    throw new OperatorFailure(
      'refused',
      `no request log has ${request}: it is older than the logs, or not of this key's organization`,
    );
}

function addressOf(query: Readonly<Record<string, string | undefined>>): string {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) given.set(name, value);
  return `/v1/test_helpers/requests/stream?${given}`;
}

// The reader of the output may close it early, as `head` does.
process.stdout.on('error', ({ code }: NodeJS.ErrnoException) =>
  process.exit(code === 'EPIPE' ? exitCodes.done : exitCodes.failed),
);
try {
  await buildProgram().parseAsync();
} catch (error) {
  const json = process.argv.includes('--json');
  if (error instanceof CommanderError) {
    process.exitCode = error.exitCode === 0 ? exitCodes.done : exitCodes.usage;
  } else if (error instanceof OperatorFailure) {
    complain(host, json, error);
    process.exitCode = error.kind === 'usage' ? exitCodes.usage : exitCodes.failed;
  } else throw error;
}
