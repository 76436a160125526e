// A node among those that share a service, as the others know it.

import { defined } from '../core/assert.ts';

/** The service: its data folder, as each of its machines has one. */
export interface ServiceIdentity {
  readonly folder: string;
  readonly generation: number;
  /** How many partitions the service has. */
  readonly shards: number;
}

export interface NodeIdentity {
  readonly node: string;
  /** An id of its process: a node that starts again is another one. */
  readonly process: string;
  /** The version of the service that it runs. */
  readonly release: string;
}

/** What the nodes of a link know each other by. */
export type LinksBy = 'certificate' | 'secrets key';

/** Where the others reach a node, as host:port; null: nowhere. */
export interface NodeAddresses {
  /** With requests. */
  readonly address: string | null;
  /** To have it run partitions, and with requests for those. */
  readonly link: string | null;
  readonly linksBy: LinksBy;
}

/** A node that lacks more entries of a partition would keep those who use it waiting. */
export const behindMax = 10_000;

/** A node that may run partitions. */
export interface ReachableNode {
  readonly node: string;
  readonly process: string;
  readonly link: string;
  readonly linksBy: LinksBy;
  /** It is to be given none. */
  readonly drained: boolean;
  /** It is to be given no partition, and goes on to take requests until it has stopped. */
  readonly leaving: boolean;
  /** The partitions that operators want it to run. */
  readonly wanted: readonly number[];
  /** Those that it can't run, because its files of them are damaged. */
  readonly damaged: readonly number[];
  /** The entries that it lacks of the partition that it is furthest behind in, of the others. */
  readonly behind: number;
}

/** `certFile`: as configured. */
export function linksByOf(certFile: string | null): LinksBy {
  return certFile === null ? 'secrets key' : 'certificate';
}

/** Why two nodes do not link; null: they know each other by the same. */
export function mismatchOf(there: LinksBy, here: LinksBy): string | null {
  if (there === here) return null;
  return `its links go by ${there}, and those here by ${here}: set PAYMENTS_CLUSTER_CERT_FILE on both nodes, or on neither`;
}

interface HostAndPort {
  readonly host: string;
  readonly port: number;
}

/** A node's address as host:port; null: it is malformed. */
export function parseNodeAddress(address: string): HostAndPort | null {
  const [, host, digits] = /^(?:\[([^\]]+)\]|([^:[\]]+)):(\d{1,5})$/.exec(address)?.filter(Boolean) ?? [];
  const port = Number(digits);
  return host === undefined || port === 0 || port > 65_535 ? null : { host, port };
}

/** The parts of an address that was configured, and is therefore well-formed. */
export function configuredAddress(address: string): HostAndPort {
  return defined(parseNodeAddress(address), 'addresses are checked where they are configured');
}
