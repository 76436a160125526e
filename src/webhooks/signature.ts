// The signature of a webhook delivery is a header by which a merchant's server knows that a delivery is genuine, complete
// and recent. Every attempt has a new one, because a receiver refuses a signature that is older than five minutes. Stripe's
// libraries can verify it, with our header and secret.

import { createHmac } from 'node:crypto';

/** The name of the header that carries the signature. */
export const signatureHeaderName = 'X-Service-Signature';

export interface SignatureInput {
  /** The secrets in force, newest first. There are several while a rolled one overlaps; each has a signature. */
  readonly secrets: readonly string[];
  /** When the attempt is made, whole Unix seconds. */
  readonly timestampSeconds: number;
  /** The exact bytes that are sent. A string is encoded as UTF-8. */
  readonly body: string | Uint8Array;
}

/**
 * The value of the header, `t=<timestamp>,v1=<hex>[,v1=<hex>]`: the HMAC-SHA256 of `<timestamp>.<body>`. The key is the
 * whole text of a secret, with its prefix.
 */
export function signatureHeader({ secrets, timestampSeconds, body }: SignatureInput): string {
  let header = `t=${timestampSeconds}`;
  for (const secret of secrets) {
    const hmac = createHmac('sha256', secret).update(`${timestampSeconds}.`).update(body);
    header += `,v1=${hmac.digest('hex')}`;
  }
  return header;
}
