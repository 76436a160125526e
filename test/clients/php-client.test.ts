// The client for PHP against a running service, where PHP is installed: the same cases as for Node, each as a program that prints
// what it found as JSON.

import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { promisify } from 'node:util';
import { signatureHeader } from '../../src/crypto/signed-message.ts';
import { type Service, startService } from '../service.ts';
import { startStumbling } from './stumbling-server.ts';

const source = join(import.meta.dirname, '../../clients/php/src');
const isInstalled = spawnSync('php', ['--version'], { stdio: 'ignore' }).status === 0;
const skip = isInstalled ? false : 'left out: PHP is not installed';

let service: Service;
let network: Awaited<ReturnType<typeof startStumbling>>;
before(async () => {
  if (!isInstalled) return;
  service = await startService();
  network = await startStumbling(service.url);
});
beforeEach(() => {
  if (!isInstalled) return;
  network.stumbles.length = 0;
  network.arrived.length = 0;
});
after(async () => {
  network?.close();
  await service?.stop();
});

/** What a program prints, which has the client in `$payments` and the waits so far in `$waits`. */
async function run(program: string, env: Record<string, string> = {}) {
  const files = ['Types', 'PaymentsError', 'Payments', 'Webhook'].map(
    (name) => `require '${source}/${name}.php';`,
  );
  const begin = `${files.join('\n')}
use Payments\\{Payments, PaymentsError, Webhook};
error_reporting(E_ALL);
set_error_handler(static function (int $level, string $message) {
    if (error_reporting() & $level) { throw new ErrorException($message); }
    return false;
});
$waits = [];
$payments = new Payments(getenv('URL'), getenv('KEY'), wait: function (int $ms) use (&$waits) { $waits[] = $ms; });
`;
  const { stdout } = await promisify(execFile)('php', ['-r', begin + program], {
    env: { ...process.env, URL: network.url, KEY: service.keys!.secret, ...env },
    timeout: 60_000,
  });
  // biome-ignore lint/suspicious/noExplicitAny: each program prints what its test looks at.
  return JSON.parse(stdout) as any;
}

test('PHP: a payment is created, paid, refunded and looked at', { skip }, async () => {
  const [refund, paid, csv] = await run(`
$intent = $payments->send('POST /v1/payment_intents', ['amount' => 25000, 'currency' => 'mad'], 'php-order-1');
$charge = $payments->send('POST /v1/payment_intents/{id}/confirm', ['id' => $intent['id']], 'php-confirm-1')['latest_charge'];
$payments->send('POST /v1/test_helpers/charges/{id}/complete', ['id' => $charge]);
$refund = $payments->send('POST /v1/refunds', ['payment_intent' => $intent['id'], 'amount' => 10000], 'php-refund-1');
$paid = $payments->send('GET /v1/payment_intents/{id}', ['id' => $intent['id']]);
$csv = $payments->send('GET /v1/exports/refunds', ['format' => 'csv']);
echo json_encode([$refund, $paid, $csv]);`);
  assert.deepEqual([refund.amount, refund.status, paid.status], [10_000, 'pending', 'succeeded']);
  assert.match(csv, /^id,/);
});

test('PHP: what stumbles is sent again with the same key, and runs once', { skip }, async () => {
  network.stumbles.push(
    'no answer',
    'answer lost',
    { status: 503, code: 'api_error' },
    { status: 409, code: 'idempotency_in_progress' },
  );
  const waits = await run(`
$payments->send('POST /v1/payment_intents', ['amount' => 31000, 'currency' => 'mad'], 'php-order-2');
echo json_encode($waits);`);
  assert.equal(waits.length, 4);
  assert.ok(waits[3] > waits[0] * 2, String(waits));
  assert.deepEqual(
    network.arrived.map((each) => each.idempotencyKey),
    Array.from({ length: 5 }, () => 'php-order-2'),
  );
  const made = (await service.call('/v1/payment_intents?limit=100')).json.data;
  assert.equal(made.filter(({ amount }: { amount: number }) => amount === 31_000).length, 1);
});

test('PHP: an export that was cut is fetched again', { skip }, async () => {
  network.stumbles.push('answer cut');
  const [first, waits, again] = await run(`
$export = fn () => $payments->send('GET /v1/exports/payment_intents', ['format' => 'ndjson']);
echo json_encode([$export(), $waits, $export()]);`);
  assert.equal(waits.length, 1);
  assert.equal(first, again);
  assert.match(first, /\}\n$/);
});

test('PHP: empty metadata is sent as an object', { skip }, async () => {
  const [customer, session] = await run(`
$order = ['amount' => 25000, 'currency' => 'mad', 'success_url' => 'https://shop.example/thanks', 'metadata' => []];
$order['payment_intent_data'] = ['metadata' => []];
$session = $payments->send('POST /v1/checkout/sessions', $order, 'php-session-1');
$bare = $payments->send('POST /v1/checkout/sessions', ['payment_intent_data' => []] + $order, 'php-session-2');
echo json_encode([$payments->send('POST /v1/customers', ['metadata' => []]), $session, $bare]);`);
  assert.deepEqual([customer.object, session.object], ['customer', 'checkout.session']);
});

