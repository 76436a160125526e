// Links by certificates, over real sockets: who has one that is a node's is let in, and nobody else, whichever side they are on.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import {
  type AddressInfo,
  connect as connectPlain,
  createServer as createPlainServer,
  type Socket,
} from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type ConnectionOptions, connect, createServer, type TLSSocket } from 'node:tls';
import { answerKnock, knock } from '../../src/cluster/knock.ts';
import { faultOfCertificate } from '../../src/cluster/node-certificate.ts';
import {
  connectToNode,
  createNodeServer,
  type LinkProof,
  proofByKey,
  proofOf,
} from '../../src/cluster/node-tls.ts';
import { certifyNode } from '../../src/operator/use-cases/certify-node.ts';
import { poll } from '../poll.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { createAuthority, type Identity, selfSigned } from '../webhooks/certificates.ts';

// This would have a client take any certificate.
process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';

const host = '127.0.0.1';
const key = randomBytes(32);
const dayMs = 86_400_000;
const daysAgo = (days: number) => new Date(Date.now() - days * dayMs);

/** The files as a node has them. */
interface Files {
  readonly certFile: string;
  readonly keyFile: string;
  readonly caFile: string;
}

/** What the command has made for a node, at the time; the authority is of the folder. */
function made(folder: string, node: string, at = new Date()): Files {
  const { certificate, key: keyFile, authority } = certifyNode(folder, node, at);
  return { certFile: certificate, keyFile, caFile: authority };
}

/** The files of an authority that operators have brought, which signs for others, too. */
function brought({ cert, key: own }: Identity, ca: string): Files {
  const folder = temporaryFolder();
  const files = {
    certFile: join(folder, 'cert.pem'),
    keyFile: join(folder, 'key.pem'),
    caFile: join(folder, 'ca.pem'),
  };
  for (const [file, text] of [
    [files.certFile, cert],
    [files.keyFile, own],
    [files.caFile, ca],
  ] as const)
    writeFileSync(file, text);
  return files;
}

const folder = temporaryFolder();
const a = made(folder, 'a');
const b = made(folder, 'b');
const corporate = createAuthority('Corporate authority');
const hosts = ['b.payments-node.internal'];

interface Listening {
  readonly port: number;
  readonly server: ReturnType<typeof createNodeServer>;
  readonly secure: TLSSocket[];
  readonly refused: string[];
  /** Of each that was refused, whether it was a stranger. */
  readonly strangers: boolean[];
}

