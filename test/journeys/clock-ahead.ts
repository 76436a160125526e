// Loaded into a service before anything else, in each of its threads: its clock runs ahead by CLOCK_AHEAD_MS
// milliseconds, as that of a service does which was down for so long.

const now = Date.now;
const aheadMs = Number(process.env.CLOCK_AHEAD_MS);
Date.now = () => now() + aheadMs;
