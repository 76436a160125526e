// The configured limits of an edge's connections, with the counters they need, and the log line and
// metric of refused connections.

import type { Config } from '../config/config-schema.ts';
import { createIsTrusted } from '../edge/http/client-address.ts';
import { type ConnectionRefusal, Connections } from '../edge/http/connections.ts';
import { createPeerCount } from '../edge/http/peer-table.ts';
import type { Logger } from '../telemetry/logger.ts';
import { onceAMinute } from '../telemetry/once-a-minute.ts';
import { systemClocks } from '../telemetry/system-clocks.ts';

export function createEdgeConnections(options: {
  readonly config: Config;
  readonly port: number;
  /** The number of open connections at all edges. */
  readonly open: SharedArrayBuffer;
  readonly logger: Logger;
  readonly onRefused: (reason: ConnectionRefusal) => void;
}): Connections {
  const { config, port, open, logger, onRefused } = options;
  const { max, perAddressMax } = config.connections;
  const { monotonic } = systemClocks();
  const isLogged = { all: onceAMinute(monotonic), address: onceAMinute(monotonic) };
  return new Connections({
    max,
    perAddressMax,
    open: new Int32Array(open),
    edges: config.edges,
    isExempt: createIsTrusted(config.pages.trustedProxies),
    countPeers: createPeerCount(port),
    monotonic,
    onRefused(reason, address) {
      onRefused(reason);
      if (!isLogged[reason]()) return;
      const advice = 'if it is a proxy, name it in PAYMENTS_PAGES_TRUSTED_PROXIES';
      if (reason === 'all') logger.warn({ max }, `there are ${max} connections: more are closed at once`);
      else {
        const fields = { address, perAddressMax };
        logger.warn(
          fields,
          `${address} has ${perAddressMax} connections: more are closed at once; ${advice}`,
        );
      }
    },
  });
}
