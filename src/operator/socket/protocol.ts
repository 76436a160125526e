// The protocol of the operators' UNIX socket. Each message is a line of JSON, and each connection
// has one command: a request, then items, then a result or an error. A client that leaves ends its
// command.
//
//   > {"command":"org.suspend","params":{"org":"org_…"},"by":{"user":"amina","uid":1000,…}}
//   < {"result":{"id":"org_…","status":"suspended",…}}

import { join, relative, resolve } from 'node:path';
import type { Asker } from '../audit/audit-row.ts';
import { type OperatorErrorKind, OperatorFailure } from '../use-cases/failures.ts';

export interface OperatorRequest {
  readonly command: string;
  readonly params: unknown;
  /** For the audit record. */
  readonly by: Asker | null;
}

export type OperatorMessage =
  | { readonly item: unknown }
  | { readonly result: unknown }
  | { readonly error: { readonly kind: OperatorErrorKind; readonly message: string } };

export const requestCharactersMax = 1024 * 1024;

/** The address of a UNIX socket has at most 103 bytes on macOS, 107 on Linux. */
const addressBytesMax = 103;

/** The path of the operators' socket in a data folder. */
export function socketPathOf(dataDir: string): string {
  return join(resolve(dataDir), 'operator.sock');
}

/**
 * The socket's path, or its shorter form from the working directory. Throws `OperatorFailure` when
 * both are too long for the system, which would cut them silently.
 */
export function socketAddressOf(dataDir: string): string {
  const path = socketPathOf(dataDir);
  const address = [path, relative('', path)].find((form) => Buffer.byteLength(form) <= addressBytesMax);
  if (address !== undefined) return address;
  throw new OperatorFailure(
    'failed',
    `${path} is too long for a socket: choose a data folder with a shorter path, or work inside it`,
  );
}

export function encodeLine(message: OperatorRequest | OperatorMessage): string {
  return `${JSON.stringify(message)}\n`;
}
