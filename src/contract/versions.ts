// The versions of the API. A request may name one in `X-Service-Version`; without the header the organization's own
// version applies, the newest one when the organization was created.

import { type Refusal, refuse } from './errors/table.ts';
import { type ApiVersion, apiVersions } from './vocabulary.ts';

export function isApiVersion(text: string): text is ApiVersion {
  return (apiVersions as readonly string[]).includes(text);
}

/** The refusal of a version that does not exist; its message lists those that do. */
export function refuseVersion(param: string | undefined): Refusal {
  const values = { versions: apiVersions.join(', ') };
  return refuse('api_version_invalid', param === undefined ? { values } : { values, param });
}
