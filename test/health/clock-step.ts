// Loaded into each thread of a service before anything else. Its wall clock is CLOCK_STEP_MS milliseconds ahead while the file
// CLOCK_STEP_FILE exists.

import { existsSync } from 'node:fs';

const { now } = Date;
const stepMs = Number(process.env.CLOCK_STEP_MS);
Date.now = () => (existsSync(process.env.CLOCK_STEP_FILE!) ? now() + stepMs : now());
