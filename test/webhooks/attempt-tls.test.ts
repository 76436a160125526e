import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TLSSocket } from 'node:tls';
import { poll } from '../poll.ts';
import { clientSockets, makeAttempts } from './attempt-harness.ts';
import { createAuthority, type Identity, selfSigned } from './certificates.ts';
import { floodWithKeyUpdates } from './key-updates.ts';
import { type Respond, startReceiver } from './receiver.ts';

const dayMs = 86_400_000;
const name = 'receiver.shop.example';
const hosts = [name];
const authority = createAuthority();
const stranger = createAuthority('Stranger');

const daysFromNow = (days: number) => new Date(Date.now() + days * dayMs);

interface Case {
  readonly title: string;
  readonly identity: Identity;
  /** The host in the URL; `name` when left out. */
  readonly host?: string;
  /** Undefined when the delivery succeeds. */
  readonly failure?: RegExp;
}

const cases: Case[] = [
  { title: 'trusted authority, right name', identity: authority.issue({ hosts }) },
  { title: 'right name by wildcard', identity: authority.issue({ hosts: ['*.shop.example'] }) },
  { title: 'right address', identity: authority.issue({ hosts: ['127.0.0.1'] }), host: '127.0.0.1' },
  { title: 'self-signed', identity: selfSigned({ hosts }), failure: /^certificate not trusted: self-signed/ },
  {
    title: 'unknown authority',
    identity: stranger.issue({ hosts }),
    failure: /^certificate not trusted: unable to/,
  },
  {
    title: 'wrong name',
    identity: authority.issue({ hosts: ['other.example'] }),
    failure: /^certificate not trusted: Hostname.*does not match/,
  },
  {
    title: 'address instead of the name',
    identity: authority.issue({ hosts: ['127.0.0.1'] }),
    failure: /^certificate not trusted: Hostname/,
  },
  {
    title: 'name instead of the address',
    identity: authority.issue({ hosts }),
    host: '127.0.0.1',
    failure: /^certificate not trusted: (IP|Hostname)/,
  },
  {
    title: 'wrong name, and a great many of them',
    identity: authority.issue({ hosts: Array.from({ length: 500 }, (_, i) => `host-${i}.other.example`) }),
    failure: /^certificate not trusted: .{1,200}$/s,
  },
  {
    title: 'expired',
    identity: authority.issue({ hosts, notBefore: daysFromNow(-2), notAfter: daysFromNow(-1) }),
    failure: /^certificate not trusted: certificate has expired$/,
  },
  {
    title: 'not valid yet',
    identity: authority.issue({ hosts, notBefore: daysFromNow(1), notAfter: daysFromNow(2) }),
    failure: /^certificate not trusted: certificate is not yet valid$/,
  },
];

interface DeliverOptions {
  readonly port: number;
  readonly host?: string | undefined;
  readonly extraCa?: string;
  readonly timeoutMs?: number;
}

async function deliver({ port, host = name, ...options }: DeliverOptions) {
  const attempts = makeAttempts({ extraCa: undefined, ...options });
  const url = `https://${host}:${port}/`;
  return attempts.make({
    org: 'org_1',
    endpoint: 'we_1',
    url,
    body: '{}',
    secrets: ['svc_whsec_a'],
    nowSeconds: 1,
  });
}

for (const { title, identity, host, failure } of cases) {
  test(`certificate: ${title}`, async () => {
    const receiver = await startReceiver({ identity });
    try {
      const result = await deliver({ port: receiver.port, host, extraCa: authority.cert });
      if (failure === undefined) {
        assert.deepEqual([result.status, result.failure], [200, null]);
        // An address is never named in the handshake, only a name is.
        assert.equal(receiver.requests[0]?.servername, host === undefined ? name : null);
      } else {
        assert.match(result.failure ?? '', failure);
        assert.equal(result.status, null);
        assert.equal(receiver.requests.length, 0, 'nothing was sent');
      }
    } finally {
      await receiver.close();
    }
  });
}

test('only the public authorities are trusted by default', async () => {
  const receiver = await startReceiver({ identity: authority.issue({ hosts }) });
  const result = await deliver({ port: receiver.port });
  await receiver.close();
  assert.match(result.failure ?? '', /^certificate not trusted/);
  assert.equal(receiver.requests.length, 0);
});

test('a receiver that speaks no TLS', async () => {
  const receiver = await startReceiver();
  const result = await deliver({ port: receiver.port });
  await receiver.close();
  assert.match(result.failure ?? '', /^TLS failed \(ERR_SSL_/);
});

test('a receiver chooses no numbers of a key exchange, which could take the thread a second', async () => {
  const identity = authority.issue({ hosts, rsa: true });
  const receiver = await startReceiver({ identity, tls: 'TLSv1.2', ciphers: 'DHE-RSA-AES128-GCM-SHA256' });
  const result = await deliver({ port: receiver.port, extraCa: authority.cert });
  await receiver.close();
  assert.match(result.failure ?? '', /^TLS failed \(ERR_SSL_/);
  assert.equal(receiver.requests.length, 0);
});

test('a receiver that begins the handshake anew is left, however often it would', async () => {
  const respond: Respond = (response) => {
    const socket = response.socket as TLSSocket;
    socket.on('error', () => {});
    socket.renegotiate({}, (error) => error === null && response.end('ok'));
  };
  const receiver = await startReceiver({ identity: authority.issue({ hosts }), tls: 'TLSv1.2', respond });
  const result = await deliver({ port: receiver.port, extraCa: authority.cert });
  assert.match(result.failure ?? '', /^TLS failed \(ERR_SSL_/);
  await receiver.close();
});

test('a receiver that gives one TLS session after the other is left', async () => {
  const receiver = await startReceiver({ identity: authority.issue({ hosts }), respond: () => {} });
  const result = deliver({ port: receiver.port, extraCa: authority.cert });
  await poll(() => receiver.requests[0]);
  for (let i = 0; i < 20; i++) clientSockets.at(-1)!.emit('session', Buffer.from('session'));
  assert.equal((await result).failure, 'connection closed without an answer');
  await receiver.close();
});

test('a receiver that updates the keys of TLS without end is left', { timeout: 60_000 }, async (context) => {
  const flood = await floodWithKeyUpdates(context, authority.issue({ hosts }));
  const result = await deliver({ port: flood.port, extraCa: authority.cert, timeoutMs: 50_000 });
  assert.equal(result.failure, 'connection closed without an answer');
  assert(flood.updates > 0);
});

test('certificates are verified whatever the environment says', async () => {
  const receiver = await startReceiver({ identity: selfSigned({ hosts }) });
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
  try {
    const result = await deliver({ port: receiver.port });
    assert.match(result.failure ?? '', /^certificate not trusted: self-signed/);
    assert.equal(receiver.requests.length, 0, 'nothing was sent');
  } finally {
    delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
    await receiver.close();
  }
});
