// The times of the lease, as src/config has them.

export const timing = { beatMs: 500, trustMs: 2_000, takeMs: 2_500 };
/** The longest time of an attempt of a webhook. */
export const attemptMsMax = 10_000;
