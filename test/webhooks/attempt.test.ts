import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import Stripe from 'stripe';
import { attempts, authority, body, clientSockets, secret, withReceiver } from './attempt-harness.ts';
import { endless, type Respond, startReceiver } from './receiver.ts';

const shortMs = 300;
const identity = authority.issue({ hosts: ['receiver.example'] });

test('a delivery arrives over TLS, signed, whole and with its headers', () =>
  withReceiver({ identity }, async (receiver) => {
    const beforeMs = Date.now();
    const result = await attempts()(`https://receiver.example:${receiver.port}/hooks/a?b=c%20d`);
    const { at_ms, duration_ms, ...outcome } = result;
    assert.deepEqual(outcome, { status: 200, failure: null, answer: 'ok' });
    assert.ok(at_ms >= beforeMs - 1 && at_ms <= Date.now() + 1 && Number.isInteger(at_ms));
    assert.ok(duration_ms >= 0 && duration_ms < 10_000 && Number.isInteger(duration_ms));

    const [request] = receiver.requests;
    assert.ok(request);
    assert.equal(request.method, 'POST');
    assert.equal(request.url, '/hooks/a?b=c%20d');
    assert.equal(request.body.toString(), body);
    const { 'x-service-signature': signature, ...headers } = request.headers;
    assert.deepEqual(headers, {
      host: `receiver.example:${receiver.port}`,
      'user-agent': 'payments-service-webhooks/1',
      accept: '*/*',
      'accept-encoding': 'identity',
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
      connection: 'keep-alive',
    });
    const { webhooks } = new Stripe('sk_test_unused');
    assert.ok(webhooks.constructEvent(request.body, signature as string, secret, 300));
  }));

const answerCases: [number, string | null][] = [
  [200, null],
  [201, null],
  [204, null],
  [299, null],
  [300, 'redirect refused (300)'],
  [304, 'redirect refused (304)'],
  [307, 'redirect refused (307)'],
  [400, 'answered 400'],
  [404, 'answered 404'],
  [410, 'answered 410'],
  [500, 'answered 500'],
];
for (const [status, failure] of answerCases) {
  test(`answer ${status}: ${failure ?? 'success'}`, () =>
    withReceiver({ respond: (response) => response.writeHead(status).end() }, async ({ origin }) => {
      const { at_ms, duration_ms, ...outcome } = await attempts()(origin);
      assert.deepEqual(outcome, { status, failure, answer: '' });
    }));
}

test('a redirect is not followed', () =>
  withReceiver({}, async (target) => {
    const respond: Respond = (response) => response.writeHead(301, { Location: target.origin }).end('moved');
    await withReceiver({ respond }, async ({ origin }) => {
      const { status, failure, answer } = await attempts()(origin);
      assert.deepEqual(
        { status, failure, answer },
        { status: 301, failure: 'redirect refused (301)', answer: 'moved' },
      );
      assert.equal(target.connectionCount, 0);
    });
  }));

test('a receiver that loses its first answers gets each attempt on a fresh connection', () =>
  withReceiver(
    { respond: (response, _, index) => (index < 2 ? response.socket?.destroy() : response.end('third')) },
    async (receiver) => {
      const attempt = attempts();
      const results = [
        await attempt(receiver.origin),
        await attempt(receiver.origin),
        await attempt(receiver.origin),
      ];
      const lost = 'connection closed without an answer';
      assert.deepEqual(
        results.map(({ failure }) => failure),
        [lost, lost, null],
      );
      assert.equal(receiver.connectionCount, 3);
      assert.equal(new Set(receiver.requests.map((request) => request.body.toString())).size, 1);
    },
  ));

const stalled: Record<string, { respond: Respond; status: number | null; answer: string }> = {
  'never answers': { respond: () => {}, status: null, answer: '' },
  'hangs after the headers': { respond: (response) => response.flushHeaders(), status: 200, answer: '' },
  'hangs within the body': {
    respond: (response) => {
      response.writeHead(200, { 'Content-Length': '10' }).write('half');
    },
    status: 200,
    answer: 'half',
  },
};
for (const [name, { respond, status, answer }] of Object.entries(stalled)) {
  test(`a receiver that ${name} is given up at the deadline`, () =>
    withReceiver({ respond }, async (receiver) => {
      const result = await attempts({ timeoutMs: shortMs })(receiver.origin);
      assert.equal(result.failure, `timed out after ${shortMs} ms`);
      assert.deepEqual({ status: result.status, answer: result.answer }, { status, answer });
      assert.ok(result.duration_ms >= shortMs - 5 && result.duration_ms < shortMs + 1000);
      await receiver.idle();
    }));
}

test('a receiver that drips bytes does not prolong the deadline', () => {
  const respond: Respond = (response) => {
    const drip = setInterval(() => response.write('.'), 20);
    response.on('close', () => clearInterval(drip));
  };
  return withReceiver({ respond }, async (receiver) => {
    const result = await attempts({ timeoutMs: shortMs })(receiver.origin);
    assert.equal(result.failure, `timed out after ${shortMs} ms`);
    assert.match(result.answer!, /^\.{2,}$/);
    assert.ok(result.duration_ms < shortMs + 1000);
    await receiver.idle();
  });
});

