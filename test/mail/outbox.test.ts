// The outbox and its sender: durable with the link, tried again, bounded, fair.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { newSecretsKey, SecretBox } from '../../src/crypto/secret-box.ts';
import { type Directory, isForeignRow, mailRowPrefix } from '../../src/directory/directory.ts';
import { activate } from '../../src/directory/organization.ts';
import { MailRefused } from '../../src/mail/mail-refused.ts';
import { type Letter, MailOutbox, mailsPerDay, type QueuedMail } from '../../src/mail/outbox.ts';
import { MailSender } from '../../src/mail/sender.ts';
import { createMailTransport, type MailTransport } from '../../src/mail/transport.ts';
import { inviteMember } from '../../src/operator/use-cases/member-commands.ts';
import { directoryIn, folderOfDirectory } from '../directory/directories.ts';
import { createManualClock } from '../manual-clock.ts';
import { startSmtpServer } from './smtp-server.ts';

const dayMs = 86_400_000;
const secrets = new SecretBox([newSecretsKey()]);
let clock: ReturnType<typeof createManualClock>;
let folder: string;
let directory: Directory;
let outbox: MailOutbox;
let org: string;
let isDiskFull = false;

beforeEach(async () => {
  isDiskFull = false;
  clock = createManualClock(1_793_491_200_000);
  folder = await folderOfDirectory();
  open();
  org = await organization('Souk');
});
afterEach(() => directory.closeStore());

function open(): void {
  directory = directoryIn(folder, clock.now, { isDiskFull: () => isDiskFull });
  outbox = new MailOutbox(directory.store, secrets);
}

/** The process ends, and another one opens what it has left. */
async function restart(): Promise<void> {
  await directory.closeStore();
  open();
}

async function newcomer(name: string): Promise<string> {
  return (await directory.createOrganization(name, [])).organization.id;
}

async function organization(name: string): Promise<string> {
  return (await directory.changeOrganization(await newcomer(name), activate)).id;
}

function invite(email: string, to = org) {
  const author = { by: 'operator', name: 'root' } as Parameters<typeof inviteMember>[0]['author'];
  const services = { directory, baseUrl: 'https://pay.ma', author, language: 'fr' as const, mail: outbox };
  return inviteMember(services, to, email, 'viewer');
}

const round = () => new Promise((resolve) => setImmediate(resolve));

function senderOf(
  transport: MailTransport,
  onFailure: ConstructorParameters<typeof MailSender>[0]['onFailure'] = () => {},
): MailSender {
  return new MailSender({
    outbox,
    transport,
    now: clock.now,
    isWanted: ({ link }) => link === null || directory.links.isOpen(link),
    onFailure,
  });
}

function recording(fail: (letter: Letter) => Error | null = () => null) {
  const sent: Letter[] = [];
  const send = async (_: string, letter: Letter) => {
    const error = fail(letter);
    if (error !== null) throw error;
    sent.push(letter);
  };
  return { sent, transport: { send, check: async () => {} } };
}

test('an invitation is queued with its link, sealed, survives the end of the process, and reaches the server once', async (t) => {
  const { link, mailed } = await invite('sara@atlas.ma');
  assert.equal(mailed, true);
  const token = link.split('/').at(-1)!;
  const files = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'latin1'));
  assert.ok(files.join('').includes('sara@atlas.ma'));
  assert.ok(!files.join('').includes(token), 'the link is not on the disk');
  await restart();
  const server = await startSmtpServer();
  t.after(() => server.stop());
  const transport = createMailTransport({
    url: server.url,
    from: 'pay@souk.ma',
    user: null,
    password: null,
    print: null,
  });
  await senderOf(transport).sendDue();
  assert.equal(server.received.length, 1);
  const [, body] = server.received[0]!.data.split('\n\n');
  assert.ok(server.received[0]!.data.includes('Subject: =?UTF-8?'));
  assert.ok(body !== undefined);
  await restart();
  await senderOf(transport).sendDue();
  assert.equal(server.received.length, 1, 'not sent again');
});

