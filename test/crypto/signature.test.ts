import assert from 'node:assert/strict';
import { createHmac, randomFillSync } from 'node:crypto';
import { test } from 'node:test';
import Stripe from 'stripe';
import { createRandomText } from '../../src/core/ids.ts';
import { signatureFault, signatureHeader } from '../../src/crypto/signed-message.ts';
import { newSigningSecret } from '../../src/domain/webhook-endpoints.ts';

const stripe = new Stripe('sk_test_unused');
const secret = 'svc_whsec_0123456789ABCDEFGHIJabcdefghij';
const rolledSecret = 'svc_whsec_zyxwvutsrqponmlkjihgfedcba98765';
const toleranceSeconds = 300;

const bodies: Record<string, string> = {
  ascii: '{"id":"evt_1","object":"event"}',
  'non-ASCII': '{"id":"evt_1","object":"event","data":{"object":{"description":"خلاص — café 🧾"}}}',
  'line breaks and spaces': '{\n  "id" : "evt_1",\r\n "object" : "event" }\n',
};

function now(): number {
  return Math.floor(Date.now() / 1000);
}

function accept(body: string | Buffer, header: string, key = secret): unknown {
  return stripe.webhooks.constructEvent(body, header, key, toleranceSeconds);
}

for (const [name, body] of Object.entries(bodies)) {
  test(`the stripe library accepts a signed body: ${name}`, () => {
    const header = signatureHeader({ secrets: [secret], timestampSeconds: now(), body });
    assert.deepEqual(accept(body, header), JSON.parse(body));
    assert.deepEqual(accept(Buffer.from(body), header), JSON.parse(body));
  });
}

test('a string and its UTF-8 bytes have one signature', () => {
  for (const body of Object.values(bodies)) {
    const input = { secrets: [secret], timestampSeconds: 1_800_000_000 };
    assert.equal(signatureHeader({ ...input, body }), signatureHeader({ ...input, body: Buffer.from(body) }));
  }
});

test('bytes that are no text are signed as they are', () => {
  const body = Buffer.of(0x7b, 0xff, 0x00, 0x7d);
  const expected = createHmac('sha256', secret).update('5.').update(body).digest('hex');
  assert.equal(signatureHeader({ secrets: [secret], timestampSeconds: 5, body }), `t=5,v1=${expected}`);
});

test('the signed text is the timestamp, a dot and the body; the key is the whole secret', () => {
  const body = bodies['non-ASCII']!;
  const expected = createHmac('sha256', secret).update(`1800000000.${body}`).digest('hex');
  const header = signatureHeader({ secrets: [secret], timestampSeconds: 1_800_000_000, body });
  assert.equal(header, `t=1800000000,v1=${expected}`);
});

test('each secret in force signs, in order, and each alone is enough', () => {
  const body = bodies['non-ASCII']!;
  const header = signatureHeader({ secrets: [secret, rolledSecret], timestampSeconds: now(), body });
  assert.match(header, /^t=\d+,v1=[0-9a-f]{64},v1=[0-9a-f]{64}$/);
  assert.ok(accept(body, header, secret));
  assert.ok(accept(body, header, rolledSecret));
  assert.throws(() => accept(body, header, 'svc_whsec_another'));
});

test('the stripe library refuses what was tampered with or is old', () => {
  const body = bodies['non-ASCII']!;
  const t = now();
  const header = signatureHeader({ secrets: [secret], timestampSeconds: t, body });
  const flipped = header.replace(/.$/, (last) => (last === '0' ? '1' : '0'));
  const refusals: [string, string, string][] = [
    ['another body', `${body} `, header],
    ['another time', body, header.replace(`t=${t}`, `t=${t + 1}`)],
    ['another digest', body, flipped],
    ['no digest', body, `t=${t}`],
    ['six minutes old', body, signatureHeader({ secrets: [secret], timestampSeconds: t - 360, body })],
  ];
  for (const [name, sent, signature] of refusals) {
    assert.throws(() => accept(sent, signature), Stripe.errors.StripeSignatureVerificationError, name);
  }
});

test('a new signing secret is long, base 62, and never the same', () => {
  const randomText = createRandomText(randomFillSync);
  const made = new Set(Array.from({ length: 1000 }, () => newSigningSecret(randomText)));
  assert.equal(made.size, 1000);
  for (const each of made) assert.match(each, /^svc_whsec_[0-9A-Za-z]{32,}$/);
});

test('a signature is accepted when one of its digests is right and its time is near', () => {
  const [body, at] = ['{"amount":1}', 1_800_000_000];
  const header = signatureHeader({ secrets: [secret], timestampSeconds: at, body });
  const digest = header.slice(header.indexOf('v1='));
  const wrong = `v1=${'0'.repeat(64)}`;
  const form = 'X-Service-Signature must be t=<unix seconds>,v1=<hex>';
  const mismatch = /does not match the body/;
  const rows: readonly (readonly [header: string, nowSeconds: number, fault: string | RegExp | null])[] = [
    [header, at, null],
    [`${digest}, t=${at}`, at, null],
    [`t=${at},${wrong},${digest}`, at, null],
    [`t=${at},${digest},${wrong},v0=x`, at, null],
    [header, at + 300, null],
    [header, at - 300, null],
    [header, at + 301, /more than 300 seconds/],
    [header, at - 301, /more than 300 seconds/],
    [`t=${at},${wrong}`, at, mismatch],
    [`t=${at + 1},${digest}`, at, mismatch],
    ['', at, form],
    [digest, at, form],
    [`t=${at}`, at, form],
    [`t=,${digest}`, at, form],
    [`t=x${at},${digest}`, at, form],
    [`t=${at}x,${digest}`, at, form],
    [`t=1${'0'.repeat(12)},${digest}`, at, form],
    [`t=${at},${digest}0`, at, form],
    [`t=${at},x${digest}`, at, form],
    [`t=${at},${digest.toUpperCase()}`, at, form],
  ];
  for (const [given, nowSeconds, fault] of rows) {
    const found = signatureFault(given, body, secret, nowSeconds);
    if (fault instanceof RegExp) assert.match(String(found), fault, given);
    else assert.equal(found, fault, given);
  }
  assert.match(String(signatureFault(header, `${body} `, secret, at)), mismatch);
  assert.match(String(signatureFault(header, body, rolledSecret, at)), mismatch);
});
