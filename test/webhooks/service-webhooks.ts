// Shared by the tests of webhooks on a running service.

import { setTimeout as wait } from 'node:timers/promises';

/** Lets a service in a test deliver to receivers on loopback. */
export const webhookEnv = {
  PAYMENTS_WEBHOOKS_ALLOW_PRIVATE: 'true',
  PAYMENTS_WEBHOOKS_ALLOW_HTTP: 'true',
};

const pollMs = 20;
const deadlineMs = 120_000;

/** Asks again and again until the answer is neither undefined nor false; fails after half a minute. */
export async function eventually<T>(ask: () => T | Promise<T>): Promise<Exclude<T, undefined | false>> {
  for (const endMs = performance.now() + deadlineMs; performance.now() < endMs; ) {
    const answer = await ask();
    if (answer !== undefined && answer !== false) return answer as Exclude<T, undefined | false>;
    await wait(pollMs);
  }
  throw new Error(`it did not happen within ${deadlineMs} ms: ${ask}`);
}
