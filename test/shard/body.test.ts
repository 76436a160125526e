// Bodies: what is accepted, what is refused and why, and that no body can cause more than a
// refusal.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { bodyBytesMax, bodyNamesMax } from '../../src/contract/limits.ts';
import { findForbiddenText, nestingMax, parseBody } from '../../src/shard/body.ts';

const parse = (body: string | Buffer) => parseBody(Buffer.from(body as string));

/** The message of the refusal, or what was parsed. */
function outcomeOf(body: string | Buffer): unknown {
  const parsed = parse(body);
  return 'refusal' in parsed ? parsed.refusal.message : parsed.params;
}

/** The parameter at fault and the reason, when the text of a body is not allowed. */
function forbiddenIn(body: string): string | null {
  const parsed = parse(body);
  assert.ok('params' in parsed, `${body} does not parse`);
  if (!parsed.suspicious) return null;
  const refusal = findForbiddenText(parsed.params);
  return refusal && `${refusal.param} ${refusal.message?.split('.')[1]}`;
}

const taken: readonly (readonly [body: string, params: string])[] = [
  ['', '{}'],
  ['{}', '{}'],
  [' \t\r\n{} ', '{}'],
  ['{"a":1000.0}', '{"a":1000}'],
  ['{"a":":","b:":"\\":"}', '{"a":":","b:":"\\":"}'],
  ['{"a":{"x":1},"b":{"x":1}}', '{"a":{"x":1},"b":{"x":1}}'],
  ['[{"a":1},{"a":2}]'.replace(/.*/, '{"a":[{"x":1},{"x":2}]}'), '{"a":[{"x":1},{"x":2}]}'],
  ['{"":1}', '{"":1}'],
  ['{"a":"\\\\","b":":"}', '{"a":"\\\\","b":":"}'],
  ['{"constructor":1,"toString":2}', '{"constructor":1,"toString":2}'],
  ['{"é":"العربية 🦁"}', '{"é":"العربية 🦁"}'],
];
for (const [body, params] of taken) {
  test(`${JSON.stringify(body)} is taken`, () => assert.deepEqual(outcomeOf(body), JSON.parse(params)));
}

const notJson = 'invalid_request.json';
const notAnObject = 'invalid_request.not_an_object';
const duplicate = 'invalid_request.duplicate_name';
const refused: readonly (readonly [body: string | Buffer, message: string])[] = [
  ['{', notJson],
  ['{}{}', notJson],
  ['{"a":1,}', notJson],
  ["{'a':1}", notJson],
  ['{"a":01}', notJson],
  ['{"a":NaN}', notJson],
  ['{a:1}', notJson],
  ['{"a":"\n"}', notJson],
  ['{"a":"\\x"}', notJson],
  ['\ufeff{}', notJson],
  ['amount=1000&currency=mad', notJson],
  [' ', notJson],
  ['{"a":1}\0', notJson],
  [Buffer.from([0x7b, 0x7d, 0xff]), notJson],
  [Buffer.from('{"a":"\xe9"}', 'latin1'), notJson],
  [Buffer.from('7b2261223a22eda080227d', 'hex'), notJson],
  [Buffer.from('7b2261223a22c0af227d', 'hex'), notJson],
  [Buffer.from('{}', 'utf16le'), notJson],
  ['[]', notAnObject],
  ['null', notAnObject],
  ['1', notAnObject],
  ['"{}"', notAnObject],
  ['true', notAnObject],
  ['{"a":1,"a":1}', duplicate],
  ['{"a":1,"b":2,"a":3}', duplicate],
  ['{"a":1,"\\u0061":2}', duplicate],
  ['{"x":{"a":1,"a":2}}', duplicate],
  ['{"x":[[{"a":1,"a":2}]]}', duplicate],
  ['{"x":{"y":{"z":{"a":{},"a":{}}}}}', duplicate],
  ['{"":1,"":2}', duplicate],
  ['{"__proto__":1,"__proto__":2}', duplicate],
  ['{"metadata":{"a":"1","a":"2"},"amount":1}', duplicate],
  ['{"a":{"b":1,"c":2},"a":{}}', duplicate],
];
for (const [body, message] of refused) {
  const shown = typeof body === 'string' ? JSON.stringify(body) : body.toString('hex');
  test(`${shown} is refused: ${message}`, () => assert.equal(outcomeOf(body), message));
}

