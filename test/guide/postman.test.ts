// The Postman collection: the committed one is what the API description gives, the service serves it with its own address, and its
// requests work one after the other, with the collection's own script keeping the ids.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { runInNewContext } from 'node:vm';
import { routeTable } from '../../src/contract/routes/table.ts';
import { type Collection, postmanCollection } from '../postman.ts';
import { startService } from '../service.ts';

test('docs/postman.json is what `npm run docs` writes, with a request for each route', async () => {
  const committed = readFileSync(join(import.meta.dirname, '../../docs/postman.json'), 'utf8');
  const written = await postmanCollection('https://payments.example');
  assert.deepEqual(JSON.parse(committed), JSON.parse(JSON.stringify(written)));
  assert.equal(written.item.flatMap(({ item }) => item).length, routeTable.length);
});

test('the served collection pays, refunds and looks at what it made', async (context) => {
  const service = await startService();
  context.after(() => service.stop());
  const served = await service.call('/postman.json');
  assert.equal(served.status, 200);
  assert.match(served.headers.get('content-disposition')!, /attachment; filename="payments\.postman/);
  const collection = served.json as Collection;
  const variables = new Map(collection.variable.map(({ key, value }) => [key, value]));
  assert.equal(variables.get('baseUrl'), service.url);
  variables.set('key', service.keys!.secret);
  const filled = (text: string) =>
    text.replace(/\{\{(\$?\w+)\}\}/g, (_, name: string) =>
      name === '$guid' ? crypto.randomUUID() : variables.get(name)!,
    );
  const [{ script }] = collection.event as [{ script: { exec: string[] } }];
  const requests = new Map(
    collection.item.flatMap(({ item }) => item).map((item) => [item.name, item.request]),
  );
  for (const [name, status] of [
    ['Create a payment intent', 'requires_payment_method'],
    ['Confirm a payment intent: open the card page or issue the cash code', 'requires_action'],
    ['Test helper: the customer pays', 'succeeded'],
    ['Refund a card payment, in full or in part', 'pending'],
    ['Retrieve a refund', 'pending'],
    ['Retrieve a payment intent', 'succeeded'],
    ['Create a customer', undefined],
    ['Delete a customer', undefined],
    ['Create a checkout session: a visit to the hosted payment page', 'open'],
    ['Expire an open checkout session', 'expired'],
  ] as const) {
    const { method, url, header, body } =
      requests.get(name) ?? assert.fail(`${name}: ${[...requests.keys()]}`);
    const headers: [string, string][] = header.map(({ key, value }) => [key, filled(value)]);
    const answer = await fetch(filled(`${url.host[0]}/${url.path.join('/')}`), {
      method,
      headers: [...headers, ['Authorization', `Bearer ${variables.get('key')}`]],
      ...(body && { body: filled(body.raw) }),
    });
    const said = (await answer.json()) as { status?: string };
    assert.equal(answer.status, 200, `${name}: ${JSON.stringify(said)}`);
    assert.equal(said.status, status, name);
    const pm = { response: { json: () => said }, collectionVariables: variables };
    runInNewContext(`(() => {\n${script.exec.join('\n')}\n})()`, { pm });
  }
});
