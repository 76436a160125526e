// What makes a certificate that of a node: its name, as a DNS name below a domain that nothing else
// has. An authority may sign certificates for other things, too: these let nobody in.

import { X509Certificate } from 'node:crypto';

/** No public authority signs names in it. */
const domain = '.payments-node.internal';
const label = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i;
/** The extended key usages of servers and of clients: a node is both. */
const usages = ['1.3.6.1.5.5.7.3.1', '1.3.6.1.5.5.7.3.2'];

/** The DNS name in the certificate of a node; null: no certificate can name it. */
export function certifiedName(node: string): string | null {
  return label.test(node) ? node.toLowerCase() + domain : null;
}

/** Whether it is that of a node, whichever it is. */
export function isOfNode(certificate: X509Certificate | undefined): boolean {
  return certificate?.checkHost(domain, { subject: 'never' }) !== undefined;
}

/** Why other nodes would not let in this one with it; null: they would, until it ends. PEM. */
export function faultOfCertificate(node: string, certificate: Buffer, authorities: Buffer): string | null {
  const name = certifiedName(node);
  if (name === null)
    return `can't name the node "${node}": take letters, digits and hyphens for PAYMENTS_CLUSTER_NODE, at most 63`;
  const own = new X509Certificate(certificate);
  if (own.checkHost(name, { subject: 'never' }) === undefined)
    return `is not that of node ${node}: ${name} is not among its DNS names`;
  const { keyUsage } = own;
  if (keyUsage !== undefined && usages.some((usage) => !keyUsage.includes(usage)))
    return 'is not good for both sides of a connection: its extended key usage needs serverAuth and clientAuth';
  const chain = certificatesIn(certificate);
  const trusted = certificatesIn(authorities);
  if (
    !chain.some((each) => trusted.some((issuer) => each.checkIssued(issuer) && each.verify(issuer.publicKey)))
  )
    return 'no authority in the file of PAYMENTS_CLUSTER_CA_FILE has signed';
  return null;
}

function certificatesIn(pem: Buffer): X509Certificate[] {
  const texts = pem.toString().match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  return texts.map((text) => new X509Certificate(text));
}
