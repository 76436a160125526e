// Receipts to customers: each payment and each refund has one, once, where the merchant wants it, also when the process ends.

import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { idPrefixes } from '../../src/contract/id-prefixes.ts';
import type { Language } from '../../src/contract/vocabulary.ts';
import { createIdFactory, createRandomText } from '../../src/core/ids.ts';
import { newSecretsKey, SecretBox } from '../../src/crypto/secret-box.ts';
import { isReceiptWanted, Receipts } from '../../src/dashboard/receipts.ts';
import { type Directory, isForeignRow, receiptRowPrefix } from '../../src/directory/directory.ts';
import { activate, withReceipts } from '../../src/directory/organization.ts';
import { type Letter, MailOutbox, mailsPerDay } from '../../src/mail/outbox.ts';
import { MailSender } from '../../src/mail/sender.ts';
import { OperatorFailure } from '../../src/operator/use-cases/failures.ts';
import type { InternalRequest } from '../../src/shard/protocol.ts';
import { newMember, startDashboard, type Visitor } from '../dashboard/fixture.ts';
import { directoryIn, folderOfDirectory } from '../directory/directories.ts';
import { createManualClock } from '../manual-clock.ts';
import { ReferenceIntegrator } from '../networks/reference-integrator.ts';
import { liveKey } from '../service.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { webhookEnv } from '../webhooks/service-webhooks.ts';

const dayMs = 86_400_000;
const secrets = new SecretBox([newSecretsKey()]);
const ids = createIdFactory(createRandomText((bytes) => bytes.fill(7)));
let clock: ReturnType<typeof createManualClock>;
let folder: string;
let directory: Directory;
let outbox: MailOutbox;
let receipts: Receipts;
let failures: unknown[];
let failedInARow = 0;
let passedOver: string[] = [];
/** What the shards say: the events of each organization, and records by their ids. */
let events: Record<string, { id: string; body: string }[]>;
let records: Record<string, object>;
let asked: string[];
let isPaused = false;

beforeEach(async () => {
  clock = createManualClock(1_793_491_200_000);
  folder = await folderOfDirectory();
  [events, records, asked, failures, passedOver, isPaused] = [{}, {}, [], [], [], false];
  open();
});
afterEach(() => directory.closeStore());

function open(): void {
  directory = directoryIn(folder, clock.now);
  outbox = new MailOutbox(directory.store, secrets);
  receipts = new Receipts({
    services: { baseUrl: '', directory, now: clock.now, askShard },
    outbox,
    isPaused: () => isPaused,
    onFailure: (_, error, inARow) => {
      failures.push(error);
      failedInARow = inARow;
    },
    onPassedOver: (_, event) => passedOver.push(event),
  });
}

async function restart(): Promise<void> {
  await receipts.stop();
  await directory.closeStore();
  open();
}

async function askShard(to: string, request: InternalRequest): Promise<{ body: string; cursor?: string }> {
  if (request.kind === 'record') {
    const record = records[request.id];
    if (record === undefined) throw new OperatorFailure('refused', 'there is none');
    return { body: JSON.stringify(record) };
  }
  assert(request.kind === 'events_after' && request.livemode && request.after !== null);
  asked.push(to);
  const after = request.after;
  const later = (events[to] ?? []).filter(({ id }) => id > after).slice(0, request.limit);
  return { body: JSON.stringify(later), cursor: later.at(-1)?.id ?? after };
}

async function organization(name: string, language: Language | null, isLive = true): Promise<string> {
  const { id } = (await directory.createOrganization(name, [])).organization;
  if (isLive) await directory.changeOrganization(id, activate);
  await choose(id, language);
  return id;
}

const choose = (org: string, language: Language | null) =>
  directory.changeOrganization(org, (each) => withReceipts(each, language));

function happened(org: string, type: string, object: object): void {
  const created = Math.floor(clock.now() / 1000);
  const id = ids.next(idPrefixes.event, 0, clock.now());
  events[org] ??= [];
  events[org].push({ id, body: JSON.stringify({ id, type, created, data: { object } }) });
}

