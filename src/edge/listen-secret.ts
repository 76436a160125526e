// The secret that `payments listen` signs forwarded events with: one for each organization, the same for as long as the
// data folder lives, so that it can be set once in the program that receives them. It signs events of test mode on their
// way to a developer's own machine, and nothing else.

import { createHmac } from 'node:crypto';

/** Derives an organization's secret from the key of the data folder. */
export function listenSecret(listenKey: Uint8Array, org: string): string {
  return `svc_whsec_${createHmac('sha256', listenKey).update(`listen ${org}`).digest('hex')}`;
}
