// The bytes of an Idempotency-Key: which are accepted, which are refused, and which the HTTP parser drops before the service
// can see them.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { newOrganization, type Service, startService } from '../service.ts';
import { requestText, sendRaw } from './raw.ts';

let service: Service;
let apiKey: string;

before(async () => {
  service = await startService();
  ({ key: apiKey } = await newOrganization(service));
});
after(() => service.stop());

const body = '{"amount":1000,"currency":"mad"}';

/** Creates a payment with the bytes of `value` behind the header's name. */
async function create(value: string) {
  const headers = [
    ['Authorization', `Bearer ${apiKey}`],
    ['Idempotency-Key', value],
    ['Content-Length', String(body.length)],
  ] as const;
  const answer = await sendRaw(service.url, requestText('POST /v1/payment_intents', headers, body));
  assert.ok(answer);
  return { status: answer.status, headers: answer.headers, json: JSON.parse(answer.text) };
}

const refused: readonly (readonly [what: string, value: string])[] = [
  ['Latin-1 in the middle', 'caf\xe9-1'],
  ['UTF-8 in the middle', 'caf\xc3\xa9-1'],
  ['a no-break space in the middle', 'order\xa01'],
  ['DEL in the middle', 'order\x7f1'],
  ['DEL at the end', 'order1\x7f'],
  ['DEL at the start', '\x7forder1'],
  ['DEL before Latin-1', 'order1\x7f\xe9'],
  ['a tab in the middle', 'order\t1'],
  ['nothing but Latin-1', '\xe9'],
  ['nothing but UTF-8', '\xd9\x85\xd8\xb1'],
  ['nothing but spaces', ' \t '],
  ['nothing', ''],
];
for (const [what, value] of refused) {
  test(`a key with ${what} is refused, and nothing runs`, async () => {
    const { status, json } = await create(value);
    assert.deepEqual(
      [status, json.error.code, json.error.param],
      [400, 'parameter_invalid', 'Idempotency-Key'],
    );
  });
}

test('every printable ASCII character is part of a key, spaces within it too', async () => {
  const key = String.fromCharCode(...Array.from({ length: 94 }, (_, i) => 0x21 + i)).replace('#', '# #');
  assert.equal((await create(key)).status, 200);
  assert.equal((await create(key)).headers.get('idempotent-replayed'), 'true');
  assert.equal((await create(key.replace('# #', '##'))).headers.get('idempotent-replayed'), null);
});

// Spaces and tabs around a value are not part of it (RFC 9110, 5.5). uWebSockets.js removes bytes above 127 like them, and
// nothing that it hands out has them: its callers get the value that is left, not the bytes of the header. What is left
// may be any key, so there is nothing to refuse by. docs/api.md says so to those who make keys.
const dropped: readonly (readonly [what: string, around: (key: string) => string])[] = [
  ['spaces and tabs around it', (key) => ` \t${key}\t `],
  ['Latin-1 at its end', (key) => `${key}\xe9`],
  ['other Latin-1 at its end', (key) => `${key}\xe8`],
  ['UTF-8 at its start', (key) => `\xc3\xa9${key}`],
  ['a space and Latin-1 at its end', (key) => `${key} \xe9`],
];
for (const [i, [what, around]] of dropped.entries()) {
  test(`a key with ${what} is the key without`, async () => {
    const key = `order-${i}`;
    const first = await create(key);
    const second = await create(around(key));
    assert.equal(second.headers.get('idempotent-replayed'), 'true');
    assert.equal(second.json.id, first.json.id);
  });
}
