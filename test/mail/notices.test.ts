// Mails to members: who gets which, once, and no more than wanted, also when the process ends.

import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { newSecretsKey, SecretBox } from '../../src/crypto/secret-box.ts';
import { isNoticeWanted, Notices } from '../../src/dashboard/notices.ts';
import { type Directory, isForeignRow } from '../../src/directory/directory.ts';
import { deny, withLimitRequest } from '../../src/directory/limit-requests.ts';
import type { Role } from '../../src/directory/members.ts';
import { activate } from '../../src/directory/organization.ts';
import { fieldIndex, scopeOf } from '../../src/domain/indexes.ts';
import { type Letter, MailOutbox, mailsPerDay } from '../../src/mail/outbox.ts';
import { MailSender } from '../../src/mail/sender.ts';
import type { InternalRequest } from '../../src/shard/protocol.ts';
import { newMember } from '../dashboard/fixture.ts';
import { directoryIn, folderOfDirectory } from '../directory/directories.ts';
import { createManualClock } from '../manual-clock.ts';
import { newOrganization, startService } from '../service.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const [hourMs, dayMs] = [3_600_000, 86_400_000];
const secrets = new SecretBox([newSecretsKey()]);
let clock: ReturnType<typeof createManualClock>;
let folder: string;
let directory: Directory;
let outbox: MailOutbox;
let notices: Notices;
let failures: unknown[];
/** What the shards say, by organization. */
let reviews: Record<string, { id: string; created: number }[]>;
let failing: Record<string, { id: string; sinceMs: number | null; enabled?: boolean }[]>;
let asked: string[];
let isPaused = false;

beforeEach(async () => {
  clock = createManualClock(1_793_491_200_000);
  folder = await folderOfDirectory();
  [reviews, failing, asked, failures] = [{}, {}, [], []];
  open();
});
afterEach(() => directory.closeStore());

function open(): void {
  directory = directoryIn(folder, clock.now);
  outbox = new MailOutbox(directory.store, secrets);
  const services = { directory, baseUrl: 'https://pay.ma', now: clock.now, askShard };
  notices = new Notices({
    services,
    outbox,
    isPaused: () => isPaused,
    onFailure: (_, error) => failures.push(error),
  });
}

async function restart(): Promise<void> {
  await notices.stop();
  await directory.closeStore();
  open();
}

async function askShard(org: string, request: InternalRequest): Promise<{ body: string }> {
  asked.push(org);
  if (request.kind === 'records') {
    assert.equal(request.index, fieldIndex('review', scopeOf(org, true), 'open', 'true'));
    return { body: JSON.stringify((reviews[org] ?? []).slice(0, request.limit)) };
  }
  assert.equal(request.kind, 'endpoint_health');
  const listed = (failing[org] ?? []).map(({ id, sinceMs, enabled = true }) => ({
    id,
    enabled,
    nextAttemptMs: null,
    health: { failingSinceMs: sinceMs },
  }));
  return { body: JSON.stringify(listed) };
}

const now = () => Math.floor(clock.now() / 1000);

async function organization(name: string, isLive = true): Promise<string> {
  const { id } = (await directory.createOrganization(name, [])).organization;
  if (isLive) await directory.changeOrganization(id, activate);
  return id;
}

async function joined(org: string, name: string, role: Role): Promise<string> {
  return (await directory.members.create(`${name}@souk.ma`, name, null, { [org]: role })).id;
}

async function choose(member: string, wanted: boolean, language: 'en' | 'fr' | 'ar' = 'en'): Promise<void> {
  await directory.members.change(member, (each) => ({ ...each, notices: { wanted, language } }));
}

/** Looks, and returns what is mailed then: to whom, and what about. */
async function mailed(): Promise<Letter[]> {
  await notices.look();
  const sent: Letter[] = [];
  const send = async (_: string, letter: Letter) => void sent.push(letter);
  const sender = new MailSender({
    outbox,
    transport: { send, check: async () => {} },
    now: clock.now,
    isWanted: (mail) => isNoticeWanted(mail, directory),
    onFailure: (_, error) => failures.push(error),
  });
  await sender.sendDue();
  return sent;
}

async function told(): Promise<string[]> {
  return (await mailed()).map(({ to, text }) => `${to.split('@')[0]} ${/\/(\w+)\n/.exec(text)?.[1]}`).sort();
}

