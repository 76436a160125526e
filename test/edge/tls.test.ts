// TLS connections use 1.3, or 1.2 with forward secrecy and authenticated encryption, and nothing older or weaker.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type ConnectionOptions, connect } from 'node:tls';
import { type Service, startService } from '../service.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { createAuthority } from '../webhooks/certificates.ts';

const authority = createAuthority();
let service: Service;

before(async () => {
  const folder = temporaryFolder();
  // Key exchange by RSA, which the service must refuse, needs a certificate on an RSA key.
  const { cert, key } = authority.issue({ hosts: ['127.0.0.1'], rsa: true });
  const [certFile, keyFile] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  writeFileSync(certFile, cert);
  writeFileSync(keyFile, key);
  service = await startService({ env: { PAYMENTS_TLS_CERT_FILE: certFile, PAYMENTS_TLS_KEY_FILE: keyFile } });
});
after(() => service?.stop());

const tls12 = (ciphers: string): ConnectionOptions => ({
  minVersion: 'TLSv1.2',
  maxVersion: 'TLSv1.2',
  ciphers,
});
const old = 'DEFAULT:@SECLEVEL=0';

const rows: readonly [what: string, spoken: boolean, offer: ConnectionOptions][] = [
  ['TLS 1.3', true, { minVersion: 'TLSv1.3' }],
  ['ephemeral keys with AES-128-GCM', true, tls12('ECDHE-RSA-AES128-GCM-SHA256')],
  ['ephemeral keys with AES-256-GCM', true, tls12('ECDHE-RSA-AES256-GCM-SHA384')],
  ['ephemeral keys with ChaCha20-Poly1305', true, tls12('ECDHE-RSA-CHACHA20-POLY1305')],
  ['no forward secrecy', false, tls12('AES128-GCM-SHA256:AES256-GCM-SHA384')],
  [
    'no authenticated encryption',
    false,
    tls12('ECDHE-RSA-AES128-SHA:ECDHE-RSA-AES256-SHA:ECDHE-RSA-AES128-SHA256'),
  ],
  ['neither', false, tls12('AES128-SHA:AES256-SHA')],
  ['TLS 1.1', false, { minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: old }],
  ['TLS 1.0', false, { minVersion: 'TLSv1', maxVersion: 'TLSv1', ciphers: old }],
];

for (const [what, spoken, offer] of rows) {
  test(`${what} is ${spoken ? 'spoken' : 'refused'}`, async () => {
    const { hostname, port } = new URL(service.url);
    const socket = connect({ host: hostname, port: Number(port), ca: authority.cert, ...offer });
    const handshake = once(socket, 'secureConnect', { signal: AbortSignal.timeout(60_000) });
    // The service sends an alert, and the client itself finds no fault.
    if (spoken) await handshake;
    else await assert.rejects(handshake, /alert (handshake failure|protocol version)/);
    socket.destroy();
  });
}
