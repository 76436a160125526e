// `payments logs` shows each API request of an organization with its answer, whether the service
// runs or not.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { kindOfId } from '../../contract/id-prefixes.ts';
import type { LoggedRequest } from '../../contract/routes/logged-request.ts';
import { type Mode, modes } from '../../contract/vocabulary.ts';
import { formatFile } from '../../disk/identity.ts';
import type { Gap } from '../../request-logs/logged-request.ts';
import type { LogScope } from '../../request-logs/request-logs.ts';
import {
  entriesAfter,
  findRequestAnywhere,
  type LogFilter,
  type LogPage,
  type StatusRange,
  searchLog,
  statusRangeOf,
} from '../../request-logs/search.ts';
import { requestLogsOf } from '../../request-logs/segment.ts';
import { CommandFailure } from '../use-cases/failures.ts';
import { addCommand, type CliContext, limitOption } from './context.ts';
import { timeForms, timeOf } from './log-selection.ts';
import { readable } from './readable-folder.ts';
import { type Found, inWords, lineOf } from './shown-requests.ts';

const followMs = 500;
const pageMax = 200;

interface LogsOptions {
  readonly org?: string;
  readonly mode?: Mode;
  readonly status?: StatusRange;
  readonly path?: string;
  readonly key?: string;
  readonly object?: string;
  readonly since?: number;
  readonly until?: number;
  readonly limit: number;
  readonly follow?: true;
}

export function addRequestLogsCommand(program: Command, context: CliContext): void {
  addCommand(program, 'logs [REQ_ID]', 'show one API request, or list those of an organization, newest last')
    .option('--org <id>', 'requests of this organization')
    .addOption(new Option('--mode <mode>', 'requests of this mode').choices(modes))
    .option(
      '--status <status>',
      'requests with this status, such as 404, or one of a class, such as 5xx',
      status,
    )
    .option('--path <path>', 'requests whose path begins like this')
    .option('--key <key>', 'requests with this idempotency key')
    .option('--object <id>', 'requests whose path names this object, or whose answer is it')
    .option('--since <time>', `requests from this time on: ${timeForms}`, timeOf)
    .option('--until <time>', 'requests up to this time', timeOf)
    .addOption(limitOption('requests', 50, 10_000))
    .option('--follow', 'go on with new ones until you stop it')
    .action(async (request: string | undefined, options: LogsOptions) => {
      const folder = logsIn(context.folder());
      if (request !== undefined) showRequest(context, folder, request);
      else await listRequests(context, folder, options);
    });
}

/** Where no request has come yet there may be none. Throws `CommandFailure` elsewhere. */
function logsIn(dataDir: string): string {
  const folder = requestLogsOf(readable(dataDir));
  if (existsSync(folder) || existsSync(join(dataDir, formatFile))) return folder;
  throw new CommandFailure(`${dataDir} has no request logs: name the data folder with --data-dir`);
}

function status(text: string): StatusRange {
  const range = statusRangeOf(text);
  if (range !== null) return range;
  throw new InvalidArgumentError('It must be a status such as 404, or a class of them such as 5xx.');
}

function showRequest({ print }: CliContext, folder: string, request: string): void {
  const found = findRequestAnywhere(folder, request);
  if (found === null)
    throw new CommandFailure(
      `no request log has ${request}: it is older than the logs, its key did not exist, it came from a page, or another node took it`,
    );
  const { scope, entry } = found;
  print({ organization: scope.org, mode: scope.mode, ...entry }, inWords);
}

async function listRequests({ print }: CliContext, folder: string, options: LogsOptions): Promise<void> {
  const { org, mode, follow, limit, key, since, until, status, path, object } = options;
  if (org === undefined) throw new CommandFailure('name a request, or an organization with --org');
  if (kindOfId(org) !== 'organization') throw new CommandFailure(`${org} is no id of an organization`);
  const filter: LogFilter = { since, until, status, path, object, idempotencyKey: key };
  const scopes = (mode === undefined ? modes : [mode]).map((each): LogScope => ({ org, mode: each }));
  const show = (found: Found) => print({ organization: org, ...found }, lineOf);
  const places = new Map<LogScope, string>();
  const newest = scopes.flatMap((scope) => {
    const { found, newest } = newestOf(folder, scope, filter, limit);
    places.set(scope, newest);
    return found.map((each) => ({ mode: scope.mode, ...each }));
  });
  newest.sort((a, b) => (a.time < b.time ? -1 : a.time > b.time ? 1 : 0));
  for (const found of newest.slice(-limit)) show(found);
  while (follow) {
    await wait(followMs);
    for (const [scope, place] of places) {
      const { found, newest } = entriesAfter(folder, scope, filter, pageMax, place);
      for (const each of found) show({ mode: scope.mode, ...each });
      places.set(scope, newest);
    }
  }
}

/** The newest entries, oldest first, however far the search has to look. */
function newestOf(folder: string, scope: LogScope, filter: LogFilter, limit: number) {
  const found: (LoggedRequest | Gap)[] = [];
  let newest: string | null = null;
  for (let before: string | null = null; ; ) {
    const page: LogPage = searchLog(folder, scope, filter, limit - found.length, before);
    newest ??= page.newest;
    found.push(...page.found);
    before = page.older;
    if (before === null || found.length === limit) return { found: found.reverse(), newest };
  }
}
