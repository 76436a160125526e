// Errors of the disk inside the storage library, under the launcher alone: the process ends at once, with all its shards, is
// started again, and nothing that was acknowledged is lost. A disk that stays full is noticed, and its shard reads on.
// The kinds of faults meet the parts of the data folder in turn. MACHINE_FAULT_ROUNDS asks for more than one of each kind, each
// of them at another part, and MACHINE_FAULT_KINDS for the kinds whose names it matches.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { constants } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import '../on-disk.ts';
import { metadataKeysMax, metadataValueCharactersMax } from '../../src/contract/limits.ts';
import { crampedEnv, type Merchant } from '../main/merchant.ts';
import { shopOnEachShard } from '../main/shops.ts';
import { type Service, send } from '../service.ts';
import { FaultyMachine, type Rule } from './faulty-machine.ts';
import { assertWhole, merchantsOn, pauseAll, progress, startWork } from './merchants.ts';

const { EIO, ENOSPC } = constants.errno;
const rounds = Number(process.env.MACHINE_FAULT_ROUNDS ?? 1);
const chosen = new RegExp(process.env.MACHINE_FAULT_KINDS ?? '');
/** The launcher, but that it never waits: there are more crashes here than in a year of any disk. */
const launcher = join(import.meta.dirname, '../main/keeper.mjs');

interface Kind {
  readonly name: string;
  readonly on: Rule['on'];
  readonly errno: number;
  readonly isLasting: boolean;
}

const kinds: readonly Kind[] = (['sync', 'page', 'header', 'create'] as const).flatMap((on) =>
  [EIO, ENOSPC].flatMap((errno) =>
    [false, true].map((isLasting) => ({
      on,
      errno,
      isLasting,
      name: `${on} ${errno === EIO ? 'EIO' : 'ENOSPC'} ${isLasting ? 'lasting' : 'once'}`,
    })),
  ),
);

/** The service as it is after its last start: a free port is another one then. */
function now(service: Service): Service {
  const url = [...service.output().matchAll(/Listening on (\S+)/g)].at(-1)![1]!;
  return { ...service, url };
}

async function isReady(service: Service): Promise<boolean> {
  const answer = await send(now(service).url, '/readyz', {}).catch(() => null);
  return answer?.status === 200;
}

/** A disk that stays full refuses everything of a shard; otherwise it is one operation on a part of the folder: the `turn`th. */
function ruleFor({ on, errno, isLasting }: Kind, turn: number): Rule {
  const parts = on === 'create' ? ['shard-1/log/'] : ['shard-1/log/', 'shard-0/state', 'directory/data.mdb'];
  const isWhole = isLasting && errno === ENOSPC;
  const place = isWhole ? 'shard-1/' : parts[turn % parts.length]!;
  return {
    on: isWhole && on === 'page' ? 'write' : on,
    place,
    action: 'fail',
    argument: errno,
    // The library tries twice to create a file.
    ...(!isLasting && { count: on === 'create' ? 2 : 1 }),
  };
}

/**
 * Creates payments with all the metadata that one may have until the service does not answer any more, or `isEnough` says so:
 * some twenty of them fill a segment, which merchants take half a minute for.
 */
async function fillSegment(service: Service, key: string, isEnough: () => boolean): Promise<void> {
  const names = Array.from({ length: metadataKeysMax }, (_, number) => `key${number}`);
  const metadata = Object.fromEntries(names.map((name) => [name, 'x'.repeat(metadataValueCharactersMax)]));
  const body = { amount: 10_000, currency: 'mad', metadata };
  for (let isAnswered = true; isAnswered && !isEnough(); ) {
    const call = { key, body, idempotencyKey: randomUUID() };
    isAnswered = await send(service.url, '/v1/payment_intents', call).then(
      () => true,
      () => false,
    );
  }
}

interface Passed {
  /** What ended, or was noticed. */
  readonly what: string;
  /** From the fault to the end of the process; null when that went on. */
  readonly endMs: number | null;
  /** From the fault, or the end of one that lasted, until the service was ready. */
  readonly readyMs: number;
}

