// What a thread shows the other nodes that it links with, read again when the configuration is.

import type { Registry } from 'prom-client';
import { type LinkProof, proofOf } from '../cluster/node-tls.ts';
import type { Config } from '../config/config-schema.ts';
import { createCertificateMetric } from '../telemetry/cluster-metrics.ts';
import type { Logger } from '../telemetry/logger.ts';

export interface OwnProof {
  readonly now: LinkProof;
  reread(config: Config): void;
}

/** `key`: the proof where no certificate is configured. */
export function ownProof({ cluster }: Config, key: Uint8Array, logger: Logger, registry: Registry): OwnProof {
  let now = proofOf(cluster, key);
  if (now.certificate !== null) {
    logger.info(
      `links go by the certificate in ${cluster.certFile}, which is good until ${now.certificate.validTo}`,
    );
    createCertificateMetric(registry, () => endOf(now) - Date.now());
  }
  return {
    get now() {
      return now;
    },
    reread(config) {
      now = proofOf(config.cluster, key);
    },
  };
}

function endOf({ certificate }: LinkProof): number {
  return certificate === null ? Number.POSITIVE_INFINITY : Date.parse(certificate.validTo);
}
