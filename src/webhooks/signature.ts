// The signature of a webhook delivery: the header by which a merchant's server knows that a delivery is ours, whole
// and recent. Every attempt signs anew, because a receiver refuses a signature older than five minutes. The scheme is
// the one that Stripe's libraries verify, so a merchant can use theirs with our header and secret.

import { createHmac } from 'node:crypto';

/** The name of the header that carries the signature. */
export const signatureHeaderName = 'X-Service-Signature';

export interface SignatureInput {
  /** The secrets in force, newest first: several while a rolled one overlaps. Each signs once. */
  readonly secrets: readonly string[];
  /** When the attempt is made, whole Unix seconds. */
  readonly timestampSeconds: number;
  /** The exact bytes that are sent; a string stands for its UTF-8 bytes. */
  readonly body: string | Uint8Array;
}

/**
 * The value of the header, `t=<timestamp>,v1=<hex>[,v1=<hex>]`. What is signed is `<timestamp>.<body>`, with
 * HMAC-SHA256, and the key is the whole text of a secret, its prefix included.
 */
export function signatureHeader({ secrets, timestampSeconds, body }: SignatureInput): string {
  let header = `t=${timestampSeconds}`;
  for (const secret of secrets) {
    const hmac = createHmac('sha256', secret).update(`${timestampSeconds}.`).update(body);
    header += `,v1=${hmac.digest('hex')}`;
  }
  return header;
}
