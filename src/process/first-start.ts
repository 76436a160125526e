// The first start of a data folder outside production creates an organization to try the service with, and prints its keys
// once, with a request that works as it is and a link that signs in to the dashboard.

import { signInLinkPath } from '../contract/page-paths.ts';
import type { Directory } from '../directory/directory.ts';

/** The owner of the Sandbox has no password: the link signs in. */
const owner = { email: 'owner@example.com', name: 'Sandbox owner' };

/** Creates the organization `Sandbox` with an owner if there is no organization, and prints how to use both. */
export async function greet(options: {
  readonly directory: Directory;
  /** The address that the service listens on. Behind a proxy it is not the public one. */
  readonly url: string;
  readonly production: boolean;
}): Promise<void> {
  const { directory, url, production } = options;
  if (production || directory.organizations().length > 0) {
    process.stdout.write(`Listening on ${url}\n`);
    return;
  }
  const { organization, keys } = await directory.createOrganization('Sandbox', ['test']);
  await directory.members.create(owner.email, owner.name, null, { [organization.id]: 'owner' });
  const { token } = await directory.links.create(owner.email, { kind: 'sign_in' }, 'operator');
  process.stdout.write(`
Listening on ${url}

Organization ${organization.name} was created to try the service with. Its test keys are shown this once.
Paste these lines into another terminal; the examples of the README and of ${url}/docs use them:

  export URL=${url}
  export ORG=${organization.id}
  export KEY=${keys.test.secret}
  export PUBLISHABLE_KEY=${keys.test.publishable}

Open the dashboard with this link, which works once:

  ${url}${signInLinkPath(token)}

Create a payment intent:

  curl ${url}/v1/payment_intents -H "Authorization: Bearer ${keys.test.secret}" -H "Idempotency-Key: first" -d '{"amount": 12000, "currency": "mad"}' -H "Content-Type: application/json"

`);
}
