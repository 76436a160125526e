// The connections between nodes: TLS with what both sides know each other by before anything is
// read. Unless certificates are configured, that is a key which both derive from the secrets key,
// the same file on each node. With certificates each node has one of its own, by an authority that
// all trust (node-certificate.ts). In either case TLS begins only with who has the key (knock.ts).

import { constants, createHash, hkdfSync, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { connect as connectTcp, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import {
  type ConnectionOptions,
  connect as connectTls,
  createServer as createTlsServer,
  type TLSSocket,
  type TlsOptions,
} from 'node:tls';
import { answerKnock, knock, OtherKey } from './knock.ts';
import { certifiedName, isOfNode } from './node-certificate.ts';

const identity = 'payments node';
const ciphers = 'ECDHE-PSK-CHACHA20-POLY1305';
/** Node offers pre-shared keys with this version only. */
const keyVersion = { minVersion: 'TLSv1.2', maxVersion: 'TLSv1.2' } as const;
const certificateVersion = { minVersion: 'TLSv1.3', maxVersion: 'TLSv1.3' } as const;
const handshakeMs = 3_000;
/** Each other node needs one. */
const nodesMax = 64;
/** So many at a time have yet to show that they have the key of the links. */
const knockingMax = 64;

/** The files of a node that has a certificate. */
interface NodeFiles {
  readonly certFile: string | null;
  readonly keyFile: string | null;
  readonly caFile: string | null;
}

/** What nodes show each other. */
export interface LinkProof {
  /** That of the links, which comes first. */
  readonly key: Uint8Array;
  /** Null: the key alone. */
  readonly certificate: X509Certificate | null;
  readonly server: TlsOptions;
  /** To connect to the node of that name. */
  readonly client: (node: string) => ConnectionOptions;
}

/** The key of the links of nodes that have this secrets key. */
export function linkKeyOf(secretsKey: string): Buffer {
  const salt = createHash('sha256').update(identity).digest();
  return Buffer.from(hkdfSync('sha256', Buffer.from(secretsKey, 'base64'), salt, 'link', 32));
}

/** Reads the files, where some are named; else `key` is all of the proof. */
export function proofOf(files: NodeFiles, key: Uint8Array): LinkProof {
  const { certFile, keyFile, caFile } = files;
  if (certFile === null || keyFile === null || caFile === null) return proofByKey(Buffer.from(key));
  const own = {
    ...certificateVersion,
    cert: readFileSync(certFile),
    key: readFileSync(keyFile),
    ca: readFileSync(caFile),
    // Without this, NODE_TLS_REJECT_UNAUTHORIZED would decide.
    rejectUnauthorized: true,
    // Each connection shows its certificate: none goes on with what an earlier one has shown.
    secureOptions: constants.SSL_OP_NO_TICKET,
  };
  return {
    key,
    certificate: new X509Certificate(own.cert),
    server: { ...own, requestCert: true },
    client(node) {
      const servername = certifiedName(node);
      if (servername === null) throw new Error('no certificate can name it');
      return { ...own, servername };
    },
  };
}

export function proofByKey(key: Buffer): LinkProof {
  const both = { ...keyVersion, ciphers };
  return {
    key,
    certificate: null,
    server: { ...both, pskCallback: (_socket, name) => (name === identity ? key : null) },
    client: () => ({
      ...both,
      checkServerIdentity: () => undefined,
      pskCallback: () => ({ psk: key, identity }),
    }),
  };
}

interface NodeServer extends Server {
  /** New connections show this. */
  setSecureContext(options: TlsOptions): void;
}

/**
 * `onSecure` gets connections of nodes. `onRefused` hears why somebody is not let in, and whether
 * that is a stranger, who does not have the key of the links.
 */
export function createNodeServer(
  { key, certificate, server: options }: LinkProof,
  onSecure: (socket: TLSSocket) => void,
  onRefused: (reason: string, isStranger: boolean) => void = () => {},
): NodeServer {
  const tls = createTlsServer({ ...options, handshakeTimeout: handshakeMs }, (socket) => {
    if (certificate === null || isOfNode(socket.getPeerX509Certificate())) onSecure(socket);
    else {
      socket.destroy();
      onRefused('its certificate is not that of a node', false);
    }
  });
  // A handshake that fails ends its own connection.
  tls.on('tlsClientError', (error, socket) => {
    socket.destroy();
    const untrusted: unknown = socket.authorizationError;
    const { code = '', reason = error.message } = error as NodeJS.ErrnoException & { reason?: string };
    if (untrusted) onRefused(`its certificate is not good: ${untrusted}`, false);
    // Others have only come and gone.
    else if (code.startsWith('ERR_SSL')) onRefused(reason, false);
  });
  const knocking = new Set<Socket>();
  let nodes = 0;
  const server = createTcpServer({ noDelay: true }, async (socket) => {
    // A node takes a moment. Who has taken longest gives way, so strangers keep no node out.
    const [oldest] = knocking;
    knocking.add(socket);
    if (knocking.size > knockingMax) oldest?.destroy();
    socket.once('close', () => knocking.delete(socket));
    try {
      await withinTime(socket, answerKnock(socket, key));
      knocking.delete(socket);
      if (nodes === nodesMax) throw new Error('there are too many');
      nodes++;
      socket.once('close', () => nodes--);
      tls.emit('connection', socket);
    } catch (error) {
      socket.destroy();
      if (error instanceof OtherKey) onRefused(error.message, true);
    }
  });
  return Object.assign(server, { setSecureContext: (own: TlsOptions) => tls.setSecureContext(own) });
}

/** Rejects with why the node can't be reached, or does not prove that it is the one meant. */
export async function connectToNode(
  { host, port }: { readonly host: string; readonly port: number },
  node: string,
  proof: LinkProof,
): Promise<TLSSocket> {
  const tcp = connectTcp({ host, port, noDelay: true });
  await withinTime(tcp, knock(tcp, proof.key));
  const socket = connectTls({ socket: tcp, ...proof.client(node) });
  const connected = Promise.withResolvers<void>();
  socket.once('secureConnect', connected.resolve).once('error', connected.reject);
  await withinTime(socket, connected.promise);
  return socket;
}

/** Ends the connection with an error when that takes too long or fails. */
async function withinTime(socket: Socket, done: Promise<void>): Promise<void> {
  const failed = Promise.withResolvers<never>();
  const fail = (error: Error) => failed.reject(error);
  socket.on('error', fail);
  const late = setTimeout(() => socket.destroy(new Error('it does not answer')), handshakeMs);
  try {
    await Promise.race([done, failed.promise]);
  } catch (error) {
    socket.destroy();
    throw error;
  } finally {
    clearTimeout(late);
  }
}
