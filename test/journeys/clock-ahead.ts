// Loaded into each thread of a service before anything else. All of its clocks, the monotonic one included, run ahead by
// CLOCK_AHEAD_MS milliseconds, as after a time in which the service was down.

import { syncBuiltinESMExports } from 'node:module';
import os from 'node:os';

const { now } = Date;
const { uptime } = os;
const aheadMs = Number(process.env.CLOCK_AHEAD_MS);
Date.now = () => now() + aheadMs;
os.uptime = () => uptime() + aheadMs / 1000;
syncBuiltinESMExports();
