// `npm run cluster`: a service on three nodes, over PostgreSQL with a primary and two standbys, all of it on loopback and in a
// temporary folder. It prints what to try, and goes with everything when it is told to stop.

import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { keepAlive } from '../../src/core/scheduler.ts';
import { leftOut, type PostgresServer, PostgresServers } from '../postgresql/servers.ts';

const launcher = fileURLToPath(new URL('../../src/main/launch.mjs', import.meta.url));
const names = ['a', 'b', 'c'] as const;
const firstPort = 8_081;
const linksAbove = 10;
const portOf = (name: (typeof names)[number]) => firstPort + names.indexOf(name);

const print = (text: string) => void process.stdout.write(text);

async function run(): Promise<void> {
  if (leftOut !== false) {
    process.stderr.write(`the cluster can't be started: PostgreSQL is ${leftOut}\n`);
    process.exitCode = 1;
    return;
  }
  const folder = mkdtempSync(join(tmpdir(), 'payments-cluster-'));
  // The same key on each node: it seals what the directory has.
  writeFileSync(join(folder, 'secrets-key'), `${randomBytes(32).toString('base64')}\n`, { mode: 0o600 });
  const servers = new PostgresServers();
  const nodes: Node[] = [];
  const told = Promise.withResolvers<void>();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => told.resolve());
  try {
    print('Starting PostgreSQL: a primary and two standbys …\n');
    await servers.start(2);
    for (const name of names) {
      const node = new Node(folder, name, servers.url);
      nodes.push(node);
      // The first one makes the organization to try. It may say that it stands by before it has the lease.
      const words = name === names[0] ? [/svc_sk_test_\w+/, /Listening on/] : [/stands by"/];
      await Promise.race([Promise.all(words.map((each) => node.says(each))), told.promise]);
    }
    print(guide(nodes, servers, folder));
    // Also when all that it has started is killed.
    await keepAlive(() => told.promise);
    print('\nStopping …\n');
  } finally {
    await Promise.all(nodes.map((node) => node.stop()));
    await servers.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

class Node {
  readonly name: (typeof names)[number];
  readonly #child: ChildProcess;
  #output = '';

  constructor(folder: string, name: (typeof names)[number], url: string) {
    this.name = name;
    const log = join(folder, `${name}.log`);
    this.#child = spawn(process.execPath, [launcher, 'serve'], {
      // A terminal sends its signals to the group: the nodes stop when they are told to, in order.
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        ...process.env,
        npm_command: undefined,
        NODE_ENV: 'development',
        PAYMENTS_DATA_DIR: join(folder, name),
        PAYMENTS_SECRETS_KEY_FILE: join(folder, 'secrets-key'),
        PAYMENTS_PORT: String(portOf(name)),
        PAYMENTS_SHARDS: '3',
        PAYMENTS_JOURNAL_URL: url,
        PAYMENTS_CLUSTER_NODE: name,
        PAYMENTS_CLUSTER_ADDRESS: `127.0.0.1:${portOf(name)}`,
        PAYMENTS_CLUSTER_LINK: `127.0.0.1:${portOf(name) + linksAbove}`,
      },
    });
    for (const stream of [this.#child.stdout, this.#child.stderr])
      stream?.on('data', (text: Buffer) => {
        this.#output += text;
        appendFileSync(log, text);
        for (const line of String(text).split('\n'))
          if (/stands by|has the lease|taken the lease|runs on|Listening on/.test(line))
            print(`${name}: ${messageOf(line)}\n`);
      });
  }

  get #isOver(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  get key(): string | undefined {
    return /svc_sk_test_\w+/.exec(this.#output)?.[0];
  }

  async says(words: RegExp): Promise<void> {
    while (!words.test(this.#output)) {
      if (this.#isOver) throw new Error(`node ${this.name} has ended:\n${this.#output}`);
      await wait(50);
    }
  }

  async stop(): Promise<void> {
    if (this.#isOver) return;
    // With all that it has said.
    const ended = new Promise((resolve) => this.#child.once('close', resolve));
    this.#child.kill('SIGTERM');
    await ended;
  }
}

function messageOf(line: string): string {
  return /"msg":"([^"]+)"/.exec(line)?.[1] ?? line.trim();
}

function guide(nodes: readonly Node[], servers: PostgresServers, folder: string): string {
  const key = nodes.map((node) => node.key).find((found) => found !== undefined) ?? 'KEY';
  return `
Three nodes share one service, and each runs one of its partitions. Each takes any request:

${names.map((name) => `  http://127.0.0.1:${portOf(name)}   node ${name}`).join('\n')}

A payment, through any of them:

  curl http://127.0.0.1:${portOf('b')}/v1/payment_intents -u ${key}: \\
    -H 'Idempotency-Key: first' -H 'Content-Type: application/json' -d '{"amount":12500,"currency":"mad"}'

The nodes, from another terminal:

  export PAYMENTS_JOURNAL_URL='${servers.url}'
  npx payments cluster status
  PAYMENTS_DATA_DIR=${join(folder, 'a')} npx payments doctor

Each writes its log to ${join(folder, '*.log')}.

End the node that serves without warning, and send the payment again: the next node answers as before. The one that was
ended starts again by itself, and stands by.

${nodes.map(({ name, pid }) => `  kill -KILL $(pgrep -P ${pid})   node ${name}`).join('\n')}

PostgreSQL, to lose its primary (a, at first) and promote a standby as docs/operations.md says under "Failing over":

${servers.all.map(serverLines).join('\n')}

Ctrl+C stops everything and removes it.
`;
}

function serverLines({ name, port, folder }: PostgresServer): string {
  return `  psql -h 127.0.0.1 -p ${port} -U postgres template1   server ${name}
  kill -KILL $(head -n 1 ${join(folder, 'postmaster.pid')})`;
}

await run();
