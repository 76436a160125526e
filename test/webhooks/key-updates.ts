// A receiver that sends one KeyUpdate of TLS 1.3 (RFC 8446, 4.6.3) after the other to whoever connects. No library sends them at
// will, so this stands between the connection and a server, which says with which secret it would encrypt what it sends.

import { createCipheriv, createHmac } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net';
import type { TestContext } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { createServer as createTlsServer } from 'node:tls';
import type { Identity } from './certificates.ts';

const changeCipherSpec = 20;
const handshake = 22;
const applicationData = 23;
const keyUpdateRequested = Buffer.from([24, 0, 0, 1, 1]);
const updatesAtOnce = 200;

/** HKDF-Expand-Label with an empty context, of no more than one block. */
function derived(secret: Buffer, label: string, length: number): Buffer {
  const name = `tls13 ${label}`;
  const info = Buffer.from([0, length, name.length, ...Buffer.from(name), 0, 1]);
  return createHmac('sha256', secret).update(info).digest().subarray(0, length);
}

/** The record with a KeyUpdate that is the first one under a secret: each has the next secret take its place. */
function keyUpdate(secret: Buffer): Buffer {
  const head = Buffer.from([applicationData, 3, 3, 0, keyUpdateRequested.length + 1 + 16]);
  const cipher = createCipheriv('aes-128-gcm', derived(secret, 'key', 16), derived(secret, 'iv', 12)).setAAD(
    head,
  );
  const sealed = [cipher.update(Buffer.from([...keyUpdateRequested, handshake])), cipher.final()];
  return Buffer.concat([head, ...sealed, cipher.getAuthTag()]);
}

export async function floodWithKeyUpdates(context: TestContext, { cert, key }: Identity) {
  let updates = 0;
  let secret: Buffer = Buffer.alloc(0);
  const server = createTlsServer({ cert, key, minVersion: 'TLSv1.3', ciphers: 'TLS_AES_128_GCM_SHA256' });
  server.on('secureConnection', (socket) => socket.on('error', () => {}));
  server.on('keylog', (line) => {
    const [what, , hex = ''] = String(line).trim().split(' ');
    if (what === 'SERVER_TRAFFIC_SECRET_0') secret = Buffer.from(hex, 'hex');
  });
  async function flood(client: Socket): Promise<void> {
    while (!client.destroyed) {
      const records: Buffer[] = [];
      for (let i = 0; i < updatesAtOnce; i++) {
        records.push(keyUpdate(secret));
        secret = derived(secret, 'traffic upd', 32);
      }
      updates += updatesAtOnce;
      if (!client.write(Buffer.concat(records)))
        await Promise.race([once(client, 'drain'), once(client, 'close')]);
      await turn();
    }
  }
  const front = createTcpServer((client) => {
    const behind = connect((server.address() as AddressInfo).port, '127.0.0.1');
    let isFlooding = false;
    for (const socket of [client, behind]) socket.on('error', () => {});
    client.once('close', () => behind.destroy());
    context.after(() => client.destroy());
    behind.on('data', (bytes) => !isFlooding && client.write(bytes));
    client.on('data', (bytes) => {
      behind.write(bytes);
      // The client's last flight of the handshake: from now on the server would use the secret.
      if (bytes[0] !== changeCipherSpec || isFlooding) return;
      isFlooding = true;
      flood(client).catch(() => {});
    });
  });
  for (const each of [server, front]) {
    each.listen(0, '127.0.0.1');
    await once(each, 'listening');
    context.after(() => each.close());
  }
  return {
    port: (front.address() as AddressInfo).port,
    get updates() {
      return updates;
    },
  };
}
