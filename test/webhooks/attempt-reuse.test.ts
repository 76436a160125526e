// Connections that are kept for the next delivery: when one is used again, when it must not be, and what happens to a request
// that is sent while the receiver closes the connection.

import assert from 'node:assert/strict';
import { constants } from 'node:crypto';
import { once } from 'node:events';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { test } from 'node:test';
import type { AttemptResult } from '../../src/domain/record.ts';
import { verifiedForMs } from '../../src/http-client/connections.ts';
import { idleMsOf } from '../../src/http-client/exchange.ts';
import { Posts } from '../../src/http-client/posts.ts';
import { ResolutionFailure } from '../../src/http-client/resolver.ts';
import { createManualClock } from '../manual-clock.ts';
import {
  attempts,
  authority,
  body,
  clientSockets,
  type Deliver,
  makeAttempts,
  postOptions,
  withReceiver,
} from './attempt-harness.ts';
import { endless, type Receiver, type Respond } from './receiver.ts';

const identity = authority.issue({ hosts: ['receiver.example'] });
const connectionsOf = ({ requests }: Receiver) => requests.map(({ connection }) => connection);

async function succeeds(result: Promise<AttemptResult>, answer?: string): Promise<void> {
  const { failure, answer: given } = await result;
  assert.equal(failure, null);
  if (answer !== undefined) assert.equal(given, answer);
}

/** Lets a close or bytes that are under way arrive: a whole round over loopback is behind them. */
async function settled(deliver: Deliver, idleCount: number): Promise<void> {
  while (deliver.connections.idleCount !== idleCount) await new Promise(setImmediate);
}

for (const options of [{}, { identity }, { identity, tls: 'TLSv1.2' as const }]) {
  const kind = options.identity ? `https, ${options.tls ?? 'TLSv1.3'}` : 'http';
  test(`deliveries one after the other share a connection: ${kind}`, () =>
    withReceiver(
      { ...options, respond: (response, _, index) => response.end(`answer ${index}`) },
      async (receiver) => {
        const deliver = attempts();
        const { protocol } = new URL(receiver.origin);
        const listeners: number[] = [];
        for (let i = 0; i < 5; i++) {
          await succeeds(deliver(`${protocol}//receiver.example:${receiver.port}/`), `answer ${i}`);
          const socket = clientSockets.at(-1)!;
          listeners.push(socket.eventNames().reduce((sum, name) => sum + socket.listenerCount(name), 0));
        }
        assert.deepEqual(connectionsOf(receiver), [0, 0, 0, 0, 0]);
        assert.equal(new Set(listeners).size, 1, `a delivery leaves listeners behind: ${listeners}`);
        assert.ok(receiver.requests.every((request) => request.body.toString() === body));
        deliver.connections.hangUp('we_1');
        await receiver.idle();
      },
    ));
}

test('deliveries at the same time have a connection each, and there are never more than those', () => {
  const waiting: (() => void)[] = [];
  const respond: Respond = (response) => {
    waiting.push(() => response.end());
    if (waiting.length === 5) for (const answer of waiting.splice(0)) answer();
  };
  return withReceiver({ respond }, async (receiver) => {
    const made = makeAttempts();
    const input = { org: 'org_1', endpoint: 'we_1', url: receiver.origin, body, secrets: [], nowSeconds: 1 };
    for (let round = 0; round < 3; round++) {
      await Promise.all(Array.from({ length: 5 }, () => succeeds(made.make(input))));
    }
    assert.equal(receiver.connectionCount, 5);
    assert.equal(made.connections.idleCount, 5);
  });
});

test('an endpoint uses no connection of another, and none to another address of its own', () =>
  withReceiver({}, (first) =>
    withReceiver({}, async (second) => {
      const deliver = attempts();
      await succeeds(deliver(first.origin, 'we_1'));
      await succeeds(deliver(first.origin, 'we_2'));
      assert.deepEqual(connectionsOf(first), [0, 1]);
      await succeeds(deliver(second.origin, 'we_1'));
      assert.equal(second.connectionCount, 1);
      deliver.connections.hangUp('we_2');
      await first.idle();
      assert.equal(first.openCount, 0, 'the first address was left with the move');
    }),
  ));

test('an address that the name no longer has is not used again', () =>
  withReceiver({}, (first) =>
    withReceiver({ host: '127.0.0.2', port: first.port }, async (second) => {
      let addresses = ['127.0.0.1'];
      const deliver = attempts({ resolve: async () => addresses });
      const url = `http://receiver.example:${first.port}/`;
      await succeeds(deliver(url));
      addresses = ['127.0.0.2', '127.0.0.1'];
      await succeeds(deliver(url));
      assert.deepEqual(connectionsOf(first), [0, 0], 'it is still among them');
      addresses = ['127.0.0.2'];
      await succeeds(deliver(url));
      assert.deepEqual([first.requests.length, second.requests.length], [2, 1]);
      await first.idle();
    }),
  ));