test('live mode activated: owners are mailed, and who chose it, in their language, once', async () => {
  const org = await organization('Souk', false);
  await joined(org, 'amina', 'owner');
  await choose(await joined(org, 'hind', 'viewer'), true, 'ar');
  await joined(org, 'ali', 'developer');
  await choose(await joined(org, 'sara', 'owner'), false);
  assert.deepEqual(await told(), []);
  clock.advance(2 * dayMs);
  await directory.changeOrganization(org, activate);
  const sent = (await mailed()).sort((a, b) => (a.to < b.to ? -1 : 1));
  assert.deepEqual(
    sent.map(({ to }) => to),
    ['amina@souk.ma', 'hind@souk.ma'],
  );
  assert.match(
    sent[0]!.text,
    /mode production de « Souk »[\s\S]+https:\/\/pay\.ma\/dashboard\/org_\w+\/live\/home\n/,
  );
  assert.match(sent[1]!.text, /الوضع الحقيقي/);
  await restart();
  clock.advance(2 * dayMs);
  assert.deepEqual(await told(), [], 'nor after a restart');
  assert.deepEqual(failures, []);
});

test('the first look at organizations that are older than mails tells nothing of what was', async () => {
  const org = await organization('Souk');
  await joined(org, 'amina', 'owner');
  clock.advance(2 * dayMs);
  reviews[org] = [{ id: 're_1', created: now() - 2 * 86_400 }];
  assert.deepEqual(await told(), []);
});

test('a review is told within an hour of the last one, and only to who may see it', async () => {
  const org = await organization('Souk');
  await joined(org, 'amina', 'owner');
  await choose(await joined(org, 'ali', 'support'), true);
  await told();
  reviews[org] = [{ id: 're_1', created: now() }];
  assert.deepEqual(await told(), ['ali reviews', 'amina reviews']);
  reviews[org] = [{ id: 're_2', created: now() }, ...reviews[org]];
  assert.deepEqual(await told(), [], 'one an hour');
  await restart();
  assert.deepEqual(await told(), [], 'also after a restart');
  clock.advance(hourMs);
  assert.deepEqual(await told(), ['ali reviews', 'amina reviews']);
  clock.advance(hourMs);
  assert.deepEqual(await told(), [], 'each once');
  reviews[org] = reviews[org].slice(1);
  assert.deepEqual(await told(), [], 'also when the newest one was closed');
});

test('an endpoint is told when it has failed for an hour, and not again for a day', async () => {
  const org = await organization('Souk');
  await joined(org, 'amina', 'owner');
  await choose(await joined(org, 'ali', 'support'), true);
  await choose(await joined(org, 'hind', 'developer'), true);
  await told();
  const sinceMs = clock.now();
  failing[org] = [
    { id: 'we_1', sinceMs },
    { id: 'we_2', sinceMs: null },
    { id: 'we_3', sinceMs: 0, enabled: false },
  ];
  clock.advance(hourMs - 1);
  assert.deepEqual(await told(), []);
  clock.advance(1);
  assert.deepEqual(await told(), ['amina webhooks', 'hind webhooks'], 'support sees no endpoints');
  for (let i = 0; i < 23; i++) {
    clock.advance(hourMs);
    assert.deepEqual(await told(), []);
  }
  clock.advance(hourMs);
  assert.deepEqual(await told(), ['amina webhooks', 'hind webhooks'], 'it fails a day later still');
});

test('the answer to a request for a limit is told, in test mode too', async () => {
  const org = await organization('Souk', false);
  await joined(org, 'amina', 'owner');
  const wish = { bucket: 'all', mode: 'test', perMinute: 50_000, untilMs: null, reason: 'sale' } as const;
  await directory.changeOrganization(org, (each, nowMs) =>
    withLimitRequest(each, wish, { id: 'lrq_1', by: 'Amina' }, nowMs),
  );
  assert.deepEqual(await told(), []);
  clock.advance(dayMs);
  await directory.changeOrganization(org, (each, nowMs) => deny(each, 'lrq_1', 'no', nowMs));
  assert.deepEqual(await told(), ['amina limits']);
  assert.deepEqual(asked, [], 'shards are asked about live mode alone');
});

test('a stranger whom an organization without live mode names gets next to nothing', async () => {
  const org = await organization('Souk', false);
  for (let i = 0; i < 10; i++) await joined(org, `stranger${i}`, 'owner');
  reviews[org] = [{ id: 're_1', created: now() }];
  failing[org] = [{ id: 'we_1', sinceMs: 0 }];
  assert.deepEqual(await told(), []);
  await directory.changeOrganization(org, (each) => ({
    ...each,
    limitRequests: [
      {
        ...{ id: 'lrq_1', by: '', bucket: 'all', mode: 'test', perMinute: 1, untilMs: null, reason: '' },
        ...{ createdMs: clock.now(), decision: { atMs: clock.now(), granted: null, note: '' } },
      },
    ],
  }));
  assert.equal((await mailed()).length, mailsPerDay.notice.newcomer);
});