interface Work {
  readonly service: Service;
  readonly machine: FaultyMachine;
  readonly merchants: readonly Merchant[];
  /** A key of an organization of its own on the shard whose disk fails. */
  readonly filler: string;
}

/** Has the disk fail under load, and waits until all is well again. */
async function fail(
  { service, machine, merchants, filler }: Work,
  rule: Rule,
  isLasting: boolean,
): Promise<Passed> {
  const written = service.output().length;
  const said = () => service.output().slice(written);
  const ended = () => said().match(/the service has ended [^\n]* started again/g)?.length ?? 0;
  const hasShardEnded = () => /shard \d ended and is started again/.test(said());
  const isFull = () => /the disk is full: (writes|changes)/.test(said());
  const isUp = () =>
    service.output().lastIndexOf('Listening on') > service.output().lastIndexOf('the service has ended');
  const isWell = async () => isUp() && (await isReady(service));
  machine.faults(rule);
  // Merchants write into the shards.
  if (rule.place.startsWith('directory')) service.operate('org.create', { name: 'Shop' }).catch(() => {});
  if (rule.on === 'create') await fillSegment(now(service), filler, () => machine.met > 0);
  await service.until(() => machine.met > 0 || undefined);
  let sinceMs = performance.now();
  await service.until(() => ended() > 0 || hasShardEnded() || isFull() || undefined);
  const endMs = ended() > 0 ? performance.now() - sinceMs : null;
  if (isLasting) {
    // It ends again of the same fault, or there is something that can be used without writing.
    await service.until(async () => ended() > 1 || hasShardEnded() || (await isWell()) || undefined);
    sinceMs = performance.now();
  }
  machine.heal();
  await service.until(async () => (await isWell()) || undefined);
  const readyMs = performance.now() - sinceMs;
  await pauseAll(merchants);
  startWork(now(service), merchants);
  await progress(service, merchants, 5);
  const what = [ended() > 0 && 'the process', hasShardEnded() && 'a shard', isFull() && 'full'];
  return { what: what.filter(Boolean).join(' and '), endMs, readyMs };
}

function inOrder(times: readonly (number | null)[]): string {
  const sorted = times.filter((ms) => ms !== null).sort((a, b) => a - b);
  if (sorted.length === 0) return '-';
  const at = (part: number) =>
    Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))]!);
  return `${at(0.5)}/${at(0.99)} ms`;
}

test('errors of the disk inside the storage library pass, whatever they hit, and nothing is lost', async (context) => {
  const machine = FaultyMachine.make();
  if (machine === null) return context.skip('needs Linux and a C compiler (cc)');
  const service = await machine.start(crampedEnv, launcher);
  const merchants = await merchantsOn(context, service);
  const [, filler] = await shopOnEachShard(service, 2);
  const work = { service, machine, merchants, filler: filler!.key };
  startWork(service, merchants);
  await progress(service, merchants, 5);
  for (const [number, kind] of kinds.entries()) {
    if (!chosen.test(kind.name)) continue;
    const passed: Passed[] = [];
    for (let round = 0; round < rounds; round++)
      passed.push(await fail(work, ruleFor(kind, number + round), kind.isLasting));
    const seen = Object.entries(Object.groupBy(passed, ({ what }) => what));
    context.diagnostic(
      `${kind.name}: ${seen.map(([what, times]) => `${times!.length} ${what}`).join(', ')}; ` +
        `ended after ${inOrder(passed.map(({ endMs }) => endMs))}, ready after ${inOrder(passed.map(({ readyMs }) => readyMs))}`,
    );
  }
  await pauseAll(merchants);
  for (const merchant of merchants) await merchant.settle(now(service).url);
  assert.doesNotMatch(service.output(), /stays down/);
  assert.match(service.output(), /Could not write to [^\n]*nobody can trust this process: it ends at once/);
  await assertWhole(now(service), merchants, '');
});
