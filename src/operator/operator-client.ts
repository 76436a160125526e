// The command line's end of the operators' socket: sends one command and waits for what comes of it.

import { connect } from 'node:net';
import {
  encodeLine,
  OperatorFailure,
  type OperatorMessage,
  socketAddressOf,
  socketPathOf,
} from './operator-protocol.ts';

/**
 * Runs a command on the server of a data folder and returns its result. `onItem` gets each item of a command that
 * goes on; aborting `signal` ends it with an `AbortError`. Throws `OperatorFailure` with the server's reason, or with `NoServer` when
 * none listens.
 */
export function callOperator(
  dataDir: string,
  command: string,
  params: object,
  options: { readonly onItem?: (item: unknown) => void; readonly signal?: AbortSignal } = {},
): Promise<unknown> {
  const address = socketAddressOf(dataDir);
  return new Promise((resolve, reject) => {
    const socket = connect({ path: address, signal: options.signal });
    let received = '';
    const take = (message: OperatorMessage) => {
      if ('item' in message) options.onItem?.(message.item);
      else if ('result' in message) resolve(message.result);
      else reject(new OperatorFailure(message.error.kind, message.error.message));
    };
    socket.setEncoding('utf8');
    socket.on('connect', () => socket.write(encodeLine({ command, params })));
    socket.on('data', (text: string) => {
      const lines = (received + text).split('\n');
      received = lines.pop()!;
      for (const line of lines) take(JSON.parse(line));
    });
    socket.on('error', (error: NodeJS.ErrnoException) => reject(explained(error, dataDir)));
    // Without effect when the command was answered.
    socket.on('close', () => reject(new OperatorFailure('failed', unanswered)));
  });
}

/** No server listens on the data folder's socket. */
export class NoServer extends OperatorFailure {
  override name = 'NoServer';
}

const unanswered =
  'the server stopped before it answered: the command may have taken effect, look before you send it again';

function explained(error: NodeJS.ErrnoException, dataDir: string): Error {
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
      return new OperatorFailure('failed', unanswered);
    default:
      return error;
  }
}
