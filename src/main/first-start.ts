// The first start of a data folder outside production creates an organization to try the service
// with, and prints its keys once, with a request that works as it is and a link that signs in to
// the dashboard. When the process ended before it came to that, the next start goes on with it.

import { signInLinkPath } from '../contract/page-paths.ts';
import type { Directory } from '../directory/directory.ts';

const sandbox = 'Sandbox';
/** The owner of the Sandbox has no password: the link signs in. */
const owner = { email: 'owner@example.com', name: 'Sandbox owner' };

/**
 * The Sandbox with keys that nobody has seen yet; null where there is another organization, or the
 * owner, who is made last.
 */
async function newSandbox(directory: Directory) {
  const [first, ...others] = directory.organizations();
  if (first === undefined) {
    const { organization, keys } = await directory.createOrganization(sandbox, ['test']);
    return { id: organization.id, ...keys.test };
  }
  if (others.length > 0 || first.name !== sandbox || directory.members.all().length > 0) return null;
  const { text: secret } = await directory.createKey(first.id, 'test', 'secret', 'operator');
  const { text: publishable } = await directory.createKey(first.id, 'test', 'publishable', 'operator');
  return { id: first.id, secret, publishable };
}

/**
 * Creates the organization `Sandbox` with an owner if there is no organization, and prints how to
 * use both.
 */
export async function greet(options: {
  readonly directory: Directory;
  /** The address that the service listens on. Behind a proxy it is not the public one. */
  readonly url: string;
  readonly production: boolean;
  readonly write: (text: string) => void;
}): Promise<void> {
  const { directory, url, production, write } = options;
  const made = production ? null : await newSandbox(directory);
  if (made === null) {
    write(`Listening on ${url}\n`);
    return;
  }
  const { id, secret, publishable } = made;
  const { token } = await directory.links.create(owner.email, { kind: 'sign_in' }, 'operator');
  await directory.members.create(owner.email, owner.name, null, { [id]: 'owner' });
  write(`
Listening on ${url}

Organization ${sandbox} was created to try the service with. Its test keys are shown this once.
Paste these lines into another terminal; the examples of the README and of ${url}/docs use them:

  export URL=${url}
  export ORG=${id}
  export KEY=${secret}
  export PUBLISHABLE_KEY=${publishable}

Open the dashboard with this link, which works once:

  ${url}${signInLinkPath(token)}

Create a payment intent:

  curl ${url}/v1/payment_intents -H "Authorization: Bearer ${secret}" -H "Idempotency-Key: first" -d '{"amount": 12000, "currency": "mad"}' -H "Content-Type: application/json"

`);
}
