// The slot of an endless stream among those of an edge, which it may lose to an organization that
// has fewer (shares.ts).

import type { Exchange } from './exchange.ts';
import type { Shares } from './shares.ts';

export interface StreamSlot {
  /** The stream has to end. */
  readonly isLost: boolean;
  giveBack(): void;
}

/** Takes a slot for its owners, from the largest down; null when there is none for them. */
export function takeStreamSlot(
  slots: Shares,
  owners: readonly string[],
  exchange: Pick<Exchange, 'isStuck' | 'cut'>,
): StreamSlot | null {
  const slot = { isLost: false };
  const giveBack = slots.take(owners, () => {
    slot.isLost = true;
    // A slow client would hold the rest of a piece for as long as it may.
    if (exchange.isStuck) exchange.cut();
  });
  return giveBack && Object.assign(slot, { giveBack });
}
