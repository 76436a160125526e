// The samples of the API reference as a reader uses them: each is pasted into the program that runs it, with the address and
// the key in the environment, in each language that is installed, against a running service. A server between the
// two writes down what was asked and answered.

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { openSync, readFileSync } from 'node:fs';
import { createServer, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { openapiDocument } from '../../src/contract/openapi/document.ts';
import { routeTable } from '../../src/contract/routes/table.ts';
import { type Description, referencePages, sampleFor } from '../../src/edge/docs/reference.ts';
import { type SampleLanguage, sampleLanguages, sampleOf } from '../../src/edge/docs/samples.ts';
import { addressRecords, type DnsServer, startDnsServer } from '../http-client/dns-server.ts';
import {
  limitedOrganization,
  newOrganization,
  type Service,
  startService,
  withRequestLogs,
} from '../service.ts';
import { temporaryFolder } from '../temporary-folder.ts';

/**
 * Python itself: where several are installed, `python3` may be a script that looks for the one to run, which takes more of a
 * processor than a sample does.
 */
const python = spawnSync('python3', ['-c', 'import sys; print(sys.executable)'], { encoding: 'utf8' });

/** The program that takes a sample as its input. */
const programs: Readonly<Record<SampleLanguage, readonly string[]>> = {
  curl: ['bash', '-eu'],
  Node: [process.execPath, '--input-type=module'],
  Python: [python.stdout?.trim() || 'python3', '-'],
  PHP: ['php'],
};

const description = openapiDocument('https://payments.example') as unknown as Description;
/** In the order of the pages. */
const samples = referencePages(description)
  .flatMap((page) => page.routes)
  .map((route) => ({ operation: route.operation.operationId, sample: sampleFor(route, description) }));

interface Exchange {
  readonly what: string;
  readonly idempotencyKey: string | undefined;
  readonly status: number;
  readonly isReplay: boolean;
}

let service: Service;
let dns: DnsServer;
let between: ReturnType<typeof createServer>;
let seen: Exchange[] = [];
let url: string;

before(async () => {
  dns = await startDnsServer((question) => addressRecords(question, ['93.184.216.34']));
  service = await startService({ env: { ...withRequestLogs, PAYMENTS_WEBHOOKS_DNS_SERVERS: dns.address } });
  between = createServer((request, response) => {
    const { method, url: path, headers } = request;
    const onward = send(service.url + path, { method, headers, agent: false }, (answer) => {
      seen.push({
        what: `${method} ${path}`,
        idempotencyKey: headers['idempotency-key'] as string | undefined,
        status: answer.statusCode!,
        isReplay: answer.headers['idempotent-replayed'] === 'true',
      });
      response.writeHead(answer.statusCode!, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', () => response.destroy());
    response.on('close', () => onward.destroy());
    request.pipe(onward);
  }).listen(0, '127.0.0.1');
  await once(between, 'listening');
  url = `http://127.0.0.1:${(between.address() as AddressInfo).port}`;
});
after(async () => {
  between?.closeAllConnections();
  between?.close();
  await service?.stop();
  await dns?.close();
});

const isInstalled = ([command]: readonly string[]) =>
  spawnSync(command!, ['--version'], { stdio: 'ignore' }).status === 0;

/** A sample that hangs is ended, and has failed. */
const pasteMsMax = 20_000;

/** Pastes a sample; one that goes on until it is ended is ended as soon as it has shown the beginning. */
async function paste(language: SampleLanguage, program: string, key: string, isEndless = false) {
  seen = [];
  const [command, ...args] = programs[language];
  // A file takes the errors, because a shell can't open Node's pipes by their names.
  const errors = join(temporaryFolder(), 'errors');
  const child = spawn(command!, args, {
    env: { ...process.env, URL: url, KEY: key },
    stdio: ['pipe', 'pipe', openSync(errors, 'w')],
    detached: true,
    timeout: pasteMsMax,
    killSignal: 'SIGKILL',
  });
  child.stdin!.end(program);
  if (isEndless) {
    let said = '';
    for await (const part of child.stdout!) {
      said += part;
      if (/^event: (start|now)/m.test(said)) break;
    }
    process.kill(-child.pid!, 'SIGKILL');
    return { said, exchanges: seen };
  }
  const [out] = await Promise.all([textOf(child.stdout!), once(child, 'close')]);
  return { said: out + readFileSync(errors, 'utf8'), exchanges: seen };
}

/** Pastes a sample, all of whose requests must succeed. */
async function pasteWell(
  language: SampleLanguage,
  { operation, sample }: (typeof samples)[number],
  key: string,
) {
  const program = sampleOf(language, sample);
  const { said, exchanges } = await paste(language, program, key, operation.startsWith('stream_'));
  const failed = exchanges.filter(({ status }) => status !== 200);
  assert.deepEqual(failed, [], `${operation}:\n${program}\n${said}`);
  assert.equal(exchanges.length, sample.steps.length + 1, `${operation}:\n${program}\n${said}`);
  assert.ok(said.trim() !== '' || operation.startsWith('export_'), operation);
  return exchanges;
}

test('there is a sample of every route, and no two requests have one idempotency key', () => {
  assert.equal(samples.length, routeTable.length);
  const keys = samples.flatMap(({ sample: { steps, request } }) =>
    [...steps, request].map(({ idempotencyKey }) => idempotencyKey).filter((key) => key !== null),
  );
  assert.ok(keys.length > routeTable.length / 2);
  assert.deepEqual(keys, [...new Set(keys)]);
});

const installed = sampleLanguages.filter((language) => isInstalled(programs[language]));

test('every sample runs as pasted, one after the other, each in another language than the one before', async () => {
  const { key } = await newOrganization(service);
  const exchanges: Exchange[] = [];
  for (const [i, each] of samples.entries())
    exchanges.push(...(await pasteWell(installed[i % installed.length]!, each, key)));
  assert.deepEqual(
    exchanges.filter(({ isReplay }) => isReplay),
    [],
  );
});

for (const language of sampleLanguages) {
  const skip = installed.includes(language) ? false : `left out: ${language} is not installed`;

  test(`every sample in ${language} runs as pasted, alone`, { skip }, async () => {
    for (const each of samples) {
      // It sends a few requests, for which the limits of all are enough.
      const { key } = await limitedOrganization(service);
      await pasteWell(language, each, key);
    }
  });

  test(`a sample in ${language} prints what a refusal says`, { skip }, async () => {
    for (const { operation, sample } of samples) {
      if (!['create_payment_intent', 'create_refund', 'export_charges'].includes(operation)) continue;
      const { said } = await paste(language, sampleOf(language, sample), 'svc_sk_test_wrong');
      assert.match(said, /"?code"?: ?["']api_key_invalid/, operation);
    }
  });
}

test('what is pasted again, in another language, gets the kept answers', async () => {
  const { key } = await newOrganization(service);
  const refunding = samples.find(({ operation }) => operation === 'create_refund')!;
  for (const [i, language] of installed.entries()) {
    const exchanges = await pasteWell(language, refunding, key);
    assert.deepEqual(
      exchanges.map(({ isReplay }) => isReplay),
      exchanges.map(() => i > 0),
      language,
    );
  }
});
