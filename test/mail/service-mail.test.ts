// The service and its mails: one that was under way at a kill reaches the server after the next start, whatever the secrets key.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { test } from 'node:test';
import { paymentsWith } from '../main/payments-command.ts';
import { startService } from '../service.ts';
import { startSmtpServer } from './smtp-server.ts';

test('a service that is killed between queueing and sending a mail sends it after its next start, also with another key', async (t) => {
  // It takes connections, and never says anything.
  const sockets: Socket[] = [];
  const silent = createServer((socket) => void sockets.push(socket.on('error', () => {})));
  silent.listen(0, '127.0.0.1');
  await once(silent, 'listening');
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    silent.close();
  });
  const connected = once(silent, 'connection');
  const env = (url: string) => ({
    NODE_ENV: 'development',
    PAYMENTS_PORT: '0',
    PAYMENTS_MAIL_URL: url,
    PAYMENTS_MAIL_FROM: 'pay@souk.ma',
  });
  const url = `smtp://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  const first = await startService({ env: env(url) });
  const [{ id: org }] = await first.operate<[{ id: string }]>('org.list', {});
  const params = { org, email: 'sara@atlas.ma', role: 'viewer' };
  const { link, mailed } = await first.operate<{ link: string; mailed: boolean }>('member.invite', params);
  assert.equal(mailed, true);
  await connected;
  await first.kill();
  const folder = ['--data-dir', first.dataDir] as const;
  const rolled = await paymentsWith({ NODE_ENV: 'development' }, ...folder, 'secrets', 'roll-key');
  assert.equal(rolled.error, '');

  const server = await startSmtpServer();
  t.after(() => server.stop());
  const second = await startService({ dataDir: first.dataDir, env: env(server.url) });
  t.after(() => second.stop());
  const mail = await second.until(() => server.received[0]);
  assert.match(mail.recipients.join(), /<sara@atlas\.ma>/);
  // Lines are folded with `=` where they are long.
  assert.ok(mail.data.replaceAll('=\n', '').includes(link.split('/').at(-1)!));
});
