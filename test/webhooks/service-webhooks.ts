// Shared by the tests of webhooks on a running service.

import { poll } from '../poll.ts';

/** Lets a service in a test deliver to receivers on loopback. */
export const webhookEnv = {
  PAYMENTS_WEBHOOKS_ALLOW_PRIVATE: 'true',
  PAYMENTS_WEBHOOKS_ALLOW_HTTP: 'true',
};

/** Asks again and again until the answer is neither undefined nor false. */
export function eventually<T>(ask: () => T | Promise<T>): Promise<Exclude<T, undefined | false>> {
  return poll(async () => {
    const answer = await ask();
    return answer === false ? undefined : (answer as Exclude<T, undefined | false>);
  });
}