test('the mail has the link, in the language of who invites', async () => {
  const { link } = await invite('sara@atlas.ma');
  const { sent, transport } = recording();
  await senderOf(transport).sendDue();
  assert.ok(sent[0]!.text.includes(link));
  assert.match(sent[0]!.subject, /Souk/);
  assert.match(sent[0]!.text, /Vous êtes invité/);
});

test('a mail that fails waits, and longer each time; one that is refused is given up', async () => {
  await invite('sara@atlas.ma');
  let attempts = 0;
  const down = recording(() => {
    attempts++;
    return new Error('down');
  });
  let sender = senderOf(down.transport);
  const at = async (ms: number) => {
    clock.advance(ms);
    await sender.sendDue();
    return attempts;
  };
  assert.deepEqual([await at(0), await at(59_000), await at(1_000), await at(60_000)], [1, 1, 2, 2]);
  await restart();
  sender = senderOf(down.transport);
  assert.equal(await at(240_000), 3, 'the wait survives a restart');
  clock.advance(dayMs);
  await senderOf(recording(() => new MailRefused('no')).transport).sendDue();
  assert.deepEqual([outbox.waiting().length, outbox.failed()], [0, 1]);
  const rows = [...directory.store.values<QueuedMail>(mailRowPrefix)];
  assert.deepEqual(
    rows.map(({ sealed }) => sealed),
    [null],
    'its text is forgotten',
  );
});

test('what becomes of an attempt that outlasts a stop is not written, and it is repeated after a start', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  await invite('sara@atlas.ma');
  for (const fails of [false, true]) {
    const sending = Promise.withResolvers<void>();
    const failures: unknown[] = [];
    const transport = { send: () => sending.promise, check: async () => {} };
    const sender = senderOf(transport, (_, error) => failures.push(error));
    sender.start();
    await round();
    const stopped = sender.stop();
    t.mock.timers.tick(2_000);
    await stopped;
    if (fails) sending.reject(new Error('down'));
    else sending.resolve();
    await round();
    const waiting = outbox.waiting().map(({ attempts }) => attempts);
    assert.deepEqual([waiting, failures], [[0], []]);
  }
});

test('an invitation that was taken back is not mailed any more, nor one that has ended', async () => {
  const { id } = await invite('sara@atlas.ma');
  await invite('amina@atlas.ma');
  await directory.links.revoke(org, id);
  clock.advance(7 * dayMs);
  const { sent, transport } = recording();
  await senderOf(transport).sendDue();
  assert.deepEqual([sent, outbox.waiting()], [[], []]);
});

test('an organization has its share of mails, and an address gets five in a day', async () => {
  for (let i = 0; i < mailsPerDay.link.organization; i++) assert.ok((await invite(`s${i}@atlas.ma`)).mailed);
  const beyond = await invite('late@atlas.ma');
  assert.equal(beyond.mailed, false);
  assert.match(beyond.link, /^https:/, 'the link is shown all the same');
  const other = await organization('Riad');
  for (let i = 0; i < mailsPerDay.link.address - 1; i++) {
    assert.ok((await invite('s0@atlas.ma', await organization(`Shop ${i}`))).mailed);
  }
  assert.equal((await invite('s0@atlas.ma', other)).mailed, false, 'whoever asks');
  assert.ok((await invite('free@atlas.ma', other)).mailed, 'the other organization has room');
  await senderOf(recording().transport).sendDue();
  await restart();
  assert.equal((await invite('s0@atlas.ma', other)).mailed, false, 'sent ones count, also after a restart');
  clock.advance(dayMs);
  assert.ok((await invite('s0@atlas.ma', other)).mailed);
  assert.ok((await invite('late@atlas.ma')).mailed);
});

