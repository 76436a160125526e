// The conformance cases: the reference integrator passes all of them, and each fault of an integrator is found.

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { after, test } from 'node:test';
import type { PaymentMethodType } from '../../src/contract/vocabulary.ts';
import { checkIntegrator } from '../../src/networks/http-conformance.ts';
import type { SendPost } from '../../src/networks/post.ts';
import { ReferenceIntegrator } from './reference-integrator.ts';

const secret = 'shared-secret';
const send: SendPost = async ({ url, headers, body }) => {
  const response = await fetch(url, { method: 'POST', headers, body });
  return { status: response.status, body: await response.text() };
};
const findings = async (url: string, methods: readonly PaymentMethodType[] = ['cash']) => {
  const checked = await checkIntegrator({ url, secret, send, now: Date.now }, methods);
  return checked.flatMap(({ title, problem }) => (problem === null ? [] : [title]));
};

test('the reference integrator passes, for each method and for both', async () => {
  const integrator = await ReferenceIntegrator.start(secret);
  for (const methods of [['cash'], ['card'], ['cash', 'card']] as const)
    assert.deepEqual(await findings(integrator.address, methods), []);
  await integrator.stop();
});

/** A server that answers every operation with what `answer` says of it. */
async function faulty(
  answer: (operation: { operation: string; id: string }, times: number) => object,
  statusCode = 200,
) {
  const times = new Map<string, number>();
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    try {
      const operation = JSON.parse(body);
      times.set(operation.id, (times.get(operation.id) ?? 0) + 1);
      const answered = { id: operation.id, ...answer(operation, times.get(operation.id)!) };
      response.writeHead(statusCode).end(JSON.stringify(answered));
    } catch {
      response.writeHead(400).end();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  after(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

test('an integrator that verifies nothing, forgets operations, takes its time or mixes them up is found out', async () => {
  const careless = await findings(await faulty(() => ({ status: 'done' })));
  assert.deepEqual(
    careless.map((title) => title.split(' ').slice(0, 2).join(' ')),
    ['status says', 'a signature', 'a signature'],
  );
  const forgetful = await findings(
    await faulty(({ operation }, times) => ({
      status: operation === 'status' ? 'unknown' : times > 1 ? 'refused' : 'done',
    })),
  );
  assert(forgetful.includes('issue that is sent again has the same answer'));
  assert(forgetful.includes('status knows an operation'));
  const slow = await findings(await faulty(() => ({ status: 'pending' })));
  for (const title of ['issue is carried out', 'cancel is carried out', 'status knows an operation'])
    assert(slow.includes(title), title);
  const mixed = await findings(await faulty(() => ({ id: 'op_1', status: 'done' })));
  assert(mixed.includes('issue is carried out'));
});

test('an integrator that fails of what it should refuse, or takes it, is found out', async () => {
  for (const [status, isFound] of [
    [200, true],
    [399, true],
    [400, false],
    [499, false],
    [500, true],
    [599, true],
  ] as const) {
    const server = createServer(async (request, response) => {
      const body = await text(request);
      const [, asked] = /"operation":"status","id":"(\w+)"/.exec(body) ?? [];
      if (asked === undefined) response.writeHead(status).end('{}');
      else response.end(JSON.stringify({ id: asked, status: 'unknown' }));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const found = await findings(`http://127.0.0.1:${port}/`);
    for (const what of [
      'a body that is no JSON',
      'a signature by another secret',
      'a signature that is older',
    ])
      assert.equal(
        found.some((title) => title.startsWith(what)),
        isFound,
        `${what}: ${status}`,
      );
    server.close();
  }
});

test('an integrator that answers an operation with another status than 200 is found out', async () => {
  const url = await faulty(() => ({ status: 'done' }), 201);
  const checked = await checkIntegrator({ url, secret, send, now: Date.now }, ['cash']);
  const carriedOut = checked.find(({ title }) => title === 'issue is carried out');
  assert.equal(carriedOut?.problem, 'answered 201, not 200');
});

test('an integrator that opens no page, or another one each time, and refunds what nobody paid is found out', async () => {
  let pages = 0;
  const careless = await faulty(({ operation }) => ({
    status: 'done',
    ...(operation === 'open_page' && { url: `https://pay.example/${pages++}` }),
  }));
  const found = await findings(careless, ['card']);
  for (const title of [
    'open_page that is sent again gives the same page',
    'status knows a page',
    'a refund of a payment that nobody made is refused',
    'status says unknown of an operation that never came',
  ])
    assert(found.includes(title), title);
});