test('__proto__ is a name like any other, and changes no prototype', () => {
  const parsed = parse('{"__proto__":{"amount":1},"a":{"__proto__":{"b":2}}}');
  assert.ok('params' in parsed);
  assert.deepEqual(Object.keys(parsed.params), ['__proto__', 'a']);
  assert.equal(Object.getPrototypeOf(parsed.params), Object.prototype);
  assert.equal(parsed.params.amount, undefined);
  assert.equal(({} as Record<string, unknown>).amount, undefined);
});

const card = '4242424242424242';
const forbidden: readonly (readonly [body: string, fault: string | null])[] = [
  ['{"description":"order 1042"}', null],
  [`{"description":"${card}"}`, 'description card_number'],
  ['{"description":"pay 4242-4242-4242-4242 now"}', 'description card_number'],
  ['{"description":"pay 4242\u00a04242\u00a04242\u00a04242 now"}', 'description card_number'],
  ['{"description":"pay 4242\\u20094242\\u20094242\\u20094242 now"}', 'description card_number'],
  ['{"description":"4242\u200b424242424242"}', 'description card_number'],
  ['{"metadata":{"order_id":"41111111-1111-4111-1111-000000000000"}}', null],
  ['{"description":"\\u0034242424242424242"}', 'description card_number'],
  ['{"description":"4242\\u00204242\\u00204242\\u00204242"}', 'description card_number'],
  ['{"description":"٤٢٤٢٤٢٤٢٤٢٤٢٤٢٤٢"}', 'description card_number'],
  ['{"description":"\\u0664242424242424242"}', 'description card_number'],
  ['{"description":"４２４２４２４２４２４２４２４２"}', 'description card_number'],
  [`{"metadata":{"note":"${card}"}}`, 'metadata.note card_number'],
  [`{"metadata":{"${card}":"x"}}`, 'metadata card_number'],
  ['{"metadata":{"\\u0034242424242424242":"x"}}', 'metadata card_number'],
  [`{"${card}":1}`, 'body card_number'],
  [`{"a":[{"b":["${card}"]}]}`, 'a.0.b.0 card_number'],
  [`{"${'n'.repeat(99)}":"${card}"}`, `${'n'.repeat(63)}… card_number`],
  // No parameter takes a text of this length: that is what it is refused for.
  [`{"description":"${'x'.repeat(4_079)} ${card}"}`, 'description card_number'],
  [`{"description":"${'x'.repeat(4_080)} ${card}"}`, null],
  // A number is no text; whoever takes numbers has limits for them.
  [`{"amount":${card}}`, null],
  // Too short, too long, no valid check digit.
  ['{"description":"424242424242"}', null],
  [`{"description":"${card}${card}"}`, null],
  ['{"description":"4242424242424241"}', null],
  [`{"a":null,"b":[null,true,1],"c":"${card}"}`, 'c card_number'],
  // A run ends where a text ends.
  ['{"a":"42424242","b":"42424242"}', null],
  ['{"description":"\\ud83e\\udd81"}', null],
  ['{"description":"\\ud83e"}', 'description encoding'],
  ['{"description":"\\udd81\\ud83e"}', 'description encoding'],
  ['{"metadata":{"a":"x","b":"\\ud83e"}}', 'metadata.b encoding'],
  ['{"metadata":{"\\ud83e":"x"}}', 'metadata encoding'],
  ['{"\\ud83e":{"a":"\\ud83e"}}', 'body encoding'],
];
for (const [body, fault] of forbidden) {
  test(`${body.slice(-120)}: ${fault ?? 'nothing wrong'}`, () => assert.equal(forbiddenIn(body), fault));
}

const nested = (open: string, inner: string, close: string, depth: number) =>
  `{"a":${open.repeat(depth)}${inner}${close.repeat(depth)}}`;
const tooDeep = 'invalid_request.too_deep';

test('a body may be nested as deep as anybody needs, and no deeper', () => {
  const lists = (depth: number) => nested('[', '1', ']', depth - 1);
  const objects = (depth: number) => nested('{"a":', '1', '}', depth - 1);
  for (const body of [lists(nestingMax), objects(nestingMax)]) {
    assert.notEqual(outcomeOf(body), tooDeep);
  }
  const spaced = (depth: number) => nested(' [ ', '1 ', ' , 2 ] ', depth - 1);
  assert.notEqual(outcomeOf(spaced(nestingMax)), tooDeep);
  for (const body of [lists(nestingMax + 1), objects(nestingMax + 1), spaced(nestingMax + 1)]) {
    assert.equal(outcomeOf(body), tooDeep);
  }
  // Brackets in texts nest nothing.
  assert.notEqual(outcomeOf(`{"a":"${'[{'.repeat(100)}"}`), tooDeep);
  // Neither do lists and objects side by side.
  for (const part of ['[],', '{},']) assert.notEqual(outcomeOf(`{"a":[${part.repeat(1_000)}{}]}`), tooDeep);
});