test('a name that now has an address that is not allowed is refused, whatever connection is open', () =>
  withReceiver({}, async (receiver) => {
    let answers = () => Promise.resolve(['127.0.0.1']);
    const deliver = attempts({ resolve: () => answers() });
    const url = `http://receiver.example:${receiver.port}/`;
    await succeeds(deliver(url));
    answers = () => Promise.reject(new ResolutionFailure('address not public: receiver.example', true));
    assert.equal((await deliver(url)).failure, 'address not public: receiver.example');
    assert.equal(receiver.requests.length, 1);
  }));

test('an idle connection is closed after its time', () =>
  withReceiver({}, async (receiver) => {
    const deliver = attempts();
    await succeeds(deliver(receiver.origin));
    const connection = deliver.connections.idleOf('we_1', receiver.origin, () => true);
    assert.ok(connection);
    connection.keep(1);
    await receiver.idle();
    assert.equal(deliver.connections.idleCount, 0);
    await succeeds(deliver(receiver.origin));
    assert.deepEqual(connectionsOf(receiver), [0, 1]);
  }));

const keepAliveCases: [string, number][] = [
  ['', Infinity],
  ['timeout=5', 4_000],
  ['timeout=2, max=100', 1_000],
  ['max=100, Timeout = "3"', 2_000],
  ['timeout=1', 0],
  ['timeout=0', 0],
  ['timeout=600', 599_000],
  ['max=5', Infinity],
  ['timeout=soon', Infinity],
];
for (const [header, idleMs] of keepAliveCases) {
  test(`Keep-Alive: ${header} lets a connection wait for ${idleMs} ms`, () =>
    assert.equal(idleMsOf(header), idleMs));
}

/** Answers with this text as it is, on the socket itself. */
const raw =
  (text: string, then?: (socket: Socket) => void): Respond =>
  ({ socket }) => {
    socket?.write(text, 'latin1', () => then?.(socket));
  };
const whole = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

/** Answers after which the connection can't carry another request. */
const lastAnswers: Record<string, Respond> = {
  'Connection: close': (response) => response.writeHead(200, { Connection: 'close' }).end('ok'),
  'a Keep-Alive that is over at once': raw(
    'HTTP/1.1 200 OK\r\nKeep-Alive: timeout=1\r\nContent-Length: 2\r\n\r\nok',
  ),
  'HTTP/1.0': raw('HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok'),
  'no length': (response) => response.socket?.end('HTTP/1.1 200 OK\r\n\r\nok'),
  'garbage behind it': raw(`${whole}garbage`),
  'another answer behind it': raw(`${whole}HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n`),
};
for (const [name, respond] of Object.entries(lastAnswers)) {
  for (const options of [{}, { identity }]) {
    test(`each delivery has a new connection: ${name}, ${options.identity ? 'https' : 'http'}`, () =>
      withReceiver({ ...options, respond }, async (receiver) => {
        const deliver = attempts();
        const url = `${new URL(receiver.origin).protocol}//receiver.example:${receiver.port}/`;
        for (let i = 0; i < 3; i++) await succeeds(deliver(url), 'ok');
        assert.deepEqual(connectionsOf(receiver), [0, 1, 2]);
        await receiver.idle();
      }));
  }
}

/** What a receiver may do on a connection some time after a whole answer. */
const idleEnds: Record<string, (socket: Socket) => void> = {
  'sends garbage': (socket) => socket.write('garbage'),
  'sends another answer': (socket) => socket.write('HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n'),
  'closes it': (socket) => socket.destroy(),
  'resets it': (socket) => socket.resetAndDestroy(),
};
for (const [name, act] of Object.entries(idleEnds)) {
  test(`a receiver that ${name} while it is idle ends its use`, () => {
    const sockets: Socket[] = [];
    const respond: Respond = (response) => {
      sockets.push(response.socket!);
      response.end('ok');
    };
    return withReceiver({ respond }, async (receiver) => {
      const deliver = attempts();
      await succeeds(deliver(receiver.origin), 'ok');
      assert.equal(deliver.connections.idleCount, 1);
      act(sockets[0]!);
      await settled(deliver, 0);
      await succeeds(deliver(receiver.origin), 'ok');
      assert.deepEqual(connectionsOf(receiver), [0, 1]);
    });
  });
}

