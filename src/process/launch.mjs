#!/usr/bin/env node
// Starts the command `payments` under the Node that the project is pinned to, whatever Node the machine has. Plain
// JavaScript, so that even an old Node can say what is missing.

import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
// The link that npm makes to the Node of this platform's package.
const pinned = join(root, 'node_modules', '.bin', 'node');
const entry = join(root, 'src', 'process', 'payments.ts');

// npm and npx run a shell between themselves and this process, which forwards no signal. So when the parent has ended, this
// process ends, too.
const parent = process.ppid;
const ended = () => process.ppid !== parent && process.kill(process.pid, 'SIGTERM');
if (process.env.npm_command !== undefined) setInterval(ended, 200).unref();

if (process.versions.node.startsWith('22.') && process.features.typescript) {
  await import(entry);
} else if (existsSync(pinned)) {
  runPinned();
} else {
  console.error(
    `payments needs Node 22, which "npm ci" installs with the project; this is Node ${process.versions.node} and ` +
      `there is no ${pinned}. Run "npm ci" (optional dependencies included) on Linux or macOS, x64 or arm64.`,
  );
  process.exitCode = 1;
}

function runPinned() {
  // The channel closes when this process is killed, which tells the command to stop.
  const stdio = ['inherit', 'inherit', 'inherit', 'ipc'];
  const child = spawn(pinned, [entry, ...process.argv.slice(2)], { stdio });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('error', (error) => {
    console.error(`payments cannot run the pinned Node at ${pinned}: ${error.message}. Run "npm ci" again.`);
    process.exitCode = 1;
  });
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? 128 + (constants.signals[signal] ?? 0);
  });
}