test('an address is one however it is written: in capitals, with wide signs, with another dot or with a tag', () => {
  const written = [
    'sara@mail.atlas.ma',
    'Sara@Mail.Atlas.ma',
    'ｓａｒａ@mail.atlas.ma',
    'sara@mail。atlas.ma',
    'sara@mail｡atlas.ma',
    'sara+shop@mail.atlas.ma',
  ];
  const about = { org: null, isNewcomer: true, kind: 'sign_up', link: null, expiresMs: dayMs } as const;
  for (const one of written) {
    const letters = [one, ...written].map((to) => ({ to, subject: '', text: '' }));
    assert.equal(outbox.plan(letters, about)?.rows.size, mailsPerDay.sign_up.address, one);
  }
});

test('an organization that anybody may have made has a small share, and all such leave room for the others', async () => {
  let mailed = 0;
  for (let i = 0; mailed < mailsPerDay.link.newcomers; i++) {
    const to = await newcomer(`Shop ${i}`);
    for (let j = 0; j < mailsPerDay.link.newcomer; j++)
      if ((await invite(`${i}-${j}@crowd.ma`, to)).mailed) mailed++;
    assert.equal((await invite(`${i}-more@crowd.ma`, to)).mailed, false);
  }
  assert.equal((await invite('first@late.ma', await newcomer('Late'))).mailed, false);
  assert.ok((await invite('sara@atlas.ma')).mailed);
});

test('an address is one address, however its letters are written', () => {
  const letters = Array.from({ length: mailsPerDay.receipt.address + 5 }, (_, at) => {
    const name = [...'customer'].map((letter, place) =>
      ((at + 1) >> place) & 1 ? letter.toUpperCase() : letter,
    );
    return { to: `${name.join('')}@atlas.ma`, subject: '', text: '' };
  });
  const about = { org, isNewcomer: false, kind: 'receipt', link: null, expiresMs: clock.now() } as const;
  assert.equal(outbox.plan(letters, about)?.rows.size, mailsPerDay.receipt.address);
});

test('no kind of mail takes the place of another', async () => {
  const letters = Array.from({ length: mailsPerDay.notice.organization }, (_, at) => {
    return { to: `m${at}@atlas.ma`, subject: '', text: '' };
  });
  const about = { org, isNewcomer: false, kind: 'notice', link: null, expiresMs: clock.now() } as const;
  const { rows, onWritten } = outbox.plan(letters, about)!;
  assert.equal(rows.size, letters.length);
  onWritten();
  assert.ok((await invite('m0@atlas.ma')).mailed);
});

test('what operators have mailed is bound by address alone, and takes the place of nothing', () => {
  const queue = (to: string, count: number, by: string | null) => {
    const letters = Array.from({ length: count }, (_, i) => ({
      to: `${to}${i}@atlas.ma`,
      subject: '',
      text: '',
    }));
    const about = { org: by, isNewcomer: false, kind: 'link', link: null, expiresMs: clock.now() } as const;
    const planned = outbox.plan(letters, about);
    planned?.onWritten();
    return planned?.rows.size ?? 0;
  };
  const { address, organization, all } = mailsPerDay.link;
  assert.equal(queue('own', all, null), all);
  for (let i = 0; i < all / organization; i++)
    assert.equal(queue(`m${i}-`, organization, `org_${i}`), organization);
  assert.equal(queue('late', 1, 'org_late'), 0);
  for (let i = 1; i < address; i++) assert.equal(queue('own', 1, null), 1);
  assert.equal(queue('own', 1, null), 0);
});

test('organizations take turns', async () => {
  for (const name of ['a', 'b', 'c']) await invite(`${name}@crowd.ma`);
  await invite('sara@atlas.ma', await organization('Riad'));
  const { sent, transport } = recording();
  await senderOf(transport).sendDue();
  assert.equal(
    sent.findIndex(({ to }) => to === 'sara@atlas.ma'),
    1,
  );
});