test('one organization does not use up the mails of another, nor those with links', async () => {
  const [many, other] = [await organization('Many'), await organization('Riad')];
  for (let i = 0; i < mailsPerDay.notice.organization + 5; i++) await joined(many, `m${i}`, 'owner');
  await joined(other, 'sara', 'owner');
  const sent = await mailed();
  assert.equal(sent.length, mailsPerDay.notice.organization + 1);
  assert.ok(sent.some(({ to }) => to === 'sara@souk.ma'));
  const about = { org: many, isNewcomer: false, kind: 'link', link: 'd', expiresMs: 0 } as const;
  assert.ok(outbox.plan([{ to: 'm0@souk.ma', subject: '', text: '' }], about) !== null);
});

test('without room the mails wait for the next day', async () => {
  const org = await organization('Souk');
  const members = mailsPerDay.notice.organization;
  for (let i = 0; i < members; i++) await joined(org, `m${i}`, 'owner');
  assert.equal((await mailed()).length, members, 'live mode activated');
  clock.advance(dayMs / 2);
  reviews[org] = [{ id: 're_1', created: now() }];
  assert.deepEqual(await mailed(), []);
  clock.advance(dayMs / 2);
  assert.equal((await mailed()).length, members);
});

test('a member who has left or wants no mails any more is not mailed what waits', async () => {
  const org = await organization('Souk');
  const [amina, hind] = [await joined(org, 'amina', 'owner'), await joined(org, 'hind', 'owner')];
  await joined(org, 'ali', 'owner');
  await notices.look();
  assert.equal(outbox.waiting().length, 3);
  await directory.members.remove(amina, org);
  await choose(hind, false);
  assert.deepEqual(await told(), ['ali home']);
});

test('a shard that does not answer keeps nobody else waiting, and is asked again', async () => {
  const [down, other] = [await organization('Down'), await organization('Riad')];
  await joined(down, 'amina', 'owner');
  await joined(other, 'sara', 'owner');
  await told();
  Object.defineProperty(reviews, down, {
    configurable: true,
    get() {
      throw new Error('down');
    },
  });
  reviews[other] = [{ id: 're_1', created: now() }];
  assert.deepEqual(await told(), ['sara reviews']);
  assert.equal(failures.length, 1);
  Object.defineProperty(reviews, down, { value: [{ id: 're_2', created: now() }] });
  assert.deepEqual(await told(), ['amina reviews']);
});

test('the service of a folder that was restored mails nobody until it is resumed', async () => {
  const org = await organization('Souk');
  await joined(org, 'amina', 'owner');
  isPaused = true;
  assert.deepEqual(await told(), []);
  isPaused = false;
  assert.deepEqual(await told(), ['amina home']);
});

test('what was told means nothing in another folder', () => assert.ok(isForeignRow('notice/org_1')));

test('the service mails its members after a start, once, and the account page has the switch', async (t) => {
  const mails = join(temporaryFolder(), 'mails');
  const env = {
    NODE_ENV: 'development',
    PAYMENTS_PORT: '0',
    PAYMENTS_MAIL_URL: pathToFileURL(mails).href,
    PAYMENTS_MAIL_FROM: 'pay@souk.ma',
  };
  const first = await startService({ env });
  const { id: org } = await newOrganization(first, 'Souk');
  const dashboard = { service: first, org, key: '', address: () => '', stop: () => first.stop() };
  const visitor = await newMember(dashboard, 'owner');
  const me = '/dashboard/me';
  const saved = await visitor.submit(me, { wanted: 'on', language: 'en' }, `${me}/notices`);
  assert.equal(saved.status, 303);
  const shown = (await visitor.get(me)).body;
  assert.match(shown, /name="wanted" value="on" checked/);
  assert.match(shown, /<option value="en" selected/);
  await first.operate('org.activate', { org });
  await first.stop();
  const read = () =>
    (existsSync(mails) ? readdirSync(mails) : []).map((file) => readFileSync(join(mails, file), 'utf8'));
  const activated = () => read().filter((text) => text.includes('live mode is activated'));
  const second = await startService({ dataDir: first.dataDir, env });
  await second.until(() => activated()[0]);
  await second.stop();
  const third = await startService({ dataDir: first.dataDir, env });
  t.after(() => third.stop());
  assert.equal(activated().length, 1);
  assert.match(activated()[0]!, /^To: owner@souk\.ma$/m);
});
