#!/usr/bin/env node
// Starts the command `payments` under the Node that the project is pinned to, whatever Node the
// machine has. The service runs in a process of its own, which is started again after a crash
// (keep-running.mjs). Plain JavaScript, so that even an old Node can say what is missing.

import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
// The link that npm makes to the Node of this platform's package.
const pinned = join(root, 'node_modules', '.bin', 'node');
const args = process.argv.slice(2);

// npm and npx run a shell between themselves and this process, which forwards no signal. So when
// the parent has ended, this process ends, too.
const parent = process.ppid;
const ended = () => process.ppid !== parent && process.kill(process.pid, 'SIGTERM');
if (process.env.npm_command !== undefined) setInterval(ended, 1_000).unref();

const isFit = process.versions.node.startsWith('22.') && process.features.typescript;
if (isFit || existsSync(pinned)) {
  await run();
} else {
  console.error(
    `payments needs Node 22, which "npm ci" installs with the project; this is Node ${process.versions.node} and ` +
      `there is no ${pinned}. Run "npm ci" (optional dependencies included) on Linux or macOS, x64 or arm64.`,
  );
  process.exitCode = 1;
}

async function run() {
  const { isKeptByOthers, isService, keepRunning } = await import('./keep-running.mjs');
  const entry = join(root, 'src', 'main', isService(args) ? 'serve.mjs' : 'payments.ts');
  const isStartedAgain = isService(args) && !isKeptByOthers(process.env, process.pid);
  // The first process of a container can't kill itself, so the service is not that process.
  const isApart = isStartedAgain || (isService(args) && process.pid === 1);
  if (isFit && !isApart) await import(entry);
  else {
    keepRunning({
      node: isFit ? process.execPath : pinned,
      nodeArgs: isFit ? [...process.execArgv, entry] : [entry],
      args,
      isStartedAgain,
    });
  }
}
