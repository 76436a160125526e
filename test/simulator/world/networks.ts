// The payment networks as a shard's thread knows them: those of test mode and of live mode.

import type { Networks, TellingNetworks } from '../../../src/networks/network.ts';

/** The same networks for every organization. */
export function networksOf(test: TellingNetworks, live: TellingNetworks, isHosted: boolean): Networks {
  return {
    of: (_, mode) => (mode === 'test' ? test : live),
    // Reports for test mode have the same form, and the secret of that mode.
    posting: () => ({ card: isHosted ? live.card : null, cash: null }),
    callbackPath: () => '',
    available: (org, mode) => {
      const cardPage = mode === 'live' && isHosted ? 'hosted' : 'own';
      const isKnown = org.startsWith('org_');
      return { card: isKnown, cash: isKnown, cardPage, agents: null };
    },
    onOutcome(listener) {
      test.onOutcome(listener);
      live.onOutcome(listener);
    },
  };
}
