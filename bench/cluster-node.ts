// A node of a service over PostgreSQL, as the benches of clusters start it.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { processSeconds } from './processor-time.ts';

const pollMs = 10;
const service = fileURLToPath(new URL('../src/main/serve.mjs', import.meta.url));

export class Node {
  readonly name: string;
  readonly dataDir: string;
  readonly port: number;
  readonly #url: string;
  readonly #env: Readonly<Record<string, string>>;
  #child: ChildProcess | null = null;
  #output = '';

  /** `url`: PostgreSQL's. */
  constructor(
    name: string,
    dataDir: string,
    port: number,
    url: string,
    env: Readonly<Record<string, string>> = {},
  ) {
    this.name = name;
    this.dataDir = dataDir;
    this.port = port;
    this.#url = url;
    this.#env = env;
  }

  /** Resolves when it says so. */
  async start(says: RegExp): Promise<void> {
    this.#output = '';
    const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', service, 'serve'], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        ...process.env,
        NODE_ENV: 'production',
        PAYMENTS_PORT: String(this.port),
        PAYMENTS_DATA_DIR: this.dataDir,
        PAYMENTS_SECRETS_KEY_FILE: `${this.dataDir}.secrets-key`,
        PAYMENTS_CONNECTIONS_PER_ADDRESS_MAX: '10000',
        PAYMENTS_JOURNAL_URL: this.#url,
        PAYMENTS_CLUSTER_NODE: this.name,
        PAYMENTS_CLUSTER_ADDRESS: `127.0.0.1:${this.port}`,
        ...this.#env,
      },
    });
    this.#child = child;
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (text) => {
        this.#output += text;
      });
    while (!says.test(this.#output)) {
      if (child.exitCode !== null) throw new Error(`node ${this.name} has ended:\n${this.#output}`);
      await wait(pollMs);
    }
  }

  /** Processor time that it has used so far. */
  get cpuSeconds(): number {
    const pid = this.#child?.pid;
    return (pid === undefined ? null : processSeconds(pid)) ?? 0;
  }

  async kill(signal: 'SIGKILL' | 'SIGTERM' = 'SIGKILL'): Promise<void> {
    const child = this.#child;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  }
}
