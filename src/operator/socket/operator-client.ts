// The client of the operators' socket: it sends one command and waits for its outcome.

import { connect } from 'node:net';
import { userInfo } from 'node:os';
import {
  type Asker,
  encodeLine,
  OperatorFailure,
  type OperatorMessage,
  socketAddressOf,
  socketPathOf,
} from './protocol.ts';

/**
 * Runs a command on the server of a data folder and returns its result. `onItem` is called with each item of a command that
 * goes on, one after the other. Aborting `signal` ends the command with an `AbortError`. Rejects with `OperatorFailure` and
 * the server's reason, or with `NoServer` when no server listens.
 */
export async function callOperator(
  dataDir: string,
  command: string,
  params: object,
  options: { readonly onItem?: (item: unknown) => unknown; readonly signal?: AbortSignal } = {},
): Promise<unknown> {
  const socket = connect({ path: socketAddressOf(dataDir), signal: options.signal });
  socket.setEncoding('utf8').write(encodeLine({ command, params, by: asker() }));
  const lost = new OperatorFailure('failed', options.onItem === undefined ? unanswered : goneOn);
  let received = '';
  try {
    for await (const text of socket) {
      const lines: string[] = (received + text).split('\n');
      received = lines.pop()!;
      for (const line of lines) {
        const message = JSON.parse(line) as OperatorMessage;
        if ('result' in message) return message.result;
        if ('error' in message) throw new OperatorFailure(message.error.kind, message.error.message);
        await options.onItem?.(message.item);
      }
    }
  } catch (error) {
    throw explained(error as NodeJS.ErrnoException, dataDir, lost);
  }
  throw lost;
}

/** Who runs this process. */
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

/** No server listens on the data folder's socket. */
export class NoServer extends OperatorFailure {
  override name = 'NoServer';
}

const unanswered =
  'the server stopped before it answered: the command may have taken effect, look before you send it again';
const goneOn = 'the server has stopped';

/** The failure that an error of the socket means. `lost`: the connection ended after it was open. */
function explained(error: NodeJS.ErrnoException, dataDir: string, lost: OperatorFailure): Error {
  const path = socketPathOf(dataDir);
  switch (error.code) {
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
