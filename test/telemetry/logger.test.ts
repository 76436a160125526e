import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { describe, test } from 'node:test';
import { scrub } from '../../src/core/secret-text.ts';
import { createLogger, GatheredLines, logConsole } from '../../src/telemetry/logger.ts';

describe('scrub', () => {
  const lines: [given: string, then: string][] = [
    ['{"msg":"key svc_sk_test_0aZ9 refused"}', '{"msg":"key [redacted] refused"}'],
    ['{"msg":"svc_whsec_abc,svc_pk_live_Z"}', '{"msg":"[redacted],[redacted]"}'],
    ['{"msg":"Basic c3ZjX3NrX3Rlc3RfYWJjOg=="}', '{"msg":"Basic [redacted]"}'],
    ['{"req":{"Authorization":"Bearer \\"x"},"a":1}', '{"req":{"Authorization":"[redacted]"},"a":1}'],
    ['{"msg":"card 4242 4242 4242 4242."}', '{"msg":"card [digits]."}'],
    ['{"pan":"4000-0000-0000-0002"}', '{"pan":"[digits]"}'],
    ['{"msg":"two lines\\n4242_4242_4242_4242"}', '{"msg":"two lines\\n[digits]"}'],
    ['{"msg":"a folder: C:\\\\n4242424242424242"}', ''],
    ['{"key":"0.4242424242424242"}', ''],
    ['{"time":1793491200000,"time":"2026-11-01T10:00:00.000Z"}', ''],
    ['{"id":"pi_4242424242424242424242424","amount":99999999}', ''],
    ['{"number":"100200300400","org":"org_1"}', ''],
  ];
  for (const [given, then] of lines) test(given, () => assert.equal(scrub(given), then || given));
});

test('a line carries the thread and the level, and no secret', async () => {
  const lines: string[] = [];
  const logger = await createLogger({
    level: 'info',
    thread: 'edge-0',
    destination: { write: (line) => lines.push(line) },
  });
  logger.info({ organization: 'org_1', secret: 'x' }, 'with svc_sk_live_abc');
  logger.debug('not written');
  assert.equal(lines.length, 1);
  const { time, ...line } = JSON.parse(lines[0]!);
  assert.match(time, /^\d{4}-\d\d-\d\dT/);
  assert.deepEqual(line, {
    level: 'info',
    thread: 'edge-0',
    organization: 'org_1',
    secret: '[redacted]',
    msg: 'with [redacted]',
  });
});

test('what a library prints on the console is a line of the log, an error with its stack', async () => {
  const lines: string[] = [];
  const destination = { write: (line: string) => lines.push(line) };
  const logger = await createLogger({ level: 'info', thread: 'shard-0', destination });
  const target = { error: () => assert.fail('printed'), warn: () => assert.fail('printed') } as Pick<
    Console,
    'error' | 'warn'
  >;
  logConsole(logger, target);
  target.error(new Error('Input/output error'));
  target.error('In aftercommit callback', new TypeError('no'));
  target.warn('%d batches of %s', 3, 'svc_sk_live_abc');
  const [first, second, third] = lines.map((line) => JSON.parse(line));
  assert.deepEqual([first.level, first.msg, first.err.type], ['error', 'Input/output error', 'Error']);
  assert.match(first.err.stack, /logger\.test\.ts/);
  assert.deepEqual([second.msg, second.err.type], ['no', 'TypeError']);
  assert.deepEqual([third.level, third.msg], ['warn', '3 batches of [redacted]']);
});

test('lines are written in pieces that a pipe takes whole, none lost and none changed', () => {
  const pieces: Uint8Array[] = [];
  const gathered = new GatheredLines((bytes) => pieces.push(bytes));
  const lengths = [10, 4095, 1, 4096, 3000, 1200, 700, 9000, 20, ...Array.from({ length: 300 }, (_, i) => i)];
  const lines = lengths.map((length, i) => `${(i % 2 === 0 ? 'x' : 'é').repeat(length)}\n`);
  for (const line of lines) gathered.write(line);
  gathered.flush();
  gathered.flush();
  assert.equal(Buffer.concat(pieces).toString(), lines.join(''));
  for (const piece of pieces) {
    assert.equal(piece.at(-1), '\n'.charCodeAt(0));
    const lineCount = Buffer.from(piece).toString().split('\n').length - 1;
    assert.ok(piece.length <= 4096 || lineCount === 1);
  }
  assert.ok(pieces.length < lines.length / 5);
});

test('threads write whole lines to the same pipe, and lose none at exit', async () => {
  const linesPerThread = 2000;
  const logger = new URL('../../src/telemetry/logger.ts', import.meta.url).href;
  const program = `
    const { isMainThread, Worker, threadId } = require('node:worker_threads');
    import(${JSON.stringify(logger)}).then(async ({ createLogger }) => {
      const logger = await createLogger({ level: 'info', thread: 'thread-' + threadId });
      const workers = isMainThread ? [1, 2].map(() => new Worker(process.argv[1], { eval: true, argv: process.argv.slice(1) })) : [];
      for (let n = 0; n < ${linesPerThread}; n++) {
        logger.info({ n, pad: 'é'.repeat(n % 300) }, 'line');
        if (n % 100 === 0) await new Promise(setImmediate);
      }
      await Promise.all(workers.map((worker) => new Promise((resolve) => worker.once('exit', resolve))));
      process.exit(0);
    });`;
  const child = spawn(process.execPath, ['-e', program, program], { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  const code = await new Promise((resolve) => child.once('close', resolve));
  assert.equal(code, 0);
  const counts = new Map<string, number>();
  for (const line of output.trimEnd().split('\n')) {
    const { thread, n } = JSON.parse(line);
    assert.equal(n, counts.get(thread) ?? 0, 'in order, none missing');
    counts.set(thread, n + 1);
  }
  assert.deepEqual([...counts.values()], [linesPerThread, linesPerThread, linesPerThread]);
});