test('a connection that the receiver has half closed is not used again', async () => {
  const sockets: Socket[] = [];
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.push(socket);
    socket.on('error', () => {}).on('data', () => socket.write(whole));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const deliver = attempts();
  await succeeds(deliver(`http://127.0.0.1:${port}/`), 'ok');
  sockets[0]!.end();
  await settled(deliver, 0);
  await succeeds(deliver(`http://127.0.0.1:${port}/`), 'ok');
  assert.equal(sockets.length, 2);
  for (const socket of sockets) socket.destroy();
  await new Promise((resolve) => server.close(resolve));
});

test('a connection whose answer was not read to its end is not used again', () =>
  withReceiver(
    { respond: (response, request, index) => (index === 0 ? endless(response, request, 0) : response.end()) },
    async (receiver) => {
      const deliver = attempts();
      await succeeds(deliver(receiver.origin));
      await succeeds(deliver(receiver.origin), '');
      assert.deepEqual(connectionsOf(receiver), [0, 1]);
    },
  ));

test('what is not 2xx fails its delivery alone: the connection carries the next', () => {
  const statuses = [302, 500, 304, 204, 404];
  const respond: Respond = (response, _, index) =>
    response.writeHead(statuses[index] ?? 200, { Location: 'http://elsewhere.example/' }).end();
  return withReceiver({ respond }, async (receiver) => {
    const deliver = attempts();
    const results: (number | null)[] = [];
    for (let i = 0; i < 6; i++) results.push((await deliver(receiver.origin)).status);
    assert.deepEqual(results, [...statuses, 200]);
    assert.deepEqual(connectionsOf(receiver), [0, 0, 0, 0, 0, 0]);
  });
});

test('interim answers count against their own request only', () => {
  const respond: Respond = (response) => {
    for (let i = 0; i < 200; i++) response.writeEarlyHints({ link: '</style.css>; rel=preload' });
    response.end('ok');
  };
  return withReceiver({ respond }, async (receiver) => {
    const deliver = attempts();
    for (let i = 0; i < 3; i++) await succeeds(deliver(receiver.origin), 'ok');
    assert.deepEqual(connectionsOf(receiver), [0, 0, 0]);
  });
});

const losses: Record<string, (socket: Socket) => void> = {
  closed: (socket) => socket.end(),
  reset: (socket) => socket.resetAndDestroy(),
};
for (const [name, lose] of Object.entries(losses)) {
  for (const options of [{}, { identity }]) {
    const kind = `${name} without an answer, ${options.identity ? 'https' : 'http'}`;
    /** Answers the first request of a connection and loses its others. */
    const urlOf = ({ origin, port }: Receiver) => `${new URL(origin).protocol}//receiver.example:${port}/`;

    test(`a kept connection that is ${kind}: the request is sent once more, on a new one`, () => {
      const seen = new Set<number>();
      const respond: Respond = (response, { connection }) => {
        if (seen.has(connection)) return lose(response.socket!);
        seen.add(connection);
        response.end('ok');
      };
      return withReceiver({ ...options, respond }, async (receiver) => {
        const deliver = attempts();
        await succeeds(deliver(urlOf(receiver)), 'ok');
        await succeeds(deliver(urlOf(receiver)), 'ok');
        assert.deepEqual(connectionsOf(receiver), [0, 0, 1]);
        const [, lost, again] = receiver.requests;
        assert.deepEqual(again!.rawHeaders, lost!.rawHeaders);
        assert.deepEqual(again!.body, lost!.body);
      });
    });

    test(`every connection ${kind}: the request is sent once more and no more often`, () => {
      const respond: Respond = (response, _, index) =>
        index === 0 ? response.end() : lose(response.socket!);
      return withReceiver({ ...options, respond }, async (receiver) => {
        const deliver = attempts();
        await succeeds(deliver(urlOf(receiver)));
        assert.equal((await deliver(urlOf(receiver))).failure, 'connection closed without an answer');
        assert.deepEqual(connectionsOf(receiver), [0, 0, 1]);
      });
    });
  }
}

test('a request that must not have its effect twice is sent once, on a connection of its own', () => {
  const respond: Respond = (response, _, index) => (index === 0 ? response.end() : response.socket!.end());
  return withReceiver({ respond }, async (receiver) => {
    const posts = new Posts(postOptions);
    const url = `${receiver.origin}/`;
    const post = (isIdempotent: boolean) =>
      posts.post({ endpoint: 'network', url, headers: '', body: 'x', isIdempotent, answerBytesMax: 1 });
    assert.equal((await post(true)).failure, null);
    assert.equal((await post(false)).failure, 'connection closed without an answer');
    assert.deepEqual(connectionsOf(receiver), [0, 1]);
  });
});

test('a byte of an answer is an answer: the request is not sent again', () => {
  const respond: Respond = (response, _, index) =>
    index === 0 ? response.end() : response.socket?.end('HTTP/1.1 2');
  return withReceiver({ respond }, async (receiver) => {
    const deliver = attempts();
    await succeeds(deliver(receiver.origin));
    assert.equal((await deliver(receiver.origin)).failure, 'connection closed without an answer');
    assert.deepEqual(connectionsOf(receiver), [0, 0]);
  });
});

