// Where the configuration names an address for links, the node that has the lease has the others
// run partitions, too.

import { linkKeyOf } from '../cluster/node-tls.ts';
import { elementAt } from '../core/assert.ts';
import type { Pause } from '../data-folder/pause.ts';
import { Lending, type LendingOptions } from '../threads/lending.ts';
import type { Owned } from './own.ts';
import type { Owning } from './owning.ts';

interface Lender extends Pick<Owning, 'ending' | 'logger' | 'closers'> {
  readonly owned: Owned;
}

interface LendingParts extends Pick<LendingOptions, 'config' | 'checked' | 'registry'> {
  readonly secretsKeys: readonly string[];
  readonly pause: Pause;
}

/** Null: everything runs here. A folder that is paused runs nothing that could be moved. */
export function openLending(
  { owned, ending, logger, closers }: Lender,
  { secretsKeys, pause, ...parts }: LendingParts,
): Lending | null {
  const { among, claim, folder } = owned;
  if (among === null || claim.lease === null || parts.config.cluster.link === null || pause.paused !== null)
    return null;
  const lending = new Lending({
    ...parts,
    logger,
    folder,
    identity: among.identity,
    epoch: claim.lease,
    ownership: claim.ownership,
    attemptMsMax: claim.attemptMsMax,
    key: linkKeyOf(elementAt(secretsKeys, 0)),
    onDamaged: among.noteDamaged,
    onLost: ending.reject,
  });
  closers.push(() => lending.stop());
  among.watch((nodes, silent) => lending.nodes(nodes, silent));
  return lending;
}
