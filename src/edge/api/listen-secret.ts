// The secret with which `payments listen` signs forwarded events. Each organization has one, which
// never changes in a data folder, so that a developer sets it once in the receiving program. It
// signs nothing but forwarded events of test mode.

import { createHmac } from 'node:crypto';

/** Derives an organization's secret from the key of the data folder. */
export function listenSecret(listenKey: Uint8Array, org: string): string {
  return `svc_whsec_${createHmac('sha256', listenKey).update(`listen ${org}`).digest('hex')}`;
}
