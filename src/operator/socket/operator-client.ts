// The client of the operators' socket: it sends one command and waits for its answer.

import { connect } from 'node:net';
import { userInfo } from 'node:os';
import { errorCode } from '../../core/errors.ts';
import type { Asker } from '../audit/audit-row.ts';
import type { CommandName, ItemOf, ParamsOf, ResultOf } from '../use-cases/commands.ts';
import { OperatorFailure } from '../use-cases/failures.ts';
import { encodeLine, type OperatorMessage, socketAddressOf, socketPathOf } from './protocol.ts';

interface CallOptions<Item> {
  /** Called with each item of a command that goes on, one after the other. */
  readonly onItem?: (item: Item) => unknown;
  readonly signal?: AbortSignal;
  /** Of a command that only looks, which is given up after so long without a word. */
  readonly silentMsMax?: number;
}

/**
 * Runs a command on the server of a data folder. Rejects with `OperatorFailure` and the server's
 * reason, or with `NoServer` when no server listens.
 */
export async function callOperator<N extends CommandName>(
  dataDir: string,
  name: N,
  params: ParamsOf<N>,
  options: CallOptions<ItemOf<N>> = {},
): Promise<ResultOf<N>> {
  return (await exchange(dataDir, name, params, options as CallOptions<unknown>)) as ResultOf<N>;
}

/** The same for a name of whose types nothing is known. */
export async function exchange(
  dataDir: string,
  command: string,
  params: unknown,
  { onItem, signal, silentMsMax = 0 }: CallOptions<unknown> = {},
): Promise<unknown> {
  const socket = connect({ path: socketAddressOf(dataDir), signal });
  socket.setEncoding('utf8').write(encodeLine({ command, params, by: asker() }));
  const lost = new OperatorFailure('failed', onItem === undefined ? unanswered : goneOn);
  socket.setTimeout(silentMsMax, () => socket.destroy(standsStill(dataDir, silentMsMax)));
  let received = '';
  try {
    for await (const text of socket) {
      const lines: string[] = (received + text).split('\n');
      received = lines.pop() ?? '';
      for (const line of lines) {
        const message: OperatorMessage = JSON.parse(line);
        if ('result' in message) return message.result;
        if ('error' in message) throw new OperatorFailure(message.error.kind, message.error.message);
        await onItem?.(message.item);
      }
    }
  } catch (error) {
    throw explained(error, dataDir, lost);
  }
  throw lost;
}

export function asker(): Asker {
  const { SUDO_USER: sudoUser = null } = process.env;
  let user: string | null = null;
  try {
    user = userInfo().username;
  } catch {
    // Not every user has a name, in a container for instance.
  }
  return { user, uid: process.getuid?.() ?? null, sudo_user: sudoUser };
}

export class NoServer extends OperatorFailure {
  override name = 'NoServer';
}

/** For the `catch` of a call: what is done instead where no server runs. */
export function ifNoServer<T>(instead: (error: NoServer) => T): (error: unknown) => T {
  return (error) => {
    if (error instanceof NoServer) return instead(error);
    throw error;
  };
}

const unanswered =
  'the server stopped before it answered: the command may have taken effect, look before you send it again';
const goneOn = 'the server has stopped';

function standsStill(dataDir: string, silentMs: number): OperatorFailure {
  return new OperatorFailure(
    'failed',
    `the service on ${socketPathOf(dataDir)} has not answered for ${silentMs / 1000} s: its process is frozen, hangs, ` +
      'or gets no processor. Look at it (ps, top) and at its log, and end it if it stays so',
  );
}

/** What an error of the socket means. `lost`: the connection ended after it was open. */
function explained(error: unknown, dataDir: string, lost: OperatorFailure): unknown {
  const path = socketPathOf(dataDir);
  switch (errorCode(error)) {
    case 'ENOENT':
    case 'ECONNREFUSED':
    case 'ENOTDIR':
      return new NoServer(
        'failed',
        `no server runs on ${path}: start it with "payments serve", or name its folder with --data-dir`,
      );
    case 'EACCES':
    case 'EPERM':
      return new OperatorFailure('refused', `${path} belongs to another user: run the command as that user`);
    case 'ECONNRESET':
    case 'EPIPE':
      return lost;
    default:
      return error;
  }
}