async function listen(context: TestContext, proof: LinkProof): Promise<Listening> {
  const secure: TLSSocket[] = [];
  const refused: string[] = [];
  const strangers: boolean[] = [];
  const server = createNodeServer(
    proof,
    (socket) => void secure.push(socket.on('error', () => {})),
    (reason, isStranger) => {
      refused.push(reason);
      strangers.push(isStranger);
    },
  );
  server.listen(0, host);
  await once(server, 'listening');
  context.after(() => {
    for (const socket of secure) socket.destroy();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, server, secure, refused, strangers };
}

/** The connection of somebody who has the key of the links. */
async function knocked(port: number): Promise<Socket> {
  const socket = connectPlain({ host, port }).on('error', () => {});
  await knock(socket, key);
  return socket;
}

/** Connects, and says something; resolves when the other side has ended it. */
async function tryIn(port: number, options: ConnectionOptions): Promise<void> {
  const socket = connect({ socket: await knocked(port), rejectUnauthorized: false, ...options });
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.on('error', () => {}).resume();
  socket.write('let me in');
  await closed;
}

test('nobody has certificates verified who does not have the key of the links', async (context) => {
  const { port, secure, refused, strangers } = await listen(context, proofOf(b, key));
  const told = Promise.withResolvers<Buffer>();
  const stranger = connectPlain({ host, port })
    .on('error', () => {})
    .once('data', told.resolve);
  await told.promise;
  const answers: Buffer[] = [];
  stranger.on('data', (data) => answers.push(data));
  // The beginning of TLS is as long as an answer, at least. A piece of one holds nobody up.
  stranger.write(Buffer.alloc(1, 22));
  await new Promise((resolve) => setImmediate(resolve));
  stranger.write(Buffer.alloc(63, 22));
  await once(stranger, 'close');
  assert.deepEqual(answers, []);
  await assert.rejects(connectToNode({ host, port }, 'b', proofOf(a, randomBytes(32))), /key of the links/);
  assert.deepEqual(refused, Array(2).fill('it does not have the key of the links'));
  assert.deepEqual(strangers, [true, true]);
  assert.equal(secure.length, 0);
});

test('a node shows its certificate to nobody who does not have the key of the links', async (context) => {
  const heard: number[] = [];
  const server = createPlainServer((socket) => {
    socket
      .on('error', () => {})
      .on('data', ({ length }) => {
        heard.push(length);
        // Something else that listens in the place of the node, and answers.
        socket.write(randomBytes(32));
      });
    socket.write(randomBytes(32));
  }).listen(0, host);
  await once(server, 'listening');
  context.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  await assert.rejects(connectToNode({ host, port }, 'b', proofOf(a, key)), /does not have the key/);
  assert.deepEqual(heard, [64]);
});

test('two nodes with certificates of one authority are linked over TLS 1.3', async (context) => {
  const { port, secure, refused } = await listen(context, proofOf(b, key));
  const socket = await connectToNode({ host, port }, 'b', proofOf(a, key));
  context.after(() => socket.destroy());
  const there = await poll(() => secure[0]);
  assert.deepEqual([socket.getProtocol(), there.getProtocol()], ['TLSv1.3', 'TLSv1.3']);
  assert.equal(there.getPeerX509Certificate()?.subjectAltName, 'DNS:a.payments-node.internal');
  socket.write('hello');
  assert.equal(String((await once(there, 'data'))[0]), 'hello');
  assert.deepEqual(refused, []);
});

const read = ({ certFile, keyFile }: Files): ConnectionOptions => ({
  cert: readFileSync(certFile),
  key: readFileSync(keyFile),
});
const both = ['server', 'client'] as const;

/** Whoever has the key of the links and no certificate of a node, with what the corporate authority has signed, which node b trusts. */
const strangers: readonly (readonly [title: string, shown: ConnectionOptions, refusal: RegExp])[] = [
  ['without a certificate', {}, /peer did not return a certificate/],
  ['with a self-signed one', selfSigned({ hosts, sides: both }), /not good: DEPTH_ZERO_SELF_SIGNED_CERT/],
  [
    'with one of another authority of the same name',
    createAuthority('Corporate authority').issue({ hosts, sides: both }),
    /not good: UNABLE_TO_VERIFY_LEAF_SIGNATURE/,
  ],
  [
    'with one that has ended',
    corporate.issue({ hosts, sides: both, notBefore: daysAgo(3), notAfter: daysAgo(1) }),
    /not good: CERT_HAS_EXPIRED/,
  ],
  [
    'with one that is not good yet',
    corporate.issue({ hosts, sides: both, notBefore: daysAgo(-1), notAfter: daysAgo(-2) }),
    /not good: CERT_NOT_YET_VALID/,
  ],
  [
    'with one that is for servers alone',
    corporate.issue({ hosts, sides: ['server'] }),
    /not good: INVALID_PURPOSE/,
  ],
  [
    'with one that is for something else',
    corporate.issue({ hosts: ['shop.example.ma', '10.0.0.7'], sides: both }),
    /is not that of a node/,
  ],
  [
    'with one that only looks like that of a node',
    corporate.issue({
      hosts: ['b.payments-node.internal.example.ma', 'payments-node.internal'],
      sides: both,
    }),
    /is not that of a node/,
  ],
  ['with one that has no names', corporate.issue({ hosts: [], sides: both }), /is not that of a node/],
  [
    'with TLS 1.2',
    { ...corporate.issue({ hosts, sides: both }), maxVersion: 'TLSv1.2' },
    /unsupported protocol/,
  ],
];
for (const [title, shown, refusal] of strangers)
  test(`a stranger ${title} gets nothing said, and is told in the log`, async (context) => {
    const own = brought(corporate.issue({ hosts, sides: both }), corporate.cert);
    const { port, secure, refused, strangers } = await listen(context, proofOf(own, key));
    await tryIn(port, shown);
    await poll(() => refused[0]);
    assert.match(refused.join('\n'), refusal);
    assert.equal(strangers[0], false);
    assert.equal(secure.length, 0);
  });

/** Whoever listens in the place of node b, as node a with the corporate authority finds it. */
const impostors: readonly (readonly [title: string, shown: Identity, refusal: RegExp])[] = [
  ['a self-signed one', selfSigned({ hosts, sides: both }), /self-signed certificate/],
  ['one of another authority', createAuthority().issue({ hosts, sides: both }), /unable to verify/],
  [
    'one that has ended',
    corporate.issue({ hosts, sides: both, notBefore: daysAgo(3), notAfter: daysAgo(1) }),
    /certificate has expired/,
  ],
  [
    'one that is for clients alone',
    corporate.issue({ hosts, sides: ['client'] }),
    /unsuitable certificate purpose/,
  ],
  [
    "another node's",
    corporate.issue({ hosts: ['c.payments-node.internal'], sides: both }),
    /b\.payments-node\.internal\. is not in the cert's altnames: DNS:c\.payments-node\.internal/,
  ],
  [
    'one that is for its address',
    corporate.issue({ hosts: [host, 'localhost'], sides: both }),
    /b\.payments-node\.internal\. is not in the cert's altnames/,
  ],
];
for (const [title, shown, refusal] of impostors)
  test(`a node does not link with who shows it ${title}`, async (context) => {
    const heard: unknown[] = [];
    const tls = createServer({ ...shown, requestCert: true, rejectUnauthorized: false }, (socket) =>
      socket.on('error', () => {}).on('data', (data) => heard.push(data)),
    );
    const server = createPlainServer(async (socket) => {
      await answerKnock(socket, key);
      tls.emit('connection', socket);
    }).listen(0, host);
    await once(server, 'listening');
    context.after(() => server.close());
    const { port } = server.address() as AddressInfo;
    const issued = corporate.issue({ hosts: ['a.payments-node.internal'], sides: both });
    const proof = proofOf(brought(issued, corporate.cert), key);
    await assert.rejects(connectToNode({ host, port }, 'b', proof), refusal);
    assert.deepEqual(heard, []);
  });

test('a node with a certificate and one with the key refuse each other', async (context) => {
  const [byCertificate, byKey] = [proofOf(b, key), proofByKey(key)];
  for (const [there, here] of [
    [byCertificate, byKey],
    [byKey, byCertificate],
  ] as const) {
    const { port, secure, refused } = await listen(context, there);
    await assert.rejects(connectToNode({ host, port }, 'b', here));
    await poll(() => refused[0]);
    assert.equal(secure.length, 0);
  }
});

test('a connection goes on with nothing that an earlier one has shown', async (context) => {
  const { port, secure, refused } = await listen(context, proofOf(b, key));
  const first = connect({ socket: await knocked(port), rejectUnauthorized: false, ...read(a) });
  const sessions: Buffer[] = [];
  first.on('session', (session) => sessions.push(session)).resume();
  const there = await poll(() => secure[0]);
  // What the server has to say of a session comes before this.
  there.write('hello');
  await once(first, 'data');
  context.after(() => first.destroy());
  for (const session of [...sessions, first.getSession()])
    if (session !== undefined) await tryIn(port, { session });
  await tryIn(port, {});
  await poll(() => refused.length > 0 || undefined);
  assert.equal(secure.length, 1);
});

test('a handshake that is never ended is given up, and keeps no node out', async (context) => {
  const { port, secure } = await listen(context, proofOf(b, key));
  // What a client says first gets through, and nothing after it.
  const first = Promise.withResolvers<Buffer>();
  const recorder = createPlainServer((socket) => socket.on('error', () => {}).once('data', first.resolve));
  recorder.listen(0, host);
  await once(recorder, 'listening');
  context.after(() => recorder.close());
  const client = connect({ host, port: (recorder.address() as AddressInfo).port, ...read(a) });
  client.on('error', () => {});
  const hello = await first.promise;
  client.destroy();
  const closed = [hello, hello.subarray(0, 20)].map((bytes) => {
    const closed = Promise.withResolvers<void>();
    void knocked(port).then((stalled) => {
      stalled.once('close', closed.resolve).resume();
      stalled.write(bytes);
    });
    return closed.promise;
  });
  const socket = await connectToNode({ host, port }, 'b', proofOf(a, key));
  context.after(() => socket.destroy());
  await Promise.all(closed);
  assert.deepEqual([secure.length, socket.destroyed], [1, false]);
});

test('renewed files are taken, also while an authority follows another one of the same name', async (context) => {
  const next = temporaryFolder();
  const [nextA, nextB] = [made(next, 'a'), made(next, 'b')];
  const rolling = join(next, 'both.pem');
  writeFileSync(rolling, readFileSync(a.caFile, 'utf8') + readFileSync(nextA.caFile, 'utf8'));
  const { port, server, secure, refused } = await listen(context, proofOf({ ...b, caFile: rolling }, key));
  const dial = async (files: Files) => {
    const socket = await connectToNode({ host, port }, 'b', proofOf({ ...files, caFile: rolling }, key));
    context.after(() => socket.destroy());
    return socket;
  };
  await dial(a);
  await dial(nextA);
  await poll(() => secure.length === 2 || undefined);
  server.setSecureContext(proofOf({ ...nextB, caFile: rolling }, key).server);
  await dial(a);
  await dial(nextA);
  await poll(() => secure.length === 4 || undefined);
  // The old authority is trusted no longer; what is open stays.
  server.setSecureContext(proofOf(nextB, key).server);
  await dial(nextA);
  (await dial(a)).on('error', () => {});
  await poll(() => refused[0]);
  assert.equal(secure.length, 5);
  assert(secure.every(({ destroyed }) => !destroyed));
});

const faults: readonly (readonly [title: string, node: string, files: Files, fault: RegExp | null])[] = [
  ['its own', 'b', b, null],
  [
    "another node's",
    'c',
    b,
    /^is not that of node c: c\.payments-node\.internal is not among its DNS names$/,
  ],
  ['a name that no certificate can have', 'node b', b, /^can't name the node "node b"/],
  [
    'another authority',
    'b',
    { ...b, caFile: brought(selfSigned({ hosts }), corporate.cert).caFile },
    /^no authority/,
  ],
  [
    'one for servers',
    'b',
    brought(corporate.issue({ hosts, sides: ['server'] }), corporate.cert),
    /clientAuth$/,
  ],
  ['one without purposes', 'b', brought(corporate.issue({ hosts }), corporate.cert), null],
];
for (const [title, node, { certFile, caFile }, fault] of faults)
  test(`what a start says of the certificate of a node: ${title}`, () => {
    const found = faultOfCertificate(node, readFileSync(certFile), readFileSync(caFile));
    if (fault === null) assert.equal(found, null);
    else assert.match(found ?? 'nothing', fault);
  });
