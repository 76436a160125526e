// The samples of the API reference: in each language that is installed, all of them are run against a server that writes down what
// arrives, which must be the request of the example.

import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { openapiDocument } from '../../src/contract/openapi/document.ts';
import { routeTable } from '../../src/contract/routes/table.ts';
import { type Description, referencePages, requestOf } from '../../src/edge/docs/reference.ts';
import { type SampleLanguage, sampleLanguages, sampleOf } from '../../src/edge/docs/samples.ts';
import { temporaryFolder } from '../service.ts';

interface Arrived {
  readonly method: string;
  readonly url: string;
  readonly key: string | undefined;
  readonly idempotencyKey: string | null;
  readonly body: unknown;
}

/** How samples, one after the other, are one program, and how it is run. */
const programs: Readonly<
  Record<SampleLanguage, { file: string; command: string; joined: (samples: readonly string[]) => string }>
> = {
  curl: { file: 'samples.sh', command: 'bash', joined: (samples) => ['set -e', ...samples].join('\n') },
  Node: {
    file: 'samples.mjs',
    command: process.execPath,
    joined: (samples) => samples.map((sample) => `{\n${sample}\n}`).join('\n'),
  },
  Python: { file: 'samples.py', command: 'python3', joined: (samples) => samples.join('\n') },
  PHP: {
    file: 'samples.php',
    command: 'php',
    joined: (samples) => `<?php\n${samples.map((sample) => sample.replace('<?php\n', '')).join('\n')}`,
  },
};

const isInstalled = (command: string) => spawnSync(command, ['--version'], { stdio: 'ignore' }).status === 0;

for (const language of sampleLanguages) {
  const { file, command, joined } = programs[language];
  const skip = isInstalled(command) ? false : `left out: ${language} is not installed`;
  test(`every sample in ${language} sends its example`, { skip }, async (context) => {
    const arrived: Arrived[] = [];
    const server = createServer(async (request, response) => {
      const body = await textOf(request);
      arrived.push({
        method: request.method!,
        url: request.url!,
        key: request.headers.authorization,
        idempotencyKey: (request.headers['idempotency-key'] as string | undefined) ?? null,
        body: body === '' ? null : JSON.parse(body),
      });
      response.end('{}');
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    context.after(() => server.close());
    const { port } = server.address() as { port: number };
    const baseUrl = `http://127.0.0.1:${port}`;

    const description = openapiDocument(baseUrl) as unknown as Description;
    const routes = referencePages(description).flatMap((page) => page.routes);
    assert.equal(routes.length, routeTable.length);
    const requests = routes.map((route) => requestOf(route, description));
    const path = join(temporaryFolder(), file);
    writeFileSync(path, joined(requests.map((request) => sampleOf(language, request))));
    await promisify(execFile)(command, [path], { env: { ...process.env, KEY: 'svc_sk_test_1' } });

    const expected = requests.map(({ method, url, idempotencyKey, body }) => ({
      method,
      url: url.slice(baseUrl.length),
      key: 'Bearer svc_sk_test_1',
      idempotencyKey,
      body,
    }));
    assert.deepEqual(arrived, expected);
  });
}
