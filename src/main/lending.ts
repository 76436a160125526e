// Where the configuration names an address for links, the node that has the lease has the others
// run partitions, too.

import { linkKeyOf } from '../cluster/node-tls.ts';
import { elementAt } from '../core/assert.ts';
import type { Pause } from '../data-folder/pause.ts';
import { Lending, type LendingOptions } from '../threads/lending.ts';
import type { Owned } from './own.ts';

export interface LendingParts extends Pick<LendingOptions, 'config' | 'checked' | 'logger'> {
  /** Rejected when the service can't go on. */
  readonly told: PromiseWithResolvers<void>;
  readonly secretsKeys: readonly string[];
  readonly pause: Pause;
  readonly closers: (() => Promise<unknown>)[];
}

/** Null: everything runs here. A folder that is paused runs nothing that could be moved. */
export function openLending(
  { among, claim, folder }: Owned,
  { secretsKeys, told, pause, closers, ...parts }: LendingParts,
): Lending | null {
  if (among === null || claim.lease === null || parts.config.cluster.link === null || pause.paused !== null)
    return null;
  const lending = new Lending({
    ...parts,
    folder,
    identity: among.identity,
    epoch: claim.lease,
    ownership: claim.ownership,
    key: linkKeyOf(elementAt(secretsKeys, 0)),
    onLost: told.reject,
  });
  closers.push(() => lending.stop());
  among.watch((nodes) => lending.nodes(nodes));
  return lending;
}