test('what waits is sealed anew, but for what no key opens any more', async () => {
  const [lost, old, next] = [newSecretsKey(), newSecretsKey(), newSecretsKey()];
  const queue = async (key: string, to: string) => {
    outbox = new MailOutbox(directory.store, new SecretBox([key]));
    await invite(to);
  };
  await queue(lost, 'old@atlas.ma');
  await queue(old, 'sara@atlas.ma');
  assert.equal(await new MailOutbox(directory.store, new SecretBox([next, old])).reseal(), 1);
  outbox = new MailOutbox(directory.store, new SecretBox([next]));
  const { sent, transport } = recording();
  await senderOf(transport).sendDue();
  assert.deepEqual(
    sent.map(({ to }) => to),
    ['sara@atlas.ma'],
  );
  assert.equal(outbox.failed(), 1);
});

test('rows of mails mean nothing in another folder', () => assert.ok(isForeignRow('mail/mail_1')));

test('while the disk is full no mail is sent twice, whatever became of it, and no other one is sent', async () => {
  const addresses = ['sara@atlas.ma', 'omar@atlas.ma', 'ines@atlas.ma', 'hind@atlas.ma'];
  for (const address of addresses) {
    await invite(address);
    clock.advance(1_000);
  }
  const tried: string[] = [];
  const send = async (_: string, { to }: Letter) => {
    tried.push(to);
    isDiskFull = true;
    if (to === 'omar@atlas.ma') throw new MailRefused('550 no such user');
    if (to === 'ines@atlas.ma') throw new Error('the connection was reset');
  };
  const sender = senderOf({ send, check: async () => {} });
  for (const [n] of addresses.entries()) {
    for (let round = 0; round < 3; round++) await assert.rejects(sender.sendDue(), /The disk is full/);
    assert.deepEqual(tried, addresses.slice(0, n + 1));
    isDiskFull = false;
  }
  await sender.sendDue();
  assert.deepEqual(tried, addresses);
  assert.equal(outbox.failed(), 1);
  assert.deepEqual(
    outbox.waiting().map(({ to, attempts }) => [to, attempts]),
    [['ines@atlas.ma', 1]],
  );
});

test('while the disk is full the sender waits longer each time, a minute at most', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  await invite('sara@atlas.ma');
  const { sent, transport } = recording();
  const sender = senderOf(transport);
  isDiskFull = true;
  let writes = 0;
  const end = outbox.end.bind(outbox);
  outbox.end = (...mail) => {
    writes++;
    return end(...mail);
  };
  sender.start();
  await round();
  for (const [done, waitMs] of [2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000].entries()) {
    t.mock.timers.tick(waitMs - 1);
    await round();
    assert.equal(writes, done + 1);
    t.mock.timers.tick(1);
    await round();
    assert.equal(writes, done + 2);
  }
  isDiskFull = false;
  t.mock.timers.tick(60_000);
  await round();
  assert.equal(outbox.waiting().length, 0);
  assert.equal(sent.length, 1);
  await sender.stop();
});

test('what waits is not looked through for each mail that is sent', async (t) => {
  const letters = Array.from({ length: 300 }, (_, i) => ({ to: `c${i}@atlas.ma`, subject: '', text: '' }));
  const about = { org, isNewcomer: false, kind: 'receipt', link: null, expiresMs: clock.now() } as const;
  const { rows, onWritten } = outbox.plan(letters, about)!;
  await directory.store.write(() => rows, onWritten);
  const looks = t.mock.method(outbox, 'waiting');
  const { sent, transport } = recording();
  await senderOf(transport).sendDue();
  assert.deepEqual([sent.length, new Set(sent.map(({ to }) => to)).size], [300, 300]);
  assert.ok(looks.mock.callCount() <= 2, `${looks.mock.callCount()} times`);
});

test('an organization whose mail comes while many wait has its turn within a second', async () => {
  for (const name of ['a', 'b', 'c', 'd']) await invite(`${name}@crowd.ma`);
  const { sent, transport } = recording();
  const send = async (id: string, letter: Letter) => {
    await transport.send(id, letter);
    if (sent.length === 1) await invite('sara@atlas.ma', await organization('Riad'));
    clock.advance(500);
  };
  await senderOf({ ...transport, send }).sendDue();
  assert.deepEqual(
    sent.map(({ to }) => to[0]),
    ['a', 'b', 's', 'c', 'd'],
  );
});
