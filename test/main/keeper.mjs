// The launcher's part that keeps the service running, as tests want it: each start after a crash is at once, unless KEPT_WAITS
// names the milliseconds. KEPT_PROGRAM is a program to run in place of the service.

import { join } from 'node:path';
import { keepRunning } from '../../src/main/keep-running.mjs';

const { KEPT_PROGRAM, KEPT_WAITS = '0' } = process.env;
keepRunning({
  node: process.execPath,
  nodeArgs: [KEPT_PROGRAM ?? join(import.meta.dirname, '../../src/main/serve.mjs')],
  args: process.argv.slice(2),
  isStartedAgain: true,
  waits: { next: () => Number(KEPT_WAITS) },
});
