// The signature of the messages between this service and an integrator, in both directions: a
// header `X-Service-Signature: t=<unix seconds>,v1=<hex>` with the HMAC-SHA256 of `<t>.<body>`
// under a secret that both know. It is the signature of webhooks, so a library that verifies one
// verifies the other.

import { createHmac, type Hmac, type KeyObject, timingSafeEqual } from 'node:crypto';

/** The name of the header that carries the signature. */
export const signatureHeaderName = 'X-Service-Signature';

interface SignatureInput {
  /** The active secrets, newest first. While a rolled one overlaps, each has a signature. */
  readonly secrets: readonly (string | KeyObject)[];
  /** When the message is sent, whole Unix seconds. */
  readonly timestampSeconds: number;
  /** The exact bytes that are sent. A string is encoded as UTF-8. */
  readonly body: string | Uint8Array;
}

/** The header's value, `t=<timestamp>,v1=<hex>[,v1=<hex>]`, keyed by the whole secret. */
export function signatureHeader({ secrets, timestampSeconds, body }: SignatureInput): string {
  let header = `t=${timestampSeconds}`;
  for (const secret of secrets)
    header += `,v1=${hmacOf(secret, String(timestampSeconds), body).digest('hex')}`;
  return header;
}

function hmacOf(secret: string | KeyObject, timestamp: string, body: string | Uint8Array): Hmac {
  const hmac = createHmac('sha256', secret);
  // One call costs less than two.
  if (typeof body === 'string') return hmac.update(`${timestamp}.${body}`);
  return hmac.update(`${timestamp}.`).update(body);
}

/** A captured message can't be sent again when it is older than this. */
export const signatureSecondsMax = 300;

/** Why a signature is not accepted, in words for the sender; null when it is genuine and recent. */
export function signatureFault(
  header: string,
  body: string,
  secret: string,
  nowSeconds: number,
): string | null {
  const parts = header.split(',').map((part) => part.trim());
  const timestamp = parts.find((part) => part.startsWith('t='))?.slice(2) ?? '';
  const digests = parts.flatMap((part) => (/^v1=[0-9a-f]{64}$/.test(part) ? [part.slice(3)] : []));
  if (!/^\d{1,12}$/.test(timestamp) || digests.length === 0)
    return `${signatureHeaderName} must be t=<unix seconds>,v1=<hex>`;
  const expected = hmacOf(secret, timestamp, body).digest();
  if (!digests.some((digest) => timingSafeEqual(Buffer.from(digest, 'hex'), expected)))
    return 'the signature does not match the body: is it made of the exact bytes, with the right secret?';
  const isRecent = Math.abs(nowSeconds - Number(timestamp)) <= signatureSecondsMax;
  return isRecent ? null : `the signature's time is more than ${signatureSecondsMax} seconds from ours`;
}
