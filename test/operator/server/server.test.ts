import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, statSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { Type } from 'typebox';
import type { Audit } from '../../../src/operator/audit/audit.ts';
import { exchange, NoServer } from '../../../src/operator/socket/operator-client.ts';
import {
  requestCharactersMax,
  socketAddressOf,
  socketPathOf,
} from '../../../src/operator/socket/protocol.ts';
import { openOperatorServer } from '../../../src/operator/socket/server.ts';
import { defineCommand } from '../../../src/operator/use-cases/command.ts';
import { OperatorFailure } from '../../../src/operator/use-cases/failures.ts';
import type { OperatorServices } from '../../../src/operator/use-cases/services.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { type Fixture, openFixture } from './fixture.ts';

const none = {} as OperatorServices;
const unrecorded: Pick<Audit, 'record'> = { record: (_by, _action, _params, run) => run() };
const floodEnded = Promise.withResolvers<void>();
const ended = Promise.withResolvers<void>();

const commands = {
  echo: defineCommand({ text: Type.String() }, async ({ text }) => ({ text })),
  break: defineCommand({}, async () => {
    throw new Error('with a secret');
  }),
  count: defineCommand({ to: Type.Integer() }, async function* ({ to }) {
    for (let n = 1; n <= to; n++) yield { n, pad: 'x'.repeat(1000) };
  }),
  tail: defineCommand({}, async function* (_, __, signal) {
    yield 'started';
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    ended.resolve();
  }),
  flood: defineCommand({}, async function* () {
    try {
      for (;;) {
        yield 'more';
        await setImmediate();
      }
    } finally {
      floodEnded.resolve();
    }
  }),
  nothing: defineCommand({}, async () => undefined),
  hang: defineCommand({}, () => new Promise(() => {})),
};

