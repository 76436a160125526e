// The times of the lease, as src/config has them.

export const timing = { beatMs: 500, trustMs: 2_000, takeMs: 2_500 };
/** How long a customer may take to pay on a page, in runs where some do not pay in time. */
export const pageMs = 60_000;
/** The longest time of an attempt of a webhook. */
export const attemptMsMax = 10_000;