test('a receiver that never finishes the TLS handshake is given up at the deadline', async () => {
  const server = createServer((socket) => socket.on('error', () => {}).resume());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  const result = await attempts({ timeoutMs: shortMs })(`https://127.0.0.1:${port}/`);
  assert.equal(result.failure, `timed out after ${shortMs} ms`);
  await new Promise((resolve) => server.close(resolve));
});

test('an endless answer is cut: 1 KiB kept, the rest dropped, the connection closed', () => {
  let written = 0;
  const respond: Respond = (response, request, index) => {
    const { socket } = response;
    socket?.on('close', () => {
      written = socket.bytesWritten;
    });
    endless(response, request, index);
  };
  return withReceiver({ respond }, async (receiver) => {
    const result = await attempts()(receiver.origin);
    assert.deepEqual({ status: result.status, failure: result.failure }, { status: 200, failure: null });
    assert.equal(result.answer, 'x'.repeat(1024));
    await receiver.idle();
    assert.ok(clientSockets.length > 0, 'the harness sees the sockets that it checks');
    assert.ok(written < 16 * 1024 * 1024, `${written} bytes were taken`);
  });
});

test('an endless answer is judged by its status', () =>
  withReceiver(
    { respond: (response, request, index) => endless(response.writeHead(500), request, index) },
    async ({ origin }) => assert.equal((await attempts()(origin)).failure, 'answered 500'),
  ));

test('the cut does not leave half a character', () =>
  withReceiver({ respond: (response) => response.end(`.${'é'.repeat(20_000)}`) }, async ({ origin }) => {
    const { answer } = await attempts()(origin);
    assert.equal(answer, `.${'é'.repeat(511)}`);
  }));

test('a compressed answer is not inflated', () => {
  const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024));
  const respond: Respond = (response) => response.writeHead(200, { 'Content-Encoding': 'gzip' }).end(bomb);
  return withReceiver({ respond }, async ({ origin }) => {
    const { failure, answer } = await attempts()(origin);
    assert.equal(failure, null);
    assert.equal(answer?.[0], '\u001f');
    assert.ok(answer!.length <= 1024);
  });
});

const raw =
  (text: string): Respond =>
  (response) =>
    response.socket?.end(text, 'latin1');

const brokenAnswers: [string, Respond, RegExp, number | null][] = [
  [
    'reset before the answer',
    (response) => response.socket?.resetAndDestroy(),
    /^connection closed without an answer$/,
    null,
  ],
  [
    'closed before the answer',
    (response) => response.socket?.end(),
    /^connection closed without an answer$/,
    null,
  ],
  [
    'reset within the answer',
    (response) => {
      response.writeHead(200, { 'Content-Length': '100' });
      response.write('half', () => response.socket?.resetAndDestroy());
    },
    /^connection closed within the answer$/,
    200,
  ],
  [
    'closed within the answer',
    raw('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf'),
    /^connection closed within the answer$/,
    200,
  ],
  [
    'huge headers',
    raw(`HTTP/1.1 200 OK\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`),
    /^answer headers too large$/,
    null,
  ],
  ['another protocol', raw('SSH-2.0-OpenSSH_9.6\r\n'), /^answer is not HTTP \(another protocol\)$/, null],
  [
    'two lengths',
    raw('HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nok'),
    /^answer is not HTTP \(two lengths\)$/,
    null,
  ],
  [
    'switched protocols',
    raw('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n'),
    /^answer is not HTTP \(another protocol\)$/,
    null,
  ],
];
for (const [name, respond, failure, status] of brokenAnswers) {
  test(`a broken answer is a failure: ${name}`, () =>
    withReceiver({ respond }, async ({ origin }) => {
      const result = await attempts()(origin);
      assert.match(result.failure ?? '', failure);
      assert.equal(result.status, status);
    }));
}

test('an endless row of interim answers is cut', () => {
  const respond: Respond = ({ socket }) => {
    const hints = 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'.repeat(1000);
    const pour = () => {
      while (!socket?.destroyed && socket?.write(hints));
    };
    socket?.on('drain', pour);
    pour();
  };
  return withReceiver({ respond }, async (receiver) => {
    assert.equal((await attempts()(receiver.origin)).failure, 'too many interim answers');
    await receiver.idle();
  });
});

test('one interim answer is passed over', () =>
  withReceiver(
    {
      respond: (response) => {
        response.writeEarlyHints({ link: '</style.css>; rel=preload' });
        response.end('final');
      },
    },
    async ({ origin }) => assert.equal((await attempts()(origin)).answer, 'final'),
  ));

test('an answer that ends with its connection is whole', async () => {
  const text = 'x'.repeat(1_000);
  for (const options of [{}, { identity }]) {
    const respond: Respond = ({ socket }) => socket?.end(`HTTP/1.0 200 OK\r\n\r\n${text}`);
    await withReceiver({ ...options, respond }, async ({ origin, port }) => {
      const { protocol } = new URL(origin);
      const { failure, answer } = await attempts()(`${protocol}//receiver.example:${port}/`);
      assert.deepEqual({ failure, answer }, { failure: null, answer: text });
    });
  }
});

test('a receiver that is not there', async () => {
  const receiver = await startReceiver();
  await receiver.close();
  const result = await attempts()(receiver.origin);
  assert.deepEqual(
    { status: result.status, failure: result.failure },
    { status: null, failure: 'connection refused' },
  );
});
