// The versions of the API. A request may name one in `X-Service-Version`. Without the header, the
// organization's version applies, which is the newest one at its creation.

import { type Refusal, refuse } from './errors/table.ts';
import { type ApiVersion, apiVersions } from './vocabulary.ts';

export function isApiVersion(text: string): text is ApiVersion {
  return (apiVersions as readonly string[]).includes(text);
}

/** The refusal of a version that does not exist. Its message lists those that exist. */
export function refuseVersion(param: string | undefined): Refusal {
  const values = { versions: apiVersions.join(', ') };
  return refuse('api_version_invalid', param === undefined ? { values } : { values, param });
}
