// What a thread shows the other nodes that it links with, read again when the configuration is.

import { createSecureContext } from 'node:tls';
import type { Registry } from 'prom-client';
import { type LinkProof, proofOf } from '../cluster/node-tls.ts';
import type { Config } from '../config/config-schema.ts';
import { createCertificateMetric } from '../telemetry/cluster-metrics.ts';
import type { Logger } from '../telemetry/logger.ts';

interface OwnProof {
  readonly now: LinkProof;
  /** Goes on with what it has where the files can't be used, and logs why. */
  reread(config: Config): void;
}

/** `key`: the proof where no certificate is configured. */
export function ownProof(config: Config, key: Uint8Array, logger: Logger, registry: Registry): OwnProof {
  const read = ({ cluster }: Config): LinkProof => {
    const proof = proofOf(cluster, key);
    if (proof.certificate === null) return proof;
    // Throws when certificate and key do not belong together: whoever renews them writes one first.
    createSecureContext(proof.server);
    const { validTo } = proof.certificate;
    logger.info(`links go by the certificate in ${cluster.certFile}, which is good until ${validTo}`);
    return proof;
  };
  let now = read(config);
  if (now.certificate !== null) createCertificateMetric(registry, () => endOf(now) - Date.now());
  return {
    get now() {
      return now;
    },
    reread(changed) {
      try {
        now = read(changed);
      } catch (error) {
        logger.error(
          { err: error },
          'the certificate for links can not be used, and the one that was read before is',
        );
      }
    },
  };
}

function endOf({ certificate }: LinkProof): number {
  return certificate === null ? Number.POSITIVE_INFINITY : Date.parse(certificate.validTo);
}
