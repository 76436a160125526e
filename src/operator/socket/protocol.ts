// The protocol of the operators' UNIX socket. Each message is a line of JSON, and each connection
// has one command: a request, then items, then a result or an error. A client that leaves ends its
// command.
//
//   > {"command":"org.suspend","params":{"org":"org_…"},"by":{"user":"amina","uid":1000,…}}
//   < {"result":{"id":"org_…","status":"suspended",…}}

import { join, relative, resolve } from 'node:path';

/** Who runs the client, as it says: the machine's user, and the user who called sudo. */
export interface Asker {
  readonly user: string | null;
  readonly uid: number | null;
  readonly sudo_user: string | null;
}

/** A member, in the dashboard. */
export interface MemberAuthor {
  readonly member: string;
  /** Where the member acts; null for what concerns the account alone. */
  readonly organization: string | null;
}

/** Who it is in words; null when the client didn't say. */
export function nameOfAsker(by: Asker | MemberAuthor | null): string | null {
  if (by === null) return null;
  if ('member' in by) return by.member;
  const { user, uid, sudo_user: sudoUser } = by;
  const name = user ?? `uid ${uid}`;
  return sudoUser === null ? name : `${name} (sudo by ${sudoUser})`;
}

export interface OperatorRequest {
  readonly command: string;
  readonly params: unknown;
  /** For the audit record. */
  readonly by: Asker | null;
}

/** `usage`: malformed; `refused`: nothing was done; `failed`: a fault of the server. */
export type OperatorErrorKind = 'usage' | 'refused' | 'failed';

export type OperatorMessage =
  | { readonly item: unknown }
  | { readonly result: unknown }
  | { readonly error: { readonly kind: OperatorErrorKind; readonly message: string } };

/** A command that did not succeed. The message is one sentence for the operator. */
export class OperatorFailure extends Error {
  override name = 'OperatorFailure';
  readonly kind: OperatorErrorKind;
  constructor(kind: OperatorErrorKind, message: string) {
    super(message);
    this.kind = kind;
  }
}

/** The failure of a command that was called wrongly. */
export function wrongUsage(message: string): OperatorFailure {
  return new OperatorFailure('usage', message);
}

export const requestCharactersMax = 1024 * 1024;

/** A command that lists records answers at most this many, the newest ones. */
export const listedMax = 1_000;

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
