// The server of the operators' socket. Only the owner of the process can open the socket, and
// whoever can open it may do everything. A failing command never ends the server.

import { once } from 'node:events';
import { chmod, mkdir, stat, unlink } from 'node:fs/promises';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { DirectoryRefusal } from '../../directory/refusal.ts';
import { JournalFailure } from '../../journal/journal.ts';
import type { Audit } from '../audit/audit.ts';
import { type Asker, nameOfAsker } from '../audit/audit-row.ts';
import { type CommandAnswer, type OperatorCommand, recordedParams } from '../use-cases/command.ts';
import { operatorCommands } from '../use-cases/commands.ts';
import { type OperatorErrorKind, OperatorFailure, wrongUsage } from '../use-cases/failures.ts';
import type { OperatorServices } from '../use-cases/services.ts';
import { organizationNamed } from '../use-cases/shard-records.ts';
import {
  encodeLine,
  type OperatorRequest,
  requestCharactersMax,
  socketAddressOf,
  socketPathOf,
} from './protocol.ts';

const requestTimeoutMs = 10_000;

interface OperatorServer {
  /** Ends every command under way and removes the socket. */
  close(): Promise<void>;
}

interface SocketOptions {
  readonly dataDir: string;
  /** Is told the faults of the server. */
  readonly onFailure: (command: string, error: unknown) => void;
}

/** Opens the operators' socket of a service. Fails as `openSocket` does. */
export function openOperatorServer(
  options: SocketOptions & {
    readonly services: Omit<OperatorServices, 'author' | 'language'>;
    readonly audit: Pick<Audit, 'record'>;
    readonly commands?: Readonly<Record<string, OperatorCommand>>;
  },
): Promise<OperatorServer> {
  const { audit, commands = operatorCommands } = options;
  const table = new Map(Object.entries<OperatorCommand>(commands));
  return openSocket(options, async ({ command: name, params, by }, signal, socket) => {
    const command = table.get(name);
    if (command === undefined) {
      throw wrongUsage("the server doesn't know this command: is it of another version?");
    }
    const author = { by: 'operator', name: nameOfAsker(by) } as const;
    const services: OperatorServices = { ...options.services, author, language: 'en' };
    const run = async () =>
      sendItems(command.run(command.checked(name, params), services, signal), socket, signal);
    if (command.recording.audited === false) return run();
    return audit.record(by, name, recordedParams(command, params), run, (named) =>
      organizationNamed(services, named),
    );
  });
}

/**
 * Opens the socket in `dataDir`, on the main thread only. `run` carries out a request, and returns
 * its result. Throws `OperatorFailure` when another server listens there already.
 */
export async function openSocket({ dataDir, onFailure }: SocketOptions, run: Run): Promise<OperatorServer> {
  const address = socketAddressOf(dataDir);
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  // Another user's folder can't be changed; the socket's own permissions are narrow anyway.
  if ((await stat(dataDir)).uid === process.getuid?.()) await chmod(dataDir, 0o700);
  await removeStale(address, dataDir);

  const connections = new Set<Socket>();
  const server = createServer((socket) => {
    connections.add(socket);
    socket.once('close', () => connections.delete(socket));
    handle(socket, run, onFailure);
  });
  await listen(server, address);
  return {
    async close() {
      for (const socket of connections) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function removeStale(address: string, dataDir: string): Promise<void> {
  const found = await new Promise<'answered' | string | undefined>((resolve) => {
    const probe = connect(address, () => {
      probe.destroy();
      resolve('answered');
    });
    probe.on('error', (error: NodeJS.ErrnoException) => resolve(error.code));
  });
  if (found === 'ENOENT') return;
  if (found === 'ECONNREFUSED') return unlink(address);
  const reason =
    found === 'answered' ? 'another server runs on this data folder' : `it can't be opened: ${found}`;
  throw new OperatorFailure('refused', `${socketPathOf(dataDir)} is taken: ${reason}`);
}

function listen(server: Server, address: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.on('error', reject);
    // `listen` creates the socket before it returns: with this umask it never has a wider mode.
    const umask = process.umask(0o177);
    try {
      server.listen(address, resolve);
    } finally {
      process.umask(umask);
    }
  });
}

type Run = (request: OperatorRequest, signal: AbortSignal, socket: Socket) => Promise<unknown>;

async function sendItems(answer: CommandAnswer, socket: Socket, signal: AbortSignal): Promise<unknown> {
  if (!(Symbol.asyncIterator in answer)) return answer;
  for await (const item of answer) {
    signal.throwIfAborted();
    if (socket.write(encodeLine({ item }))) continue;
    await once(socket, 'drain', { signal }).catch(() => signal.throwIfAborted());
  }
  return null;
}

/** Reads one request from a connection, runs it and sends its answer. */
function handle(socket: Socket, run: Run, onFailure: (command: string, error: unknown) => void): void {
  const gone = new AbortController();
  let received = '';
  let started = false;
  socket.once('close', () => gone.abort());
  socket.on('error', () => gone.abort());
  socket.setTimeout(requestTimeoutMs, () => socket.destroy());
  socket.setEncoding('utf8').on('data', async (text: string) => {
    if (started) return;
    received += text;
    const end = received.indexOf('\n');
    if (end < 0 && received.length <= requestCharactersMax) return;
    started = true;
    socket.setTimeout(0);
    const line = received.slice(0, Math.max(end, 0));
    received = '';
    const carryOut = (request: OperatorRequest) => run(request, gone.signal, socket);
    socket.end(await answer(line, carryOut, onFailure));
  });
}

/** Runs the request in `line` and returns the last line. Never rejects. */
async function answer(
  line: string,
  run: (request: OperatorRequest) => Promise<unknown>,
  onFailure: (command: string, error: unknown) => void,
): Promise<string> {
  let request: OperatorRequest | undefined;
  try {
    request = parseRequest(line);
    return encodeLine({ result: (await run(request)) ?? null });
  } catch (error) {
    const isKnown = error instanceof OperatorFailure || error instanceof DirectoryRefusal;
    // A command ends with an error when its client leaves, which is no fault.
    const isAbort = error instanceof Error && error.name === 'AbortError';
    if (!isKnown && !isAbort) onFailure(request?.command ?? 'unknown', error);
    return encodeLine({ error: errorFor(error) });
  }
}

function errorFor(error: unknown): { readonly kind: OperatorErrorKind; readonly message: string } {
  if (error instanceof OperatorFailure) return { kind: error.kind, message: error.message };
  if (error instanceof DirectoryRefusal) return { kind: 'refused', message: error.message };
  const message =
    error instanceof JournalFailure
      ? `${error.message}: look at how it is now, then try again`
      : 'the server failed to run the command: its log says why';
  return { kind: 'failed', message };
}

function parseRequest(line: string): OperatorRequest {
  try {
    const { command, params, by } = JSON.parse(line);
    if (typeof command === 'string') return { command, params, by: askerOf(by) };
  } catch {}
  throw wrongUsage('the request is not a command in JSON on one line');
}

const nameCharactersMax = 64;

/** The client's user, if the request names one in the right form. */
function askerOf(by: unknown): Asker | null {
  if (typeof by !== 'object' || by === null) return null;
  const { user, uid, sudo_user }: Readonly<Partial<Record<keyof Asker, unknown>>> = by;
  const name = (value: unknown) => (typeof value === 'string' ? value.slice(0, nameCharactersMax) : null);
  return {
    user: name(user),
    uid: typeof uid === 'number' && Number.isSafeInteger(uid) ? uid : null,
    sudo_user: name(sudo_user),
  };
}
