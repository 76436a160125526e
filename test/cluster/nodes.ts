// Nodes of one service on loopback, each a process with a data folder of its own, over one PostgreSQL.

import type { ChildProcess } from 'node:child_process';
import { copyFileSync } from 'node:fs';
import type { TestContext } from 'node:test';
import { freePort } from '../free-port.ts';
import { crampedEnv } from '../main/merchant.ts';
import { paymentsWith } from '../main/payments-command.ts';
import { poll } from '../poll.ts';
import type { PostgresServers } from '../postgresql/servers.ts';
import { type Service, startService } from '../service.ts';
import { temporaryFolder } from '../temporary-folder.ts';

export interface Node {
  readonly name: string;
  readonly dataDir: string;
  readonly process: ChildProcess;
  /** Resolves when it has the lease and listens. */
  readonly serving: Promise<Service>;
  /** Everything that it has written so far. */
  output(): string;
  says(words: RegExp): Promise<void>;
  /** Tells it to stop, and waits for its end. */
  stop(): Promise<void>;
  kill(): Promise<void>;
}

interface NodeOptions {
  readonly url: string;
  readonly name: string;
  /** The secrets key is the same file on each node. */
  readonly secretsKeyOf?: string;
  readonly dataDir?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Starts it again after a crash. */
  readonly launcher?: string;
}

/** `payments cluster` with these words, on a machine that has no folder of the service. */
export function clusterCommand({ url }: Pick<PostgresServers, 'url'>) {
  const env = { PAYMENTS_JOURNAL_URL: url, PAYMENTS_DATA_DIR: temporaryFolder() };
  return (...words: string[]) => paymentsWith(env, 'cluster', ...words);
}

const servesMsMax = 600_000;

/** Those of a test: why one of them does not say what it should, another one may tell. */
const nodesOf = new WeakMap<TestContext, Node[]>();
const linesTold = 200;

function lastLines({ name, process: { exitCode, signalCode }, output }: Node): string {
  const by = signalCode ?? exitCode;
  const end = by === null ? '' : `, which has ended by ${by}`;
  return `The last lines of node ${name}${end}:\n${output().split('\n').slice(-linesTold).join('\n')}`;
}

export function startNode(context: TestContext, options: NodeOptions): Node {
  const { url, name, secretsKeyOf, dataDir = temporaryFolder() } = options;
  if (secretsKeyOf !== undefined) copyFileSync(`${secretsKeyOf}.secrets-key`, `${dataDir}.secrets-key`);
  let child!: ChildProcess;
  let output = '';
  const serving = startService({
    dataDir,
    startMsMax: servesMsMax,
    ...(options.launcher !== undefined && { launcher: options.launcher }),
    env: {
      ...crampedEnv,
      PAYMENTS_LOG_LEVEL: 'info',
      PAYMENTS_JOURNAL_URL: url,
      PAYMENTS_CLUSTER_NODE: name,
      ...options.env,
    },
    onSpawn(spawned) {
      child = spawned;
      for (const stream of [spawned.stdout, spawned.stderr])
        stream?.on('data', (text: Buffer) => {
          output += text;
        });
    },
  });
  // It may end before anybody waits for it.
  serving.catch(() => {});
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const endBy = async (signal: 'SIGTERM' | 'SIGKILL') => {
    child.ref();
    child.kill(signal);
    await ended;
  };
  const kill = () => endBy('SIGKILL');
  context.after(kill);
  const says = async (words: RegExp) => {
    let lookedAt = -1;
    const look = () => {
      // A look at all that several minutes have written takes a while.
      if (output.length === lookedAt) return undefined;
      lookedAt = output.length;
      return words.test(output) || undefined;
    };
    await poll(look, () => [`${name} does not say ${words}`, ...nodes.map(lastLines)].join('\n'));
  };
  const nodes = nodesOf.get(context) ?? [];
  const node: Node = {
    name,
    dataDir,
    process: child,
    serving,
    output: () => output,
    says,
    stop: () => endBy('SIGTERM'),
    kill,
  };
  nodes.push(node);
  nodesOf.set(context, nodes);
  return node;
}

export interface LinkedNode {
  readonly node: Node;
  /** Where it takes requests. */
  readonly url: string;
}

interface LinkedNodeOptions extends Pick<NodeOptions, 'url' | 'name' | 'env'> {
  /** One that has the service's secrets key. */
  readonly first?: Node | undefined;
  /** Where it takes requests; a free one unless it is known before. */
  readonly port?: number;
  /** Of a node that was there before. */
  readonly dataDir?: string;
}

/** A node that others reach with requests, and that links with them. */
export async function startLinkedNode(context: TestContext, options: LinkedNodeOptions): Promise<LinkedNode> {
  const { first, port = await freePort(), ...others } = options;
  const env = {
    PAYMENTS_PORT: String(port),
    PAYMENTS_CLUSTER_ADDRESS: `127.0.0.1:${port}`,
    PAYMENTS_CLUSTER_LINK: `127.0.0.1:${await freePort()}`,
    ...options.env,
  };
  const node = startNode(context, { ...others, env, ...(first && { secretsKeyOf: first.dataDir }) });
  return { node, url: `http://127.0.0.1:${port}` };
}
