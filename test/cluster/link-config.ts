// The configuration of a node's thread that has links, for tests of that thread alone: PostgreSQL is not there.

import { loadConfig } from '../../src/config/config.ts';
import type { Config } from '../../src/config/config-schema.ts';

const configDir = new URL('../../config', import.meta.url).pathname;

export function linkConfig(node: string, port: number): Config {
  const env = {
    NODE_ENV: 'test',
    PAYMENTS_JOURNAL_URL: 'postgresql://payments@127.0.0.1:1/payments',
    PAYMENTS_CLUSTER_NODE: node,
    PAYMENTS_CLUSTER_LINK: `127.0.0.1:${port}`,
    PAYMENTS_LOG_LEVEL: 'silent',
  };
  return loadConfig(env, configDir);
}
