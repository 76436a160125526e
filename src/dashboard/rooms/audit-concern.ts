// Whether a row of the audit record concerns an organization: a member acted in it, or an operator's action names it or something
// that belongs to it.

import { kindOfId } from '../../contract/id-prefixes.ts';
import { slotOfId } from '../../core/ids.ts';
import { slotOf } from '../../core/slot.ts';
import type { OperatorRow } from '../../operator/server/audit.ts';
import { recordOf } from '../../operator/server/shard-records.ts';
import type { Desk, Visit } from '../row.ts';

export function createConcern(
  { organization }: Visit,
  { services }: Desk,
): (row: OperatorRow) => Promise<boolean> {
  const { id: org, limitRequests } = organization;
  const own = new Set([org, ...services.directory.keysOf(org).map(({ id }) => id)]);
  for (const { id } of limitRequests) own.add(id);
  const looked = new Map<string, Promise<boolean>>();

  /** Whether the record with this id is the organization's. Its slot tells of most others that they are not. */
  function isOwnRecord(id: string): Promise<boolean> {
    const kind = kindOfId(id);
    if (kind === undefined || kind === 'organization' || slotOfId(id) !== slotOf(org))
      return Promise.resolve(false);
    let answer = looked.get(id);
    if (answer === undefined) {
      answer = recordOf<{ org: string }>(services, id, kind).then(
        (record) => record.org === org,
        () => false,
      );
      looked.set(id, answer);
    }
    return answer;
  }

  return async ({ by, params, object }) => {
    if (by !== null && 'member' in by) return by.organization === org;
    const named = [object, ...Object.values((params ?? {}) as object)].filter(
      (value): value is string => typeof value === 'string',
    );
    if (named.some((value) => own.has(value))) return true;
    for (const value of named) if (await isOwnRecord(value)) return true;
    return false;
  };
}