test('a body has no more names and list items than any request needs, at every depth, whatever else is wrong with it', () => {
  const named = (count: number) => Array.from({ length: count }, (_, i) => `"n${i}":":"`).join(',');
  const items = (count: number, item: string) => `[${Array.from({ length: count }, () => item).join(',')}]`;
  const tooMany = 'invalid_request.too_many_names';
  assert.equal(typeof outcomeOf(`{${named(bodyNamesMax)}}`), 'object');
  assert.equal(typeof outcomeOf(`{"metadata":{${named(bodyNamesMax - 1)}}}`), 'object');
  assert.equal(typeof outcomeOf(`{"a":${items(bodyNamesMax - 1, '{}')}}`), 'object');
  assert.equal(typeof outcomeOf(`{"a":{"b":[1,2]},"c":${items(bodyNamesMax - 5, '"[,"')}}`), 'object');
  for (const body of [
    `{${named(bodyNamesMax + 1)}}`,
    `{"metadata":{${named(bodyNamesMax)}}}`,
    `{"a":[{${named(bodyNamesMax / 2)}},{${named(bodyNamesMax / 2)}}]}`,
    `{${named(bodyNamesMax)},"n0":1}`,
    `{${named(bodyNamesMax + 1)}`,
    `{"a":${items(bodyNamesMax, '1')}}`,
    `{"a":${items(bodyNamesMax / 2, '[]')}}`,
    `{"a":${items(bodyNamesMax / 2, '{"b":1}')}}`,
    `{"a":{"b":[1],"c":${items(bodyNamesMax, '{}')}`,
  ]) {
    assert.equal(outcomeOf(body), tooMany, body.slice(-40));
  }
});

test('a body of the largest size is refused in little time, whatever it is made of', () => {
  const room = bodyBytesMax - 16;
  const bodies: readonly (readonly [what: string, body: string])[] = [
    ['lists in lists', nested('[', '', ']', room / 2)],
    ['objects in objects', nested('{"":', '1', '}', room / 5)],
    ['lists that never close', `{"a":${'['.repeat(room)}`],
    ['many items', `{"a":[${'1,'.repeat(room / 2 - 8)}1]}`],
    ['lists of lists side by side', `{"a":[${`${'['.repeat(29)}${']'.repeat(29)},`.repeat(room / 60)}1]}`],
    ['many names', `{${Array.from({ length: room / 12 }, (_, i) => `"${i}":1`).join(',')}}`],
    ['many equal names', `{${'"a":1,'.repeat(room / 6 - 1)}"a":1}`],
    ['one long text', `{"a":"${'4 '.repeat(room / 2)}"}`],
    ['escapes', `{"a":"${'\\u0034'.repeat(room / 6)}"}`],
    ['digits', `{"a":"${'1'.repeat(room)}"}`],
    ['quotes', `{"a":"${'\\"'.repeat(room / 2)}"}`],
  ];
  for (const [what, body] of bodies) {
    const before = process.cpuUsage();
    const parsed = parse(body);
    if ('params' in parsed && parsed.suspicious) findForbiddenText(parsed.params);
    assert.ok(process.cpuUsage(before).user < 1_000_000, what);
  }
});

test('any JSON object without equal names is taken as it is', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 4 })), (value) => {
      const parsed = parse(JSON.stringify(value));
      assert.ok('params' in parsed);
      assert.equal(JSON.stringify(parsed.params), JSON.stringify(JSON.parse(JSON.stringify(value))));
    }),
    { numRuns: 300 },
  );
});

test('any bytes at all are a refusal or an object', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.uint8Array(),
        fc.json().map((text) => Buffer.from(text)),
      ),
      (bytes) => {
        const parsed = parseBody(Buffer.from(bytes));
        assert.ok('refusal' in parsed || typeof parsed.params === 'object');
      },
    ),
    { numRuns: 300 },
  );
});
