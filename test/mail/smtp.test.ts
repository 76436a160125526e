// What an SMTP server is told, and what its refusals mean.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { MailRefused } from '../../src/mail/mail-refused.ts';
import { isMailUrl } from '../../src/mail/mail-url.ts';
import { createMailTransport } from '../../src/mail/transport.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { startSmtpServer } from './smtp-server.ts';

const letter = { to: 'sara@atlas.ma', subject: 'Hello', text: 'A text\n' };
const basics = { from: 'pay@souk.ma', user: null, password: null, print: null };

async function started(t: TestContext, answer?: (line: string) => string | null) {
  const server = await startSmtpServer(answer);
  t.after(() => server.stop());
  return { server, transport: createMailTransport({ ...basics, url: server.url }) };
}

test('names and addresses add no header and no recipient', async (t) => {
  const { server, transport } = await started(t);
  const subject = 'Shop\r\nBcc: boss@atlas.ma\r\n\r\nEvil';
  await transport.send('mail_1', {
    to: 'a,boss@atlas.ma',
    subject,
    text: '.\r\nRCPT TO:<boss@atlas.ma>\r\n',
  });
  const [mail] = server.received;
  assert.equal(mail!.recipients.length, 1);
  assert.match(mail!.recipients[0]!, /a,boss@atlas\.ma/);
  const [head] = mail!.data.split('\n\n');
  assert.doesNotMatch(head!, /^Bcc/im);
  assert.match(head!, /^Message-ID: <mail_1@souk\.ma>$/im);
});

test('a server that will never take a mail refuses it; one that is busy, or refuses the password, is asked again', async (t) => {
  const refusing = await started(t, (line) => (line.startsWith('RCPT') ? '550 nobody' : null));
  await assert.rejects(refusing.transport.send('mail_1', letter), MailRefused);
  const busy = await started(t, (line) => (line.startsWith('RCPT') ? '451 later' : null));
  const isRefusal = (error: unknown) => error instanceof MailRefused;
  await assert.rejects(busy.transport.send('mail_1', letter), (error) => !isRefusal(error));
  const full = await started(t, (line) => (line.startsWith('MAIL') ? '530 sign in first' : null));
  await assert.rejects(full.transport.send('mail_1', letter), (error) => !isRefusal(error));
});

test('a server that says too much before the connection is encrypted is left at once', async (t) => {
  for (const text of ['250-and so on\r\n', 'x']) {
    const { transport } = await started(t, (line) =>
      line.startsWith('EHLO') ? text.repeat(2_000_000 / text.length) : null,
    );
    await assert.rejects(transport.send('mail_1', letter), /says too much/);
    await assert.rejects(transport.check(), /says too much/);
  }
});

test('the check asks the server, and says when there is none', async (t) => {
  const { server, transport } = await started(t);
  await transport.check();
  await server.stop();
  await assert.rejects(transport.check(), /ECONNREFUSED/);
});

test('a folder takes each mail as a file that its owner alone reads', async () => {
  const folder = temporaryFolder();
  const transport = createMailTransport({ ...basics, url: pathToFileURL(join(folder, 'mails')).href });
  await transport.send('mail_1', letter);
  assert.deepEqual(readdirSync(join(folder, 'mails')), ['mail_1.eml']);
  assert.match(readFileSync(join(folder, 'mails', 'mail_1.eml'), 'utf8'), /^To: sara@atlas\.ma$/m);
});

for (const [url, isGood] of [
  ['smtp://mail.souk.ma:587', true],
  ['smtps://[::1]', true],
  ['file:///tmp/mails', true],
  ['log:', true],
  ['smtp://user:password@mail.souk.ma', false],
  ['smtp://mail.souk.ma/?tls=no', false],
  ['http://mail.souk.ma', false],
  ['file://other/mails', false],
] as const)
  test(`${url} ${isGood ? 'names' : 'does not name'} a way out`, () => assert.equal(isMailUrl(url), isGood));