test('PHP: a rate limit is waited for, the daily cap and other refusals are not', { skip }, async () => {
  network.stumbles.push(
    { status: 429, code: 'rate_limit_exceeded', retryAfter: 2 },
    { status: 200, code: 'none' },
    { status: 429, code: 'test_daily_cap_reached', retryAfter: 3_600 },
  );
  const said = await run(`
$said = [];
foreach (['GET /v1/account', 'GET /v1/account', 'GET /v1/refunds/re_none'] as $route) {
    try {
        $payments->send($route);
    } catch (PaymentsError $error) {
        $said[] = [$error->status, $error->errorCode()];
    }
}
try {
    $payments->send('POST /v1/refunds', []);
} catch (InvalidArgumentException $error) {
    $said[] = $error->getMessage();
}
echo json_encode([$waits, $said]);`);
  const refused = [
    [429, 'test_daily_cap_reached'],
    [404, 'resource_missing'],
    'POST /v1/refunds needs an idempotency key',
  ];
  assert.deepEqual(said, [[2_000], refused]);
});

test('PHP: waits grow while a service that recovers says to wait for a second', { skip }, async () => {
  network.stumbles.push(
    ...Array.from({ length: 4 }, () => ({ status: 503, code: 'api_error', retryAfter: 1 })),
  );
  const waits = await run(`$payments->send('GET /v1/account'); echo json_encode($waits);`);
  assert.ok(waits[0] === 1_000 && waits[3] >= 3_000, String(waits));
});

test('PHP: a Retry-After that is no number of seconds is as good as none', { skip }, async () => {
  const retryAfter = 'Thu, 26 Nov 2026 17:00:00 GMT';
  network.stumbles.push({ status: 503, code: 'api_error', retryAfter });
  const [wait] = await run(`$payments->send('GET /v1/account'); echo json_encode($waits);`);
  assert.ok(wait >= 375, String(wait));
});

test('PHP: JSON of something else on the way is no refusal of the service: it is sent again', {
  skip,
}, async () => {
  const bodies = ['{"error":"Bad Gateway"}', '{"error":null}', '{"message":"down"}', '[]'];
  network.stumbles.push(...bodies.map((body) => ({ status: 502, body })));
  const [waits, account] = await run(
    `$account = $payments->send('GET /v1/account'); echo json_encode([count($waits), $account['object']]);`,
  );
  assert.deepEqual([waits, account], [4, 'account']);
});

test('PHP: a list is read page by page, each object once', { skip }, async () => {
  const [ids, before, array] = await run(`
foreach (range(1, 5) as $number) { $payments->send('POST /v1/customers', ['name' => "Page $number"]); }
$ids = [];
foreach ($payments->all('GET /v1/customers', ['limit' => 2]) as $customer) { $ids[] = $customer['id']; }
$before = [];
foreach ($payments->all('GET /v1/customers', ['limit' => 2, 'ending_before' => end($ids)]) as $customer) { $before[] = $customer['id']; }
$array = array_column(iterator_to_array($payments->all('GET /v1/customers', ['limit' => 2])), 'id');
echo json_encode([$ids, $before, $array]);`);
  assert.ok(ids.length >= 5);
  assert.deepEqual(ids, [...new Set(ids)]);
  assert.deepEqual(before.toSorted().toReversed(), ids.slice(0, -1));
  assert.deepEqual(array, ids);
});

test('PHP: what can not be sent as a key is refused, and neither sent nor quoted', { skip }, async () => {
  const said = await run(`
$body = '{"amount": 100, "currency": "mad"}';
$keys = ["order\\r\\nContent-Length: 34\\r\\n\\r\\n$body", "order\\n", 'commandé', '', str_repeat('x', 256)];
$said = [];
foreach ($keys as $key) {
    try {
        $payments->send('POST /v1/payment_intents', ['amount' => 50000, 'currency' => 'mad'], $key);
    } catch (InvalidArgumentException $error) {
        $said[] = $error->getMessage();
    }
}
try {
    new Payments(getenv('URL'), getenv('KEY') . "\\n");
} catch (InvalidArgumentException $error) {
    $said[] = str_contains($error->getMessage(), getenv('KEY')) ? 'quoted' : 'refused';
}
echo json_encode($said);`);
  const refused = 'an idempotency key has 1 to 255 printable ASCII characters';
  assert.deepEqual(said, [refused, refused, refused, refused, refused, 'refused']);
  assert.equal(network.arrived.length, 0);
});

test('PHP: a webhook is verified: what the service has signed, and nothing else', { skip }, async () => {
  const body = JSON.stringify({ id: 'evt_1', note: 'é خلاص' }, null, 1);
  const [secret, timestampSeconds] = ['svc_whsec_0123456789ABCDEFGHIJabcdefghij', 1_793_610_000];
  const header = signatureHeader({ secrets: [secret], timestampSeconds, body });
  const found = await run(
    `
[$body, $header, $secret, $at] = [getenv('BODY'), getenv('HEADER'), getenv('SECRET'), ${timestampSeconds}];
echo json_encode([
    Webhook::verify($body, $header, $secret, $at + 299)['id'] ?? null,
    Webhook::verify($body, $header, $secret, $at + 301),
    Webhook::verify("$body ", $header, $secret, $at),
    Webhook::verify($body, $header, $secret . 'x', $at),
    Webhook::verify($body, null, $secret, $at),
    Webhook::verify($body, 't=1', $secret, $at),
    Webhook::verify($body, str_replace('v1', 'v0', $header), $secret, $at),
]);`,
    { BODY: body, HEADER: header, SECRET: secret },
  );
  assert.deepEqual(found, ['evt_1', null, null, null, null, null, null]);
});

test('PHP: the program of the guide runs', { skip }, async () => {
  const guide = readFileSync(join(source, '../../../docs/guide/clients.md'), 'utf8');
  const program = /^```php\n<\?php\nuse .*\n([\s\S]*?)^```$/m.exec(guide)![1]!;
  assert.match(await run(`ob_start();\n${program}\necho json_encode(ob_get_clean());`), /\/checkout\/cs_/);
});
