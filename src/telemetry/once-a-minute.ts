// What may come in floods is logged once a minute.

const everyMs = 60_000;

/** Asked each time: whether it is to be logged now. */
export function onceAMinute(monotonic: () => number): () => boolean {
  let nextMs = Number.NEGATIVE_INFINITY;
  return () => {
    const nowMs = monotonic();
    if (nowMs < nextMs) return false;
    nextMs = nowMs + everyMs;
    return true;
  };
}