describe('the operators’ socket', () => {
  let fixture: Fixture;
  before(async () => {
    fixture = await openFixture(commands);
  });
  after(() => fixture.close());

  const call = (command: string, params: object, options?: Parameters<typeof exchange>[3]) =>
    exchange(fixture.dataDir, command, params, options);

  test('belongs to its owner alone', () => {
    assert.equal(statSync(socketPathOf(fixture.dataDir)).mode & 0o777, 0o600);
    assert.equal(statSync(fixture.dataDir).mode & 0o777, 0o700);
  });

  test('runs a command', async () => {
    assert.deepEqual(await call('echo', { text: 'سوق\n' }), { text: 'سوق\n' });
  });

  test('runs a command without a result', async () => assert.equal(await call('nothing', {}), null));

  const refused: [command: string, params: object, message: RegExp][] = [
    ['echo', {}, /^echo: the parameters must have required properties text$/],
    ['echo', { text: 3 }, /^echo: text must be string$/],
    ['echo', { text: '', more: 1 }, /^echo: /],
    ['toString', {}, /doesn't know this command/],
  ];
  for (const [command, params, message] of refused) {
    test(`refuses ${command} ${JSON.stringify(params)} as wrong usage`, () =>
      assert.rejects(call(command, params), { name: 'OperatorFailure', kind: 'usage', message }));
  }

  test('a fault is reported to the server’s log, not to the client', async () => {
    await assert.rejects(call('break', {}), (error: OperatorFailure) => {
      return error.kind === 'failed' && !error.message.includes('secret');
    });
    assert.deepEqual(
      fixture.failures.map(({ command }) => command),
      ['break'],
    );
  });

  test('streams items in order, more than the socket holds', async () => {
    const items: number[] = [];
    await call('count', { to: 3000 }, { onItem: (item) => items.push((item as { n: number }).n) });
    assert.deepEqual(
      items,
      Array.from({ length: 3000 }, (_, i) => i + 1),
    );
  });

  test('the next item is read once the one before is dealt with, so that what waits, waits at the server', async () => {
    let done = 0;
    let under = 0;
    const onItem = async () => {
      assert.equal(++under, 1, 'one at a time');
      await setImmediate();
      under--;
      done++;
    };
    await call('count', { to: 300 }, { onItem });
    assert.equal(done, 300);
  });

  test('a client that leaves ends a stream that never waits, and that is no fault', async () => {
    const leave = new AbortController();
    const left = call('flood', {}, { signal: leave.signal, onItem: () => leave.abort() });
    await assert.rejects(left, { name: 'AbortError' });
    await floodEnded.promise;
    await call('echo', { text: '' });
    assert.ok(!fixture.failures.some(({ command }) => command === 'flood'));
  });

  test('a client that leaves ends its command', async () => {
    const leave = new AbortController();
    const left = call('tail', {}, { signal: leave.signal, onItem: () => leave.abort() });
    await assert.rejects(left, { name: 'AbortError' });
    await ended.promise;
  });

  const raw: [given: string, bytes: string, answer: RegExp][] = [
    ['no JSON', 'GET / HTTP/1.1\n', /"kind":"usage"/],
    ['no command', '[]\n', /"kind":"usage"/],
    ['null', 'null\n', /"kind":"usage"/],
    ['an endless line', 'x'.repeat(requestCharactersMax + 1), /"kind":"usage"/],
    [
      'a request in pieces with more after it',
      '{"command":"echo","params":{"text":"a"}}\nmore',
      /"text":"a"/,
    ],
  ];
  for (const [given, bytes, expected] of raw) {
    test(`answers ${given}`, async () => {
      const socket = connect(socketAddressOf(fixture.dataDir));
      for (let i = 0; i < bytes.length; i += 300_000) socket.write(bytes.slice(i, i + 300_000));
      let answer = '';
      for await (const chunk of socket.setEncoding('utf8')) answer += chunk;
      assert.match(answer, expected);
    });
  }

  test('a second server on the same folder is refused', async () => {
    const second = openOperatorServer({
      dataDir: fixture.dataDir,
      services: none,
      audit: unrecorded,
      onFailure: () => {},
    });
    await assert.rejects(second, { kind: 'refused', message: /is taken: another server runs/ });
    assert.deepEqual(await call('echo', { text: 'still here' }), { text: 'still here' });
  });
});

describe('without a server', () => {
  const folder = temporaryFolder();

  test('the socket that was tried is named', async () => {
    const call = exchange(folder, 'echo', {});
    await assert.rejects(call, (error: Error) => {
      return error instanceof NoServer && error.message.includes(join(folder, 'operator.sock'));
    });
  });

  test('the socket of a killed server is replaced', async () => {
    const script = `require('net').createServer().listen(process.argv[1], () => process.kill(process.pid, 'SIGKILL'))`;
    spawnSync(process.execPath, ['-e', script, socketAddressOf(folder)]);
    assert.ok(existsSync(socketPathOf(folder)), 'left behind');
    await assert.rejects(exchange(folder, 'echo', {}), NoServer);
    const server = await openOperatorServer({
      dataDir: folder,
      services: none,
      audit: unrecorded,
      commands,
      onFailure: () => {},
    });
    assert.deepEqual(await exchange(folder, 'echo', { text: 'a' }), { text: 'a' });

    const hanging = exchange(folder, 'hang', {});
    const outcome = assert.rejects(hanging, /stopped before it answered/);
    await exchange(folder, 'echo', { text: 'the other one has arrived' });
    await server.close();
    await outcome;
    assert.ok(!existsSync(socketPathOf(folder)), 'removed');
  });

  test('a folder that is not there yet is made for the owner alone', async () => {
    const dataDir = join(folder, 'made');
    const server = await openOperatorServer({
      dataDir,
      services: none,
      audit: unrecorded,
      onFailure: () => {},
    });
    assert.equal(statSync(dataDir).mode & 0o777, 0o700);
    await server.close();
  });

  test('a path too long for a socket is refused, unless it is short from here', () => {
    const deep = join(folder, 'x'.repeat(120));
    assert.throws(() => socketAddressOf(deep), OperatorFailure);
    mkdirSync(deep);
    const here = process.cwd();
    try {
      process.chdir(deep);
      assert.equal(socketAddressOf(deep), 'operator.sock');
    } finally {
      process.chdir(here);
    }
  });
});

test('a command that only looks is given up where the service stands still', async () => {
  const dataDir = temporaryFolder();
  // As a process that is frozen: the system takes the connection, and nobody reads it.
  const frozen = createServer(() => {}).listen(socketAddressOf(dataDir));
  await once(frozen, 'listening');
  await assert.rejects(exchange(dataDir, 'doctor', {}, { silentMsMax: 1 }), (error) => {
    assert(error instanceof OperatorFailure && !(error instanceof NoServer));
    assert.match(error.message, /has not answered for 0.001 s: its process is frozen, hangs, or gets no/);
    return true;
  });
  frozen.close();
});
