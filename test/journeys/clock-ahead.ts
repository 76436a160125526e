// Loaded into a service before anything else, in each of its threads: its clocks run ahead by CLOCK_AHEAD_MS
// milliseconds, the one that counts from the boot as well, as those of a service do which was down for so long.

import { syncBuiltinESMExports } from 'node:module';
import os from 'node:os';

const { now } = Date;
const { uptime } = os;
const aheadMs = Number(process.env.CLOCK_AHEAD_MS);
Date.now = () => now() + aheadMs;
os.uptime = () => uptime() + aheadMs / 1000;
syncBuiltinESMExports();
