// `node bench/reconcile.ts LINES [FOLDER]`: what `payments reconcile` takes for a statement with so many payments by card and as many here.
// The data folder is made by `payments import` from a file that is generated, of charges spread over a month, of which every
// hundredth was paid back in part. The statement has a line for each, and lacks or changes one in ten thousand.

import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { createIdFactory, createRandomText } from '../src/core/ids.ts';
import { moroccoDayAt } from '../src/core/morocco-day.ts';
import { slotOf } from '../src/core/slot.ts';
import type { ChargeRecord, DayTotalRecord, RefundRecord, StoredRecord } from '../src/domain/record.ts';
import { goldenRecords } from '../test/journal/golden-records.ts';
import { payments } from '../test/main/payments-command.ts';
import { startService } from '../test/service.ts';
import { temporaryFolder } from '../test/temporary-folder.ts';
import { processSeconds } from './processor-time.ts';

const count = Number(process.argv[2] ?? 1_000_000);
const folder = process.argv[3] ?? temporaryFolder();
const firstMs = Date.UTC(2026, 9, 1, 1);
const monthMs = 30 * 86_400_000;
const amount = 12_000;
const paidBack = 1_000;
const refundOfEvery = 100;
const odd = 10_000;

const exported = join(folder, 'export.ndjson');
const imported = join(folder, 'import.ndjson');
const statement = join(folder, 'statement.csv');
const dataDir = join(folder, 'filled');
if (!existsSync(dataDir)) await fill();
await measure();

async function fill(): Promise<void> {
  const service = await startService({ dataDir: join(folder, 'empty'), env: { PAYMENTS_SHARDS: '1' } });
  const { id: org } = await service.operate<{ id: string }>('org.create', { name: 'Shop' });
  await service.stop();
  await succeeded('export', '--data-dir', service.dataDir, '--to', exported);
  const lines = readFileSync(exported, 'utf8').trimEnd().split('\n');
  const { end } = JSON.parse(lines.pop()!);
  const file = createWriteStream(imported);
  const csv = createWriteStream(statement);
  const hash = createHash('sha256');
  let records = end.records;
  const put = async (line: string) => {
    hash.update(`${line}\n`);
    if (!file.write(`${line}\n`)) await once(file, 'drain');
  };
  for (const line of lines) await put(line);
  csv.write('Commande;Montant;Type;Date;TransId\n');
  for (const { record, line } of recordsOf(org)) {
    records++;
    await put(JSON.stringify({ record }));
    if (line !== '' && !csv.write(line)) await once(csv, 'drain');
  }
  file.end(`${JSON.stringify({ end: { ...end, records, sha256: hash.digest('hex') } })}\n`);
  csv.end();
  await Promise.all([finished(file), finished(csv)]);
  // It finds that the intents and the events of all these are missing, and says so.
  const made = await payments('import', '--from', imported, '--data-dir', dataDir, '--shards', '1');
  if (!made.error.includes('the folder is there')) throw new Error(made.error);
}

/** Charges with their refunds, and the totals of their days. Reconciling reads no payment intents, so there are none. */
function* recordsOf(org: string): Generator<{ record: StoredRecord; line: string }> {
  const ids = createIdFactory(createRandomText((bytes) => crypto.getRandomValues(bytes)));
  const slot = slotOf(org);
  const totals = new Map<string, DayTotalRecord>();
  const none = { ...goldenRecords.day_total, card_received: 0, card_succeeded: 0, refunded: 0, refunds: 0 };
  for (let i = 0; i < count; i++) {
    const atMs = firstMs + Math.floor((i / count) * monthMs);
    const id = ids.next('ch', slot, atMs);
    const created = Math.floor(atMs / 1000);
    const common = { org, livemode: true, created };
    const payment = { ...common, metadata: {}, amount, payment_intent: ids.next('pi', slot, atMs) };
    const isPaidBack = i % refundOfEvery === 0;
    const day = moroccoDayAt(atMs);
    const total = totals.get(day) ?? { ...none, ...common, id: ids.next('day', slot, atMs), day };
    totals.set(day, {
      ...total,
      card_received: total.card_received + amount,
      card_succeeded: total.card_succeeded + 1,
      refunded: total.refunded + (isPaidBack ? paidBack : 0),
      refunds: total.refunds + (isPaidBack ? 1 : 0),
    });
    const receipts = [{ reference: `T${i}`, amount, credited: true }];
    const charge: ChargeRecord = {
      ...goldenRecords.charge,
      ...payment,
      id,
      amount_refunded: isPaidBack ? paidBack : 0,
      amount_refund_pending: 0,
      cash_number: null,
      receipts,
      settled_at_ms: atMs,
    };
    const told = i % odd === 1 ? amount - 1 : amount;
    const dirhams = (told / 100).toFixed(2).replace('.', ',');
    yield { record: charge, line: i % odd === 2 ? '' : `${id};${dirhams};Achat;${day};T${i}\n` };
    if (!isPaidBack) continue;
    const refund: RefundRecord = {
      ...goldenRecords.refund,
      ...payment,
      id: ids.next('re', slot, atMs),
      amount: paidBack,
      charge: id,
      status: 'succeeded',
      failure_reason: null,
      settled_at_ms: atMs,
    };
    yield { record: refund, line: `${id};-10,00;Remboursement;${day};T${i}R\n` };
  }
  for (const record of totals.values()) yield { record, line: '' };
}

async function measure(): Promise<void> {
  const env = { PAYMENTS_SHARDS: '1', PAYMENTS_SECRETS_KEY_FILE: join(folder, 'empty.secrets-key') };
  const service = await startService({ dataDir, env });
  const organizations = await service.operate<{ id: string; name: string }[]>('org.list', {});
  const org = organizations.find(({ name }) => name === 'Shop')!.id;
  const before = processSeconds(service.process.pid!)!;
  const startedAt = performance.now();
  const args = ['reconcile', org, '--mode', 'live', '--network', 'cmi', '--file', statement];
  const entry = join(import.meta.dirname, '../src/main/payments.ts');
  const child = spawn(process.execPath, [entry, ...args, '--json', '--dry-run', '--data-dir', dataDir], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let out = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  let [seconds, peakMib] = [0, 0];
  const sampled = setInterval(() => {
    seconds = processSeconds(child.pid!) ?? seconds;
    peakMib = Math.max(peakMib, residentMib(child.pid!));
  }, 100);
  await once(child, 'close');
  clearInterval(sampled);
  const wall = (performance.now() - startedAt) / 1_000;
  const own = processSeconds(service.process.pid!)! - before;
  await service.stop();
  const { reconciled } = JSON.parse(out.trimEnd().split('\n').at(-1)!);
  process.stdout.write(`${JSON.stringify(reconciled)}\n`);
  process.stdout.write(
    `${wall.toFixed(1)} s; processor time: ${seconds.toFixed(1)} s of the command, ${own.toFixed(1)} s of the service; the command took ${peakMib.toFixed(0)} MiB at most\n`,
  );
}

function residentMib(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}

async function succeeded(...args: readonly string[]): Promise<void> {
  const { code, error } = await payments(...args);
  if (code !== 0) throw new Error(error);
}