test('a kept connection that stays silent fails at the deadline; nothing is sent twice', () => {
  const respond: Respond = (response, _, index) => {
    if (index === 0) response.end();
  };
  return withReceiver({ respond }, async (receiver) => {
    const deliver = attempts({ timeoutMs: 300 });
    await succeeds(deliver(receiver.origin));
    assert.equal((await deliver(receiver.origin)).failure, 'timed out after 300 ms');
    assert.equal(receiver.requests.length, 2);
    await receiver.idle();
  });
});

test('all endpoints together keep to their number of connections: the one idle for longest makes room', () =>
  withReceiver({}, async (receiver) => {
    const deliver = attempts({ connectionsMax: 3 });
    for (const endpoint of ['a', 'b', 'c', 'd', 'e']) await succeeds(deliver(receiver.origin, endpoint));
    await settled(deliver, 3);
    for (const endpoint of ['e', 'd', 'c']) await succeeds(deliver(receiver.origin, endpoint));
    assert.deepEqual(connectionsOf(receiver), [0, 1, 2, 3, 4, 4, 3, 2]);
  }));

test('a receiver that fails to resume a session is given none the next time', async (context) => {
  const options = { ...identity, maxVersion: 'TLSv1.2', secureOptions: constants.SSL_OP_NO_TICKET } as const;
  const server = createTlsServer(options, (_, response) => response.end());
  const given = new Set<string>();
  server.on('newSession', (id: Buffer, _session, stored) => {
    given.add(id.toString('hex'));
    stored();
  });
  server.on('resumeSession', (id: Buffer, resume) =>
    resume(given.has(id.toString('hex')) ? new Error('it can not be read') : null, null),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  context.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const deliver = attempts();
  const failures: (string | null)[] = [];
  for (let turn = 0; turn < 3; turn++) {
    failures.push((await deliver(`https://receiver.example:${port}/`)).failure);
    deliver.connections.close();
    await settled(deliver, 0);
  }
  assert.deepEqual([failures[0], failures[1] !== null, failures[2]], [null, true, null]);
});

for (const tls of ['TLSv1.2', 'TLSv1.3'] as const) {
  test(`a new connection resumes the session of the one before it: ${tls}`, () =>
    withReceiver({ identity, tls }, async (receiver) => {
      const deliver = attempts();
      for (const endpoint of ['we_1', 'we_1', 'we_2', 'we_3']) {
        await succeeds(deliver(`https://receiver.example:${receiver.port}/`, endpoint));
      }
      assert.deepEqual(
        receiver.requests.map(({ isResumed }) => isResumed),
        [false, false, true, true],
      );
      deliver.connections.close();
      await receiver.idle();
      await succeeds(deliver(`https://receiver.example:${receiver.port}/`));
      assert.equal(receiver.requests.at(-1)!.isResumed, true);
    }));

  test(`a receiver whose certificate names another host is refused each time: ${tls}`, () =>
    withReceiver({ identity: authority.issue({ hosts: ['other.example'] }), tls }, async (receiver) => {
      const deliver = attempts();
      for (let i = 0; i < 3; i++) {
        const { failure } = await deliver(`https://receiver.example:${receiver.port}/`);
        assert.match(failure ?? '', /^certificate not trusted: Hostname/);
      }
      assert.equal(receiver.requests.length, 0);
    }));

  test(`a certificate is verified again some time after a full handshake: ${tls}`, () =>
    withReceiver({ identity, tls }, async (receiver) => {
      const clock = createManualClock(0);
      const made = makeAttempts({ monotonic: clock.monotonic });
      const { connections } = made;
      const { origin } = new URL(`https://receiver.example:${receiver.port}/`);
      const deliverAndTake = async (endpoint: string) => {
        await succeeds(
          made.make({ org: 'org_1', endpoint, url: `${origin}/`, body, secrets: [], nowSeconds: 1 }),
        );
        const connection = connections.idleOf(endpoint, origin, () => true);
        assert.ok(connection);
        return connection;
      };
      const first = await deliverAndTake('we_1');
      clock.advance(verifiedForMs / 2);
      const second = await deliverAndTake('we_2');
      clock.advance(verifiedForMs / 2);
      const third = await deliverAndTake('we_3');
      assert.deepEqual(
        receiver.requests.map(({ isResumed }) => isResumed),
        [false, true, false],
      );
      for (const connection of [first, second, third]) connection.keep(Infinity);
      const kept = [first, second, third].map(({ socket }) => !socket.destroyed);
      assert.deepEqual(kept, [false, false, true], 'the second was verified with the first');
    }));
}
