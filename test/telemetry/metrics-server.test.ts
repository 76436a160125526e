// The port of the metrics: clients that hold its connections do not keep the scraper out.

import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { createLogger } from '../../src/telemetry/logger.ts';
import { serveMetrics } from '../../src/telemetry/metrics-server.ts';

/** As many connections as the port takes. */
const connectionsMax = 16;
/** More than the buffers between the two ends hold. */
const text = 'payments_shard_up 1\n'.repeat(1_000_000);

for (const [title, said] of [
  ['say nothing', ''],
  ['take no answer', 'GET /metrics HTTP/1.1\r\nHost: metrics\r\n\r\n'],
] as const)
  test(`clients that ${title} keep the scraper out for a while, and not for good`, {
    timeout: 20_000,
  }, async (t) => {
    const lines: string[] = [];
    const destination = { write: (line: string) => lines.push(line) };
    const logger = await createLogger({ level: 'info', thread: 'main', destination });
    const config = { metrics: { host: '127.0.0.1', port: 0 } };
    const stop = await serveMetrics(config, async () => text, logger, 200);
    t.after(stop);
    const { url } = JSON.parse(lines.join(''));
    const held = Array.from({ length: connectionsMax }, () => {
      const socket = connect({ host: '127.0.0.1', port: Number(new URL(url).port) });
      socket.on('error', () => {});
      socket.pause();
      socket.write(said);
      t.after(() => socket.destroy());
      return socket;
    });
    await Promise.all(held.map((socket) => once(socket, 'connect')));
    // While they are there, a connection is closed at once. On a busy machine an answer may be cut in its middle.
    const isAnswered = async () => {
      const answer = await fetch(url);
      return (await answer.text()) === text;
    };
    while (!(await isAnswered().catch(() => false)));
  });
