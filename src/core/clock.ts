// Time is injected: whoever needs it gets a clock, and a test turns the hands.

/** Returns Unix milliseconds. */
export type Clock = () => number;