let count = 0;
/** A payment of a customer with this address succeeded. Returns its id. */
function paid(org: string, email: string | null, description: string | null = null): string {
  const id = `pi_${++count}`;
  records[id] = { id, customer: email === null ? null : `cus_${count}`, description };
  if (email !== null) records[`cus_${count}`] = { email };
  happened(org, 'payment_intent.succeeded', { id, status: 'succeeded', amount: 123_456, currency: 'mad' });
  return id;
}

function refunded(org: string, payment: string, status: string): void {
  const object = { id: 're_1', status, amount: 6_000, currency: 'mad', payment_intent: payment };
  happened(org, 'refund.updated', object);
}

/** Looks, and returns what is mailed then. */
async function mailed(): Promise<Letter[]> {
  clock.advance(1_000);
  await receipts.look();
  const sent: Letter[] = [];
  const sender = new MailSender({
    outbox,
    transport: { send: async (_, letter) => void sent.push(letter), check: async () => {} },
    now: clock.now,
    isWanted: (mail) => isReceiptWanted(mail, directory),
    onFailure: (_, error) => failures.push(error),
  });
  await sender.sendDue();
  return sent;
}

const recipients = async () => (await mailed()).map(({ to }) => to).sort();

const texts: readonly { language: Language; receipt: RegExp; refund: RegExp }[] = [
  {
    language: 'en',
    receipt: /“Souk” has succeeded\.\n\nMAD.1,234\.56\nOrder 7\n01\/11\/2026 \d\d:\d\d\nReference: pi_/,
    refund: /“Souk” has refunded a payment of yours\.\n\nMAD.60\.00\nOrder 7\n/,
  },
  {
    language: 'fr',
    receipt: /« Souk » a réussi\.\n\n1.234,56.MAD\nOrder 7\n01\/11\/2026 \d\d:\d\d\nRéférence : pi_/,
    refund: /« Souk » vous a remboursé un paiement\.\n\n60,00.MAD\nOrder 7\n/,
  },
  { language: 'ar', receipt: /«Souk»\.\n\n.+\nOrder 7\n.+\nالمرجع: pi_/, refund: /ردّت «Souk»/ },
];
for (const { language, receipt, refund } of texts)
  test(`a payment and its refund are told in ${language}, each once, also after a restart`, async () => {
    const org = await organization('Souk', language);
    const payment = paid(org, 'amina@souk.ma', 'Order\u2028 7');
    const [first, ...others] = await mailed();
    assert.deepEqual([first!.to, others], ['amina@souk.ma', []]);
    assert.match(first!.text, receipt);
    assert.match(first!.subject, /Souk/);
    refunded(org, payment, 'failed');
    refunded(org, payment, 'succeeded');
    const [second, ...more] = await mailed();
    assert.deepEqual([second!.to, more], ['amina@souk.ma', []]);
    assert.match(second!.text, refund);
    await restart();
    assert.deepEqual(await recipients(), []);
    paid(org, 'ali@souk.ma');
    const [third] = await mailed();
    assert.equal(third!.to, 'ali@souk.ma');
    assert.doesNotMatch(third!.text, /\n\n\n|Order|\{/, 'without a description there is no line for it');
    assert.deepEqual(failures, []);
  });

test('a payment of a checkout session is described as its page described it, and so is its refund', async () => {
  const org = await organization('Souk', 'en');
  const payment = paid(org, 'amina@souk.ma', 'Order 7');
  records[payment] = { ...records[payment], checkout_session: 'cs_1' };
  records.cs_1 = { id: 'cs_1', description: 'Two books' };
  refunded(org, payment, 'succeeded');
  for (const { text } of await mailed()) assert.match(text, /\nTwo books\n/);
  records.cs_1 = { id: 'cs_1', description: null };
  refunded(org, payment, 'succeeded');
  const [last] = await mailed();
  assert.match(last!.text, /\nOrder 7\n/);
  assert.deepEqual(failures, []);
});

test('nobody gets one whose merchant has not asked for it, whose address is not known, or who is forgotten', async () => {
  const off = await organization('Off', null);
  const test = await organization('Test', 'fr', false);
  const on = await organization('On', 'fr');
  for (const org of [off, test]) paid(org, 'amina@souk.ma');
  paid(on, null);
  const gone = paid(on, 'gone@souk.ma');
  delete records[gone];
  const forgotten = paid(on, 'forgotten@souk.ma');
  delete records[forgotten.replace('pi', 'cus')];
  paid(on, 'ali@souk.ma');
  assert.deepEqual(await recipients(), ['ali@souk.ma']);
  assert.deepEqual(new Set(asked), new Set([on]));
  assert.deepEqual(failures, []);
});

test('whose a receipt is, is found without a list of all organizations', async (t) => {
  const org = await organization('Souk', 'fr');
  for (const name of ['a', 'b', 'c', 'd']) paid(org, `${name}@souk.ma`);
  const lists = t.mock.method(directory, 'organizations');
  assert.equal((await mailed()).length, 4);
  assert.equal(lists.mock.callCount(), 1, 'that of the round');
});

test('switched on, what was paid before stays without; switched off, what waits is not sent', async () => {
  const org = await organization('Souk', null);
  paid(org, 'before@souk.ma');
  clock.advance(60_000);
  await choose(org, 'fr');
  paid(org, 'after@souk.ma');
  assert.deepEqual(await recipients(), ['after@souk.ma']);
  paid(org, 'late@souk.ma');
  clock.advance(1_000);
  await receipts.look();
  assert.equal(outbox.waiting().length, 1);
  await choose(org, null);
  assert.deepEqual(await recipients(), []);
  assert.equal(outbox.waiting().length, 0);
  paid(org, 'off@souk.ma');
  clock.advance(60_000);
  await choose(org, 'fr');
  assert.deepEqual(await recipients(), [], 'what was paid meanwhile stays without');
});

test('a paused folder sends none, and a restore leaves the position behind', async () => {
  const org = await organization('Souk', 'fr');
  await mailed();
  assert.equal([...directory.store.values(receiptRowPrefix)].length, 1);
  assert(isForeignRow(receiptRowPrefix + org), 'a restore leaves the position behind');
  isPaused = true;
  paid(org, 'amina@souk.ma');
  assert.deepEqual(await recipients(), []);
});

test('an organization has so many in a day, and leaves others theirs; an address has its own number', async () => {
  const { address, organization: most } = mailsPerDay.receipt;
  const [busy, calm] = [await organization('Busy', 'fr'), await organization('Calm', 'fr')];
  for (let i = 0; i < most + 5; i++) paid(busy, `customer-${i}@busy.ma`);
  for (let i = 0; i < address + 5; i++) paid(calm, 'same@calm.ma');
  const all = await recipients();
  assert.equal(all.filter((to) => to.endsWith('@busy.ma')).length, most);
  assert.equal(all.filter((to) => to === 'same@calm.ma').length, address);
  clock.advance(dayMs);
  paid(busy, 'customer@busy.ma');
  assert.deepEqual(await recipients(), ['customer@busy.ma']);
  assert.deepEqual(failures, []);
});

test('a shard that does not answer is asked again, and holds nobody up', async () => {
  const [away, there] = [await organization('Away', 'fr'), await organization('There', 'fr')];
  await mailed();
  const list = paid(away, 'amina@away.ma');
  paid(there, 'ali@there.ma');
  Object.defineProperty(records, list, { configurable: true, get: () => assert.fail('the shard is away') });
  assert.deepEqual(await recipients(), ['ali@there.ma']);
  assert.equal(failures.length, 1);
  Object.defineProperty(records, list, {
    value: { id: list, customer: 'cus_back', description: null },
    enumerable: true,
  });
  records.cus_back = { email: 'amina@away.ma' };
  assert.deepEqual(await recipients(), ['amina@away.ma']);
});

test('a payment whose records stay unreadable is passed over after a minute, and holds up none before or behind it', async () => {
  const org = await organization('Souk', 'fr');
  await mailed();
  paid(org, 'before@souk.ma');
  const damaged = paid(org, 'damaged@souk.ma');
  paid(org, 'behind@souk.ma');
  Object.defineProperty(records, damaged, { get: () => assert.fail('a record is damaged') });
  assert.deepEqual(await recipients(), ['before@souk.ma']);
  await restart();
  for (let round = 1; round < 30; round++) {
    assert.deepEqual(await recipients(), []);
    assert.equal(failedInARow, round);
  }
  assert.deepEqual(passedOver, []);
  assert.deepEqual(await recipients(), ['behind@souk.ma']);
  assert.deepEqual(passedOver, [events[org]?.[1]?.id]);
  assert.equal(failures.length, 30);
  await restart();
  assert.deepEqual(await recipients(), []);
  // One that can be read in the end takes no tries from the next one.
  const [late, next] = [paid(org, 'late@souk.ma'), paid(org, 'next@souk.ma')];
  const value = records[late];
  for (const each of [late, next])
    Object.defineProperty(records, each, { get: () => assert.fail('a record is damaged') });
  for (let round = 1; round < 30; round++) assert.deepEqual(await recipients(), []);
  Object.defineProperty(records, late, { value });
  assert.deepEqual(await recipients(), ['late@souk.ma']);
  assert.equal(passedOver.length, 1);
});

test('an owner switches them on; the customer of a real live payment gets one in the language chosen', async (t) => {
  const mails = join(temporaryFolder(), 'mails');
  const dashboard = await startDashboard({
    ...webhookEnv,
    PAYMENTS_MAIL_URL: pathToFileURL(mails).href,
    PAYMENTS_MAIL_FROM: 'pay@souk.ma',
  });
  t.after(() => dashboard.stop());
  const integrator = await ReferenceIntegrator.start();
  t.after(() => integrator.stop());
  const { service, org } = dashboard;
  const key = await liveKey(service, org);
  await service.operate('org.methods', { org, mode: 'live', methods: { card: true } });
  await service.operate('network.set', { ...integrator.connecting(org), methods: ['card'] });

  const owner = await newMember(dashboard, 'owner');
  const viewer = await newMember(dashboard, 'viewer');
  assert.equal((await switchOn(viewer, org)).status, 403);
  assert.equal((await switchOn(owner, org)).status, 303);
  assert.match(
    (await owner.get(`/dashboard/${org}/live/settings`)).body,
    /<option value="fr" selected>Français/,
  );

  const post = async (path: string, body: object) => {
    const { status, json } = await service.call(path, { key, idempotencyKey: path, body });
    assert.equal(status, 200, JSON.stringify(json));
    return json;
  };
  const customer = await post('/v1/customers', { email: 'amina@exemple.ma' });
  const { id } = await post('/v1/payment_intents', {
    amount: 25_000,
    currency: 'mad',
    customer: customer.id,
    description: 'Commande 1036',
  });
  const { latest_charge: charge, next_action } = await post(`/v1/payment_intents/${id}/confirm`, {});
  assert.equal((await fetch(next_action.redirect_to_url.url)).status, 200);
  const report = integrator.takeCard(charge, { reference: 'T-1' });
  await integrator.tell(`${service.url}/networks/http/${org}/live`, report);
  const received = () => mailsTo(mails, 'amina@exemple.ma');
  const receipt = await service.until(() => received().find((mail) => mail.includes('Ceci est un re')));
  assert.match(receipt, new RegExp(`${id}[^]*pas une facture`));
  await post('/v1/refunds', { charge, amount: 10_000 });
  assert.match(await service.until(() => received().find((mail) => /rembours/.test(mail))), /100,00/);
  assert.equal(received().length, 2);
});

const switchOn = (member: Visitor, org: string) =>
  member.submit(
    `/dashboard/${org}/live/settings`,
    { receipts: 'fr' },
    `/dashboard/${org}/live/settings/receipts`,
  );

function mailsTo(folder: string, address: string): string[] {
  const files = existsSync(folder) ? readdirSync(folder) : [];
  return files
    .map((file) => readFileSync(join(folder, file), 'utf8').replaceAll('\r', '').replaceAll('=\n', ''))
    .filter((mail) => mail.includes(`To: ${address}\n`));
}
