// The connections between nodes: TLS with a key that both sides derive from the secrets key, which
// is the same file on each node. So there are no certificates to make, to carry around and to
// renew, and who does not have the file gets no further than the handshake. Each connection has
// keys of its own besides (ECDHE), so one that was recorded can't be read with the file later.

import { createHash, hkdfSync } from 'node:crypto';
import { connect, createServer, type Server, type TLSSocket } from 'node:tls';

const identity = 'payments node';
const ciphers = 'ECDHE-PSK-CHACHA20-POLY1305';
/** Node offers pre-shared keys with this version only. */
const version = { minVersion: 'TLSv1.2', maxVersion: 'TLSv1.2' } as const;
const handshakeMs = 3_000;
/** Each other node needs one. */
const connectionsMax = 64;

/** The key of the links of nodes that have this secrets key. */
export function linkKeyOf(secretsKey: string): Buffer {
  const salt = createHash('sha256').update(identity).digest();
  return Buffer.from(hkdfSync('sha256', Buffer.from(secretsKey, 'base64'), salt, 'link', 32));
}

/** `onSecure` gets connections of those that have the key. */
export function createNodeServer(key: Buffer, onSecure: (socket: TLSSocket) => void): Server {
  const server = createServer(
    {
      ...version,
      ciphers,
      handshakeTimeout: handshakeMs,
      pskCallback: (_socket, name) => (name === identity ? key : null),
    },
    onSecure,
  );
  server.maxConnections = connectionsMax;
  // A stranger's handshake ends its own connection.
  server.on('tlsClientError', (_error, socket) => socket.destroy());
  return server;
}

/** Rejects with why the node can't be reached, or does not have the key. */
export async function connectToNode(
  { host, port }: { readonly host: string; readonly port: number },
  key: Buffer,
): Promise<TLSSocket> {
  const socket = connect({
    host,
    port,
    ...version,
    ciphers,
    // The key is what both sides know each other by.
    checkServerIdentity: () => undefined,
    pskCallback: () => ({ psk: key, identity }),
  });
  const connected = Promise.withResolvers<void>();
  socket.once('secureConnect', connected.resolve).once('error', connected.reject);
  socket.setTimeout(handshakeMs, () => socket.destroy(new Error('it does not answer')));
  await connected.promise;
  socket.setTimeout(0);
  return socket;
}
