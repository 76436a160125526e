// Mails and the password of the server leave encrypted, to the server that has the name, or not at all.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { MailRefused } from '../../src/mail/mail-refused.ts';
import { createMailTransport } from '../../src/mail/transport.ts';
import { startService } from '../service.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { createAuthority } from '../webhooks/certificates.ts';
import { startSmtpServer } from './smtp-server.ts';

const letter = { to: 'sara@atlas.ma', subject: 'Hello', text: 'A text\n' };
const basics = { from: 'pay@souk.ma', user: 'shop', password: 'a-password', print: null };
const authority = createAuthority();
const identity = authority.issue({ hosts: ['127.0.0.1', 'localhost'] });
const folder = temporaryFolder();
const caFile = join(folder, 'ca.pem');
const passwordFile = join(folder, 'password');
writeFileSync(caFile, authority.cert);
writeFileSync(passwordFile, `${basics.password}\n`, { mode: 0o600 });
const given = Buffer.from(`\0${basics.user}\0${basics.password}`).toString('base64');

for (const from of ['start', 'starttls'] as const) {
  test(`TLS (${from}): the service signs in and mails a link, and its log has neither password nor link`, async (t) => {
    const server = await startSmtpServer(undefined, { tls: { ...identity, from }, offers: ['AUTH PLAIN'] });
    t.after(() => server.stop());
    const service = await startService({
      env: {
        NODE_EXTRA_CA_CERTS: caFile,
        PAYMENTS_MAIL_URL: server.url,
        PAYMENTS_MAIL_FROM: 'pay@souk.ma',
        PAYMENTS_MAIL_USER: basics.user,
        PAYMENTS_MAIL_PASSWORD_FILE: passwordFile,
      },
    });
    t.after(() => service.stop());
    const [{ id: org }] = await service.operate<[{ id: string }]>('org.list', {});
    const { link } = await service.operate<{ link: string }>('member.invite', {
      ...{ org, email: 'sara@atlas.ma', role: 'viewer' },
    });
    const mail = await service.until(() => server.received[0]);
    assert.deepEqual([mail.encrypted, mail.auth], [true, given]);
    const token = link.split('/').at(-1)!;
    assert.ok(mail.data.replaceAll('=\n', '').includes(token));
    for (const secret of [token, basics.password, given]) assert.ok(!service.output().includes(secret));
  });

  test(`TLS (${from}): a server with a certificate that nobody vouches for gets nothing, and is asked again`, async (t) => {
    const server = await startSmtpServer(undefined, { tls: { ...identity, from }, offers: ['AUTH PLAIN'] });
    t.after(() => server.stop());
    const transport = createMailTransport({ ...basics, url: server.url });
    await assert.rejects(transport.send('mail_1', letter), (error) => !(error instanceof MailRefused));
    await assert.rejects(transport.check(), /certificate/);
    assert.deepEqual(
      server.lines.filter((line) => /^(AUTH|MAIL|RCPT|DATA)/i.test(line)),
      [],
    );
  });
}

test('a server elsewhere that offers no TLS gets neither the password nor a mail', async (t) => {
  const server = await startSmtpServer(undefined, { offers: ['AUTH PLAIN'] });
  t.after(() => server.stop());
  // A name of this machine that is not taken for it.
  const transport = createMailTransport({ ...basics, url: `smtp://localhost.:${server.port}` });
  await assert.rejects(transport.send('mail_1', letter), (error) => !(error instanceof MailRefused));
  assert.deepEqual(
    server.lines.filter((line) => /^(AUTH|MAIL|RCPT|DATA)/i.test(line)),
    [],
  );
});

test('a server that refuses the password is asked again, and what it says about it is not repeated', async (t) => {
  const answer = (line: string) => (line.startsWith('AUTH') ? `535 wrong: ${line}` : null);
  const server = await startSmtpServer(answer, { offers: ['AUTH PLAIN'] });
  t.after(() => server.stop());
  const transport = createMailTransport({ ...basics, url: server.url });
  await assert.rejects(transport.send('mail_1', letter), (error) => !(error instanceof MailRefused));
  const isClear = ({ message }: Error) => /535/.test(message) && !message.includes(given);
  await assert.rejects(transport.check(), isClear);
});

for (const [name, answer] of [
  ['that says nonsense', (line: string) => (line.startsWith('MAIL') ? 'hello' : null)],
  ['that takes the text and then refuses it for now', (line: string) => (line === '.' ? '451 later' : null)],
  ['that says 421 and closes', (line: string) => (line.startsWith('EHLO') ? '421 closing' : null)],
] as const)
  test(`a server ${name} has the mail tried again`, async (t) => {
    const server = await startSmtpServer(answer);
    t.after(() => server.stop());
    const transport = createMailTransport({ ...basics, user: null, password: null, url: server.url });
    await assert.rejects(transport.send('mail_1', letter), (error) => !(error instanceof MailRefused));
  });
